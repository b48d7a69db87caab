"""What a session begins with, by the real hook, in every layout: the notes of the reference word for word."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from host_session import Session

REFERENCE = Path(__file__).parents[1] / "reference_notes"


def chains(text: str) -> dict[str, tuple[str, ...]]:
    """Each line of a note with the headings over it, but for the note's title."""
    above: dict[int, str] = {}
    found = {}
    for line in text.splitlines():
        if line.startswith("["):  # the next note
            above = {}
        elif heading := re.match(r"(#+) ", line):
            level = len(heading[1])
            above = {key: kept for key, kept in above.items() if key < level} | {level: line}
        elif line.strip(" -*`"):
            found[line.strip()] = tuple(above[key] for key in sorted(above) if key > 1)
    return found


def assert_headings_are_kept(card: str, note: str) -> None:
    """A reader of the card knows for each line which headings of the note it stands under."""
    wanted, shown = chains(note), chains("\n".join(line.lstrip() for line in card.splitlines()))
    entered = [line for line in wanted if line in shown]
    assert len(entered) > 10
    for line in entered:
        assert shown[line] == wanted[line], line


def test_the_profile_of_the_reference_keeps_its_headings(started: Session) -> None:
    user = (REFERENCE / "USER.md").read_text(encoding="utf-8")
    started.vault.write(started.path("profile"), user)
    card = started.start()
    assert_headings_are_kept(card, user)
    assert " ### Channels (Priority Order)\n 1. Email (work hours)\n" in card
    assert "Closed captions" in card, "nothing else fills the 900 tokens of a session's start"


def test_a_long_memory_note_is_cut_at_a_line_with_its_headings(session: Session) -> None:
    session.vault.write("SOUL.md", (REFERENCE / "SOUL.md").read_text(encoding="utf-8"))
    memory = (REFERENCE / "MEMORY.md").read_text(encoding="utf-8")
    session.vault.write("MEMORY.md", memory + "\n## More\n" + "- And one more thing to know\n" * 100)
    session.vault.write("USER.md", (REFERENCE / "USER.md").read_text(encoding="utf-8"))
    session.run("init")
    session.run("sync")
    card = session.start()
    assert_headings_are_kept(card, memory)
    assert "Hey there" in card and "one more thing" not in card
    lines = card.splitlines()
    assert not any(a.lstrip().startswith("#") and b.startswith(("<", "[")) for a, b in pairwise(lines))


def test_nothing_empty_enters(started: Session) -> None:
    assert started.start() == "", "a new vault says nothing"
    profile = started.vault.root / started.path("profile")
    text = profile.read_text(encoding="utf-8")
    text += (
        "- **Pronouns:** _(optional)_\n- Role: <your role>\n\n## Context\n\n_(What do they care about?)_\n"
    )
    text += "\n## Style\n%% a comment %%\n- ~~likes tea~~\n  - with milk\n- Channels:\n  1. Email\n"
    started.vault.write(started.path("profile"), text)
    card = started.start()
    assert " ## Style\n - Channels:\n   1. Email\n" in card
    for absent in (
        "Name",
        "Pronouns",
        "Role",
        "Context",
        "care about",
        "comment",
        "tea",
        "milk",
        "Write down",
    ):
        assert absent not in card, absent


def test_what_is_pinned_and_open_enters_in_every_layout(started: Session) -> None:
    started.run("remember", "Prefers short answers", "--category", "preference")
    started.run("task", "add", "Varnish the mast", "--priority", "high")
    card = started.start()
    assert "- Prefers short answers\n" in card
    assert "- Varnish the mast (high) ^t-" in card
    assert "type:" not in card and "Type tasks by hand" not in card


def test_a_preference_typed_by_hand_is_pinned(session: Session) -> None:
    session.vault.write("Garden.md", "# Garden\n")
    session.run("init", "--layout", "brain")
    path = session.path("preferences")
    text = (session.vault.root / path).read_text(encoding="utf-8")
    session.vault.write(path, f"{text}- Writes dates as 2026-05-14\n")
    session.run("sync")
    assert "- Writes dates as 2026-05-14\n" in session.start()


def test_an_identity_is_told_and_an_empty_one_is_not(session: Session) -> None:
    """As OpenClaw begins it: questions, with hints in italics."""
    session.vault.write("MEMORY.md", "# MEMORY.md\n\n- Anna waters the plants\n")
    session.vault.write(
        "IDENTITY.md",
        "# IDENTITY.md - Who Am I?\n\n- **Name:**\n  _(pick something you like)_\n"
        "- **Creature:**\n  _(AI? robot?)_\n",
    )
    session.vault.write(
        "USER.md", "# USER.md\n\n- **Name:** Maria\n- **Pronouns:** _(optional)_\n- **Notes:**\n"
    )
    session.run("init")
    session.run("sync")
    card = session.start()
    assert "Anna waters" in card and "- **Name:** Maria\n" in card
    for absent in ("Creature", "pick something", "Pronouns", "Notes", "IDENTITY"):
        assert absent not in card, absent
