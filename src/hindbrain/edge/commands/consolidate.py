"""`hindbrain consolidate`: learn, turn old days into facts, archive; then prove that no line was lost."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.learning_text import working
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, GREEN, RED, Output, safe
from hindbrain.edge.serving.telling import tell_consolidation

if TYPE_CHECKING:
    from hindbrain.learn.consolidation.consolidator import Consolidated
    from hindbrain.learn.consolidation.proof import Proof


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would change in notes, and change nothing"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app, working(out, "consolidating"):
        done = app.learning.consolidate(dry_run=args.dry_run)
    if out.json:
        out.data(consolidated_data(done, dry_run=args.dry_run))
    else:
        _show(done, out, dry_run=args.dry_run)
    if not args.dry_run:
        tell_consolidation(app, done, out)
    return 0 if done.proof.holds and not done.problems else 1


def _show(done: Consolidated, out: Output, *, dry_run: bool) -> None:
    if dry_run:
        from hindbrain.edge.diff_text import diff_lines

        for line in diff_lines(done.diff, out):
            out.line(line)
        if done.diff:
            out.line()
    width = max((len(name) for name, _ in done.steps), default=0)
    for name, line in done.steps:
        out.line(f"{out.paint(f'{name:<{width}}', BOLD)}  {safe(line) or out.paint('nothing to do', DIM)}")
    out.stdout.flush()
    for problem in done.problems:
        out.warn(safe(problem))
    if dry_run:
        out.say("nothing was written: --dry-run")
    else:
        _tell_proof(done.proof, out)


def _tell_proof(proof: Proof, out: Output) -> None:
    if proof.holds:
        looked = f"{plural(proof.changes, 'change')} looked at" if proof.changes else "no note was changed"
        moved = f", {plural(proof.moved, 'line')} of yours moved to other notes" if proof.moved else ""
        out.say(f"{out.paint_err('proof:', GREEN)} no line of yours was lost; {looked}{moved}")
        return
    out.say(f"{out.paint_err('proof:', RED)} {plural(len(proof.lost), 'line')} would have been lost")
    for lost in proof.lost:
        out.say(f"  {safe(lost.path)}: {safe(lost.line)}")
    for line in proof.report:
        out.say(f"  {safe(line)}")
    out.say("everything was taken back" if proof.rolled_back else "not everything could be taken back")


def consolidated_data(done: Consolidated, *, dry_run: bool) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    proof = done.proof
    return {
        "dry_run": dry_run,
        "steps": [{"name": name, "said": line} for name, line in done.steps],
        "facts": done.facts,
        "superseded": done.superseded,
        "held": done.held,
        "archived": done.archived,
        "stale": done.stale,
        "compressed": done.compressed,
        "proof": {
            "holds": proof.holds,
            "changes": proof.changes,
            "moved": proof.moved,
            "lost": [{"path": lost.path, "line": lost.line} for lost in proof.lost],
            "rolled_back": proof.rolled_back,
            "report": list(proof.report),
        },
        "diff": done.diff,
        "problems": list(done.problems),
        "seconds": done.seconds,
    }
