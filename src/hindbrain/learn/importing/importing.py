"""Runs of others into a vault's store: tell the format, read it, and say what came of it.

One table of adapters, each from a log to runs. All runs of a call with one format enter as one file, or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import HindbrainError, NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.learn.importing.alfworld import runs_of_alfworld
from hindbrain.learn.importing.chats import is_request, runs_of_chats, runs_of_messages
from hindbrain.learn.importing.journals import runs_of_journal
from hindbrain.learn.importing.logs import Log, first_records, opened
from hindbrain.learn.importing.mapped import runs_of_mapped
from hindbrain.learn.importing.mapping import parse_mapping
from hindbrain.learn.importing.records import runs_of_records, runs_of_text
from hindbrain.learn.importing.sniffing import sniff
from hindbrain.learn.importing.tau import runs_of_tau
from hindbrain.learn.importing.transcripts import runs_of_transcript
from hindbrain.learn.runs.events import Event
from hindbrain.learn.runs.store import RunStore

__all__ = ["FORMATS", "Imported", "import_runs", "sniff"]

FORMATS = (
    "claude-code", "codex", "openclaw", "openai", "anthropic", "journal", "trajectory", "text", "tau-bench",
    "reflexion", "mapped",
)  # fmt: skip
_SUFFIXES = tuple(
    name + packed
    for name in (".json", ".jsonl", ".ndjson", ".traj", ".txt", ".log")
    for packed in ("", ".gz")
)
_MAPPING = (
    'for other JSON logs write a TOML file with [run] command = "path.to.it" and [events] steps = "path[]", '
    "and give it with --mapping (docs/learning.md, 'Logs of any shape')"
)
_KNOWN = f"--format takes {', '.join(FORMATS)}; {_MAPPING}"
_MOST_PROBLEMS = 50
Adapter = Callable[[Log], Iterator[list[Event]]]


class Imported(NamedTuple):
    """What an import brought."""

    runs: int  # new ones
    events: int
    known: int  # runs that were there before
    problems: tuple[str, ...] = ()  # what was left out, and why
    by_outcome: Mapping[str, int] = {}


def import_runs(
    store: RunStore, files: Sequence[Path], *, format: str = "", mapping: Mapping[str, object] | None = None
) -> Imported:
    """Import log files, or folders of them. Without `format` each file is looked at.

    Raises NotFound when there is no run in any of them, and UsageError for a format that is not known, can't
    be told, or lacks its mapping.
    """
    if format and format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; {_KNOWN}")
    if mapping is not None and format not in ("", "mapped"):
        raise UsageError(f"a mapping is for logs of any other shape; leave it out, or the format {format!r}")
    if mapping is None and format == "mapped":
        raise UsageError(f"the format 'mapped' needs a mapping; {_MAPPING}")
    chosen = "mapped" if mapping is not None else format
    problems: list[str] = []
    logs: dict[str, list[Log]] = {}
    strange: list[str] = []  # files whose format can't be told
    for path in _files_in(files):
        if told := chosen or sniff(path):
            logs.setdefault(told, []).append(Log(path))
        elif path in files:
            raise UsageError(f"{str(path)!r} is in no format that is recognised; {_KNOWN}")
        else:
            strange.append(path.name)
    if strange:  # a folder may hold anything
        problems.append(
            f"{plural(len(strange), 'file is', 'files are')} in no known format: {', '.join(strange[:5])}"
        )
    added = _add(store, logs, mapping, problems)
    return added._replace(problems=_shown(problems))


def _add(
    store: RunStore,
    logs: Mapping[str, Sequence[Log]],
    mapping: Mapping[str, object] | None,
    problems: list[str],
) -> Imported:
    runs = events = known = 0
    outcomes: Counter[str] = Counter()
    for format, of_format in logs.items():
        read = _read_all(of_format, _adapter(format, mapping), problems)
        first = next(read, None)
        if first is None:
            continue
        added = store.add_imported(format, chain([first], read))
        runs, events, known = runs + added.runs, events + added.events, known + added.known
        outcomes.update(added.by_outcome)
    if not runs and not known:
        told = (
            "; ".join(problems[:3])
            or "no log file (.json, .jsonl, .traj, .txt, .log, also with .gz) is there"
        )
        raise NotFound(f"no run found: {told}")
    return Imported(runs, events, known, (), dict(sorted(outcomes.items())))


def _read_all(logs: Sequence[Log], adapter: Adapter, problems: list[str]) -> Iterator[list[Event]]:
    for log in logs:
        count = 0
        try:
            for run in adapter(log):
                count += 1
                yield run
        except HindbrainError:
            raise
        except Exception as error:  # noqa: BLE001  what is wrong with one file stops no other
            log.refuse(log.read, f"can't be read on ({type(error).__name__}: {error})")
        problems += log.problems
        if not count:
            problems.append(f"{log.path.name}: {log.read} records, and no run in them")


def _adapter(format: str, mapping: Mapping[str, object] | None) -> Adapter:
    if format == "mapped":
        mapped = parse_mapping(mapping or {})
        return lambda log: runs_of_mapped(log, mapped)
    if format in ("openai", "anthropic"):
        return lambda log: _chats(log, format)
    plain: dict[str, Adapter] = {
        "tau-bench": runs_of_tau, "reflexion": runs_of_alfworld, "journal": runs_of_journal,
        "trajectory": runs_of_records, "text": runs_of_text,
    }  # fmt: skip
    return plain.get(format) or (lambda log: runs_of_transcript(log, format))


def _chats(log: Log, format: str) -> Iterator[list[Event]]:
    requests = any(is_request(record) for record in first_records(log.path))
    return runs_of_chats(log, format) if requests else runs_of_messages(log, format)


def _files_in(paths: Sequence[Path]) -> Iterator[Path]:
    """The files themselves, and of folders all that are logs by their names; each once, in a fixed order."""
    seen: set[Path] = set()
    for path in paths:
        found = [path]
        if path.is_dir():
            found = sorted(
                file for file in path.rglob("*") if file.name.endswith(_SUFFIXES) and file.is_file()
            )
        else:
            opened(path).close()
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _shown(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - _MOST_PROBLEMS
    return (*problems[:_MOST_PROBLEMS], *((plural(more, "more problem"),) if more > 0 else ()))
