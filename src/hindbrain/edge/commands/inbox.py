"""`hindbrain inbox`: what an agent would like to remember and may not without its owner.

The same as ticking, deleting and editing lines in the inbox note. No tool of an agent offers it; a program
that runs as the owner can call it all the same, which is why accepting from a script has to be asked for.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import NotFound, Refused, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, Output, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.memory.inbox.inbox import Inbox, Proposal, Settled

_VERBS = ("list", "accept", "refuse", "edit")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="VERB",
        help="list (default) | accept ID... | refuse ID... | edit ID TEXT; an ID or its number in the list",
    )
    parser.add_argument("--all", action="store_true", help="accept or refuse everything that waits")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="accept from a script, without a terminal: you, not an agent, have read what waits",
    )


def run(args: Namespace, out: Output) -> int:
    verb, *rest = args.words or ["list"]
    if verb not in _VERBS:
        from hindbrain.edge.parser import nearest

        hint = nearest(verb, _VERBS) or f"; it has {', '.join(_VERBS)}"
        raise UsageError(f"hindbrain inbox has no {verb!r}{hint}")
    if verb == "accept" and not args.yes and not (sys.stdin and sys.stdin.isatty()):
        raise Refused(
            "accepting needs a person at a terminal; a script of yours says --yes, an agent leaves it to you"
        )
    with closing(open_app(args)) as app:
        inbox = app.memory.inbox
        taken = inbox.settle()  # what was decided in the note comes first
        changed: list[Proposal] = []
        if verb != "list":
            changed = _decide(inbox, verb, rest, every=args.all)
        elif rest or args.all:
            raise UsageError("hindbrain inbox list takes nothing more")
        waiting = inbox.pending()
        path = inbox.path
    if out.json:
        out.data(_as_data(path, waiting, taken, verb, changed))
    else:
        _show(out, path, waiting, taken, verb, changed)
    return 0


def _decide(inbox: Inbox, verb: str, words: Sequence[str], *, every: bool) -> list[Proposal]:
    waiting = inbox.pending()
    if verb == "edit":
        if every or len(words) < 2:
            raise UsageError("give the proposal and its new text: hindbrain inbox edit ID TEXT")
        return [inbox.edit(_id_of(words[0], waiting), " ".join(words[1:]))]
    if every == bool(words):
        raise UsageError(f"say what to {verb}: hindbrain inbox {verb} ID... or --all")
    # All names are looked up before anything is decided: numbers change with every decision.
    ids = [item.id for item in waiting] if every else [_id_of(word, waiting) for word in words]
    act = inbox.accept if verb == "accept" else inbox.refuse
    return [act(id_) for id_ in dict.fromkeys(ids)]


def _id_of(word: str, waiting: Sequence[Proposal]) -> str:
    wanted = word.lstrip("^")
    if wanted.isdecimal() and 1 <= int(wanted) <= len(waiting):
        return waiting[int(wanted) - 1].id
    if any(item.id == wanted for item in waiting):
        return wanted
    known = ", ".join(item.id for item in waiting) or "nothing waits"
    raise NotFound(f"no proposal {word!r} in the inbox; waiting: {known}")


def _show(
    out: Output,
    path: str,
    waiting: Sequence[Proposal],
    taken: Settled,
    verb: str,
    changed: Sequence[Proposal],
) -> None:
    for item in taken.accepted:
        out.line(f"{_accepted(item)}, as ticked in the note: {safe(item.text)}")
    for item in taken.refused:
        out.line(f"refused, as decided in the note: {safe(item.text)}")
    done = {"refuse": "refused; it will not be asked again", "edit": "changed"}
    for item in changed:
        out.line(f"{done.get(verb) or _accepted(item)}: {safe(item.text)}")
    if verb != "list":
        out.say(f"{len(waiting) or 'nothing'} left in {safe(path)}")
        return
    if not waiting:
        out.say(f"nothing waits in {safe(path)}")
        return
    for number, item in enumerate(waiting, start=1):
        out.line(f"{number:>2}  {out.paint(safe(item.text), BOLD)}")
        facts = (*_facts(item), item.reason, item.created, item.id)
        out.line(out.paint("    " + safe(" · ".join(fact for fact in facts if fact)), DIM))
    second = 2 if len(waiting) > 1 else 1
    ticked = "the lines" if len(waiting) > 1 else "the line"
    out.say(
        f'hindbrain inbox accept 1 | refuse {second} | edit 1 "better text"; or tick {ticked} in {safe(path)}'
    )


def _accepted(item: Proposal) -> str:
    return "made a skill" if item.kind == "skill" else "remembered"


def _facts(item: Proposal) -> tuple[str, ...]:
    if item.kind == "skill":
        return "skill", f"{item.success:.0%} of {plural(item.runs, 'run')} went well", item.template
    return item.category, f"from {item.source}"


def _as_data(
    path: str, waiting: Sequence[Proposal], taken: Settled, verb: str, changed: Sequence[Proposal]
) -> dict[str, Any]:
    accepted = [*taken.accepted, *(changed if verb == "accept" else ())]
    refused = [*taken.refused, *(changed if verb == "refuse" else ())]
    return {
        "note": path,
        "waiting": [_proposal_data(item) for item in waiting],
        "accepted": [_proposal_data(item) for item in accepted],
        "refused": [_proposal_data(item) for item in refused],
    }


def _proposal_data(item: Proposal) -> dict[str, Any]:
    shared = ("id", "kind", "text", "source", "reason", "created")
    own = ("template", "success", "runs") if item.kind == "skill" else ("category", "importance")
    told = {name: getattr(item, name) for name in (*shared, *own)}
    return told if item.kind == "skill" else told | {"tags": list(item.tags)}
