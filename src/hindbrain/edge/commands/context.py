"""`hindbrain context`: what would enter a prompt, or did; what was left out and why, and what it costs."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import NoteUnreadable, UsageError
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import DIM, Output
from hindbrain.edge.when import span_text

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.packs.pack import Pack

_FORMS = ("xml", "turn", "markdown", "json")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="PROMPT", help="what is about to be asked of an agent")
    parser.add_argument(
        "--preset",
        default="",
        metavar="NAME",
        help="turn, compact, agent, full, start, card, or one of your own (setting context.preset)",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="tokens in all (the preset's)")
    parser.add_argument(
        "--form", choices=_FORMS, default="", metavar="FORM", help=f"{', '.join(_FORMS)} (the preset's)"
    )
    parser.add_argument(
        "--keyword", action="store_true", help="by words alone, as a hook answers when no daemon runs"
    )
    parser.add_argument(
        "--explain", action="store_true", help="say for each excerpt why it is in, and what was left out"
    )
    parser.add_argument(
        "--replay",
        default="",
        metavar="FILE",
        help="show what each turn of a recorded conversation would get: a host's transcript, or JSON lines "
        "with role and content",
    )
    parser.add_argument(
        "--last",
        nargs="?",
        type=int,
        const=1,
        metavar="N",
        help="show what the last prompt of an agent host was given and why; N: the last N events",
    )
    parser.add_argument(
        "--no-sync", action="store_true", help="take the index as it is; fail where there is none"
    )


def run(args: Namespace, out: Output) -> int:
    prompt = " ".join(args.words)
    if args.last is not None:
        return _show_last(args, prompt, out)
    if args.replay:
        _check_replay(args, prompt)
    if not args.replay and not prompt.strip() and args.preset != "start":
        raise UsageError("the prompt is empty; give what an agent is about to be asked, or --replay FILE")
    if args.budget is not None and args.budget < 1:
        raise UsageError(f"--budget {args.budget} makes no sense; give a number of tokens from 1 on")
    with closing(open_app(args, warm=not args.keyword)) as app:
        prepare_index(app, out, no_sync=args.no_sync, vectors=not args.keyword)
        if args.replay:
            from hindbrain.edge.replaying import show_replay

            return show_replay(app, args.replay, out)
        app.encodes = "at once" if not args.keyword else "never"
        with app.request():
            return _show(app, prompt, args, out)


def _check_replay(args: Namespace, prompt: str) -> None:
    """A replay asks what hooks ask: the settings say how."""
    if prompt:
        raise UsageError("a replay takes its prompts from the file; give a prompt or --replay, not both")
    if given := _given(args):
        raise UsageError(
            f"--{given[0]} does not go with --replay, which shows what hooks inject (setting context.preset)"
        )


def _given(args: Namespace) -> list[str]:
    """The options that change what is asked for."""
    names = ("preset", "budget", "form", "keyword", "explain")
    return [name for name in names if getattr(args, name) not in (None, "", False)]


def _show_last(args: Namespace, prompt: str, out: Output) -> int:
    from hindbrain.context.receipts import Receipts, receipt_data
    from hindbrain.edge.receipt_text import receipt_lines

    if args.last < 1:
        raise UsageError(f"--last {args.last} makes no sense; give a number of events from 1 on")
    if prompt or args.replay or (given := _given(args)):
        beside = "a prompt" if prompt else "--replay" if args.replay else f"--{given[0]}"
        raise UsageError(
            f"{beside} does not go with --last, which shows what was injected before; "
            "for several events give their number, as in --last 3"
        )
    with closing(open_app(args, warm=False)) as app:
        try:
            receipts = Receipts(app.state).read()[: -args.last - 1 : -1]
        except OSError as error:
            raise NoteUnreadable(
                f"the receipts in {str(app.state)!r} can't be read: {error.strerror}"
            ) from error
    if out.json:
        out.data({"receipts": [receipt_data(receipt) for receipt in receipts]})
        return 0
    for at, receipt in enumerate(receipts):
        if at:
            out.line()
        for line in receipt_lines(receipt, out):
            out.line(line)
    if not receipts:
        out.say(
            "there is no receipt yet: no agent host has asked for context in this vault; "
            "`hindbrain hook install` connects one"
        )
    return 0


def _show(app: App, prompt: str, args: Namespace, out: Output) -> int:
    from hindbrain.edge.pack_text import cost_line, cost_of, explain_lines, why_empty

    context = app.context
    begun = time.perf_counter()
    preset = context.preset(args.preset or context.settings.preset)
    preset = preset._replace(form=args.form or preset.form)  # the budget holds for the text in this form
    pack = context.pack(prompt, preset=preset, budget=args.budget or 0)
    text = context.rendered(pack, preset.form)
    took_s = time.perf_counter() - begun
    status = context.status_line()
    form = preset.form
    shown = "\n".join(filter(None, (text, status))) if form != "json" else text
    if out.json:
        out.data(_data(pack, form, shown, took_s))
        return 0
    if shown:
        out.line(shown)
    cost = cost_of(pack, shown)
    if args.explain:
        if shown:
            out.line()
        for line in explain_lines(pack, cost, out):
            out.line(line)
    out.stdout.flush()
    for notice in pack.notices:
        out.warn(notice)
    if not text:
        out.say(why_empty(pack))
    else:
        out.say(out.paint_err(f"{cost_line(pack, cost)} · {span_text(took_s)}", DIM))
    return 0


def _data(pack: Pack, form: str, shown: str, took_s: float) -> dict[str, object]:
    """The shape is a promise: docs/json.md."""
    from hindbrain.context.packs.rendering import pack_data
    from hindbrain.edge.pack_text import cost_of, left_out_data

    cost = cost_of(pack, shown)
    return {
        "text": shown,
        "form": form,
        "tokens": cost.tokens,
        "text_share": round(cost.share, 4),
        "pack": pack_data(pack),
        "left_out": left_out_data(pack.left_out),
        "took_ms": round(took_s * 1000, 1),
    }
