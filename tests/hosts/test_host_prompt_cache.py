"""Prompt caches of the real Claude Code and the real Codex: what a hook added stays where it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Skipped
from benchmarks.openclaw_turns import read_script
from benchmarks.prompt_cache import HELD, measure

pytestmark = pytest.mark.hosts

_DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.promise("P35")
@pytest.mark.parametrize("host", ["Claude Code", "Codex"])
def test_a_request_keeps_all_of_the_one_before_and_is_new_by_4_percent_at_most(
    host: str, tmp_path: Path
) -> None:
    try:
        found = find_one(_DATA, "vault jzhao", ("vault_jzhao.tar.gz", "vault_jzhao"))
        vault = single_root(unpacked(found, tmp_path))
        turns = HELD[host][0]("ours", read_script(), vault, tmp_path / "desk")
    except Skipped as reason:
        pytest.skip(str(reason))

    figures = measure(turns)

    assert len(turns) >= 20
    assert turns[-1][-1].count("<memory_context") >= 6
    assert figures["kept"] > 99.9, figures  # the brackets that end a request move on
    assert figures["share"] >= 96, figures
