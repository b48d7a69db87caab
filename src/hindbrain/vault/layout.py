"""Where each kind of note lives in a vault: a table from roles (profile, tasks, daily, ...) to paths.

Everything else asks for a role and never knows a path. Owns the value, where a vault's table is kept
(`.hindbrain/layout.toml`), and how a vault without one is understood. What a table may say is checked in
`layout_table`. Reads folders; writes nothing.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import ConfigError, UsageError
from hindbrain.vault import path_template
from hindbrain.vault.layout_table import (
    DEFAULT_PLACES,
    LAYOUTS,
    MAX_BYTES,
    ROLES,
    TYPES,
    UNLINKABLE,
    Form,
    Table,
    all_places,
    built_in_table,
    fill_text,
    parse_table,
)
from hindbrain.vault.path_rules import NotePath, check_existing_path, check_note_path
from hindbrain.vault.paths import is_note
from hindbrain.vault.template_notes import matching_notes

if TYPE_CHECKING:
    from hindbrain.vault.marks import Marks
    from hindbrain.vault.moved_notes import MovedNotes, Role

__all__ = [
    "LAYOUTS",
    "LAYOUT_FILE",
    "OWN_FOLDER",
    "ROLES",
    "Layout",
    "built_in",
    "check_folder",
    "default_folder",
    "detect",
    "load_layout",
    "parse_layout",
    "recognise",
    "render_layout",
    "settled",
    "stored_layout",
]

LAYOUT_FILE = "layout.toml"  # in the vault's .hindbrain folder
OWN_FOLDER = "Agent"  # of a layout that names none, in a vault that has notes of its own

_FOLLOWED = {"category", "date"}  # placeholders of roles whose notes are followed when they are moved
_MATTERS = ("projects", "contacts", "skills", "lessons")  # roles of notes that each have a subject


@dataclass(frozen=True, slots=True)
class Layout:
    """A table at its place in a vault."""

    name: str
    folder: str  # vault-relative; "" when the whole vault is the agent's
    # Those that the table names, with paths below `folder`; the first is for new notes, all are read.
    roles: Mapping[str, tuple[str, ...]]
    categories: Mapping[str, str]  # memory category -> the role whose note holds it
    start: Mapping[str, str]  # role -> the first text of its notes
    title: str = ""
    doc: str = ""
    moved: MovedNotes | None = field(
        default=None, compare=False, repr=False
    )  # None: every note is at its path

    def has(self, role: str) -> bool:
        """Has the role a place? Only optional roles (home, decisions, contacts, ...) need this check: the
        others have one in every layout."""
        return role in self.roles or role in DEFAULT_PLACES

    def is_single(self, role: str) -> bool:
        """Is the role played by one note, and not by the notes of a folder?"""
        return not path_template.places(self._templates(role)[0])

    def path(self, role: str, **names: str) -> str:
        """The note that plays the role, wherever its owner has moved it.

        `names` fill {date}, {category}, {name} where the path has them.
        UsageError for an optional role that the layout does not name, UnsafePath for a name that some system
        forbids.
        """
        role = self._role_for(role, names)
        usual = self.usual_path(role, **names)
        if self.moved is None or not (known := self._followed(role, names)):
            return usual
        return self.moved.place(self, known, usual)

    def note_place(self, path: str) -> None:
        """A note was written here: if it plays a role, remember that it was there."""
        if self.moved is not None and (role := self.usual_role(path)):
            names = replace(self, moved=None).names_of(path)
            if known := self._followed(role, names):
                self.moved.place(self, known, path)

    def usual_path(self, role: str, **names: str) -> str:
        """The path that the table gives to the note. Raises as `path` does."""
        role = self._role_for(role, names)
        return check_note_path(self._below(path_template.fill(self._templates(role)[0], names)))

    def paths(self, role: str, **names: str) -> tuple[str, ...]:
        """Every place where that note may stand; the first is `path`."""
        usual = tuple(
            check_note_path(self._below(path_template.fill(template, names)))
            for template in self._templates(role)
        )
        now = self.path(role, **names)
        return usual if now in usual else (now, *usual)

    def folder_of(self, role: str) -> str:
        """The folder that holds the notes of a role; "" is the vault itself."""
        return self._below(path_template.fixed_folder(self._templates(role)[0]))

    def places_of(self, role: str) -> tuple[str, ...]:
        """The note of a role, or each folder that may hold its notes; "" is the vault itself."""
        return tuple(
            self._below(path_template.fixed_folder(template) if path_template.places(template) else template)
            for template in self._templates(role)
        )

    def top_folders(self) -> list[str]:
        """The folders right below `folder` that hold notes of a role, sorted."""
        tops = {path.partition("/")[0] for paths in self.roles.values() for path in paths if "/" in path}
        return sorted(tops)

    def notes_of(self, role: str, root: Path) -> list[NotePath]:
        """The notes that play the role now, sorted. NoteUnreadable when a folder can't be looked into."""
        found: set[NotePath] = set()
        for template in self._templates(role):
            found.update(
                path for path in matching_notes(root, self._below(template)) if self._exact_role(path) == role
            )
        for known in filter(self.follows, self.moved.roles(role) if self.moved else ()):
            place = self.path(role, **known.names)
            if is_note(root, place):
                found.add(check_existing_path(place))
        if role == "memory":
            for other in set(self.categories.values()):
                found.update(self.notes_of(other, root))
        return sorted(found)

    def role_of(self, path: str) -> str:
        """The role a note plays; "" when none."""
        known = self._moved_role(path)
        return known.name if known else self.usual_role(path)

    def usual_role(self, path: str) -> str:
        """The role of a note by its path alone; "" when none."""
        return self._exact_role(unicodedata.normalize("NFC", path))

    def marks_of(self, role: str, names: Mapping[str, str]) -> Marks:
        """What a note of the role says of itself when it is made."""
        from hindbrain.vault.marks import read_marks

        text = replace(self, moved=None).first_text(role, today=names.get("date", ""), **names)
        return read_marks(text.encode())

    @property
    def archive_folder(self) -> str:
        """Where notes go that nobody uses any more."""
        return self.folder_of("archive")

    def is_archived(self, path: str) -> bool:
        """Does a note lie in the archive? That is for who looks for it, not for a prompt."""
        return path.startswith(f"{self.archive_folder}/")

    def is_housekeeping(self, path: str) -> bool:
        """Is it one of the agent's own notes (home, inbox, tasks, days, ...), and about no matter itself?"""
        return self.role_of(path) not in ("", *_MATTERS)

    def names_of(self, path: str) -> dict[str, str]:
        """What fills the placeholders of a note's path: {"date": "2026-05-15"}, {"category": "fact"}."""
        if known := self._moved_role(path):
            return dict(known.names)
        role = self.role_of(path)
        inside = self._inside(unicodedata.normalize("NFC", path))
        for template in self._templates(role) if role else ():
            if (names := path_template.read(template, inside)) is not None:
                return names
        return {}

    def category_of(self, path: str) -> str:
        """The category of the memories in a note; "" when it holds several or none."""
        role = self.role_of(path)
        if role == "memory":
            return self.names_of(path).get("category", "")
        held = [category for category, other in self.categories.items() if other == role]
        return held[0] if len(held) == 1 else ""

    def first_text(self, role: str, *, today: str, **names: str) -> str:
        """What a new note of the role begins with. `today`: YYYY-MM-DD."""
        text = self.start.get(role, "").lstrip("\n")
        if not text:
            return self._plain_first_text(role, today, names)
        learning = self.path("lessons").rpartition("/")[0]
        known = {"date": today, "folder": self.folder, "learning": f"`{learning}/`", **names}
        links = {other: self._link(other) for other in self.roles if f"{{{other}}}" in text}
        return fill_text(text, known, links)

    def _plain_first_text(self, role: str, today: str, names: Mapping[str, str]) -> str:
        """Properties by which the note is found again after a move, and a title."""
        from hindbrain.vault.marks import OWN_TAG

        stem = self.usual_path(role, **names).rpartition("/")[2].removesuffix(".md")
        day = ("date", names["date"]) if "date" in names else ("created", today)
        properties = {"type": TYPES.get(role, role), "category": names.get("category", ""), day[0]: day[1]}
        front = "".join(f"{key}: {value}\n" for key, value in properties.items() if value)
        return f"---\n{front}tags: [{OWN_TAG}]\n---\n# {names.get('name') or note_title(stem)}\n"

    def first_lines(self, path: str) -> frozenset[str]:
        """The stripped lines of a note's first text, but for its dates; empty when the layout has none."""
        role = self.role_of(path)
        if role not in self.start:
            return frozenset()
        text = self.first_text(role, today="", **self.names_of(path))
        return frozenset(line.strip() for line in text.split("\n"))

    def _link(self, role: str) -> str:
        if not self.is_single(role):
            return f"`{self.folder_of(role)}/`"
        path = self.path(role).removesuffix(".md")
        name = path.rpartition("/")[2]
        return f"[[{path}]]" if name == path else f"[[{path}|{name}]]"

    def _role_for(self, role: str, names: Mapping[str, str]) -> str:
        """Memories of some categories stand in the note of another role."""
        return self.categories.get(names.get("category", ""), role) if role == "memory" else role

    def follows(self, role: Role) -> bool:
        """Return whether one note plays this role here. In another layout it may have been another role."""
        return self.has(role.name) and self._followed(role.name, role.names) == role

    def _followed(self, role: str, names: Mapping[str, str]) -> Role | None:
        """The role whose one note is meant; None for notes that each have a name of their own."""
        from hindbrain.vault.moved_notes import Role

        places = path_template.places(self._templates(role)[0])
        if not places:
            return Role(role, {})
        wanted = {place: names[place] for place in places if place in _FOLLOWED and place in names}
        return Role(role, wanted) if wanted and "name" not in places else None

    def _moved_role(self, path: str) -> Role | None:
        """The role of a note that stands elsewhere than its usual path."""
        known = self.moved.role_at(path) if self.moved else None
        if known is None or not self.follows(known) or self.usual_path(known.name, **known.names) == path:
            return None
        return known

    def _templates(self, role: str) -> tuple[str, ...]:
        if role in self.roles:
            return self.roles[role]
        if role in DEFAULT_PLACES:
            return (DEFAULT_PLACES[role],)
        known = "there is no such role" if role not in ROLES else f"the layout {self.name!r} has none"
        raise UsageError(f"no place for {role!r}: {known}; it has {', '.join(self.roles)}")

    def _below(self, path: str) -> str:
        return "/".join(part for part in (self.folder, path) if part)

    def _inside(self, path: str) -> str:
        """A note's path below the folder; "" for a note elsewhere."""
        if not self.folder:
            return path
        return path.removeprefix(f"{self.folder}/") if path.startswith(f"{self.folder}/") else ""

    def _exact_role(self, path: str) -> str:
        """Single notes first, then dated ones: "Notes/2026-05-15.md" is a day, not a category."""
        inside = self._inside(path)
        best = ("", 3)
        for role, templates in all_places(self.roles).items():
            for template in templates:
                places = path_template.places(template)
                rank = 0 if not places else 1 if "date" in places else 2
                if rank < best[1] and path_template.read(template, inside) is not None:
                    best = (role, rank)
        return best[0]


def note_title(stem: str) -> str:
    """A title from a file's name: "current-status" is "Current status"."""
    if not stem.islower():
        return stem
    words = re.sub(r"[-_]+", " ", stem).strip()
    return words[:1].upper() + words[1:]


def load_layout(root: Path) -> Layout:
    """The vault's layout: what its file says, else what its notes look like, else `obsidian`.

    ConfigError when the file is there and can't be used: a guess would scatter notes.
    """
    return stored_layout(root) or detect(root)


def stored_layout(root: Path) -> Layout | None:
    """What `.hindbrain/layout.toml` says; None when there is no such file."""
    file = root / ".hindbrain" / LAYOUT_FILE
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"the layout {str(file)!r} can't be read: {error.strerror}") from error
    return settled(_layout(parse_table(data, str(file))), root)


def parse_layout(data: bytes, file: str) -> Layout:
    """A layout that an owner wrote. ConfigError names `file` and the key."""
    return _layout(parse_table(data, file))


def built_in(name: str, folder: str = "") -> Layout:
    """One of LAYOUTS, in that folder. UsageError when there is none of that name."""
    return _layout(replace(built_in_table(name), folder=check_folder(folder)))


def check_folder(folder: str) -> str:
    """A folder for the agent's notes, without a final "/"; "" is the vault. UnsafePath, UsageError."""
    plain = folder.strip("/")
    if plain and plain != ".":
        if bad := UNLINKABLE.search(check_note_path(plain)):
            raise UsageError(f"{folder!r} contains {bad[0]!r}, which ends a link; choose another name")
        return plain
    return ""


def default_folder(name: str, root: Path) -> str:
    """The folder for the agent's notes in a vault that has notes of its own."""
    folder = built_in_table(name).folder
    if "{areas}" not in folder:
        return folder
    return folder.replace("{areas}", _para_areas(root) or "Areas")


def detect(root: Path) -> Layout:
    """What a vault without a table looks like. The answer stays the same when notes are added by it."""
    for name in ("openclaw", "brain", "obsidian"):
        if found := recognise(name, root):
            return found
    name = "para" if _para_areas(root) else "obsidian"
    return settled(built_in(name, default_folder(name, root)), root)


def recognise(name: str, root: Path) -> Layout | None:
    """The layout of that name as it is found in the vault; None when there is no sign of it."""
    table = built_in_table(name)
    for form in table.forms:
        if _has_form(root, form):
            roles = {**table.roles, **form.roles}
            return settled(_layout(replace(table, folder=form.folder, roles=roles)), root)
    return None


def render_layout(layout: Layout) -> bytes:
    """The table of a built-in layout as its owner finds it in the vault: every role with its path.

    Written out in full, so that a vault keeps its places when a later version has others.
    """
    lines = [
        "# Where Hindbrain keeps its notes in this vault. You may change a path here; move the note as well.",
        f"base = {_quoted(layout.name)}",
        f"folder = {_quoted(layout.folder)}",
        "",
        "[roles]",
    ]
    table = built_in_table(layout.name)
    for role, paths in layout.roles.items():
        # The order in which the package names several paths; which one is used is decided by the folders.
        ordered = sorted(paths, key=table.roles.get(role, paths).index) if len(paths) > 1 else list(paths)
        shown = [_quoted(path) for path in ordered]
        lines.append(f"{role} = {shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'}")
    return ("\n".join(lines) + "\n").encode()


def _quoted(text: str) -> str:
    """A TOML string; names that are fit for notes hold nothing else that needs an escape."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _layout(table: Table) -> Layout:
    return Layout(
        table.name, table.folder, table.roles, table.categories, table.start, table.title, table.doc
    )


def settled(layout: Layout, root: Path) -> Layout:
    """Of paths in several folders, put first the one whose folder is there, else the last."""
    if all(len(paths) == 1 for paths in layout.roles.values()):
        return layout
    roles = dict(layout.roles)
    for role, paths in roles.items():
        folders = [layout._below(path_template.fixed_folder(path)) for path in paths]
        if len(set(folders)) > 1:
            chosen = next(
                (path for path, at in zip(paths, folders, strict=True) if _is_folder(root, at)), paths[-1]
            )
            roles[role] = (chosen, *(path for path in paths if path != chosen))
    return replace(layout, roles=roles)


def _has_form(root: Path, form: Form) -> bool:
    return sum(_stands_there(root / form.folder / sign) for sign in form.signs) >= form.needs


def _stands_there(file: Path) -> bool:
    """Is there a file of exactly this name? Where case does not count, "User.md" is no sign of "USER.md"."""
    try:
        return file.is_file() and file.name in os.listdir(file.parent)  # noqa: PTH208
    except OSError:
        return False


def _is_folder(root: Path, folder: str) -> bool:
    return (root / folder).is_dir() if folder else True


def _para_areas(root: Path) -> str:
    """The folder of areas where three of the four PARA folders stand side by side; "" when nowhere."""
    from hindbrain.vault.para import is_para_vault, para_of

    for parent in ("", *folders_in(root)):
        names = folders_in(root / parent)
        if is_para_vault(f"{name}/x.md" for name in names):
            areas = [name for name in names if para_of(f"{name}/x.md")[0] == "area"]
            return "/".join(part for part in (parent, areas[0] if areas else "Areas") if part)
    return ""


def folders_in(folder: Path) -> list[str]:
    """The names of the folders in it, sorted, without hidden ones; [] when it can't be looked into."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except OSError:
        return []
    return sorted(unicodedata.normalize("NFC", name) for name in names)
