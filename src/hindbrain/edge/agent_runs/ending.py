"""How a run ended, for a person, for a program and as an exit code; and what was learned, with the notes.

The shape of `result_data` is a promise: docs/json.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.agent_runs.telling import one_line
from hindbrain.edge.output import DIM, GREEN, RED, YELLOW, Output, safe, terminal_width
from hindbrain.edge.when import span_text

if TYPE_CHECKING:
    from hindbrain.agent.run import RunResult
    from hindbrain.agent.safety.approval import Asked
    from hindbrain.learn.service import Learned, Learning

EXIT_CODES = {"complete": 0, "fail": 1, "stuck": 1, "waiting": 3, "cancelled": 130}
_WORDS = {"complete": "done", "fail": "failed"}
_COLOURS = {"complete": GREEN, "waiting": YELLOW, "cancelled": YELLOW}
_MOST_NAMED = 5  # lessons or templates
_LONGEST_LESSON = 160  # characters of its line; all of it stands in the note
_LEAST_LESSON = 40  # of its text, however long the name of the note


def end_line(result: RunResult, out: Output) -> str:
    """`done · score 100 · 3 iterations · 1,204 tokens · 4 s · r-20261116-103000-7f3k`."""
    told = [f"score {result.score}"] if result.score is not None else []
    if result.iterations:
        told.append(plural(result.iterations, "iteration"))
    told += [plural(result.usage.tokens, "token")] if result.usage.tokens else []
    told += [f"${result.usage.cost:.4f}"] if result.usage.cost else []
    told += [span_text(result.seconds)] if result.seconds else []
    told.append(result.run)
    word, colour = _WORDS.get(result.end, result.end), _COLOURS.get(result.end, RED)
    word = out.paint_err(word, colour) if result.proven else out.paint_err("ended, not proven", YELLOW)
    # "cancelled" says it all: whoever reads this has just done so.
    told_why = result.reason and result.end != "cancelled"
    reason = f": {safe(' '.join(result.reason.split()))}" if told_why else ""
    return f"{word}{reason} {out.paint_err('· ' + ' · '.join(told), DIM)}"


def waiting_lines(waiting: Sequence[Asked], out: Output) -> Iterator[str]:
    """What the run waits for, a line each; `hindbrain approve` shows all of it."""
    for asked in waiting:
        mark = f"waits for you ({asked.id}):"
        room = max(20, terminal_width(out.stderr) - len(mark) - 1)
        yield f"{out.paint_err(mark, YELLOW)} {one_line(asked.shown, room)}"


def next_line(result: RunResult, waiting: Sequence[Asked]) -> str:
    """What a person can do now; "" where there is nothing to do."""
    if result.end == "waiting":
        decide = f"hindbrain approve {waiting[0].id}" if waiting else "hindbrain approve"
        return f"{decide} decides, then hindbrain runs resume {result.run}"
    return "" if result.ok else f"hindbrain runs show {result.run} tells each step"


def learned_lines(learned: Learned, learning: Learning) -> Iterator[str]:
    """What is new since the run before, a line each, with the note that says so."""
    recorded = learned.recorded
    if recorded.corrections:
        yield f"learned: {recorded.corrections} correction{'s' if recorded.corrections > 1 else ''} of yours"
    for title in recorded.tasks:
        yield f"task done: {title}"
    fresh = [*learned.lessons.added, *learned.lessons.changed]
    if fresh:
        places = learning.lesson_places()
        for id_ in fresh[:_MOST_NAMED]:
            text, path = places.get(id_, ("", ""))
            word = "a lesson" if id_ in learned.lessons.added else "a lesson, changed"
            before, after = f"learned {word}: ", f" ({path}#^{id_})"
            room = max(_LEAST_LESSON, _LONGEST_LESSON - len(before) - len(after))
            yield f"{before}{one_line(text, room)}{after}"
    for path in [*learned.templates.added, *learned.templates.changed][:_MOST_NAMED]:
        yield f"learned steps that work: {path}"
    if learned.proposals:
        yield "a skill waits for your decision: hindbrain inbox"
    for problem in learned.problems:
        yield f"could not learn all of it: {problem}"


def result_data(result: RunResult, waiting: Sequence[Asked]) -> dict[str, Any]:
    from hindbrain.edge.commands.learn import learned_data

    return {
        "run": result.run,
        "command": result.command,
        "end": result.end,
        "answer": result.answer,
        "score": result.score,
        "reason": result.reason,
        "proven": result.proven,
        "iterations": result.iterations,
        "usage": dict(result.usage._asdict()),
        "seconds": round(result.seconds, 3),
        "recalled": list(result.recalled),
        "waiting": [asked_data(asked) for asked in waiting],
        "learned": None if result.learned is None else learned_data(result.learned, dry_run=False),
    }


def asked_data(asked: Asked) -> Mapping[str, Any]:
    """An approval that waits. The shape is a promise: docs/json.md."""
    return {
        "id": asked.id,
        "run": asked.run,
        "tool": asked.tool,
        "arguments": dict(asked.arguments),
        "shown": asked.shown,
        "why": asked.why,
        "at": asked.at,
    }
