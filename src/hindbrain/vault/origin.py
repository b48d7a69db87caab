"""Whose word a note is, as its properties and its folder tell. Pure; the one rule for it."""

from __future__ import annotations

import re
from collections.abc import Mapping

SOURCES = ("user", "agent", "tool", "web", "import")  # the most trusted first; trust never rises
_ADDRESS_KEYS = ("source", "url", "source_url", "source-url", "link")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\w", re.IGNORECASE)
_MARKER_KEYS = ("type", "tags", "tag", "category", "categories")
_CLIPPED = frozenset(
    {"clippings", "clipping", "web clips", "web clip", "webclips", "web clipping", "readwise", "read later"}
)


def source_of_note(path: str, properties: Mapping[str, object]) -> str:
    """Return "user" unless the note says, or its folder says, that it was taken from elsewhere.

    A `source` that is neither a word of `SOURCES` nor an address ("interview", "claude-code-session") is the
    owner's remark, and says nothing about trust.
    """
    if stated := stated_source(properties):
        return stated
    names = _lower_keys(properties)
    if any(_ADDRESS.search(text) for key in _ADDRESS_KEYS for text in _texts(names.get(key))):
        return "web"
    marked = any(_marker(text) in _CLIPPED for key in _MARKER_KEYS for text in _texts(names.get(key)))
    folders = path.split("/")[:-1]
    return "web" if marked or any(_marker(folder) in _CLIPPED for folder in folders) else "user"


def stated_source(properties: Mapping[str, object]) -> str:
    """The word of `SOURCES` that the properties say in so many words; "" when they say none."""
    names = _lower_keys(properties)
    for key in ("trust", "source"):
        for text in _texts(names.get(key)):
            if text.strip().lower() in SOURCES:
                return text.strip().lower()
    return ""


def _lower_keys(properties: Mapping[str, object]) -> dict[str, object]:
    return {key.lower(): value for key, value in properties.items()}


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _marker(text: str) -> str:
    """A tag, a type or a folder as it is compared: "#web-clips" and "[[Web Clips]]" are "web clips"."""
    name = text.strip().strip("[]#").rpartition("/")[2]
    return re.sub(r"[\s_-]+", " ", name).strip().lower()
