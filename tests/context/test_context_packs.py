"""Packs of a real vault: what enters a prompt, what does not, and that it is the same each time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hindbrain.app import App
from hindbrain.context.messages import Message
from hindbrain.context.packs.assembling import is_empty
from hindbrain.context.packs.pack import Pack
from hindbrain.context.packs.preset import Preset, SlotRule
from hindbrain.context.tokens import count_tokens
from hindbrain.vault.layout import built_in as layout_named
from hindbrain.vault.layout import render_layout
from workbench import Vault

GARDEN = """---
date: 2026-04-02
---
# Garden

## Watering
Tomatoes get water every second morning, from the rain barrel behind the shed.

## Tools
The good spade hangs in the cellar.
"""


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    vault.write("Areas/Garden.md", GARDEN)
    vault.write("Areas/Car.md", "# Car\n\nThe winter tyres are at Meyer's garage until April.\n")
    vault.write("Projects/Falcon.md", "# Falcon\n\nWe ship Falcon with SQLite, not with Postgres.\n")
    app = make_app(vault.root, warm=True)
    app.sync()
    return app


def shown(pack: Pack) -> str:
    return "\n".join(one.text for one in pack.excerpts)


def test_a_prompt_gets_what_the_vault_says_about_it(app: App) -> None:
    pack = app.context.pack("how often do the tomatoes get water?")
    assert "every second morning" in shown(pack)
    text = app.context.rendered(pack)
    assert "Areas/Garden.md" in text
    assert "2026-04-02" in text


def test_a_prompt_that_the_vault_knows_nothing_about_gets_nothing(app: App) -> None:
    pack = app.context.pack("write a haiku about the Atlantic ocean")
    assert is_empty(pack)
    assert app.context.rendered(pack) == ""
    assert pack.left_out
    assert {one.reason for one in pack.left_out} == {"unlikely"}


@pytest.mark.parametrize("prompt", ["", "   \n", "thanks!", "ok", "yes, go on"])
def test_a_prompt_that_asks_nothing_gets_nothing(app: App, prompt: str) -> None:
    assert is_empty(app.context.pack(prompt))


def test_the_same_prompt_gives_the_same_bytes(app: App, make_app: Callable[..., App], vault: Vault) -> None:
    first = app.context.rendered(app.context.pack("tomatoes and winter tyres"))
    again = app.context.rendered(app.context.pack("tomatoes and winter tyres"))
    other = make_app(vault.root, warm=True)
    assert first == again == other.context.rendered(other.context.pack("tomatoes and winter tyres"))


def test_what_is_in_the_window_is_left_out(app: App) -> None:
    pack = app.context.pack("how often do the tomatoes get water?")
    held = frozenset(passage for one in pack.excerpts for passage in one.passages)
    again = app.context.pack("how often do the tomatoes get water?", exclude=held)
    assert not held & {passage for one in again.excerpts for passage in one.passages}


@pytest.mark.parametrize("budget", [60, 100, 200, 500])
@pytest.mark.parametrize("preset", ["turn", "compact", "agent"])
def test_the_rendered_text_stays_within_the_budget(app: App, vault: Vault, preset: str, budget: int) -> None:
    for i in range(30):
        vault.write(f"Notes/tomato {i}.md", f"# Tomato {i}\n\nTomatoes of kind {i} like water and sun.\n")
    app.sync()
    pack = app.context.pack("tomatoes water", preset=preset, budget=budget)
    assert count_tokens(app.context.rendered(pack)) <= budget


def test_a_turn_has_at_most_4000_characters_of_4_notes(app: App, vault: Vault) -> None:
    for i in range(30):
        vault.write(f"Notes/tomato {i}.md", f"# Tomato {i}\n\n" + f"Tomatoes of kind {i} like water. " * 40)
    app.sync()
    pack = app.context.pack("tomatoes water")
    assert 0 < len(app.context.rendered(pack)) <= 4_000
    assert len({one.path for one in pack.excerpts}) <= 4


def test_unused_budget_of_one_slot_flows_to_what_is_relevant(app: App, vault: Vault) -> None:
    for i in range(40):
        vault.write(f"Notes/tomato {i}.md", f"# Tomato {i}\n\nTomatoes of kind {i} like water and sun.\n")
    app.sync()
    preset = Preset("mine", 900, (SlotRule("lessons", 600), SlotRule("relevant", 200)))
    slots = {slot.name: slot for slot in app.context.pack("tomatoes water", preset=preset).slots}
    assert not slots["lessons"].excerpts
    assert slots["relevant"].tokens > 300


def test_slots_are_dropped_from_the_last_when_the_budget_is_small(app: App, vault: Vault) -> None:
    vault.write(app.memory.layout.path("profile"), "".join(f"- Knows fact {i}\n" for i in range(90)))
    pack = app.context.pack("tomatoes", preset="agent", budget=160)
    dropped = {one.slot for one in pack.left_out if one.reason == "dropped"}
    assert "lessons" in dropped and "profile" not in dropped
    vault.remove(app.memory.layout.path("profile"))
    pack = app.context.pack("tomatoes water", preset="agent", budget=300)
    assert not [one for one in pack.left_out if one.reason == "dropped"], "there is room left"


def test_a_memory_that_was_replaced_does_not_enter(app: App) -> None:
    app.memory.remember("The rain barrel holds 200 litres", importance=0.9)
    app.memory.remember("The rain barrel no longer holds 200 litres, it holds 500 litres", importance=0.9)
    text = shown(app.context.pack("how much does the rain barrel hold?"))
    assert "500 litres" in text
    assert "~~" not in text


def test_what_waits_in_the_inbox_does_not_enter(app: App) -> None:
    app.memory.remember("The tomatoes want bleach instead of water", source="web")
    app.memory.settle(idle=True)
    app.sync()
    assert "bleach" not in shown(app.context.pack("what do the tomatoes want?"))


def test_fields_and_ids_of_memories_do_not_cost_tokens(app: App) -> None:
    app.memory.remember("The tomatoes are from the Hofladen in Au", importance=0.9)
    text = shown(app.context.pack("where are the tomatoes from?"))
    assert "Hofladen" in text
    assert "importance" not in text
    assert "^m-" not in text


def test_the_core_says_who_the_owner_is_and_leaves_out_what_a_template_asks(app: App, vault: Vault) -> None:
    layout = layout_named("obsidian", "Agent")
    vault.write(".hindbrain/layout.toml", render_layout(layout))
    text = layout.first_text("profile", today="2026-05-01").replace("- Name:", "- Name: Maria Lind")
    vault.write("Agent/User Profile.md", text)
    app.memory.remember("Prefers short answers", category="preference", importance=0.9, source="user")
    pack = app.context.pack("", preset="compact")
    assert "Maria Lind" in shown(pack)
    assert "short answers" in shown(pack)
    assert "Time zone" not in shown(pack)
    assert "Write down what every agent" not in shown(pack)


def test_without_a_profile_what_was_remembered_is_the_core(app: App) -> None:
    app.memory.remember("Lives in Bern", importance=0.9, source="user")
    app.memory.remember("Once bought a green pen", importance=0.2, source="user")
    app.memory.settle(idle=True)
    text = shown(app.context.pack("", preset="compact"))
    assert "Bern" in text
    assert "green pen" not in text


def test_an_empty_vault_gives_an_empty_pack(
    tmp_path_factory: pytest.TempPathFactory, make_app: Callable[..., App]
) -> None:
    root = tmp_path_factory.mktemp("empty")
    (root / ".obsidian").mkdir()
    app = make_app(root, warm=True)
    app.sync()
    for preset in ("turn", "compact", "agent", "full", "start"):
        assert is_empty(app.context.pack("anything at all", preset=preset))


def test_a_follow_up_is_understood_by_what_was_said_before(app: App) -> None:
    recent = (Message("user", "Tell me about the tomatoes in the garden"),)
    pack = app.context.pack("and how often does it get water?", recent=recent)
    assert "every second morning" in shown(pack)


def test_what_was_clipped_from_the_web_says_so(app: App, vault: Vault) -> None:
    vault.write(
        "Clippings/Tomatoes.md", "---\nurl: https://example.org\n---\nTomatoes like basil beside them.\n"
    )
    app.sync()
    pack = app.context.pack("what do tomatoes like beside them?")
    assert {one.source for one in pack.excerpts if one.path.startswith("Clippings")} == {"web"}
    assert "from the web" in app.context.rendered(pack)


def test_open_tasks_stand_in_the_start_pack(app: App) -> None:
    app.memory.tasks.create("Repot the basil")
    done = app.memory.tasks.create("Buy soil").task
    app.memory.tasks.update(done.id, status="done")
    text = shown(app.context.pack("", preset="start"))
    assert "Repot the basil" in text
    assert "Buy soil" not in text


def test_open_tasks_are_the_word_of_the_least_trusted_of_them(app: App) -> None:
    app.memory.tasks.create("Repot the basil")
    assert {one.source for one in app.context.pack("", preset="start").excerpts} == {"user"}
    app.memory.tasks.create("Pay Mallory", source="web")
    sources = {one.source for one in app.context.pack("", preset="start").excerpts if "Mallory" in one.text}
    assert sources == {"web"}


def test_what_happened_last_stands_in_the_start_pack(app: App) -> None:
    app.memory.daily.add_line("Planted twelve tomatoes")
    assert "twelve tomatoes" in shown(app.context.pack("", preset="start"))


def test_what_a_layout_s_own_first_text_says_is_no_answer(app: App, vault: Vault) -> None:
    layout = layout_named("obsidian", "Agent")
    vault.write(".hindbrain/layout.toml", render_layout(layout))
    text = layout.first_text("issues", today="2026-05-01")
    vault.write("Agent/Known Issues.md", text)
    app.sync()
    assert "Known Issues" not in shown(app.context.pack("known issues that are open or solved"))
    vault.write("Agent/Known Issues.md", text + "\n- The pump of the barrel leaks, a new seal solved it\n")
    app.sync()
    assert "seal" in shown(app.context.pack("known issues with the pump of the barrel"))


def test_what_is_embedded_is_no_text(app: App, vault: Vault) -> None:
    vault.write("Maps.md", "![[Tomato map.base]]\n")
    app.sync()
    assert "Maps.md" not in {one.path for one in app.context.pack("tomato map").excerpts}


@pytest.mark.parametrize("preset", ["agent", "compact"])
def test_tasks_and_status_stand_in_the_packs_of_an_agent(app: App, vault: Vault, preset: str) -> None:
    tasks = app.memory.tasks
    for number in range(40):
        tasks.create(f"Sow row {number}")
    tasks.create("Repot the basil", due="2026-05-17")
    tasks.create("Order pots", due="2027-03-01")
    tasks.create("Mend the fence", due="2026-05-16")
    tasks.update("Sow row 3", status="in_progress")
    tasks.update("Sow row 39", status="done")
    vault.write(app.layout.path("status"), '## Last run\n- **Last command:** "water the tomatoes"\n')
    pack = app.context.pack("", preset=preset)
    slots = {slot.name: slot for slot in pack.slots}
    titles = [line.split(" ^")[0] for line in slots["tasks"].excerpts[0].text.split("\n")]
    assert titles[:3] == [
        "- Sow row 3 (in_progress)",
        "- Mend the fence (due 2026-05-16)",
        "- Repot the basil (due 2026-05-17)",
    ]
    assert titles[3] == "- Order pots (due 2027-03-01)" and titles[4:6] == ["- Sow row 38", "- Sow row 37"]
    assert "water the tomatoes" in slots["status"].excerpts[0].text
    assert shown(pack).count("water the tomatoes") == 1
    assert slots["tasks"].tokens + slots["status"].tokens <= 260
    tasks.update("Mend the fence", status="done")
    vault.write(app.layout.path("status"), '## Last run\n- **Last command:** "pick the beans"\n')
    now = shown(app.context.pack("", preset=preset))
    assert "Mend the fence" not in now and "pick the beans" in now and "water the tomatoes" not in now


def test_a_vault_without_tasks_has_all_of_the_core_s_room_for_its_owner(app: App, vault: Vault) -> None:
    """Tasks take a part of the room for what always stands in a pack, and only where there are any."""
    layout = layout_named("obsidian", "Agent")
    vault.write(".hindbrain/layout.toml", render_layout(layout))
    about = "".join(f"- Habit {number}: waters bed {number} early\n" for number in range(80))
    vault.write("Agent/User Profile.md", f"# User Profile\n\n## About\n{about}")

    def lines() -> int:
        pack = app.context.pack("which tomatoes?", preset="compact")
        return next(slot for slot in pack.slots if slot.name == "core").excerpts[0].text.count("Habit")

    without = lines()
    for number in range(30):
        app.memory.tasks.create(f"Sow a long row of the seeds with the number {number}")
    assert without > lines() + 3


def test_tasks_enter_no_prompt_of_a_conversation(app: App) -> None:
    app.memory.tasks.create("Repot the basil", due="2026-05-17")
    for prompt in ("fix the failing test", "thanks, go on", "write a haiku about spring"):
        assert "Repot" not in shown(app.context.pack(prompt, preset="turn"))
