"""Runs as text: a table of many, the story of one; and as JSON. Knows nothing of where they are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.output import BOLD, DIM, GREEN, RED, YELLOW, Output, safe
from hindbrain.edge.when import moment_text, span_text

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Action, Episode, Rejection

UNFINISHED = "unfinished"
_COLOURS = {"success": GREEN, "failed": RED, "stuck": RED, "cancelled": YELLOW, UNFINISHED: YELLOW}
_LEAST_COMMAND = 20  # characters, however narrow the terminal
_LONGEST_SAID = 160
_OUTCOME_WIDTH = 10


def table_lines(episodes: Sequence[Episode], out: Output) -> Iterator[str]:
    """One line each, under a heading; the command as far as there is room."""
    width = max([len("id"), *(len(episode.run) for episode in episodes)])
    head = f"{'id':{width}}  {'when':16}  {'outcome':{_OUTCOME_WIDTH}} {'score':>5} {'iter':>4} {'took':>7}  "
    room = max(_LEAST_COMMAND, out.width - len(head))
    yield out.paint(head + "command", DIM)
    for episode in episodes:
        outcome = out.paint(f"{episode.outcome:{_OUTCOME_WIDTH}}", _COLOURS.get(episode.outcome, DIM))
        score = "-" if episode.score is None else str(episode.score)
        yield (
            f"{episode.run:{width}}  {moment_text(episode.started)}  {outcome} {score:>5} "
            f"{episode.iterations or '-':>4} {_took(episode):>7}  {_one_line(episode.command, room)}"
        )


def story_lines(episode: Episode, out: Output, *, finished: bool) -> Iterator[str]:
    """From the command to the answer: what memory was there, each step, each rejection, the reason."""
    yield out.paint(safe(episode.command) or "(no command is known)", BOLD)
    yield _facts(episode, out, finished=finished)
    if episode.injected:
        cost = f" ({episode.tokens} tokens)" if episode.tokens else ""
        yield f"memory: {safe(', '.join(episode.injected))}{cost}"
    yield ""
    waiting = list(episode.rejections)
    width = len(str(len(episode.actions)))
    for number, action in enumerate(episode.actions, start=1):
        yield from _step(number, width, action, out)
        while waiting and waiting[0].after == number:
            yield _rejected(width, waiting.pop(0), out)
    for rejection in waiting:
        yield _rejected(width, rejection, out)
    if not episode.actions and not episode.rejections:
        yield "(no steps are known)"
    if episode.reason:
        yield ""
        yield f"reason: {safe(episode.reason)}"
    if episode.answer:
        yield ""
        yield f"answer: {safe(episode.answer)}"


def row_data(episode: Episode) -> dict[str, Any]:
    """A run in a list, as JSON. The shape is a promise: docs/json.md."""
    return {
        "id": episode.run,
        "command": episode.command,
        "outcome": episode.outcome,
        "score": episode.score,
        "iterations": episode.iterations,
        "actions": len(episode.actions),
        "started": episode.started,
        "ended": episode.ended,
        "reason": episode.reason,
        "app": episode.app,
        "host": episode.host,
        "session": episode.session,
    }


def story_data(episode: Episode, *, finished: bool) -> dict[str, Any]:
    """A run with its steps, as JSON. The shape is a promise: docs/json.md."""
    steps = [action._asdict() | {"arguments": dict(action.arguments)} for action in episode.actions]
    rest: dict[str, Any] = {} if finished else {"outcome": UNFINISHED, "ended": None}
    return row_data(episode) | {
        "source": episode.source,
        "injected": list(episode.injected),
        "tokens": episode.tokens,
        "answer": episode.answer,
        "steps": steps,
        "rejections": [rejection._asdict() for rejection in episode.rejections],
    } | rest  # fmt: skip


def _facts(episode: Episode, out: Output, *, finished: bool) -> str:
    outcome = episode.outcome if finished else UNFINISHED
    told = [f"score {episode.score}"] if episode.score is not None else []
    if episode.iterations:
        told.append(plural(episode.iterations, "iteration"))
    told += [_took(episode)] if _took(episode) != "-" else []
    told += [episode.app, f"by {episode.host}" if episode.host != "own" else "", episode.session]
    told += [moment_text(episode.started), f"^{episode.run}"]
    rest = out.paint(safe(" · ".join(part for part in told if part)), DIM)
    return f"{out.paint(outcome, _COLOURS.get(outcome, DIM))} · {rest}"


def _step(number: int, width: int, action: Action, out: Output) -> Iterator[str]:
    mark = out.paint("✓", GREEN) if action.ok else out.paint("✗", RED)
    yield f"{number:>{width}} {mark} {_one_line(action.shown, out.width - width - 3)}"
    if action.said:
        yield " " * (width + 3) + out.paint(_one_line(action.said, _LONGEST_SAID), DIM)


def _rejected(width: int, rejection: Rejection, out: Output) -> str:
    score = "" if rejection.score is None else f" (score {rejection.score})"
    return f"{'':{width}} {out.paint('✗', RED)} rejected{score}: {safe(rejection.reason)}"


def _took(episode: Episode) -> str:
    return span_text(episode.seconds) if episode.seconds else "-"  # many a log has one time for a whole run


def _one_line(text: str, room: int) -> str:
    plain = safe(" ".join(text.split()))
    return plain if len(plain) <= room else plain[: room - 1] + "…"
