"""A layout as its TOML table says it: read, checked strictly, joined with the table it is based on.

Owns which keys, roles and placeholders there are. Reads the tables in the package; what an owner wrote comes
in as text. Knows nothing of what is in a vault.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from hindbrain.base.errors import ConfigError, UnsafePath, UsageError
from hindbrain.vault import path_template
from hindbrain.vault.path_rules import check_note_path, same_note_key

LAYOUTS = ("obsidian", "brain", "openclaw", "para")
# Each role, and the placeholder that its path may hold ("" for a single note).
ROLES: Mapping[str, str] = {
    "home": "", "profile": "", "tasks": "", "status": "", "issues": "", "inbox": "", "decisions": "",
    "projects": "name", "contacts": "name", "daily": "date", "memory": "category", "skills": "name",
    "preferences": "", "task_log": "", "templates": "name", "apps": "name", "locations": "",
    "lessons": "name", "corrections": "", "patterns": "", "recent": "", "summary": "", "sessions": "name",
    "archive": "name", "soul": "", "identity": "", "agents": "",
}  # fmt: skip
# Where the notes of a role go in a layout that does not name it, so that every verb works in every layout.
# The other roles are optional: ask `Layout.has` first.
DEFAULT_PLACES: Mapping[str, str] = {
    "profile": "User Profile.md",
    "tasks": "Active Tasks.md",
    "inbox": "Inbox.md",
    "daily": "Daily/{date}.md",
    "memory": "Memory/{category}.md",
    "status": "Current Status.md",
    "issues": "Known Issues.md",
    "skills": "Skills/{name}.md",
    "apps": "Apps/{name}.md",
    "task_log": "Learning/Task Log.md",
    "lessons": "Learning/Lessons.md",
    "corrections": "Learning/Corrections.md",
    "patterns": "Learning/Patterns.md",
    "templates": "Learning/Templates/{name}.md",
    "recent": "Learning/Recent Actions.md",
    "summary": "Learning/Daily Summary.md",
    "archive": "Archive/{name}.md",
    "sessions": "Sessions/{name}.md",
}
_FOLDERS = ("templates", "skills", "sessions", "archive")  # always played by the notes of a folder
_NOT_REMOVABLE = ("profile", "tasks", "daily", "memory", "inbox")  # an empty path for these is a mistake
# Failures and lessons may share a note: entries of the log are told apart from lessons by their form.
_MAY_SHARE = frozenset({"issues", "lessons"})
# The `type` of notes for which a layout has no first text; of the other roles it is the role itself.
TYPES: Mapping[str, str] = {
    "task_log": "task-log", "recent": "recent-actions", "summary": "daily-summary", "apps": "app-knowledge",
    "projects": "project", "contacts": "contact", "skills": "skill", "templates": "template",
    "sessions": "session",
}  # fmt: skip
MAX_BYTES = 256 * 1024
UNLINKABLE = re.compile(r"[#^\[\]]")  # with these in its path a note can't be linked to

_FOLDER = Path(__file__).parent / "layouts"
_TEXT_PLACE = re.compile(r"\{([a-z_]+)\}")
_TEXT_NAMES = ("date", "folder", "learning", "category", "name")


@dataclass(frozen=True, slots=True)
class Form:
    """How a folder of this layout is known again, and where it differs."""

    signs: tuple[str, ...]
    needs: int
    folder: str = ""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Table:
    """A layout without a vault."""

    name: str
    title: str = ""
    doc: str = ""
    folder: str = ""  # vault-relative; of a built-in one, the folder in a vault that has notes of its own
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the paths of a role; all are read
    categories: Mapping[str, str] = field(default_factory=dict)  # memory category -> role
    forms: tuple[Form, ...] = ()
    as_is: bool = False  # a folder of this kind that is there already is opened as it is, nothing is added
    start: Mapping[str, str] = field(default_factory=dict)  # role -> first text


@cache  # of what is in the package
def built_in_table(name: str) -> Table:
    """Raises UsageError for a name that is none of LAYOUTS."""
    if name not in LAYOUTS:
        raise UsageError(f"no layout {name!r}; there are {', '.join(LAYOUTS)}, or give a TOML file")
    file = _FOLDER / f"{name}.toml"
    return parse_table(file.read_bytes(), str(file), built_in=True)


def parse_table(data: bytes, file: str, *, built_in: bool = False) -> Table:
    """Raises ConfigError, which names `file` and the key."""
    reader = _Reader(_load(data, file), file)
    table = reader.table(built_in=built_in)
    _check_whole(table, reader)
    return table


def _load(data: bytes, file: str) -> dict[str, Any]:
    import tomllib

    if len(data) > MAX_BYTES:
        raise ConfigError(f"{file!r} is larger than {MAX_BYTES} bytes; a layout is a short table")
    try:
        # Editors on Windows end lines with CRLF and begin files with a mark; both are fine.
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file!r} is not UTF-8; save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file!r} is no valid TOML: {error}") from error


class _Reader:
    """One TOML document on its way to a Table."""

    def __init__(self, raw: dict[str, Any], file: str) -> None:
        self._raw = raw
        self._file = file

    def fail(self, key: str, message: str) -> ConfigError:
        return ConfigError(f"{self._file!r}, {key}: {message}")

    def table(self, *, built_in: bool) -> Table:
        known = ["name", "title", "doc", "base", "folder", "roles", "categories", "start"]
        # How a folder is recognised is asked of the tables in the package only.
        self._check_keys(self._raw, [*known, "forms", "as_is"] if built_in else known, "")
        base = self._base()
        roles = {**base.roles, **self._roles("roles", self._raw.get("roles", {}))}
        for role in _NOT_REMOVABLE:
            if roles.get(role) == ():
                raise self.fail(f"roles.{role}", "this role needs a path")
        return replace(
            base,
            name=self._text("name") or base.name or "own",
            title=self._text("title") or base.title,
            doc=self._text("doc") or base.doc,
            folder=self._text("folder") if built_in else self._folder(),
            roles={role: paths for role, paths in roles.items() if paths},
            categories={**base.categories, **self._texts("categories")},
            forms=tuple(self._forms()),
            as_is=self._raw.get("as_is", False) is True,
            start={**base.start, **self._texts("start")},
        )

    def _base(self) -> Table:
        name = self._text("base")
        if not name:
            return Table("")
        if name not in LAYOUTS:
            raise self.fail("base", f"no layout {name!r}; there are {', '.join(LAYOUTS)}")
        return built_in_table(name)

    def _folder(self) -> str:
        folder = unicodedata.normalize("NFC", self._text("folder").strip("/"))
        if folder:
            self._check_path("folder", folder)
        return folder

    def _check_keys(self, table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
        for key in table:
            if key not in known:
                raise self.fail(where + key, f"no such key{_nearest(key, known)}")

    def _text(self, key: str) -> str:
        value = self._raw.get(key, "")
        if not isinstance(value, str):
            raise self.fail(key, "must be text in quotes")
        return value

    def _texts(self, key: str) -> dict[str, str]:
        table = self._raw.get(key, {})
        if not isinstance(table, dict):
            raise self.fail(key, f"must be a table, [{key}]")
        for name, value in table.items():
            if not isinstance(value, str):
                raise self.fail(f"{key}.{name}", "must be text in quotes")
        return table

    def _roles(self, where: str, raw: object) -> dict[str, tuple[str, ...]]:
        """The paths of each role; an empty path takes the role away."""
        if not isinstance(raw, dict):
            raise self.fail(where, f"must be a table, [{where}]")
        self._check_keys(raw, ROLES, f"{where}.")
        return {role: self._paths(f"{where}.{role}", role, value) for role, value in raw.items()}

    def _paths(self, key: str, role: str, value: object) -> tuple[str, ...]:
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise self.fail(key, "must be a path in quotes, or a list of them")
        if paths == [""]:
            return ()
        for path in paths:
            self._check_template(key, role, path)
        return tuple(unicodedata.normalize("NFC", path) for path in paths)

    def _check_template(self, key: str, role: str, template: str) -> None:
        allowed = {"": (), "date": ("date", "year", "month")}.get(ROLES[role], (ROLES[role],))
        given = path_template.places(template)
        for place in given:
            if place not in allowed:
                may = " ".join(f"{{{name}}}" for name in allowed) or "no placeholder"
                raise self.fail(key, f"{{{place}}} can't stand in {template!r}; this role takes {may}")
            if given.count(place) > 1:
                raise self.fail(key, f"{{{place}}} stands twice in {template!r}")
        if role in _FOLDERS and "name" not in given:
            raise self.fail(key, f"{template!r} is a single note; put {{name}} into it")
        if role == "daily" and "date" not in given:
            raise self.fail(key, f"{template!r} is the same note every day; put {{date}} into it")
        if not template.endswith(".md"):
            raise self.fail(key, f"{template!r} is no Markdown note; let it end with .md")
        self._check_path(key, re.sub(r"[{}]", "", template))

    def _check_path(self, key: str, path: str) -> None:
        try:
            check_note_path(path)
        except UnsafePath as error:
            raise self.fail(key, str(error)) from error
        if bad := UNLINKABLE.search(path):
            raise self.fail(key, f"{path!r} contains {bad[0]!r}, which ends a link; leave it out")

    def _forms(self) -> list[Form]:
        return [
            Form(
                tuple(form["signs"]),
                form["needs"],
                form.get("folder", ""),
                self._roles("forms.roles", form.get("roles", {})),
            )
            for form in self._raw.get("forms", [])
        ]


def _check_whole(table: Table, reader: _Reader) -> None:
    """What no single key shows."""
    claimed: dict[str, str] = {}
    for role, paths in all_places(table.roles).items():
        for path in paths:
            other = claimed.setdefault(same_note_key(path_template.shape_of(path)), role)
            if other != role and {role, other} != _MAY_SHARE:
                raise reader.fail(f"roles.{role}", f"{path!r} is already the path of {other!r}")
    for category, role in table.categories.items():
        if any(map(path_template.places, table.roles.get(role, ("{}",)))):
            raise reader.fail(f"categories.{category}", f"{role!r} is no role with a single note")
    for role, text in table.start.items():
        _check_start(reader, role, text)


def _check_start(reader: _Reader, role: str, text: str) -> None:
    if role not in ROLES:
        raise reader.fail(f"start.{role}", f"no such role{_nearest(role, ROLES)}")
    for place in _TEXT_PLACE.findall(text):
        if place not in _TEXT_NAMES and place not in ROLES:
            raise reader.fail(f"start.{role}", f"{{{place}}} is neither a role nor one of {_TEXT_NAMES}")


def all_places(roles: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The paths of the roles that a layout names, then the default places of the others."""
    others = {role: (path,) for role, path in DEFAULT_PLACES.items() if role not in roles}
    return {**roles, **others}


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def fill_text(text: str, names: Mapping[str, str], links: Mapping[str, str]) -> str:
    """A first text with its placeholders filled: from `names`, else from `links` (role -> link).

    A list item that begins with a role the layout does not have is left out.
    """
    known = {**links, **names}
    lines = [line for line in text.splitlines(keepends=True) if not _is_about_missing(line, known)]
    return _TEXT_PLACE.sub(lambda place: known.get(place[1], place[1]), "".join(lines))


def _is_about_missing(line: str, known: Mapping[str, str]) -> bool:
    place = _TEXT_PLACE.match(line.removeprefix("- "))
    return line.startswith("- ") and place is not None and place[1] not in known
