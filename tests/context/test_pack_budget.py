"""The budget of a pack: the total is the bound, a slot's share is a guide, and the figures add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.context.packs.preset import SLOTS, Preset, SlotRule
from hindbrain.context.packs.rendering import FORMS
from hindbrain.context.tokens import count_tokens
from hindbrain.search.hit import SearchResult
from hindbrain.search.query import Filters, SearchQuery
from workbench import NOW, Vault

PROMPTS = ("tomatoes water", "what did we do yesterday?", "", "zebra crossing", "<system> 水 tomatoes")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    from hindbrain.app import build_app

    vault = Vault(tmp_path_factory.mktemp("budget") / "vault")
    vault.root.mkdir()
    vault.write("User Profile.md", "# User Profile\n\n## About\n" + "".join(
        f"- Name {i}: Maria <b>Lind</b> {i}\n" for i in range(60)
    ))  # fmt: skip
    vault.write("Home.md", "# Home\n")
    vault.write("Current Status.md", "# Current Status\n\nThe barrel leaks.\n")
    vault.write("Known Issues.md", "# Known Issues\n")
    vault.write("Active Tasks.md", "## Tasks\n" + "".join(f"- [ ] Water bed {i}\n" for i in range(40)))
    vault.write("Daily/2026-05-14.md", "# Daily Log\n\n## Events\n" + "- [10:00] Dug a bed\n" * 12)
    for i in range(25):
        vault.write(f"Notes/tomato {i}.md", f"# Tomato {i}\n\nTomatoes of kind {i} like 水 and <sun>. {i}\n")
    config = load_config(
        {
            "HINDBRAIN_STATE_FOLDER": str(vault.root.parent / "state"),
            "HINDBRAIN_EMBEDDING_PROVIDER": "builtin",
        },
        Path("no-config.toml"),
    )
    app = build_app(config, vault.root, clock=FakeClock(NOW), warm=True)
    app.sync()
    return app


_SHARES = st.lists(
    st.builds(SlotRule, st.sampled_from(sorted(SLOTS)), st.integers(1, 900)),
    min_size=1, max_size=6, unique_by=lambda rule: rule.name,
)  # fmt: skip
_PRESETS = st.builds(
    Preset, st.just("mine"), st.integers(50, 2_500), _SHARES.map(tuple), st.sampled_from((0, 800, 4_000)),
    st.sampled_from((0, 3)), st.sampled_from(FORMS),
)  # fmt: skip


# The figures of a slot that is dearer than its share count as they are shown.
@example(preset=Preset("mine", 1380, (SlotRule("core", 1),), 4_000, 0, "json"), prompt="tomatoes water")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(preset=_PRESETS, prompt=st.sampled_from(PROMPTS))
def test_figures_add_up_and_nothing_exceeds_its_bound(app: App, preset: Preset, prompt: str) -> None:
    pack = app.context.pack(prompt, preset=preset)
    text = app.context.rendered(pack, preset.form)
    total = count_tokens(text)
    assert total <= preset.budget
    assert not preset.characters or len(text) <= preset.characters
    assert all(slot.tokens <= slot.budget <= preset.budget for slot in pack.slots)
    if pack.excerpts:
        assert pack.frame > 0 and pack.tokens == total


def test_leftover_flows_to_every_slot_that_has_something(app: App) -> None:
    """A slot that comes late gets what earlier ones left, however small the budget is."""
    preset = Preset(
        "mine", 700,
        (
            SlotRule("lessons", 300), SlotRule("relevant", 400),
            SlotRule("tasks", 300), SlotRule("recent", 200),
        ),
    )  # fmt: skip
    slots = {slot.name: slot for slot in app.context.pack("zebra crossing", preset=preset).slots}
    assert "Water bed 11" in slots["tasks"].excerpts[0].text
    assert "Dug a bed" in slots["recent"].excerpts[-1].text


def test_what_nobody_needs_enlarges_the_card_of_a_session(app: App) -> None:
    """500 tokens are the card's share; with no more tasks and events, the rest of the 900 is its own."""
    preset = Preset("mine", 900, (SlotRule("core", 100), SlotRule("apps", 700)))
    core = app.context.pack(
        "", preset=preset._replace(slots=(SlotRule("core", 100), SlotRule("history", 700)))
    )
    assert core.slots[0].tokens > 400
    # Text before a prompt's own part stays the same from prompt to prompt: there the share is the bound.
    stable = [app.context.pack(prompt, preset=preset).slots[0] for prompt in ("tomatoes water", "zebra")]
    assert stable[0].excerpts == stable[1].excerpts and stable[0].tokens <= 130


def test_a_slot_that_can_get_no_more_room_is_filled_once(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn has more to say than its 4,000 characters hold. Searching again would find the same."""
    searches: list[Filters] = []
    search = app.engine.search

    def counted(query: SearchQuery, *, encode_s: float) -> SearchResult:
        searches.append(query.filters)
        return search(query, encode_s=encode_s)

    monkeypatch.setattr(app.engine, "search", counted)
    preset = Preset("mine", 200, (SlotRule("relevant", 120), SlotRule("lessons", 80)), 600, 3, "turn")
    pack = app.context.pack("tomatoes water", preset=preset)
    assert any(item.reason in ("notes", "characters") for item in pack.left_out)
    assert len(searches) == len(set(searches))
