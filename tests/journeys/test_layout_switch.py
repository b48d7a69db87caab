"""A vault that changes its layout: every verb goes on working, and what was remembered before is found."""

from __future__ import annotations

from itertools import permutations

import pytest
from journey_doors import CommandLine

from hindbrain.vault.layout import LAYOUTS


@pytest.mark.promise("P33", "P34")
@pytest.mark.parametrize(("first", "second"), list(permutations(LAYOUTS, 2)))
def test_after_a_switch_of_layouts_the_memory_goes_on(hb: CommandLine, first: str, second: str) -> None:
    hb.root.mkdir()
    hb("init", str(hb.root), "--layout", first)
    hb("remember", "Likes oolong tea", "--category", "preference")
    hb("sync")
    hb("init", str(hb.root), "--layout", second, "--switch")
    hb("sync")
    assert hb.data("remember", "Likes jazz", "--category", "preference")["action"] in ("new", "related")
    for topic in ("jazz", "oolong"):
        assert topic in str(hb.data("recall", topic))
    assert "jazz" in hb("context", "which music do I like, jazz?").out
    hb("task", "add", "Tune the cello")
    hb("daily", "--add", "Bought strings")
    states = {finding["name"]: finding["state"] for finding in hb.any("doctor", "--json").data["findings"]}
    assert states["roles"] != "wrong", states
