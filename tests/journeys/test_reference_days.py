"""The reference's daily log, word for word, through consolidation in every layout: no fact is harmed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from journey_doors import CommandLine

from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.layout import LAYOUTS

_LOG = (Path(__file__).parents[1] / "reference_notes" / "2025-01-16.md").read_text(encoding="utf-8")
_DAYS = [(date.today() - timedelta(days=ago)).isoformat() for ago in (12, 11, 10)]


def _fields() -> Iterator[str]:
    """What the log says of each event, with the names under which it says so."""
    title = ""
    for line in _LOG[: _LOG.index("## Session End")].splitlines():
        if heading := re.match(r"### \d\d:\d\d - (.*)", line):
            title = heading[1]
        elif title and (field := re.match(r"- \*\*(.*)\*\*: (.*)", line)):
            yield f"{title}, {field[1]}: {field[2]}"


def _write_days(hb: CommandLine) -> dict[Path, str]:
    written = {}
    for day in _DAYS:
        file = hb.root / hb.data("daily", day)["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        written[file] = _LOG.replace("2025-01-16", day)
        file.write_bytes(written[file].encode())
    return written


def _consolidated(hb: CommandLine) -> list[MemoryItem]:
    notes = [path for path in hb.root.rglob("*.md") if ".hindbrain" not in path.parts]
    items = [
        item
        for path in notes
        for item in parse_items(path.read_text(encoding="utf-8").split("\n"), path=path.name, category="fact")
    ]
    return [item for item in items if "consolidated" in item.tags]


@pytest.mark.promise("P12")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_fact_keeps_its_field_its_day_and_the_way_back(hb: CommandLine, layout: str) -> None:
    hb.root.mkdir()
    hb("init", "--layout", layout)
    days = _write_days(hb)

    done = hb.data("consolidate")

    found = _consolidated(hb)
    assert {item.text for item in found} == set(_fields())
    assert done["superseded"] == 0 and not any(item.superseded for item in found)
    for item in found:
        assert item.created == _DAYS[-1]
        assert (hb.root / f"{item.day_note}.md").samefile(list(days)[-1])
    for path, text in days.items():
        assert path.read_bytes() == text.encode()
    assert hb.data("consolidate")["facts"] == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_another_value_of_the_same_field_replaces_it_and_no_other(hb: CommandLine, layout: str) -> None:
    hb.root.mkdir()
    hb("init", "--layout", layout)
    _write_days(hb)
    hb("consolidate")
    day = (date.today() - timedelta(days=9)).isoformat()
    log = _LOG.replace("2025-01-16", day).replace("All systems operational", "Decided: the disk is replaced")
    file = hb.root / hb.data("daily", day)["path"]
    file.write_bytes(log.encode())

    hb("consolidate")

    gone = {item.text for item in _consolidated(hb) if item.superseded}
    assert gone == {"System Health, Status: All systems operational"}
