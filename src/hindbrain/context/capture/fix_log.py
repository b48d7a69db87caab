"""What became of fixes that were told: a log of ids in the state folder, and the counts it adds up to.

One JSON line for each happening: `told` to a session, `heeded` (done after it was told), `helped` (then the
command worked), `worked` and `failed` (done, told or not, and how that ended). A fix whose last end is a
failure is withdrawn until it works again. Holds no text of any fix. A line that can't be written is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.base.files import AppendLog, make_folder, replace_file
from hindbrain.base.json_lines import read_objects
from hindbrain.context.turn import SessionKey

Happening: TypeAlias = Literal["told", "heeded", "helped", "worked", "failed"]

FILE = "fixes.jsonl"  # in the state folder of a vault
_MOST_BYTES = 2_000_000  # then the older half of what was only told goes


class FixCounts(NamedTuple):
    """Of tellings of fixes, each once a session."""

    told: int = 0
    heeded: int = 0
    helped: int = 0
    withdrawn: int = 0  # fixes that failed when they were done last


class FixRecord(NamedTuple):
    """What is known of one fix."""

    worked: int = 0  # times that it was done again and worked
    withdrawn: bool = False


class FixLog:
    """Any number of processes append to it."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE

    def add(self, happening: Happening, fixes: Iterable[str], session: SessionKey, at: float) -> None:
        told = [
            {
                "event": happening,
                "fix": fix,
                "host": session.host,
                "session": session.id[:200],
                "at": round(at),
            }
            for fix in fixes
        ]
        lines = b"".join(json.dumps(one, ensure_ascii=True).encode("ascii") + b"\n" for one in told)
        try:
            make_folder(self._path.parent)
            with AppendLog(self._path) as log:
                log.append(lines)
                size = log.size
            if size > _MOST_BYTES:
                self._drop_oldest()
        except OSError:
            return

    def records(self) -> dict[str, FixRecord]:
        """By the fix's id, of those that were done again."""
        found: dict[str, FixRecord] = {}
        for one in self._read():
            fix, event = str(one.get("fix")), one.get("event")
            if event in ("worked", "failed"):
                known = found.get(fix, FixRecord())
                found[fix] = FixRecord(known.worked + (event == "worked"), event == "failed")
        return found

    def told_in(self, session: SessionKey) -> frozenset[str]:
        key = (session.host, session.id[:200])
        return frozenset(
            str(one.get("fix"))
            for one in self._read()
            if one.get("event") == "told" and (one.get("host"), one.get("session")) == key
        )

    def counts(self, *, since: float = 0.0) -> FixCounts:
        """Of what happened since then; what is withdrawn is so now."""
        seen: dict[str, set[tuple[object, ...]]] = {"told": set(), "heeded": set(), "helped": set()}
        for one in self._read():
            at = one.get("at")
            if one.get("event") in seen and isinstance(at, int | float) and at >= since:
                seen[str(one["event"])].add((one.get("fix"), one.get("host"), one.get("session")))
        withdrawn = sum(record.withdrawn for record in self.records().values())
        return FixCounts(len(seen["told"]), len(seen["heeded"]), len(seen["helped"]), withdrawn)

    def _read(self) -> list[Mapping[str, object]]:
        try:
            return list(read_objects(self._path))
        except OSError:
            return []

    def _drop_oldest(self) -> None:
        """A line that is appended meanwhile may be lost. How fixes ended is kept: it decides what is told."""
        lines = self._path.read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        kept = [line for line in lines[:half] if b'"worked"' in line or b'"failed"' in line]
        replace_file(self._path, b"".join([*kept, *lines[half:]]), durable=False)
