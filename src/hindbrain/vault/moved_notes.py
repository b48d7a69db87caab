"""Where the notes of a layout stand now: at their usual place, or where their owner has moved them.

A note is followed by what it says of itself (`type`, `category`, `date`, and that it is ours), a memory or a
task by its id. Remembers in the state folder where each note was seen last and what a look at the whole vault
did not find. Knows nothing of the index: `NoteLook` is asked.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import replace_file
from hindbrain.vault.marks import Marks, read_marks
from hindbrain.vault.para import para_of
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.paths import is_note, read_note

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout

_FILE = "places.json"
_LOOK_S = 1.0  # for which a look at the whole vault answers for several roles
_NOWHERE_S = 600.0  # for which a look at the whole vault is not repeated


class Found(NamedTuple):
    """What a look at the whole vault saw."""

    notes: Mapping[str, Marks]  # by path
    complete: bool  # every note could be looked at


class NoteLook(Protocol):
    """Finds notes by their marks."""

    def typed(self, type_: str, date: str) -> list[str]:
        """Paths of notes of ours of that type, as the index knows them; `date` "" for any."""
        ...

    def holding(self, ids: Collection[str]) -> list[str]:
        """Paths of notes with one of the ids, as the index knows them."""
        ...

    def holding_kind(self, kind: str) -> list[str]:
        """Paths of notes with ids of a kind ("t"), as the index knows them."""
        ...

    def has_index(self) -> bool: ...

    def had(self, path: str) -> bool:
        """Did the vault have this note when it was indexed?"""
        ...

    def knows(self, path: str) -> bool:
        """Does the index know the note as it is now?"""
        ...

    def everywhere(self) -> Found:
        """Every note of ours and every note with ids of ours, as they are on disk."""
        ...


class Role(NamedTuple):
    """A role that one note plays: `names` fill the placeholders of its path."""

    name: str
    names: Mapping[str, str]

    @property
    def key(self) -> str:
        return "/".join((self.name, *self.names.values()))


class Trouble(NamedTuple):
    """A role whose note is not where it should be."""

    role: str
    usual: str
    claims: tuple[str, ...] = ()  # notes elsewhere that say they are it; none: it is gone


class MovedNotes:
    """For one vault; made anew by each process."""

    def __init__(self, root: Path, state: Path, look: NoteLook, clock: Clock) -> None:
        self._root = root
        self._state = state
        self._look = look
        self._clock = clock
        self._seen, self._nowhere = _load(state / _FILE)
        self._is_unknown = not (state / _FILE).exists()  # nobody has looked for its notes here
        self._last_look: tuple[float, Found] | None = None  # by time.monotonic
        self._roles: dict[str, Role] = {}  # by key, as far as they were asked for
        self._wanted: dict[str, Marks] = {}  # by key: what a note of the role says of itself

    def place(self, layout: Layout, role: Role, usual: str) -> str:
        """Where the note of the role is; `usual` when it is there, or nowhere."""
        self._roles[role.key] = role
        if self._is_note(usual):
            self._note_place(role, usual)
            return usual
        known = self._seen.get(role.key, "")
        if known and known != usual and self._is_note(known):
            return known
        claims = self._claims(layout, role)
        if claims:
            self._note_place(role, claims[0])
            return claims[0]
        return usual

    def role_at(self, path: str) -> Role | None:
        """The role that a note plays because it was moved there, as far as that is known."""
        for key, place in self._seen.items():
            if place == path:
                name, _, value = key.partition("/")
                return self._roles.get(key) or Role(name, _names(name, value))
        return None

    def roles(self, name: str) -> list[Role]:
        """Every role of that name whose note was ever seen here."""
        found = []
        for key in self._seen:
            role, _, value = key.partition("/")
            if role == name:
                found.append(Role(role, _names(role, value)))
        return found

    def find_ids(self, ids: Collection[str], *, again: bool = False) -> tuple[dict[str, str], bool]:
        """Where lines with these ids stand, as far as they do; and whether the others are surely nowhere.

        `again`: look at the whole vault, also when a look a moment ago did not find them.
        """
        found = self.find_indexed(ids)
        rest = {id_ for id_ in ids if id_ not in found}
        if not again:
            rest -= self._not_found_lately()
        if not rest:
            return found, True
        seen = self._look.everywhere()
        found.update({id_: path for path, marks in seen.notes.items() for id_ in marks.ids & rest})
        if seen.complete:
            self._note_nowhere(rest - found.keys())
        return found, seen.complete

    def find_indexed(self, ids: Collection[str]) -> dict[str, str]:
        """As `find_ids`, as far as the index knows."""
        marks = self._marks_of(self._look.holding(ids))
        return {id_: path for path, found in marks.items() for id_ in ids if id_ in found.ids}

    def notes_with(self, kind: str, beside: str) -> list[str]:
        """Other notes with ids of a kind. `beside`: the note they usually stand in.

        While the index does not know all of these notes as they are, lines may have been cut from them and
        they may have been moved: the whole vault is looked at.
        """
        paths = self._look.holding_kind(kind)
        holders = {beside, *paths} if self._is_note(beside) else paths
        if not all(map(self._look.knows, holders)):
            seen = self._look.everywhere().notes.items()
            paths = [path for path, marks in seen if any(id_.startswith(f"{kind}-") for id_ in marks.ids)]
        return sorted(path for path in paths if path != beside and self._is_note(path))

    def troubles(self, layout: Layout) -> list[Trouble]:
        """Roles whose note is gone, or that several notes claim."""
        found = []
        for key in sorted(self._seen):
            name, _, value = key.partition("/")
            role = Role(name, _names(name, value))
            if name == "daily" or not layout.follows(role):
                continue
            usual = layout.usual_path(name, **role.names)
            if self._is_note(usual):
                continue
            self._nowhere.pop(key, None)
            claims = self._claims(layout, role, all_of_them=True)
            if len(claims) != 1:
                found.append(Trouble(key, usual, tuple(claims)))
        return found

    def elsewhere(self, layout: Layout) -> dict[str, str]:
        """Notes that stand elsewhere than the layout says: role -> path."""
        found = {}
        for key, place in sorted(self._seen.items()):
            name, _, value = key.partition("/")
            role = Role(name, _names(name, value))
            if not layout.follows(role):
                continue
            usual = layout.usual_path(name, **role.names)
            if self._is_note(usual):
                continue
            if not self._is_note(place):  # moved since it was seen
                self._nowhere.pop(key, None)
                place = next(iter(self._claims(layout, role)), "")
            if place:
                found[key] = place
        return found

    def _claims(self, layout: Layout, role: Role, *, all_of_them: bool = False) -> list[str]:
        """Notes elsewhere that say they are the role's, the best first. All of the vault is looked at only
        for a role whose note was there before, and not again at once when it was nowhere."""
        if role.key not in self._wanted:
            self._wanted[role.key] = layout.marks_of(role.name, role.names)
        wanted = self._wanted[role.key]
        if not wanted.type:
            return []
        notes = self._marks_of(self._look.typed(wanted.type, wanted.date))
        claims = _fitting(notes, wanted, layout, role)
        if claims and not all_of_them:
            return claims
        if not self._may_be_elsewhere(layout, role):
            return claims
        if role.key in self._not_found_lately():
            return []
        seen = self._seen_everywhere()
        claims = _fitting(seen.notes, wanted, layout, role)
        if seen.complete and not claims:
            self._note_nowhere([role.key])
        return claims

    def _may_be_elsewhere(self, layout: Layout, role: Role) -> bool:
        """Is it worth a look at the whole vault? When the note was there once, or nothing is known yet of a
        vault that may have come from another machine."""
        if role.key in self._seen or self._look.had(layout.usual_path(role.name, **role.names)):
            return True
        return self._is_unknown and not self._look.has_index()

    def _seen_everywhere(self) -> Found:
        """One look for several roles: a folder that is renamed moves them all."""
        now = time.monotonic()
        if self._last_look is None or now - self._last_look[0] > _LOOK_S:
            self._last_look = (time.monotonic(), self._look.everywhere())
        return self._last_look[1]

    def _marks_of(self, paths: Iterable[str]) -> dict[str, Marks]:
        found = {}
        for path in paths:
            with contextlib.suppress(HindbrainError, OSError):
                found[path] = read_marks(read_note(self._root, check_existing_path(path)))
        return found

    def _is_note(self, path: str) -> bool:
        try:
            return is_note(self._root, path)
        except OSError:
            return False

    def _not_found_lately(self) -> set[str]:
        now = self._clock.now()
        return {key for key, at in self._nowhere.items() if 0 <= now - at < _NOWHERE_S}

    def _note_place(self, role: Role, path: str) -> None:
        if self._seen.get(role.key) == path and role.key not in self._nowhere:
            return
        if role.name == "daily":  # of days only the last one may still have to be found
            days = [key for key in self._seen if key.startswith("daily/")]
            if any(key > role.key for key in days):
                return
            for key in days:
                del self._seen[key]
        self._seen[role.key] = path
        self._nowhere.pop(role.key, None)
        self._save()

    def _note_nowhere(self, keys: Iterable[str]) -> None:
        now = self._clock.now()
        recent = self._not_found_lately()
        self._nowhere = {key: at for key, at in self._nowhere.items() if key in recent}
        self._nowhere.update(dict.fromkeys(keys, now))
        self._save()

    def _save(self) -> None:
        """What is not kept is looked for again: no failure matters."""
        if not self._state.is_dir():
            return
        told = json.dumps({"seen": self._seen, "nowhere": self._nowhere}).encode("ascii")
        with contextlib.suppress(OSError):
            replace_file(self._state / _FILE, told, durable=False)


def is_put_away(layout: Layout, path: str) -> bool:
    """Does a note lie in the agent's archive or in one of the owner's? It is kept, and plays no part."""
    return layout.is_archived(path) or para_of(path)[0] == "archive"


def _fitting(notes: Mapping[str, Marks], wanted: Marks, layout: Layout, role: Role) -> list[str]:
    """Those that play the role and are ours, nearest to the top first; never one that has another role."""
    fitting = [
        path
        for path, marks in notes.items()
        if marks.ours
        and marks.plays(wanted)
        and layout.usual_role(path) in ("", role.name)
        and not is_put_away(layout, path)
    ]
    return sorted(fitting, key=lambda path: (path.count("/"), path))


def _names(role: str, value: str) -> dict[str, str]:
    if not value:
        return {}
    return {"date": value} if role == "daily" else {"category": value}


def _load(file: Path) -> tuple[dict[str, str], dict[str, float]]:
    try:
        told = json.loads(file.read_bytes())
        seen = {str(key): str(path) for key, path in told["seen"].items()}
        return seen, {str(key): float(at) for key, at in told["nowhere"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}, {}
