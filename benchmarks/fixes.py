"""Does a failed command get the fix that worked before, and nothing when none is known?

Each known failure happens once in a session of its own: the command fails, something is done, it works.
Then, in new sessions, each fails twice more with other paths, numbers and names (`again`), and other
commands fail of whose errors nothing is known, two thirds of them with words much like a known one
(`silent`). The vault also has notes, some on errors without a known fix. All of
`benchmarks/data/fixes.jsonl` was written by us, after public error messages.


ours    what the failure hook tells, by the built-in table
bm25    the fix whose error shares most words, idf-weighted, if it shares any
bm25>t  the same above the score that is best for it on this very data: more right than false fixes
latest  the fix that was learned last
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.models.static import words_of

_DATA = Path(__file__).with_name("data") / "fixes.jsonl"
_NOW = 1_790_000_000.0
_DAY_S = 86_400.0
_K1, _B = 1.2, 0.75
_COLUMNS = ("right first", "right", "wrong first", "false", "notes found", "notes in vain")


class Failing(NamedTuple):
    command: str
    error: str
    case: str = ""  # the known failure that it is again, or that it sounds like


class Case(NamedTuple):
    """A failure that was solved."""

    name: str
    failed: Failing
    steps: tuple[dict[str, str], ...]  # {"run": ...} or {"edit": ..., "old": ..., "new": ...}
    worked: str  # the command that went well in the end
    tells: str  # what a right answer contains
    again: tuple[Failing, ...]


class Note(NamedTuple):
    path: str
    text: str
    command: str = ""  # that fails with an error this note is on
    error: str = ""
    tells: str = ""


class Data(NamedTuple):
    cases: tuple[Case, ...]
    silent: tuple[Failing, ...]
    notes: tuple[Note, ...]


class Answer(NamedTuple):
    fixes: tuple[str, ...]  # names of the cases whose fixes were told, best first
    text: str = ""  # of all that was told


def run(options: Options) -> Outcome:
    data = read_data(options.limit)
    with options.work("fixes") as work, taught(work, data) as app:
        rows = {"ours": _judged(data, lambda failing: _told(app, data, failing), notes=True)}
    ranked = _by_words(data.cases)
    rows["bm25"] = _judged(data, lambda failing: _best(ranked(failing), 0.0))
    scores = sorted({score for failing in _all(data) for score, _ in ranked(failing)[:1]})
    tuned = [_judged(data, lambda failing, at=at: _best(ranked(failing), at)) for at in scores]  # type: ignore[misc]
    rows["bm25>t"] = max(tuned, key=lambda row: row["right first"] - row["wrong first"] - row["false"])
    rows["latest"] = _judged(data, lambda _: Answer((data.cases[-1].name,)))
    lines = tuple(
        (name, *(f"{figures[key]:.1f}" if key in figures else "-" for key in _COLUMNS))
        for name, figures in rows.items()
    )
    return Outcome(
        metrics={f"ours.{key}": value for key, value in rows["ours"].items()},
        baselines={name: figures for name, figures in rows.items() if name != "ours"},
        data={
            "known": len(data.cases),
            "again": sum(len(case.again) for case in data.cases),
            "silent": len(data.silent),
            "notes": len(data.notes),
        },
        tables=(Table("Fixes told after a failed command (%)", ("", *_COLUMNS), lines),),
    )


def read_data(limit: int = 0) -> Data:
    cases, silent, notes = [], [], []
    for line in _DATA.read_text("utf-8").splitlines():
        [(kind, told)] = json.loads(line).items()
        if kind == "known":
            name = told["name"]
            again = tuple(Failing(command, error, name) for command, error in told["again"])
            command, error = told["failed"]
            failed = Failing(command, error, name)
            steps = tuple(told["steps"])
            cases.append(Case(told["name"], failed, steps, told["worked"], told["tells"], again))
        elif kind == "silent":
            silent.append(Failing(told["command"], told["error"], told["alike"]))
        else:
            notes.append(Note(**told))
    cut = limit or None
    return Data(tuple(cases[:cut]), tuple(silent[:cut]), tuple(notes))


@contextmanager
def taught(folder: Path, data: Data) -> Iterator[App]:
    """A vault with these notes, in which these failures were solved, one a day."""
    vault = folder / "vault"
    for note in data.notes:
        path = vault / note.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note.text, encoding="utf-8")
    clock = FakeClock(_NOW - _DAY_S * (len(data.cases) + 1))
    app = build_app(bench_config(folder / "state"), vault, clock=clock, warm=True)
    app.state.mkdir(parents=True, exist_ok=True)
    for number, case in enumerate(data.cases):
        session = SessionKey("opencode", f"taught-{number}")
        app.context.said(session, list(conversation(case, clock.now())), "")
        while app.context.catch_up(deadline_s=60.0).more:
            pass
        app.memory.settle(idle=True)
        clock.advance(_DAY_S)
    app.sync()
    try:
        yield app
    finally:
        app.close()


def conversation(case: Case, at: float = 0.0) -> Iterator[Message]:
    """The session in which it was solved, as a host tells it."""
    calls = [("Bash", case.failed.command, f"Exit code 1\n{case.failed.error}", True)]
    for step in case.steps:
        if "run" in step:
            calls.append(("Bash", step["run"], "", False))
        else:
            edit = {"file_path": step["edit"], "old_string": step["old"], "new_string": step["new"]}
            calls.append(("Edit", json.dumps(edit), "The file was updated.", False))
    calls.append(("Bash", case.worked, "ok", False))
    yield Message("user", "go on", id=f"{case.name}-0", at=at)
    for number, (tool, text, output, failed) in enumerate(calls, 1):
        call = f"{case.name}-{number}"
        yield Message("assistant", text, tool, call, id=f"{call}-call", at=at + number)
        yield Message("tool", output, tool, call, failed=failed, id=f"{call}-result", at=at + number)


def _all(data: Data) -> list[Failing]:
    noted = [Failing(note.command, note.error) for note in data.notes if note.command]
    return [*(one for case in data.cases for one in case.again), *data.silent, *noted]


def _judged(data: Data, answer: Callable[[Failing], Answer], *, notes: bool = False) -> Figures:
    again = [(one, answer(one)) for case in data.cases for one in case.again]
    silent = [answer(one) for one in data.silent]
    noted = [(note, answer(Failing(note.command, note.error))) for note in data.notes if note.command]
    unknown = [*silent, *(told for _, told in noted)]
    figures = {
        "right first": _share([told.fixes[:1] == (one.case,) for one, told in again]),
        "right": _share([one.case in told.fixes for one, told in again]),
        "wrong first": _share([bool(told.fixes) and told.fixes[0] != one.case for one, told in again]),
        "false": _share([bool(told.fixes) for told in unknown]),
    }
    if notes:
        figures["notes found"] = _share([note.tells in told.text for note, told in noted])
        figures["notes in vain"] = _share([bool(told.text) and not told.fixes for told in silent])
    return figures


def _share(given: Sequence[bool]) -> float:
    return round(100 * sum(given) / max(1, len(given)), 1)


def _told(app: App, data: Data, failing: Failing) -> Answer:
    session = SessionKey("claude-code", f"new-{hash(failing)}")
    turn = app.context.failure(session, tool="Bash", command=failing.command, error=failing.error)
    excerpts = turn.pack.excerpts if turn.pack is not None else ()
    text = "\n".join(excerpt.text for excerpt in excerpts)
    plain = text.replace("\\", "")
    places = {case.name: plain.find(case.tells.replace("\\", "")) for case in data.cases}
    found = sorted((place, name) for name, place in places.items() if place >= 0)
    return Answer(tuple(name for _, name in found), text)


def _best(ranked: Sequence[tuple[float, str]], least: float) -> Answer:
    return Answer(tuple(name for score, name in ranked[:1] if score and score >= least))


def _by_words(cases: Sequence[Case]) -> Callable[[Failing], list[tuple[float, str]]]:
    """BM25 over commands and errors of what was solved."""
    texts = [_words(case.failed) for case in cases]
    counts = Counter(word for text in texts for word in set(text))
    mean = sum(map(len, texts)) / max(1, len(texts))

    def score(asked: Sequence[str], text: Sequence[str]) -> float:
        own = Counter(text)
        total = 0.0
        for word in set(asked) & own.keys():
            idf = math.log(1 + (len(texts) - counts[word] + 0.5) / (counts[word] + 0.5))
            total += idf * own[word] * (_K1 + 1) / (own[word] + _K1 * (1 - _B + _B * len(text) / mean))
        return total

    @cache
    def ranked(failing: Failing) -> list[tuple[float, str]]:
        asked = _words(failing)
        scores = [(score(asked, text), case.name) for case, text in zip(cases, texts, strict=True)]
        return sorted(scores, key=lambda one: (-one[0], one[1]))

    return ranked


def _words(failing: Failing) -> list[str]:
    return [word.lower() for word in words_of(f"{failing.command}\n{failing.error}")]


def _draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    rows = {"ours": {key.removeprefix("ours."): value for key, value in result["metrics"].items()}}
    rows |= result["baselines"]
    items = [
        (f"{name}: {key}", row[key], f"{row[key]:.0f} %")
        for name, row in rows.items()
        for key in ("right first", "false")
    ]
    flat_bars(axes, "Fixes told after a failed command", items, [100.0] * len(items))


BENCHMARK = Benchmark("fixes", run, _draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
