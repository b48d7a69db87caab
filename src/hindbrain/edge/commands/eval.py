"""`hindbrain eval`: how well search, recall and the gate work on questions from the owner's own notes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import BOLD, Output
from hindbrain.edge.progress import shown_progress
from hindbrain.search.own_questions import KINDS

if TYPE_CHECKING:
    from hindbrain.edge.vault_eval import VaultEval

_MOST = 1_000
_DEPTHS = (1, 5, 10)
_ENOUGH = 5  # questions of a kind, below which its figures say next to nothing
_WHAT = {
    "link": ("hidden links", "notes with a wikilink in a paragraph of four words or more"),
    "heading": ("headings", "headings of four words or more that one note alone has"),
    "alias": ("aliases", "aliases that one note alone has"),
    "memory": ("memories", "memories of three words or more that no other repeats"),
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--questions", type=int, default=50, metavar="N", help="how many at most (default 50)"
    )
    parser.add_argument(
        "--profile", default="", metavar="NAME", help="also search with this scoring profile, side by side"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="another seed asks other questions (default 1)"
    )


def run(args: Namespace, out: Output) -> int:
    from hindbrain.edge.vault_eval import evaluate

    if not 1 <= args.questions <= _MOST:
        raise UsageError(f"--questions is {args.questions}; ask for 1 to {_MOST}")
    with closing(open_app(args, warm=True)) as app:
        prepare_index(app, out)
        with shown_progress(out) as listener:
            told = evaluate(
                app, lambda: open_app(args, warm=True), most=args.questions, seed=args.seed,
                profile=args.profile, listener=listener,
            )  # fmt: skip
    if out.json:
        out.data(eval_data(told, args.seed))
        return 0
    for line in _lines(told, out):
        out.line(line)
    for notice in told.notices:
        out.warn(notice)
    return 0


def eval_data(told: VaultEval, seed: int) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "seed": seed,
        "notes": told.notes,
        "gate": told.gate,
        "kinds": [
            {
                "kind": kind,
                "questions": told.asked(kind),
                "too_few": told.asked(kind) < _ENOUGH,
                "found": [
                    {"way": way, **{f"at_{depth}": told.found_at(way, kind, depth) for depth in _DEPTHS}}
                    for way in told.ranks
                ],
            }
            for kind in KINDS
        ],
        "generic": [
            {"kind": one.kind, "prompts": one.prompts, "notes": one.notes, "memories": one.memories}
            for one in told.generic
        ],
        "kept": [{"kind": one.kind, "answered": one.answered, "passed": one.passed} for one in told.kept],
        "questions": [
            {
                "kind": question.kind,
                "query": question.query,
                "target": question.target,
                "source": question.source,
                "ranks": {way: ranks[at] or None for way, ranks in told.ranks.items()},
            }
            for at, question in enumerate(told.questions)
        ],
        "notices": list(told.notices),
    }


def _lines(told: VaultEval, out: Output) -> Iterator[str]:
    count = plural(len(told.questions), "question")
    yield f"{count} about {plural(told.notes, 'note')}; found among the first 1 / 5 / 10 answers"
    yield ""
    yield from _table(_found_rows(told), out)
    if few := [kind for kind in KINDS if told.asked(kind) < _ENOUGH]:
        yield ""
        yield from (
            f"{_WHAT[kind][0]}: too few to say much ({told.asked(kind)}); needs {_WHAT[kind][1]}"
            for kind in few
        )
    yield ""
    yield f"prompts that need no notes: what they would get from this vault (gate {told.gate})"
    yield ""
    yield from _table(_generic_rows(told), out)
    yield ""
    if told.kept:
        yield "questions that the vault answers, and that get the answer as prompts, too"
        yield ""
        yield from _table(_kept_rows(told), out)
    else:
        yield "no question could be made, so nothing says what the gate lets through"


def _found_rows(told: VaultEval) -> Iterator[tuple[str, ...]]:
    yield ("", "questions", *told.ranks)
    for kind in KINDS:
        asked = told.asked(kind)
        found = (
            " / ".join(_percent(told.found_at(way, kind, depth), asked) for depth in _DEPTHS)
            for way in told.ranks
        )
        yield (_WHAT[kind][0], str(asked), *(found if asked else ("-" for _ in told.ranks)))


def _generic_rows(told: VaultEval) -> Iterator[tuple[str, ...]]:
    yield "", "prompts", "notes", "memories"
    for one in told.generic:
        yield (
            one.kind, str(one.prompts), _percent(one.notes, one.prompts), _percent(one.memories, one.prompts),
        )  # fmt: skip
    prompts = sum(one.prompts for one in told.generic)
    notes, memories = sum(one.notes for one in told.generic), sum(one.memories for one in told.generic)
    yield "all", str(prompts), _percent(notes, prompts), _percent(memories, prompts)


def _kept_rows(told: VaultEval) -> Iterator[tuple[str, ...]]:
    yield "", "answered", "let through"
    for one in told.kept:
        passed = f"{one.passed} ({_percent(one.passed, one.answered)})" if one.answered else "-"
        yield _WHAT[one.kind][0], str(one.answered), passed


def _percent(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} %" if of else "-"


def _table(rows: Iterator[tuple[str, ...]], out: Output) -> Iterator[str]:
    lines: Sequence[tuple[str, ...]] = list(rows)
    widths = [max(len(row[at]) for row in lines) for at in range(len(lines[0]))]
    for number, row in enumerate(lines):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        line = "  " + "  ".join([row[0].ljust(widths[0]), *cells[1:]])
        yield out.paint(line, BOLD) if not number else line
