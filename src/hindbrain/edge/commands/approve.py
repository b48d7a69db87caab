"""`hindbrain approve`: what the agent would do and may not without its owner's word.

Approving needs a person at a terminal, without exception. What is approved is exactly what is shown, once.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.edge.agent_runs.asking import said_again, shown_of
from hindbrain.edge.agent_runs.ending import asked_data
from hindbrain.edge.agent_runs.telling import one_line
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, Output, safe
from hindbrain.edge.person import ask_approval
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from hindbrain.agent.safety.approval import Asked


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="which one; else list what waits")
    parser.add_argument("--deny", action="store_true", help="refuse it; the run goes on without it")


def run(args: Namespace, out: Output) -> int:
    if args.deny and not args.id:
        raise UsageError("say what to refuse: hindbrain approve ID --deny; without an id it lists what waits")
    with closing(open_app(args)) as app:
        waiting = app.agent.waiting()
        if not args.id:
            _list(waiting, out)
            return 0
        asked = _find(args.id, waiting)
        if not args.deny:
            ask_approval(
                lambda paint: _question(asked, out, paint),
                f"approve {asked.id}?",
                command=f"hindbrain approve {asked.id}",
            )
        app.agent.answer(asked.id, "deny" if args.deny else "allow", shown=asked.digest)
    _tell(asked, [one for one in waiting if one is not asked], out, denied=args.deny)
    return 0


def _question(asked: Asked, out: Output, paint: Callable[..., str]) -> list[str]:
    """What is approved is on the screen when it is approved."""
    again = said_again(asked, out)
    return [*_lines(asked, paint), *([f"{asked.id}  {paint(again, BOLD)}"] if again else ())]


def _find(name: str, waiting: Sequence[Asked]) -> Asked:
    """By its id, or by the beginning of one where that is enough."""
    near = [asked for asked in waiting if asked.id == name]
    near = near or [asked for asked in waiting if asked.id.startswith(name)]
    if len(near) == 1:
        return near[0]
    known = ", ".join(asked.id for asked in waiting) or "nothing waits"
    raise NotFound(f"nothing called {name!r} waits for approval; waiting: {known}")


def _list(waiting: Sequence[Asked], out: Output) -> None:
    if out.json:
        out.data({"waiting": [asked_data(asked) for asked in waiting], "approved": None, "denied": None})
        return
    for asked in waiting:
        for line in _lines(asked, out.paint):
            out.line(line)
    if waiting:
        out.say(f"hindbrain approve {waiting[0].id} approves exactly that, --deny refuses it")
    else:
        out.say("nothing waits for your approval")


def _lines(asked: Asked, paint: Callable[..., str]) -> list[str]:
    """`paint`: of the stream that they go to."""
    first, *rest = shown_of(asked).split("\n")
    facts = [asked.why, asked.run, moment_text(asked.at) if asked.at else ""]
    return [
        f"{asked.id}  {paint(first, BOLD)}",
        *(f"    {line}" for line in rest),
        paint("    " + safe(" · ".join(fact for fact in facts if fact)), DIM),
    ]


def _tell(asked: Asked, left: Sequence[Asked], out: Output, *, denied: bool) -> None:
    if out.json:
        told = asked_data(asked)
        kept = {"approved": None, "denied": told} if denied else {"approved": told, "denied": None}
        out.data({"waiting": [asked_data(one) for one in left], **kept})
        return
    out.line(f"{'denied' if denied else 'approved'}: {one_line(shown_of(asked), out.width - 10)}")
    out.say(f"hindbrain runs resume {asked.run} goes on with it")
