"""How a note is written well: what it begins with, what it is called, where it is filed.

Text that a model typed is changed as little as possible: line ends become LF, NULs and other control
characters, which no editor shows, go, and half characters become U+FFFD. Nothing else is touched: not the
Unicode form, not spaces, not what it says. Decides on text and looks at folders; writes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hindbrain.base.errors import UnsafePath, UsageError, VaultError
from hindbrain.vault.layout import Layout, folders_in
from hindbrain.vault.para import Category, para_of
from hindbrain.vault.path_rules import NotePath, check_note_path, same_note_key
from hindbrain.vault.splice import Value, add_to_list, set_property

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HALF = re.compile("[\ud800-\udfff]")
_HEADING = re.compile(r"#[ \t]+\S")
_NOT_IN_TAGS = re.compile(r"[^\w/\-]+")
_LONGEST_NAME_BYTES = 120  # leaves room for " 2.md" below every system's limit, and reads well in a list
# Besides what systems forbid, what ends a wikilink: a note that can't be linked to is lost in a vault.
_SEPARATORS = re.compile(r"\s*[/\\|]\s*|\s+:\s*|:\s+")
_LEFT_OUT = re.compile('[<>"?*#^\\[\\]\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]')
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DAY_FOLDERS = frozenset(
    ("daily", "dailynotes", "dailynote", "dailies", "dailylog", "dailylogs", "journal", "journals")
)
_ROLES: Mapping[str, str] = {"project": "projects", "contact": "contacts"}
_PARA: Mapping[str, Category] = {
    "project": "project", "area": "area", "resource": "resource", "archive": "archive",
}  # fmt: skip


def clean_text(text: str) -> str:
    """Text as it may stand in a note: LF line ends, no control characters, whole characters only."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HALF.sub("\ufffd", _CONTROL.sub("", text))


def compose_note(
    title: str,
    body: str,
    *,
    type: str = "",
    tags: Sequence[str] = (),
    created: str = "",
    extra: Mapping[str, Value] | None = None,
) -> bytes:
    """A new note: properties, a heading, the body, one final line end.

    A body that brings its own frontmatter keeps it, and what it lacks is added; one that begins with a
    first-level heading keeps that. UsageError when its frontmatter can't be read.
    """
    text = clean_text(body).strip("\n")
    data = _with_heading(clean_text(title).strip(), text).encode()
    properties: dict[str, Value] = {"type": type, "created": created, **(extra or {})}
    try:
        for key, value in properties.items():
            if value != "" and not _has(data, key):
                data = set_property(data, key, value)
        return add_to_list(data, "tags", merge_tags((), tags))
    except VaultError as error:
        raise UsageError(f"the frontmatter of the content can't be used: {error}") from error


def _with_heading(title: str, text: str) -> str:
    from hindbrain.vault.frontmatter import read_frontmatter

    lines = text.split("\n")
    front = read_frontmatter(lines)
    if front.problems:
        problem = front.problems[0]
        raise UsageError(f"line {problem.line} of the content, in its frontmatter: {problem.message}")
    first = front.last_line
    while first < len(lines) and not lines[first].strip():
        first += 1
    if title and not (first < len(lines) and _HEADING.match(lines[first])):
        lines[first:first] = [f"# {' '.join(title.split())}", *([""] if first < len(lines) else [])]
    return "\n".join(lines).strip("\n") + "\n"


def _has(data: bytes, key: str) -> bool:
    from hindbrain.vault.frontmatter import read_frontmatter

    known = read_frontmatter(data.decode("utf-8").split("\n")).properties
    return key.lower() in {name.lower() for name in known}


def clean_tag(text: str) -> str:
    """A tag that Obsidian reads; "" when nothing is left. Spaces become hyphens."""
    words = "-".join(unicodedata.normalize("NFC", text).strip().lstrip("#").split())
    tag = re.sub("/+", "/", _NOT_IN_TAGS.sub("", words)).strip("/-")
    return "" if tag.replace("/", "").isdecimal() else tag


def merge_tags(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """The old tags as they are, then those of the new ones that are not among them; case does not count."""
    merged = {tag.lstrip("#").casefold(): tag for tag in old}
    for tag in map(clean_tag, new):
        if tag:
            merged.setdefault(tag.casefold(), tag)
    return list(merged.values())


def file_name(title: str) -> str:
    """A file name for a note of that title, without the ending: allowed on every system, and linkable."""
    text = unicodedata.normalize("NFC", clean_text(title))
    text = _LEFT_OUT.sub("", _SEPARATORS.sub(" - ", " ".join(text.split()))).replace(":", "-")
    name = _cut(" ".join(text.split()).strip(" .-"))
    if _is_allowed(name):
        return name
    # Devices of Windows, hidden folders, and what would lead elsewhere once it is decoded.
    plain = _cut("".join(char if char.isalnum() or char in " -_" else "-" for char in name).strip(" .-"))
    for candidate in (f"{name} note", plain, f"{plain} note"):
        if _is_allowed(candidate):
            return candidate
    return "Untitled"


def _cut(name: str) -> str:
    """At most as many bytes as a name may have, cut between characters."""
    while len(name.encode("utf-8")) > _LONGEST_NAME_BYTES:
        name = name[: _LONGEST_NAME_BYTES if len(name) > _LONGEST_NAME_BYTES else -1]
    return name.strip(" .-")


def _is_allowed(name: str) -> bool:
    try:
        return bool(name) and check_note_path(f"{name}.md") == f"{name}.md"
    except UnsafePath:
        return False


def folder_for(layout: Layout, root: Path, kind: str) -> str:
    """The folder of notes of a kind: note, project, area, resource, archive, contact, decision.

    In a PARA vault the owner's own folders are used, whatever their numbers or signs; elsewhere the layout's
    role, else the agent's folder, which is also for kinds that are not known.
    """
    category = _PARA.get(kind, "")
    if category and layout.name == "para" and (home := para_folders(root).get(category)):
        return home
    role = _ROLES.get(kind, "")
    if role and layout.has(role) and not layout.is_single(role):
        return layout.folder_of(role)
    if kind == "decision" and layout.has("decisions"):
        return layout.path("decisions").rpartition("/")[0]
    return layout.folder


def filed(layout: Layout, root: Path, path: NotePath) -> NotePath:
    """Where a new note goes that was given a folder.

    A folder that is there is used as it is. Else the owner's folder of the same meaning in PARA ("1-Projects"
    for "Projects"), else the layout's own place for such notes. Any other is made where it was asked for.
    """
    top, _, rest = path.partition("/")
    there = {same_note_key(folder): folder for folder in folders_in(root)}
    if folder := there.get(same_note_key(top)):
        return check_note_path(f"{folder}/{rest}")
    stem = rest.removesuffix(".md")
    if _loose(top) in _DAY_FOLDERS and _DAY.fullmatch(stem):
        return check_note_path(layout.path("daily", date=stem))
    if category := para_of(f"{top}/note.md")[0]:
        same = (folder for folder in there.values() if para_of(f"{folder}/note.md")[0] == category)
        if home := next(same, "") or para_folders(root).get(category, ""):
            return check_note_path(f"{home}/{rest}")
    own = next((folder for folder in layout.top_folders() if _loose(folder) == _loose(top)), "")
    if own or (category and layout.folder):
        return check_note_path("/".join(filter(None, (layout.folder, own or top, rest))))
    return path


def para_folders(root: Path) -> dict[Category, str]:
    """The folder of each PARA category, where at least three of them stand side by side; {} elsewhere."""
    for parent in ("", *folders_in(root)):
        found: dict[Category, str] = {}
        for folder in folders_in(root / parent):
            category = para_of(f"{folder}/note.md")[0]
            if category:
                found.setdefault(category, f"{parent}/{folder}" if parent else folder)
        if len(found) >= 3:
            return found
    return {}


def _loose(name: str) -> str:
    """Equal for "Web Site", "web-site" and "01 Web Site"."""
    return "".join(filter(str.isalnum, same_note_key(name))).lstrip("0123456789") or same_note_key(name)
