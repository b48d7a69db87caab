"""Lines of notes in packs, by `context` and the hooks: under the headings of their notes, and none twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_session import Session
from test_session_card import REFERENCE

QUESTIONS = (
    "what are my communication preferences?",
    "when do I work on Project Alpha?",
    "backup on Sundays",
)
IDENTITY = "# Identity\n\n- **Name**: ClawWin-01\n- **Emoji**: 🦞\n- **Vibe**: calm\n"
ISSUE = (
    "- **Open Chrome and go to github** failed after 4 iterations: Wrong element clicked, ended up elsewhere"
)


@pytest.fixture
def claw(session: Session) -> Session:
    for name in ("SOUL.md", "USER.md", "MEMORY.md"):
        session.vault.write(name, (REFERENCE / name).read_text(encoding="utf-8"))
    session.vault.write("IDENTITY.md", IDENTITY)
    session.run("init")
    session.run("sync")
    return session


def placed(text: str, *, path: str = "", indent: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The path, the line, and the headings over it, but for the note's title."""
    above: dict[int, str] = {}
    for line in text.splitlines():
        if not path or line.startswith("["):
            begun = re.match(r"\[([^\]:]+\.md)", line)
            path, above = (begun[1], {}) if begun else (path, above)
        if not line.startswith(indent) or not line.strip(" -…"):
            continue
        shown = line.removeprefix(indent)
        if heading := re.match(r"(#+) ", shown):
            level = len(heading[1])
            above = {key: kept for key, kept in above.items() if key < level} | {level: shown}
        else:
            yield path, shown, tuple(above[key] for key in sorted(above) if key > 1)


def lines_of(pack: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [found for found in placed(pack, indent=" ") if found[0]]


def asked(session: Session, capsys: pytest.CaptureFixture[str], prompt: str, *words: str) -> str:
    capsys.readouterr()
    session.run("context", prompt, *words)
    return capsys.readouterr().out


@pytest.mark.parametrize("preset", ["turn", "compact", "agent", "full", "start"])
def test_each_line_stands_once_and_under_the_headings_of_its_note(
    claw: Session, capsys: pytest.CaptureFixture[str], preset: str
) -> None:
    notes = {
        found
        for name in ("SOUL.md", "USER.md", "MEMORY.md", "IDENTITY.md")
        for text in [(claw.vault.root / name).read_text(encoding="utf-8")]
        for found in (*placed(text, path=name), *placed(text.replace("- [ ] ", "- "), path=name))
    }
    for question in QUESTIONS:
        for budget in ("300", "700", "4000"):
            pack = asked(claw, capsys, question, "--preset", preset, "--budget", budget)
            found = lines_of(pack)
            assert found or budget == "300"
            assert set(found) <= notes  # a memory is shown without its check box
            assert len(found) == len(set(found))
            assert "Version: 1.3" not in pack and " ---" not in pack and not re.search(r"\S …", pack)


def test_the_agent_is_not_the_user(claw: Session, capsys: pytest.CaptureFixture[str]) -> None:
    for preset in ("start", "card", "agent", "compact"):
        pack = asked(claw, capsys, "when do I work?", "--preset", preset)
        profile = re.search(r"<(core_memory|user_profile)>.*</\1>", pack, re.DOTALL)
        assert profile and "Alex" in profile[0] and "ClawWin-01\n" not in profile[0]


def test_what_a_session_began_with_is_not_told_again(claw: Session) -> None:
    began = lines_of(claw.hook("session-start", session_id="one", source="startup"))
    assert len(began) > 50
    for question in (*QUESTIONS, QUESTIONS[0]):
        told = lines_of(claw.hook("user-prompt-submit", session_id="one", prompt=question))
        assert not set(told) & set(began), question
        began += told
    assert any(path == "SOUL.md" for path, *_ in began), "what is new is told"
    assert claw.hook("session-start", session_id="one", source="resume") == ""
    again = lines_of(claw.hook("session-start", session_id="one", source="compact"))
    assert len(again) == len(set(again)) > 50
    cleared = lines_of(claw.hook("session-start", session_id="one", source="clear"))
    assert cleared == again[: len(cleared)], "a new window has nothing yet"


def test_open_tasks_stand_once_after_a_compaction_and_again_when_they_changed(started: Session) -> None:
    started.run("task", "add", "Renew the passport")
    asked_for = {"session_id": "one", "prompt": "what is still open?"}
    assert "Renew the passport" in started.hook("user-prompt-submit", **asked_for)
    again = started.hook("session-start", session_id="one", source="compact")
    assert again.count("Renew the passport") == 1
    assert "Renew" not in started.hook("user-prompt-submit", **asked_for)
    started.run("task", "start", "Renew the passport")
    assert "Renew the passport (in_progress)" in started.hook("user-prompt-submit", **asked_for)


def test_a_lesson_stands_in_one_slot(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.vault.write("Boat.md", "# Boat\n\nVarnish the mast.\n")
    session.run("init", "--layout", "obsidian")
    path = session.path("issues")
    session.vault.write(
        path, f"# Known Issues\n{ISSUE}\n- **Send email** failed: [source:: import] greyed out\n"
    )
    status = (
        "# Status\n\n- **Open:** call the harbour master [source:: agent]\n- Pay the berth [source:: web]\n"
    )
    status += "- Uses `[source:: import]` [due:: 2026-06-01]\n"
    session.vault.write(session.path("status"), status)
    session.run("sync")
    pack = asked(session, capsys, "open Chrome and go to github", "--preset", "agent")
    assert pack.count(ISSUE) == 1 and "<avoid_mistakes>" in pack
    assert " - **Open:** call the harbour master\n" in pack
    assert " - Pay the berth [source:: web]\n" in pack, "whose word it is, where that is not the owner's"
    assert "`[source:: import]` [due:: 2026-06-01]\n" in pack, "an owner's own words stay"
    assert Path(path).name in pack
