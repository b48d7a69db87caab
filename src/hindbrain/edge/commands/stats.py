"""`hindbrain stats`: how runs go, what was learned, and what memory cost and returned."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import UsageError, WriteFailed
from hindbrain.base.plural import plural
from hindbrain.edge.learning_text import RUNS_HINT
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.capture.fix_log import FixCounts
    from hindbrain.context.receipts import UseFigures
    from hindbrain.edge.svg_plot import Plot
    from hindbrain.learn.stats.figures import Counts, Metric, Stats


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--days", type=int, default=0, metavar="N", help="only the last N days; else all runs"
    )
    parser.add_argument(
        "--plot",
        default="",
        metavar="FILE.svg",
        help="write a picture: success, repeated failures and iterations over time",
    )


def run(args: Namespace, out: Output) -> int:
    if args.days < 0:
        raise UsageError(f"--days is {args.days}; give a number of days, or leave it out for all runs")
    with closing(open_app(args)) as app:
        target = _plot_file(args.plot, app.root) if args.plot else None
        stats = app.learning.stats(days=args.days)
        used = _used(app, args.days)
        fixes = _fixes(app, args.days)
    if target is not None:
        _write_plot(target, stats)
    if out.json:
        answers = [one._asdict() for one in used]
        told = {"answers": answers, "fixes": fixes._asdict(), "plot": "" if target is None else str(target)}
        out.data(stats_data(stats) | told)
        return 0
    _show(stats, used, fixes, out)
    if target is not None:
        out.say(f"the picture is in {str(target)!r}")
    return 0


def _used(app: App, days: int) -> tuple[UseFigures, ...]:
    """Receipts that can't be read count for nothing."""
    from hindbrain.context.receipts import Receipts, use_figures

    since = app.clock.now() - days * 86_400.0 if days else 0.0
    try:
        return use_figures(Receipts(app.state).read(), since=since)
    except OSError:
        return ()


def _fixes(app: App, days: int) -> FixCounts:
    from hindbrain.context.capture.fix_log import FixLog

    return FixLog(app.state).counts(since=app.clock.now() - days * 86_400.0 if days else 0.0)


def _show(stats: Stats, used: Sequence[UseFigures], fixes: FixCounts, out: Output) -> None:
    from hindbrain.edge.stats_text import plain_lines, show_panels

    if not stats.all.runs and not stats.hosts.sessions:
        when = f" in the last {plural(stats.days, 'day')}" if stats.days else ""
        out.say(f"there are no finished runs{when}; {RUNS_HINT}")
    elif out.on_terminal:
        show_panels(stats, out, used, fixes)
    else:
        for line in plain_lines(stats, used, fixes):
            out.line(line)


def stats_data(stats: Stats) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    memory = stats.memory
    return {
        "days": stats.days,
        "runs": _counts_data(stats.all),
        "first_time": _counts_data(stats.first_time),
        "kinds": stats.kinds,
        "by": stats.by,
        "periods": [
            {"start": period.start, "stop": period.stop, "runs": _counts_data(period.counts)}
            for period in stats.periods
        ],
        "lessons": stats.lessons._asdict(),
        "templates": stats.templates._asdict(),
        "memory": {
            "items": memory.items,
            "tokens": memory.tokens,
            "with_memory": _counts_data(memory.with_memory),
            "without": _counts_data(memory.without),
            "lift": round(memory.lift, 4),
            "compared": round(memory.compared, 2),
            "best": [_account_data(*row) for row in memory.best],
            "worst": [_account_data(*row) for row in memory.worst],
        },
        "metrics": [_metric_data(one) for one in stats.metrics],
        "background": dict(stats.background),
        "hosts": stats.hosts._asdict() | {"sessions": dict(stats.hosts.sessions)},
        "slots": {
            "since": stats.slots.since,
            "prompts": stats.slots.prompts,
            "empty": stats.slots.empty,
            "slots": [one._asdict() | {"used_share": round(one.used_share, 4)} for one in stats.slots.slots],
        },
    }


def _metric_data(metric: Metric) -> dict[str, Any]:
    told = {"now": metric.now, "before": metric.before}
    return metric._asdict() | {key: None if value is None else round(value, 4) for key, value in told.items()}


def _counts_data(counts: Counts) -> dict[str, Any]:
    success, repeated = counts.success, counts.repeated
    return {
        "runs": counts.runs,
        "well": counts.well,
        "ill": counts.ill,
        "success": None if success is None else round(success, 4),
        "repeats": counts.repeats,
        "repeated": None if repeated is None else round(repeated, 4),
        "iterations": round(counts.iterations, 2),
        "known": counts.known,
        "known_iterations": round(counts.known_iterations, 2),
    }


def _account_data(id_: str, account: Any) -> dict[str, Any]:
    from hindbrain.learn.feedback.feedback import account_data

    return {"id": id_} | account_data(account)


def _plot_file(name: str, root: Path) -> Path:
    """UsageError for what is no picture, or would stand in the vault: only one module writes there."""
    target = Path(name).expanduser().absolute()
    if target.suffix.lower() != ".svg":
        raise UsageError(f"--plot makes an SVG file; give it a name that ends in .svg, not {name!r}")
    if target.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{name!r} lies in the vault, where only notes are written; give another place")
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {str(target.parent)!r} for the picture")
    return target


def _write_plot(target: Path, stats: Stats) -> None:
    from hindbrain.edge.svg_plot import svg_of

    try:
        target.write_text(svg_of(plot_of(stats)), encoding="utf-8")
    except OSError as error:
        raise WriteFailed(f"the picture {str(target)!r} could not be written: {error.strerror}") from error


def plot_of(stats: Stats) -> Plot:
    from hindbrain.edge.stats_text import percent
    from hindbrain.edge.svg_plot import Chart, Plot

    counts = [period.counts for period in stats.periods]
    charts = (
        Chart("Runs that went well", tuple(one.success for one in counts), percent=True),
        Chart("Runs that failed as one before them", tuple(one.repeated for one in counts), percent=True),
        Chart("Iterations a run", tuple(one.iterations or None for one in counts)),
    )
    told = (
        f"{plural(stats.all.runs, 'run')}, of which {percent(stats.all.success)} went well; "
        f"{stats.all.repeats} failed as one before them; {stats.all.iterations:.1f} iterations a run."
    )
    return Plot("How runs go", told, tuple(_day(period.start) for period in stats.periods), charts)


def _day(seconds: float) -> str:
    from hindbrain.edge.when import moment_text

    return moment_text(seconds)[:10]
