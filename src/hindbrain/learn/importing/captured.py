"""Runs from conversations that hooks have told of: read where their hosts keep them, without being asked.
What a host without a transcript has handed over is read where it was kept for this.

A run enters when the prompt after it has come, or when the conversation has rested, since only then is it
known how it ended. What memory its prompt was given is told by the session's ledger. How far a transcript was
looked at is a derived file: without it all are read again, and nothing enters twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import replace_file
from hindbrain.context.capture.belonging import is_for
from hindbrain.context.capture.cursors import Cursor, Cursors
from hindbrain.context.capture.heard import heard_file
from hindbrain.context.topic.ledger import FOLDER
from hindbrain.context.topic.ledger_file import LedgerFile, ledger_name
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.transcripts import HOSTS, runs_of_transcript
from hindbrain.learn.injected import Shown
from hindbrain.learn.runs.events import ContextInjected, Event, RunCreated, RunEnded, ToolExecuted

if TYPE_CHECKING:
    from hindbrain.learn.runs.store import RunStore

SEEN = "learned-sessions.json"  # in the state folder
_RESTED_S = 600.0  # without a line: the person has gone
_EARLY_S = 30.0  # a pack is made before the host writes the prompt down


class Taken(NamedTuple):
    runs: int = 0
    problems: tuple[str, ...] = ()


class _Injection(NamedTuple):
    at: float
    shown: tuple[Shown, ...]
    tokens: int


def take_captured(
    store: RunStore,
    root: Path,
    state: Path,
    *,
    now: float,
    named: Callable[[Iterable[Shown]], tuple[str, ...]],
) -> Taken:
    """Add the runs that are over. `named`: the ids of what was shown."""
    seen = _seen(state)
    after: dict[str, list[float]] = {}
    runs = 0
    problems: list[str] = []
    for cursor in Cursors(state).known(now=0.0):
        if cursor.session.host not in HOSTS or not is_for(root, cursor.cwd):
            continue
        path = Path(cursor.transcript) if cursor.transcript else heard_file(state, cursor.session)
        try:
            stat = path.stat()
        except (OSError, ValueError):  # gone, or no name of a file
            continue
        rested = now - stat.st_mtime > _RESTED_S
        after[str(path)] = stamp = [float(stat.st_size), stat.st_mtime, float(rested)]
        if seen.get(str(path)) == stamp:
            continue
        log = Log(path)
        try:
            found = _with_injected(_over(log, cursor, rested=rested), _injections(state, cursor), named)
            first = next(found, None)
            if first is not None:
                runs += store.add_imported(cursor.session.host, chain([first], found)).runs
        except HindbrainError:
            raise
        except Exception as error:  # noqa: BLE001  what is wrong with one conversation stops no other
            problems.append(f"{path.name}: nothing was learned of it ({type(error).__name__}: {error})")
        problems += log.problems
    if after != seen:
        replace_file(state / SEEN, json.dumps(after).encode())
    return Taken(runs, tuple(problems))


def _over(log: Log, cursor: Cursor, *, rested: bool) -> Iterator[list[Event]]:
    """The runs that are over and in which something was done."""
    last: list[Event] | None = None
    for run in runs_of_transcript(log, cursor.session.host):
        if last is not None:
            yield last
        last = run if any(isinstance(event, ToolExecuted) for event in run) else None
    if last is not None and rested:
        yield last


def _with_injected(
    runs: Iterator[list[Event]],
    injections: list[_Injection],
    named: Callable[[Iterable[Shown]], tuple[str, ...]],
) -> Iterator[list[Event]]:
    for run in runs:
        created, *rest = run
        ended = rest[-1]
        assert isinstance(created, RunCreated) and isinstance(ended, RunEnded)
        given = [one for one in injections if created.at - _EARLY_S <= one.at <= ended.at]
        items = named(shown for one in given for shown in one.shown)
        tokens = sum(one.tokens for one in given)
        told = [ContextInjected(created.run, created.at, items, tokens)] if items else []
        yield [created, *told, *rest]


def _injections(state: Path, cursor: Cursor) -> list[_Injection]:
    """What the ledger still tells; an old one was summarised, and tells no more of its turns."""
    session = cursor.session
    try:
        events, _ = LedgerFile(state / FOLDER / ledger_name(session.host, session.id)).new_events()
    except OSError:
        return []
    found: list[_Injection] = []
    for event in events:
        at, pages = event.get("at"), event.get("pages")
        if event.get("event") in ("injected", "returned") and isinstance(at, int | float):
            shown = [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []
            tokens = [page["tokens"] for page in shown if isinstance(page.get("tokens"), int)]
            found.append(_Injection(float(at), tuple(map(_shown, shown)), sum(tokens)))
    return found


def _shown(page: Mapping[str, object]) -> Shown:
    path, _, lines = str(page.get("place", "")).rpartition(":")
    first, _, last = lines.partition("-")
    ids = page.get("ids")
    known = tuple(str(given) for given in ids) if isinstance(ids, list) else ()
    return Shown(path, _number(first), _number(last or first), known)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else 0


def _seen(state: Path) -> dict[str, list[float]]:
    try:
        told = json.loads((state / SEEN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
