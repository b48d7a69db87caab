"""Presets: the reference's budgets, and an owner's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.base.errors import ConfigError
from hindbrain.context.packs.preset import BUILT_IN, SLOTS, built_in, load_preset


@pytest.mark.parametrize(
    ("name", "budget", "slots"),
    [
        ("compact", 1_200, {"core": 500, "relevant": 500, "history": 200}),
        (
            "agent",
            4_000,
            {"profile": 300, "recent": 500, "relevant": 1_500, "apps": 800, "template": 500, "lessons": 400},
        ),
        ("turn", 1_000, {"relevant": 600, "template": 220, "lessons": 180}),
    ],
)
def test_the_budgets_are_those_of_the_reference(name: str, budget: int, slots: dict[str, int]) -> None:
    preset = built_in(name)
    assert preset.budget == budget
    own = {slot.name: slot.tokens for slot in preset.slots}
    own["relevant"] += own.pop("memories")  # the reference has one share for both
    # and tasks and status are part of the core there, or of what is recent
    own["core" if name == "compact" else "recent"] = sum(
        own.pop(slot, 0) for slot in ("core" if name == "compact" else "recent", "tasks", "status")
    )
    own = {slot: tokens for slot, tokens in own.items() if tokens}
    assert own == slots


def test_a_turn_quotes_four_notes_in_four_thousand_characters() -> None:
    assert (built_in("turn").notes, built_in("turn").characters) == (4, 4_000)


def test_the_full_pack_takes_what_the_window_gives_to_memory_and_skills() -> None:
    slots = {slot.name: slot.tokens for slot in built_in("full").slots}
    assert slots.pop("skills") == 15_000
    assert sum(slots.values()) == 50_000


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_built_in_preset_promises_more_than_its_budget(name: str) -> None:
    preset = built_in(name)
    assert sum(slot.tokens for slot in preset.slots) <= preset.budget
    assert {slot.name for slot in preset.slots} <= set(SLOTS)


def test_an_owner_can_write_a_preset(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'budget = 700\nform = "markdown"\n[[slots]]\nname = "core"\ntokens = 200\n'
        '[[slots]]\nname = "relevant"\ntokens = 500\n',
        encoding="utf-8",
    )
    preset = load_preset("mine", tmp_path)
    assert (preset.budget, preset.form, len(preset.slots)) == (700, "markdown", 2)


@pytest.mark.parametrize(
    "text",
    [
        "budget = 700",
        "budget = -1\n[[slots]]\nname = 'core'\ntokens = 10",
        "[[slots]]\nname = 'cores'\ntokens = 10",
        "[[slots]]\nname = 'core'\ntokens = true",
        "[[slots]]\nname = 'core'\ntokens = 10\n[[slots]]\nname = 'core'\ntokens = 10",
        "form = 'html'\n[[slots]]\nname = 'core'\ntokens = 10",
        "colour = 'blue'\n[[slots]]\nname = 'core'\ntokens = 10",
        "slots = [",
        "[[slots]]\nname = 'core'\ntokens = 10\nsize = 3",
    ],
)
def test_a_preset_that_can_t_be_used_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        load_preset("mine", tmp_path)


@pytest.mark.parametrize("name", ["nothing", "../turn", "", "turn.toml", "a/b", "x\0y"])
def test_a_preset_that_is_not_there_is_named_with_those_that_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="compact"):
        load_preset(name, tmp_path)


def test_a_preset_that_still_asks_for_a_confidence_is_told_which_setting_took_its_place(
    tmp_path: Path,
) -> None:
    (tmp_path / "old.toml").write_text(
        'least_confidence = 0.1\n[[slots]]\nname = "relevant"\ntokens = 500\n', encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"context\.false_rate"):
        load_preset("old", tmp_path)
