"""The sessions that an OpenClaw keeps: in the database of each agent, and in the files of older versions.

Reads only. What was said in a group, by a sub-agent or in a scheduled run is not its owner's conversation,
and is told apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from hindbrain.base.plural import plural
from hindbrain.context.capture.transcripts.lines import whole_lines
from hindbrain.context.capture.transcripts.reading import parse_record
from hindbrain.context.messages import Message
from hindbrain.edge.openclaw.session_db import Record, Window, opened
from hindbrain.edge.openclaw.spoken import Spoken, what_was_said

DATABASE = "openclaw-agent.sqlite"
_LARGEST = 512 << 20  # bytes of one session's file
_NOBODYS = re.compile(
    r"^agent:[^:]+:(?:cron|hook|acp|internal-session-effects|dreaming-narrative)[^:]*(?::|$)"
)
_GROUPS = re.compile(r"(?:^|:)(?:group|channel|topic):|@g\.us$|:guild-")


class Session(NamedTuple):
    id: str
    agent: str
    messages: tuple[Message, ...]
    cwd: str = ""
    left: str = ""  # why it is not its owner's conversation; "" when it is
    problem: str = ""  # what could not be read of it


class Found(NamedTuple):
    sessions: tuple[Session, ...] = ()
    problems: tuple[str, ...] = ()


def find_sessions(folder: Path, *, groups: bool = False) -> Found:
    """`folder`: OpenClaw's state folder. `groups`: what was said in groups is wanted, too.

    A session that is in a database is not read from a file again: newer versions take the old files over.
    """
    sessions: list[Session] = []
    problems: list[str] = []
    for agent in _agents(folder):
        known: set[str] = set()
        readers: tuple[tuple[_Reader, Path], ...] = (
            (_of_database, agent / "agent" / DATABASE),
            (_of_files, agent / "sessions"),
        )
        for read, place in readers:
            try:
                found = [one for one in read(place, agent.name, groups) if one.id not in known]
            except (OSError, apsw.Error) as error:
                problems.append(
                    f"sessions of {agent.name!r} are left out: {str(place)!r} can't be read ({error})"
                )
                continue
            sessions += found
            known.update(one.id for one in found)
    return Found(tuple(sessions), tuple(problems))


_Reader = Callable[[Path, str, bool], Iterator[Session]]


def _agents(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in (folder / "agents").iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _of_database(file: Path, agent: str, groups: bool) -> Iterator[Session]:
    if not file.exists():
        return
    with opened(file) as db:
        others = frozenset() if groups else db.group_chats()
        for window in db.windows():
            records, missing = db.records(window.id)
            session = _session(window, agent, records, what_was_said(records, others=others), groups)
            problem = f"{plural(missing, 'long message')} of session {window.id!r} left out: compressed"
            yield session._replace(problem=problem if missing and not session.left else "")


def _of_files(folder: Path, agent: str, groups: bool) -> Iterator[Session]:
    keys = _keys(folder / "sessions.json")
    for file in sorted(folder.glob("*.jsonl")):
        if not file.is_file() or file.stat().st_size > _LARGEST:
            continue
        with file.open("rb") as lines:
            records = [record for line in whole_lines(lines, 0) if (record := parse_record(line.data))]
        id_ = str(_head(records).get("id") or file.stem)
        window = keys.get(id_, Window(id_, "topic:" if "-topic-" in file.stem else ""))
        yield _session(window, agent, records, what_was_said(records), groups)


def _keys(file: Path) -> dict[str, Window]:
    """What the list of sessions tells of those that were last in use."""
    try:
        told = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    rows = told.items() if isinstance(told, dict) else ()
    windows = (
        Window(
            str(entry.get("sessionId")), str(key), str(entry.get("chatType") or ""),
            str(entry.get("spawnedBy") or ""),
        )
        for key, entry in rows
        if isinstance(entry, dict)
    )  # fmt: skip
    return {window.id: window for window in windows}


def _session(window: Window, agent: str, records: Sequence[Record], spoken: Spoken, groups: bool) -> Session:
    left = _why_left(window)
    if not left and not groups and (spoken.in_group or _is_group(window)):
        left = "a group chat"
    return Session(window.id, agent, spoken.messages, str(_head(records).get("cwd") or ""), left)


def _why_left(window: Window) -> str:
    if ":subagent:" in window.key or window.spawned:
        return "a sub-agent's"
    return "no person's" if _NOBODYS.match(window.key) else ""


def _is_group(window: Window) -> bool:
    return window.chat in ("group", "channel") or _GROUPS.search(window.key) is not None


def _head(records: Sequence[Record]) -> Record:
    return next((record for record in records if record.get("type") == "session"), {})
