"""Notes as resources: `note:///Folder/Name.md`, a template for all of them and a short list of usual ones.

Reads through the notebook, which lets no path leave the vault. Knows the memory's roles, not their paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from hindbrain.base.errors import NotFound

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

_SCHEME = "note://"

TEMPLATE = "note:///{+path}"
TEMPLATE_DOC = "Any note, by its path in the vault: note:///Projects/Plan.md"


class KnownNote(NamedTuple):
    """A note that a person would want to hand to a model without looking for it."""

    role: str
    title: str
    doc: str
    path: str = ""


_USUAL = (
    KnownNote("profile", "User profile", "Who the user is and what they prefer"),
    KnownNote("tasks", "Tasks", "Open tasks"),
    KnownNote("daily", "Today", "Today's note"),
    KnownNote("inbox", "Inbox", "Memories that wait for the user's word"),
)


def uri_of(path: str) -> str:
    return f"{_SCHEME}/{quote(path, safe='/')}"


def path_of(uri: str) -> str:
    """The note that an address means. `note://A.md` is taken as well as `note:///A.md`."""
    scheme, rest = uri[: len(_SCHEME)], uri[len(_SCHEME) :]
    if scheme.lower() != _SCHEME or not rest.strip("/"):
        raise NotFound(f"{uri!r} is no note; give note:///Folder/Name.md")
    return unquote(rest.removeprefix("/"), errors="strict") if _is_utf8(rest) else rest


def known_notes(memory: Memory) -> list[KnownNote]:
    """The usual notes, as far as they are there."""
    found = (note._replace(path=_path_of_role(memory, note.role)) for note in _USUAL)
    return [note for note in found if (memory.root / note.path).is_file()]


def _path_of_role(memory: Memory, role: str) -> str:
    if role == "daily":
        return str(memory.daily.path())
    return memory.layout.path(role)


def _is_utf8(quoted: str) -> bool:
    try:
        unquote(quoted, errors="strict")
    except UnicodeDecodeError:
        return False
    return True
