"""The figures of runs as text: panels on a terminal, plain lines in a pipe; the same words in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.edge.metrics_text import TITLE, metric_cells, table_lines
from hindbrain.edge.output import safe
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from rich.table import Table

    from hindbrain.context.capture.fix_log import FixCounts
    from hindbrain.context.receipts import UseFigures
    from hindbrain.edge.output import Output
    from hindbrain.learn.feedback.returns import Return
    from hindbrain.learn.stats.figures import Counts, Stats

_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"  # in a line of bars: nothing is known of that time
_WIDEST = 80
_ROOM_FOR_BARS = 72  # columns; on a narrower screen bars stand below their value
_ROOM_FOR_TABLE = 72  # columns; on a narrower screen a row of the table is a sentence
_LABEL = 14
_LONGEST_LINE_OF_BARS = 26  # a half year of weeks


class Row(NamedTuple):
    label: str
    value: str
    bars: str = ""  # over time, oldest first


class Section(NamedTuple):
    title: str
    rows: tuple[Row, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()  # in place of rows: cells, the head first


def sections_of(
    stats: Stats, used: Sequence[UseFigures] = (), fixes: FixCounts | None = None
) -> list[Section]:
    """What there is to say; a section that would say nothing is left out."""
    found = [
        _runs(stats), Section(TITLE, table=metric_cells(stats.metrics)), _learned(stats), _memory(stats),
        _hosts(stats), _slots(stats), _answers(used), _fixes(fixes), _background(stats),
    ]  # fmt: skip
    return [section for section in found if section.rows or section.table]


def plain_lines(
    stats: Stats, used: Sequence[UseFigures] = (), fixes: FixCounts | None = None
) -> Iterator[str]:
    for number, section in enumerate(sections_of(stats, used, fixes)):
        if number:
            yield ""
        yield section.title
        yield from table_lines(section.table) if section.table else ()
        width = max((len(row.value) for row in section.rows if row.bars), default=0)
        for row in section.rows:
            yield f"  {row.label:<{_LABEL}} {row.value:<{width if row.bars else 0}}   {row.bars}".rstrip()


def show_panels(
    stats: Stats, out: Output, used: Sequence[UseFigures] = (), fixes: FixCounts | None = None
) -> None:
    """On a terminal. Fits 80 columns, and fewer."""
    from rich import box
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    console = Console(file=out.stdout, width=min(_WIDEST, out.width), highlight=False)
    for section in sections_of(stats, used, fixes):
        title = Text(section.title, style="bold")
        make = partial(_cells_grid, section.table) if section.table else partial(_rows_grid, section.rows)
        console.print(
            Panel(make(console.width), title=title, title_align="left", box=box.ROUNDED, border_style="dim")
        )


def _rows_grid(rows: Sequence[Row], width: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=_LABEL, style="dim")
    table.add_column(ratio=1, overflow="fold")
    longest = max(len(row.bars) for row in rows)
    beside = longest > 0 and width >= _ROOM_FOR_BARS
    if beside:
        table.add_column(width=longest, style="cyan", no_wrap=True)
    for row in rows:
        below = f"\n{row.bars}" if row.bars and not beside else ""
        told = (row.label, row.value + below, row.bars)
        table.add_row(*(Text(text) for text in told[: 3 if beside else 2]))
    return table


def _cells_grid(cells: Sequence[Sequence[str]], width: int) -> Table:
    """The last column takes what room is left. On a narrow screen each row is one text beside its label."""
    from rich.table import Table
    from rich.text import Text

    if width < _ROOM_FOR_TABLE:
        head, *rows = cells
        told = [[f"{name} {cell}" for name, cell in zip(head[1:-1], row[1:-1], strict=True)] for row in rows]
        values = ["; ".join((", ".join(texts), row[-1])) for texts, row in zip(told, rows, strict=True)]
        return _rows_grid([Row(row[0], value) for row, value in zip(rows, values, strict=True)], width)
    table = Table.grid(padding=(0, 1), expand=True)
    for at in range(len(cells[0])):
        table.add_column(ratio=1 if at == len(cells[0]) - 1 else None, style="" if at else "dim")
    for number, line in enumerate(cells):
        table.add_row(*(Text(cell, style="" if number else "dim") for cell in line))
    return table


def bars(values: Sequence[float | None], *, top: float = 0.0) -> str:
    """A line of block characters. `top`: what fills a block; the greatest value when it is 0."""
    shown = values[-_LONGEST_LINE_OF_BARS:]
    highest = top or max((value for value in shown if value is not None), default=0.0)
    if highest <= 0:
        return "".join(_NOTHING if value is None else _BARS[0] for value in shown)
    last = len(_BARS) - 1
    return "".join(
        _NOTHING if value is None else _BARS[min(last, max(0, round(value / highest * last)))]
        for value in shown
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _runs(stats: Stats) -> Section:
    counts = stats.all
    if not counts.runs:
        return Section("Runs", ())
    judged = counts.well + counts.ill
    # As many runs in each period would be a straight line.
    over_time = _over(stats, _of_runs) if stats.by == "week" else ""
    rows = [Row("runs", f"{counts.runs} of {plural(stats.kinds, 'kind')}", over_time)]
    rows.append(
        Row(
            "went well", f"{percent(counts.success)} ({counts.well} of {judged})", _over(stats, _success, 1.0)
        )
    )
    if unjudged := counts.runs - judged:
        rows.append(Row("not counted", f"{unjudged} cancelled, or nobody knows"))
    if counts.ill:
        told = f"{percent(counts.repeated)} of runs ({counts.repeats} of {plural(counts.ill, 'failure')})"
        rows.append(Row("failed again", told, _over(stats, _repeated, 1.0)))
    if counts.iterations:
        rows.append(Row("iterations", f"{counts.iterations:.1f} a run", _over(stats, _iterations)))
    if counts.known_iterations:
        first = stats.first_time.iterations
        beside = f"; {first:.1f} at the first time" if first else ""
        rows.append(Row("known tasks", f"{counts.known_iterations:.1f} iterations{beside}"))
    when = f"last {plural(stats.days, 'day')}" if stats.days else "all runs"
    return Section(f"Runs ({when}; {_scale(stats)})" if stats.periods else "Runs", tuple(rows))


def _learned(stats: Stats) -> Section:
    lessons, templates = stats.lessons, stats.templates
    rows: list[Row] = []
    if lessons.active + lessons.escalated + lessons.retired:
        there = f"{lessons.active} active, {lessons.escalated} escalated, {lessons.retired} retired"
        rows += [
            Row("lessons", there),
            Row("kept to", _used(lessons.heeded + lessons.in_vain, lessons.heeded)),
        ]
    if templates.templates:
        rows += [
            Row("templates", f"{templates.templates}"),
            Row("followed", _used(templates.runs, templates.well)),
        ]
    return Section("Learned", tuple(rows))


def _used(runs: int, well: int) -> str:
    return f"{plural(runs, 'run')}, {percent(well / runs)} went well" if runs else "not yet"


def _memory(stats: Stats) -> Section:
    memory = stats.memory
    runs = memory.with_memory.runs
    if not runs:
        return Section("Memory", ())
    rows = [
        Row(
            "injected",
            f"into {plural(runs, 'run')}, {memory.tokens:,} tokens ({memory.tokens // runs} a run)",
        ),
        Row("with it", f"{percent(memory.with_memory.success)} went well"),
        Row(
            "without", f"{percent(memory.without.success)} of {plural(memory.without.runs, 'run')} went well"
        ),
    ]
    if memory.compared:
        rows.append(Row("like for like", f"{memory.lift * 100:+.0f} points beside runs of the same kind"))
    rows += [Row("better with", _account(*row)) for row in memory.best]
    rows += [Row("worse with", _account(*row)) for row in memory.worst]
    return Section("Memory", tuple(rows))


def _hosts(stats: Stats) -> Section:
    hosts = stats.hosts
    if not hosts.sessions:
        return Section("Agent hosts", ())
    by_host = sorted(hosts.sessions.items(), key=lambda row: (-row[1], row[0]))
    sessions = plural(sum(hosts.sessions.values()), "session")
    rows = [Row("asked", f"{plural(hosts.prompts, 'prompt')} in {sessions}")]
    rows += [Row(safe(host), plural(count, "session")) for host, count in by_host] if len(by_host) > 1 else []
    if hosts.prompts:
        share = percent(hosts.answered / hosts.prompts)
        rows.append(Row("answered", f"{hosts.answered} of {plural(hosts.prompts, 'prompt')} ({share})"))
    rows.append(Row("injected", f"{plural(hosts.excerpts, 'excerpt')}, {hosts.tokens:,} tokens in all"))
    days = min(stats.days, 30) if stats.days else 30
    return Section(f"Agent hosts (last {plural(days, 'day')})", tuple(rows))


def _slots(stats: Stats) -> Section:
    """From receipts, which may go back less far than what is told of agent hosts."""
    told = stats.slots
    if not told.since:
        return Section("Injected, by slot", ())
    rows: list[Row] = []
    if told.prompts:
        share = percent(told.empty / told.prompts)
        rows.append(Row("nothing", f"into {told.empty} of {plural(told.prompts, 'prompt')} ({share})"))
    rows += [
        Row(
            safe(one.slot),
            f"{plural(one.injections, 'time')}, {plural(one.lines, 'line')}, {one.tokens:,} tokens; "
            f"{one.used} of {plural(one.excerpts, 'excerpt')} known to be used ({percent(one.used_share)})",
        )
        for one in told.slots
    ]
    return Section(f"Injected, by slot (since {moment_text(told.since)})", tuple(rows))


def _answers(used: Sequence[UseFigures]) -> Section:
    """Of slots that were used; that nothing is known of the others says nothing."""
    rows = []
    for one in used:
        ways = ((one.quoted, "quoted"), (one.named, "named"), (one.run, "whose command was run"))
        told = ", ".join(f"{count} {way}" for count, way in ways if count)
        share = percent(one.used / one.excerpts) if one.excerpts else ""
        if one.used:
            rows.append(
                Row(safe(one.slot), f"{one.used} of {plural(one.excerpts, 'excerpt')} ({share}): {told}")
            )
    return Section("Of these, used in answers, by slot", tuple(rows))


def _fixes(fixes: FixCounts | None) -> Section:
    if fixes is None or not fixes.told:
        return Section("Fixes of failed commands", ())
    told = plural(fixes.told, "time")
    rows = [
        Row("heeded", f"{fixes.heeded} of {told} told ({percent(fixes.heeded / fixes.told)})"),
        Row("helped", f"{fixes.helped} of {plural(fixes.heeded, 'time')} heeded"),
    ]
    if fixes.withdrawn:
        rows.append(Row("withdrawn", f"{fixes.withdrawn}, since they failed when they were done last"))
    return Section("Fixes of failed commands", tuple(rows))


def _background(stats: Stats) -> Section:
    spent = sorted(stats.background.items(), key=lambda row: (-row[1], row[0]))
    rows = tuple(Row(safe(purpose), f"{tokens:,} tokens") for purpose, tokens in spent if tokens)
    return Section("Background work", rows)


def _account(id_: str, account: Return) -> str:
    return (
        f"{safe(id_)}: {account.lift * 100:+.0f} points, {plural(account.injected, 'run')}, "
        f"{account.tokens:,} tokens"
    )


def _scale(stats: Stats) -> str:
    return "a bar is a week" if stats.by == "week" else f"a bar is {_runs_in_a_bar(stats)}"


def _runs_in_a_bar(stats: Stats) -> str:
    counts = [period.counts.runs for period in stats.periods]
    low, high = min(counts), max(counts)
    return plural(high, "run") if low == high else f"{low} to {high} runs"


def _over(stats: Stats, value: Callable[[Counts], float | None], top: float = 0.0) -> str:
    """Bars, where there is a time to speak of."""
    if len(stats.periods) < 2:
        return ""
    return bars([value(period.counts) for period in stats.periods], top=top)


def _of_runs(counts: Counts) -> float | None:
    return counts.runs or None


def _success(counts: Counts) -> float | None:
    return counts.success


def _repeated(counts: Counts) -> float | None:
    return counts.repeated


def _iterations(counts: Counts) -> float | None:
    return counts.iterations or None
