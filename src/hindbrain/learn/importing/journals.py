"""Our own journals, from another vault: lines of events, perhaps of many runs at once.

A run is given when its end has come, so memory is bounded by the runs that are open. What it says of its own
trust does not count here: somebody else wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.learn.importing.identity import safe_id
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded, parse_line


def runs_of_journal(log: Log) -> Iterator[list[Event]]:
    open_runs: dict[str, list[Event]] = {}
    for number, line in log.lines():
        event = parse_line(line)
        if event is None:
            log.refuse(number, f"no event that this version knows: {line[:60].decode('utf-8', 'replace')!r}")
            continue
        run = safe_id(event.run)
        event = event if run == event.run else event._replace(run=run)
        if isinstance(event, RunCreated):
            open_runs[event.run] = [event._replace(source="import")]
        elif event.run not in open_runs:
            log.refuse(number, f"an event of {event.run!r}, which has not begun or is over")
        else:
            open_runs[event.run].append(event)
            if isinstance(event, RunEnded):
                yield open_runs.pop(event.run)
    for run in open_runs:
        log.refuse(log.read, f"run {run!r} has no end yet")
