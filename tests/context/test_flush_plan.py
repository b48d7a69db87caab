"""What a host is told to do before it compacts, and the card that it keeps in its prompts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.context.flush.due import RESERVE, SOFT_THRESHOLD
from hindbrain.context.tokens import EstimatedTokens
from hindbrain.vault.layout import LAYOUTS, built_in, render_layout
from workbench import Vault


def with_layout(vault: Vault, name: str, folder: str = "") -> Vault:
    vault.write(".hindbrain/layout.toml", render_layout(built_in(name, folder)))
    return vault


def test_outside_the_vault_the_model_writes_where_the_host_keeps_its_days_or_out_of_sight(
    vault: Vault, make_app: Callable[..., App], tmp_path: Path
) -> None:
    context = make_app(vault.root).context
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    kept = context.flush_plan(str(workspace), True)
    hidden = context.flush_plan(str(workspace), False)
    assert (kept.folder, kept.taken) == ("memory", True)
    assert (hidden.folder, hidden.taken) == (".hindbrain/flush", True)
    assert context.flush_plan("", True).folder == "memory"
    assert "memory/YYYY-MM-DD.md" in kept.prompt and "NO_REPLY" in kept.prompt
    assert "NO_REPLY" in kept.system_prompt
    assert kept[:3] == (SOFT_THRESHOLD, 2 * 1024 * 1024, RESERVE)


@pytest.mark.parametrize("name", LAYOUTS)
def test_where_the_workspace_is_the_vault_the_model_writes_into_the_note_of_the_day(
    name: str, vault: Vault, make_app: Callable[..., App]
) -> None:
    with_layout(vault, name, "Agent")
    app = make_app(vault.root)
    plan = app.context.flush_plan(str(vault.root), True)
    assert not plan.taken
    assert f"{plan.folder}/2026-05-15.md" == app.memory.daily.path("2026-05-15")


def test_a_workspace_around_or_inside_the_vault_is_seen_for_what_it_is(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    with_layout(vault, "obsidian", "Agent")
    context = make_app(vault.root).context
    around = context.flush_plan(str(vault.root.parent), True)
    assert (around.folder, around.taken) == (f"{vault.root.name}/Agent/Daily", False)
    (vault.root / "Agent" / "Daily").mkdir(parents=True)
    at_it = context.flush_plan(str(vault.root / "Agent" / "Daily"), True)
    assert (at_it.folder, at_it.taken) == ("", False)
    assert "YYYY-MM-DD.md" in at_it.prompt
    beside = context.flush_plan(str(vault.root / "Agent" / "Memory"), False)
    assert (beside.folder, beside.taken) == (".hindbrain/flush", True)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_to_the_vault_is_the_vault(vault: Vault, make_app: Callable[..., App], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(vault.root)
    assert not make_app(vault.root).context.flush_plan(str(tmp_path / "link"), True).taken


def test_days_with_other_names_than_their_date_are_not_the_models_to_write(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    vault.write(".hindbrain/layout.toml", 'base = "obsidian"\n[roles]\ndaily = "Days/Log {date}.md"\n')
    plan = make_app(vault.root).context.flush_plan(str(vault.root), True)
    assert (plan.folder, plan.taken) == ("memory", True)


def test_the_card_tells_who_the_user_is_and_stays_the_same(
    vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    with_layout(vault, "obsidian")
    vault.write(
        "User Profile.md", "# User Profile\n\n## About\n- Name: Anna Berg\n- Time zone: Europe/Lisbon\n"
    )
    app = make_app(vault.root)
    app.memory.remember("Prefers short answers", category="preference", source="user", importance=0.9)
    app.memory.flush(timeout_s=30)
    card = app.context.card()
    assert "Anna Berg" in card and "short answers" in card
    assert EstimatedTokens().count(card) <= 500
    clock.advance(86_400)
    assert make_app(vault.root).context.card() == card == app.context.card()


def test_a_long_profile_is_cut_to_what_a_card_may_cost(vault: Vault, make_app: Callable[..., App]) -> None:
    with_layout(vault, "openclaw")
    lines = "".join(
        f"- Fact number {n} about the owner of this vault, in a line of its own\n" for n in range(300)
    )
    vault.write("USER.md", f"# User\n{lines}")
    card = make_app(vault.root).context.card()
    assert "Fact number 0 " in card
    assert EstimatedTokens().count(card) <= 500


def test_without_anything_known_there_is_no_card(vault: Vault, make_app: Callable[..., App]) -> None:
    assert make_app(vault.root).context.card() == ""
