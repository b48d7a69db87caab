"""Learning as a whole: what runs leave behind, and what of it reaches the next prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded, ToolExecuted, VerificationRejected
from hindbrain.learn.unchanged import MARK
from hindbrain.models.chat_fake import ScriptedChat
from workbench import NOW, Vault

SITES = ("github.com", "example.org", "kernel.org", "python.org", "wikipedia.org", "debian.org")


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    (vault.root / ".hindbrain").mkdir()
    return make_app(vault.root, warm=True)


def run(app: App, number: int, *, good: bool) -> None:
    """One run of an agent that opens a site: by clicking it fails, by the keyboard it works."""
    at = NOW - 86_400 + number * 600
    name = f"r-2026051{number // 6}-12000{number % 6}-abcd"
    steps = [("press_key", {"key": "l", "command": "true"})] if good else [("click", {"target": "URL bar"})]
    site = SITES[number % len(SITES)]
    events: list[Event] = [RunCreated(name, at, f"open {site} in Chrome")]
    for step, arguments in [("open_application", {"name": "Chrome"}), *steps, ("type_text", {"text": site})]:
        events.append(ToolExecuted(name, at + 5, step, arguments))
    if good:
        events.append(RunEnded(name, at + 30, "complete", 95))
    else:
        events.append(
            VerificationRejected(name, at + 20, "typed into the page, the URL bar was not focused", 40)
        )
        events.append(RunEnded(name, at + 30, "fail", 40, "the URL bar was not focused"))
    journal = app.learning.runs.journal(name)
    for event in events:
        journal.add(event)


def notes(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*.md"))}


@pytest.fixture
def taught(app: App) -> App:
    for number in range(4):
        run(app, number, good=False)
    for number in range(4, 9):
        run(app, number, good=True)
    app.learning.learn()
    app.sync()
    return app


def test_four_failures_and_five_successes_teach_a_lesson_and_a_template_that_reach_the_next_prompt(
    taught: App,
) -> None:
    pack = taught.context.pack("open mozilla.org in Chrome", preset="agent")
    slots = {slot.name: slot for slot in pack.slots}
    lesson = "\n".join(one.text for one in slots["lessons"].excerpts)
    assert "do not `click(URL bar)`" in lesson and "`press_key(l, command: true)`" in lesson
    template = "\n".join(one.text for one in slots["template"].excerpts)
    assert "1. open_application(Chrome)" in template and "click(URL bar)" not in template
    assert "^l-" not in lesson and "[confidence::" not in lesson  # figures are for people
    items = taught.learning.injected(pack)
    assert any(item.startswith("^l-") for item in items) and any(item.endswith(".md") for item in items)


def test_a_command_of_another_kind_gets_none_of_it(taught: App) -> None:
    pack = taught.context.pack("what should I cook for eight people tonight?", preset="agent")
    slots = {slot.name: slot for slot in pack.slots}
    assert not slots["lessons"].excerpts and not slots["template"].excerpts


def test_learning_again_changes_no_byte_with_and_without_the_mark(taught: App, vault: Vault) -> None:
    before = notes(vault.root)
    assert taught.learning.learn() == taught.learning.learn()
    (taught.state / MARK).unlink()
    taught.learning.learn()
    assert notes(vault.root) == before


def test_a_dry_run_writes_no_note_and_says_what_it_would(app: App, vault: Vault) -> None:
    for number in range(6):
        run(app, number, good=number > 3)
    before = {file: file.read_bytes() for file in vault.root.rglob("*") if file.is_file()}
    learned = app.learning.learn(dry_run=True)
    assert "+++ b/Agent/Learning/Lessons.md" in learned.diff or "Lessons.md" in learned.diff
    assert {file: file.read_bytes() for file in vault.root.rglob("*") if file.is_file()} == before


def test_a_lesson_that_its_owner_deletes_is_not_learned_again(taught: App, vault: Vault) -> None:
    path = next(file for file in vault.root.rglob("Lessons.md"))
    text = path.read_text(encoding="utf-8")
    start = text.index("- For tasks like")
    path.write_text(text[:start], encoding="utf-8")
    taught.learning.learn()
    run(taught, 9, good=False)
    taught.learning.learn()
    assert "click(URL bar)" not in path.read_text(encoding="utf-8")
    assert not taught.learning.matches("open mozilla.org in Chrome").lessons or all(
        not match.id.startswith("^l-")
        for match in taught.learning.matches("open mozilla.org in Chrome").lessons
    )


def test_where_hooks_told_of_a_conversation_its_runs_are_learned_from(
    app: App, vault: Vault, clock: FakeClock, tmp_path: Path
) -> None:
    """The transcript is Claude Code's; the cursor is what capturing leaves behind."""
    from hindbrain.context.capture.cursors import Cursor, Cursors
    from hindbrain.context.turn import SessionKey

    recorded = Path(__file__).parents[1] / "hosts/recorded/claude-code/transcript-conversation.jsonl"
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(recorded.read_bytes())
    import os

    os.utime(transcript, (NOW - 3_600, NOW - 3_600))
    app.state.mkdir(parents=True, exist_ok=True)
    session = SessionKey("claude-code", "some-session")
    Cursors(app.state).save(Cursor(session, str(transcript), str(tmp_path), at=NOW))
    app.learning.learn()
    episodes = app.learning.runs.episodes()
    assert episodes and all(episode.actions for episode in episodes)
    count = len(episodes)
    app.learning.learn()
    assert len(app.learning.runs.episodes()) == count


def test_a_note_that_can_t_be_read_costs_what_it_says_and_is_named(taught: App, vault: Vault) -> None:
    lessons = next(file for file in vault.root.rglob("Lessons.md"))
    lessons.unlink()
    lessons.mkdir()  # there, and no note: neither empty nor gone
    pack = taught.context.pack("open mozilla.org in Chrome", preset="agent")
    assert any("Lessons.md" in notice for notice in pack.notices)
    assert {slot.name: slot for slot in pack.slots}["template"].excerpts


def test_without_its_model_learning_asks_nobody_and_leaves_the_wording_to_the_next_time(app: App) -> None:
    for number in range(9):
        run(app, number, good=number >= 4)
    chat = ScriptedChat()
    app.chat = chat
    assert app.learning.learn(with_model=False).recorded.runs == 9
    assert app.learning.lessons() and chat.asked == []
    app.learning.learn()
    assert chat.asked, "nothing is new, but what the model should have worded still waits"


@pytest.mark.parametrize("said", ["thanks!", "ok", "yes", "Danke schön", "perfect, thank you", "go on"])
def test_small_talk_is_no_run(vault: Vault, make_app: Callable[..., App], said: str) -> None:
    app = make_app(vault.root)
    for run, command in (("r-talk", said), ("r-work", "find the cheapest flight to Rome")):
        app.learning.runs.add_imported(
            "chat", [[RunCreated(run, NOW, command), RunEnded(run, NOW + 1, "complete", answer="Done.")]]
        )
    assert app.learning.learn().recorded.runs == 1
    log = next(path for path in vault.root.rglob("Task Log.md")).read_text("utf-8")
    assert "cheapest flight" in log and f'"{said}"' not in log
    assert app.learning.stats().all.runs == 1
