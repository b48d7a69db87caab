"""Prompt caches with the real OpenClaw, which drops what a plugin added when the next turn comes."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Skipped
from benchmarks.openclaw_turns import read_script
from benchmarks.prompt_cache import measure, with_openclaw

pytestmark = pytest.mark.openclaw

_DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.promise("P35")
def test_in_a_long_conversation_96_percent_of_a_request_is_as_in_the_one_before(tmp_path: Path) -> None:
    script = read_script()
    try:
        found = find_one(_DATA, "vault jzhao", ("vault_jzhao.tar.gz", "vault_jzhao"))
        turns = with_openclaw("ours", script, single_root(unpacked(found, tmp_path)), tmp_path / "rig")
    except Skipped as reason:
        pytest.skip(str(reason))

    figures = measure(turns)

    assert figures["share"] >= 96, figures
    for line, ((*_, before), (after, *_)) in zip(script, pairwise(turns), strict=False):
        words = before[: before.rindex(f"] {line.user}") + len(line.user) + 2]
        assert after.startswith(words), f"what the user wrote is read anew: {line.user!r}"
