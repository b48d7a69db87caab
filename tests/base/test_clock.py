"""One clock says which day it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

from hindbrain.base.clock import FakeClock

SOURCES = Path(__file__).parents[2] / "src" / "hindbrain"
# Time stamps in UTC, in names of files, ids and logs. They say a moment; no person's day is meant.
UTC_STAMPS = {
    "agent/channels/webhook.py",
    "agent/events.py",
    "agent/tools/replaced.py",
    "learn/consolidation/journals.py",
    "learn/recording/wording.py",
    "learn/runs/journal.py",
    "vault/revisions.py",
}
EVENING_S = 1_772_679_600.0  # 2026-03-04 19:00 in Los Angeles, 2026-03-05 in Greenwich and in Auckland


def test_a_clock_answers_the_owners_day() -> None:
    assert FakeClock(EVENING_S, ZoneInfo("America/Los_Angeles")).today().isoformat() == "2026-03-04"
    auckland = FakeClock(EVENING_S, ZoneInfo("Pacific/Auckland"))
    assert auckland.today().isoformat() == "2026-03-05"
    assert f"{auckland.local(EVENING_S):%H:%M}" == "16:00"
    assert auckland.midnight(auckland.today()) == EVENING_S - 16 * 3600
    assert auckland.midnight(date.min) < auckland.midnight(date(1900, 1, 1)) < 0
    auckland.advance(8 * 3600)
    assert auckland.today().isoformat() == "2026-03-06"


def test_no_other_module_computes_a_calendar_day() -> None:
    found = [
        f"{name}:{call.lineno} {ast.unparse(call)}"
        for file in sorted(SOURCES.rglob("*.py"))
        if (name := file.relative_to(SOURCES).as_posix()) != "base/clock.py"
        for call in calls(file)
        if reads_a_calendar(call) and not (name in UTC_STAMPS and is_utc(call))
    ]
    assert not found, "ask the clock (base/clock): " + "; ".join(found)


def test_sql_leaves_days_to_the_clock() -> None:
    found = [str(file) for file in SOURCES.rglob("*.py") if "unixepoch" in file.read_text(encoding="utf-8")]
    assert not found


def calls(file: Path) -> Iterator[ast.Call]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def reads_a_calendar(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return isinstance(call.func, ast.Name) and call.func.id in ("localtime", "gmtime")
    owner, name = ast.unparse(call.func.value).rpartition(".")[2], call.func.attr
    if name in ("fromtimestamp", "utcfromtimestamp", "utcnow", "localtime", "gmtime", "ctime"):
        return True
    is_date = owner in ("date", "datetime")
    return (is_date and name in ("today", "now")) or (owner == "time" and name == "strftime")


def is_utc(call: ast.Call) -> bool:
    return "UTC" in ast.unparse(call) or "gmtime" in ast.unparse(call)
