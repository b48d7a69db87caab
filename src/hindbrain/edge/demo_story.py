"""The second half of the demo: an agent errs, is put right three times, and from then on does it right.

Everything in it is the real thing (runs, verification, learning, packs) but for the model: see `demo_model`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.edge.agent_runs.telling import one_line
from hindbrain.edge.demo_model import FOLDER, LAST_YEAR, DemoModel
from hindbrain.edge.output import BOLD, DIM, GREEN, RED, Output, safe

if TYPE_CHECKING:
    from hindbrain.agent.run import RunResult, Said
    from hindbrain.app import App
    from hindbrain.learn.lessons.lesson import Lesson

_COMMAND = "write an invitation to our reading group for {}"
_CORRECTED = _COMMAND + ", as my vault has it"
_PEOPLE = ("Ilse Brandt", "Tomás Vidal", "Noor Haddad")
_NEXT = "Ben Okafor"
_RIGHT = "half past seven"  # as the note says; last year's file says otherwise
_OLD = "Dear Ilse,\n\nwe meet on the last Friday of the month, at eight, in the library.\n"
_ITERATIONS = 3
_ELSEWHERE = re.compile(r" in '[^']+'(?= with:)")  # a temp folder, which says nothing


class Story(NamedTuple):
    """What happened."""

    runs: tuple[RunResult, ...]
    lesson: Lesson | None
    note: str  # the lesson's lines in its note
    heard: tuple[tuple[Said, ...], ...]  # of each run

    @property
    def turned_out_well(self) -> bool:
        """The last run was right at once, and took less than the first."""
        first, last = self.runs[0], self.runs[-1]
        return self.lesson is not None and not first.ok and last.ok and last.iterations < first.iterations


def tell_story(app: App, workspace: Path) -> Story:
    """Works on files in `workspace`, and learns into the app's vault."""
    (workspace / FOLDER).mkdir(parents=True)
    (workspace / LAST_YEAR).write_text(_OLD, encoding="utf-8")
    app.chat = DemoModel()
    runs: list[RunResult] = []
    heard: list[tuple[Said, ...]] = []
    for person in _PEOPLE:
        for command in (_COMMAND, _CORRECTED):
            _run(app, workspace, command.format(person), person, runs, heard)
    _run(app, workspace, _COMMAND.format(_NEXT), _NEXT, runs, heard)
    lesson = next(iter(app.learning.lessons()), None)
    return Story(tuple(runs), lesson, _note_of(app, lesson), tuple(heard))


def _run(
    app: App, workspace: Path, command: str, person: str, runs: list[RunResult], heard: list[tuple[Said, ...]]
) -> None:
    from hindbrain.agent.run import Limits, RunRequest
    from hindbrain.agent.verify.check import Check

    said: list[Said] = []
    request = RunRequest(
        command,
        checks=(Check("text", f"{FOLDER}/{person}.txt", _RIGHT),),
        limits=Limits(iterations=_ITERATIONS),
        workspace=str(workspace),
        allowed=("write_file",),
    )
    runs.append(app.agent.run(request, said.append))
    heard.append(tuple(said))


def _note_of(app: App, lesson: Lesson | None) -> str:
    """The lesson as its note has it, without the list of runs."""
    if lesson is None:
        return ""
    path = app.learning.lesson_places()[lesson.id][1]
    lines = (app.root / path).read_text(encoding="utf-8").splitlines()
    head = next((line for line in lines if f"^{lesson.id}" in line), "")
    return f"{path}\n{head}"


def story_lines(story: Story, out: Output) -> Iterator[str]:
    """The first error and its correction in full, then what repeats, the lesson, and the run that has it."""
    yield out.paint("An agent that learns", BOLD) + out.paint("  (a scripted model; all else is real)", DIM)
    yield ""
    yield from _run_lines(story.runs[0], story.heard[0], out)
    yield from _run_lines(story.runs[1], story.heard[1], out, corrected=True)
    failed = sum(not run.ok for run in story.runs[:-1])
    yield ""
    yield f"Twice more, for others: {failed} failures alike, each put right by its owner. They make a lesson:"
    yield ""
    path, _, text = story.note.partition("\n")
    yield f"  {out.paint(safe(path), DIM)}"
    yield from textwrap.wrap(safe(text), out.width - 4, initial_indent="  ", subsequent_indent="    ")
    yield ""
    yield "The next time it is in the prompt, and nobody has to say it again:"
    yield ""
    yield from _run_lines(story.runs[-1], story.heard[-1], out)
    before = story.runs[0].iterations + story.runs[1].iterations
    yield ""
    yield f"{before} iterations and a correction at first, {story.runs[-1].iterations} and none now."


def _run_lines(
    result: RunResult, heard: tuple[Said, ...], out: Output, *, corrected: bool = False
) -> Iterator[str]:
    room = out.width - 10
    yield f"{'put right:' if corrected else 'asked:'} {out.paint(safe(result.command), BOLD)}"
    for said in heard:
        if said.kind == "memory":
            titles = textwrap.wrap(", ".join(map(safe, said.text.split("\n"))), room)
            yield from (f"  {out.paint(f'{lead:8}{line}', DIM)}" for lead, line in _led("memory", titles))
        elif said.kind == "call":
            yield f"  · {one_line(_ELSEWHERE.sub('', said.text), room)}"
        elif said.kind == "rejected":
            yield f"  {out.paint('✗', RED)} {one_line(said.text, room)}"
    mark = out.paint("done", GREEN) if result.ok else out.paint("failed", RED)
    score = f", score {result.score}" if result.score is not None else ""
    yield f"  {mark}{score}, {plural(result.iterations, 'iteration')}"


def _led(lead: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    for at, line in enumerate(lines):
        yield ("" if at else lead), line


def story_data(story: Story) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "runs": [
            {
                "command": run.command,
                "end": run.end,
                "score": run.score,
                "iterations": run.iterations,
                "recalled": list(run.recalled),
            }
            for run in story.runs
        ],
        "lesson": story.lesson.text if story.lesson is not None else "",
        "as_expected": story.turned_out_well,
    }
