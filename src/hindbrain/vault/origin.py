"""Whose word a note is, as its properties and its folder tell. Pure."""

from __future__ import annotations

from collections.abc import Mapping

SOURCES = ("user", "agent", "tool", "web", "import")  # the most trusted first; trust never rises
_CLIPPED = frozenset({"clippings", "clipping", "web", "web clips", "webclips", "readwise", "read later"})


def source_of_note(path: str, properties: Mapping[str, object]) -> str:
    """Return "user" unless the note says, or its folder says, that it was taken from elsewhere."""
    names = {key.lower(): value for key, value in properties.items()}
    for key in ("trust", "source"):
        value = names.get(key)
        if isinstance(value, str) and value.strip().lower() in SOURCES:
            return value.strip().lower()
    if any(_filled(names.get(key)) for key in ("url", "source", "source_url", "link")):
        return "web"
    folders = path.lower().split("/")[:-1]
    return "web" if any(folder in _CLIPPED for folder in folders) else "user"


def _filled(value: object) -> bool:
    return bool(value.strip()) if isinstance(value, str) else bool(value)
