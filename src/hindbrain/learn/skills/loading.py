"""Skill files, read: notes of the vault's skills folder, and SKILL.md folders that a caller names.

Looks nowhere else: a folder of skills outside of the vault is read only when it is handed in. One file that
can't be used is a named problem and keeps no other from being read. Writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.learn.skills.skill import Skill
from hindbrain.learn.templates.trigger import trigger_problem
from hindbrain.vault.layout import folders_in
from hindbrain.vault.note import Property
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.parse import decode_note, parse_note

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout

MOST_FILES = 1_000  # a folder with more is no folder of skills
MOST_BYTES = 256 * 1024
_FILE = "SKILL.md"
_DEEPEST = 3  # folders below the folder of skills
_NO_SKILLS = frozenset({"readme.md", "index.md", "_index.md", "license.md", "changelog.md"})


class Loaded(NamedTuple):
    skills: tuple[Skill, ...] = ()  # by name
    problems: tuple[str, ...] = ()  # files that could not be used, and why


def load_skills(root: Path, layout: Layout, extra: Sequence[Path] = ()) -> Loaded:
    """The vault's own skills first; of two with one name, the first counts."""
    problems: list[str] = []
    found: dict[str, Skill] = {}
    for path, data in [*_in_vault(root, layout, problems), *_in_folders(extra, problems)]:
        skill = parse_skill(data, path)
        if not skill.description:
            problems.append(f"{path}: it does not say when to use it; add a description")
            continue
        if problem := trigger_problem(skill.trigger):
            problems.append(f"{path}: {problem}")
            skill = skill._replace(trigger="")
        other = found.setdefault(skill.name.casefold(), skill)
        if other is not skill:
            problems.append(f"{path}: a skill named {skill.name!r} is also in {other.path}; that one counts")
    return Loaded(
        tuple(sorted(found.values(), key=lambda skill: (skill.name.casefold(), skill.path))), tuple(problems)
    )


def parse_skill(data: bytes, path: str) -> Skill:
    """A skill file: `name`, `description`, perhaps `trigger` and `checks` in its frontmatter.

    Without a name or description, its title and start count.
    """
    folder, _, file = path.replace("\\", "/").rpartition("/")
    stem = folder.rpartition("/")[2] if file == _FILE else file.removesuffix(".md")
    note = parse_note(decode_note(data)[0], stem=stem)
    said = {key.lower(): value for key, value in note.frontmatter.items()}
    first = note.body_line
    while first < len(note.lines) and not note.lines[first - 1].strip():
        first += 1
    name = _text(said, "name") or (note.title if file != _FILE else "") or stem
    return Skill(
        name=name,
        description=" ".join((_text(said, "description") or note.summary).split()),
        trigger=_text(said, "trigger"),
        text="\n".join(note.lines[first - 1 :]).rstrip(),
        path=path,
        first_line=first,
        source=source_of_note(path, note.frontmatter),
        updated=_text(said, "updated") or _text(said, "approved"),
        checks=_list(said, "checks"),
    )


def _in_vault(root: Path, layout: Layout, problems: list[str]) -> Iterator[tuple[str, bytes]]:
    """Notes of the skills folder and of the folders in it, and SKILL.md: both forms, in every layout."""
    from hindbrain.vault.path_rules import check_existing_path
    from hindbrain.vault.paths import read_note
    from hindbrain.vault.template_notes import matching_notes

    folder = layout.folder_of("skills")
    if not folder:
        return
    try:
        paths = list[str](matching_notes(root, f"{folder}/{{name}}.md"))
        for below in _folders_below(root, folder):
            # A folder with a SKILL.md is one skill: the other notes in it are its parts.
            notes = matching_notes(root, f"{below}/{{name}}.md")
            whole = [path for path in notes if path.rpartition("/")[2] == _FILE]
            paths += whole or notes
    except HindbrainError as error:
        problems.append(str(error))
        return
    for path in sorted(paths)[:MOST_FILES]:
        if path.rpartition("/")[2].lower() in _NO_SKILLS:
            continue
        try:
            yield path, read_note(root, check_existing_path(path))
        except HindbrainError as error:
            problems.append(f"{path}: {error}")


def _folders_below(root: Path, folder: str) -> list[str]:
    """The folders of skills in a folder, such as `skills/custom`; nothing below a skill's own folder."""
    found: list[str] = []
    level = [folder]
    for _ in range(_DEEPEST):
        level = [f"{above}/{name}" for above in level for name in folders_in(root / above)][:MOST_FILES]
        found += level
        level = [below for below in level if not (root / below / _FILE).is_file()]
    return found[:MOST_FILES]


def _in_folders(folders: Sequence[Path], problems: list[str]) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        try:
            names = sorted(os.listdir(folder))[:MOST_FILES]  # noqa: PTH208 - names only
        except OSError as error:
            problems.append(f"{folder}: can't be looked into: {error.strerror}")
            continue
        files = [folder / _FILE, *(folder / name / _FILE for name in names if not name.startswith("."))]
        for file in files:
            try:
                with file.open("rb") as opened:
                    data = opened.read(MOST_BYTES + 1)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                problems.append(f"{file}: {error.strerror}")
                continue
            if len(data) > MOST_BYTES:
                problems.append(f"{file}: more than {MOST_BYTES // 1024} KB; a skill is a page")
                continue
            yield str(file), data


def _text(said: dict[str, Property], key: str) -> str:
    value = said.get(key)
    return value.strip() if isinstance(value, str) else ""


def _list(said: dict[str, Property], key: str) -> tuple[str, ...]:
    """Its items; one that stands alone is a list of one, and `file: a.txt` below the key is such a one."""
    value = said.get(key)
    if isinstance(value, dict):
        items = [f"{name}: {told}" for name, told in value.items() if isinstance(told, str)]
    else:
        items = [value] if isinstance(value, str) else value or []
    return tuple(item.strip() for item in items if item.strip())
