"""Repeated pieces of text take time in proportion to their number."""

from __future__ import annotations

import pytest

from growth import grows_linearly
from hindbrain.edge.toml_edit import set_key
from hindbrain.memory.policy.tripwire import reads_like_instruction

pytestmark = pytest.mark.promise("P14")


@pytest.mark.parametrize(
    "piece", ["`", "``", "#", "\n", "\n\n", "QUJD", "ai ", "helpful ", "*", "_a_ ", "~~"]
)
def test_the_tripwire_is_linear(piece: str) -> None:
    assert grows_linearly(lambda count: reads_like_instruction(piece * count), 2_000)


@pytest.mark.parametrize("piece", ["#", " ", "a ", "\\\\", "'"])
def test_editing_a_setting_is_linear(piece: str) -> None:
    def edit(count: int) -> str:
        return set_key(f'[vault]\npath = "{piece * count}"  # {piece * count}\n', "vault.path", "x")

    assert grows_linearly(edit, 2_000)
