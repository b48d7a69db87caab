"""What is remembered reaches the prompt that needs it, and a prompt that needs nothing gets nothing.

The public sets, by the benchmarks that publish these figures; `tests/hooks/test_memory_lane.py` asks a
part of them through the hooks of a host.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from encoder_models import PUBLISHED

# `benchmarks` is no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import false_injection, memory_lane
from benchmarks.frame import Options

pytestmark = pytest.mark.slow


@pytest.mark.promise("P31")
@pytest.mark.parametrize(("row", "least"), [("table", 65), ("encoder", 88)])
def test_memories_reach_the_prompts_that_need_them(
    row: str, least: int, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PUBLISHED))
    groups = memory_lane.read_sets(shared_data)["prefeval"]
    shares = dict(memory_lane.told(memory_lane.ask_product(tmp_path, groups, {}, encodes=row == "encoder")))
    assert shares["lane"] >= least
    assert shares["with_start"] >= 98


@pytest.mark.promise("P32")
def test_prompts_that_need_nothing_get_nothing(shared_data: Path) -> None:
    shares = false_injection.run(Options(shared_data)).metrics
    assert shares["agent_turns"] <= 5
    assert shares["small_talk"] <= 1
