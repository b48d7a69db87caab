"""The note of a session: where it lies, what it says, and that a person's lines in it are theirs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hindbrain.app import App
from hindbrain.context.flush.notes import (
    Kept,
    find_session_note,
    take_from_session_notes,
    write_session_note,
)
from hindbrain.context.flush.tally import Tally
from hindbrain.context.turn import SessionKey
from hindbrain.memory.service import Memory
from hindbrain.vault.frontmatter import read_frontmatter
from workbench import Vault

SESSION = SessionKey("claude-code", "3f2a9c1b-0000")
KEPT = [Kept("We decided to use Go", "decision"), Kept("User lives in Utrecht", "fact")]


@pytest.fixture
def memory(vault: Vault, make_app: Callable[..., App]) -> Memory:
    return make_app(vault.root).memory


def text_of(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text("utf-8")


def test_a_session_has_a_note_with_properties_and_bullets_by_category(vault: Vault, memory: Memory) -> None:
    path = write_session_note(memory, SESSION, KEPT, project="harbor")
    text = text_of(vault, path)
    properties = read_frontmatter(text.split("\n")).properties
    assert path.startswith("Agent/Sessions/2026-05-15 harbor ")
    assert properties["type"] == "session" and properties["source"] == "agent"
    assert properties["date"] == "2026-05-15" and properties["project"] == "harbor"
    assert list(properties["tags"]) == ["agent/memory", "auto-generated"]
    assert text.index("## Decisions") < text.index("- We decided to use Go") < text.index("## Facts")
    assert text.endswith("- User lives in Utrecht\n")


def test_the_same_session_adds_to_the_same_note_even_on_another_day(
    vault: Vault, memory: Memory, clock: object
) -> None:
    path = write_session_note(memory, SESSION, KEPT)
    clock.advance(3 * 86_400)  # type: ignore[attr-defined]
    more = [*KEPT, Kept("We decided to drop Java", "decision"), Kept("Anna is the manager", "contact")]
    assert write_session_note(memory, SESSION, more) == path == find_session_note(memory, SESSION)
    text = text_of(vault, path)
    assert text.count("We decided to use Go") == 1
    assert text.index("to use Go") < text.index("to drop Java") < text.index("## Facts")
    assert text.rstrip().endswith("## People\n\n- Anna is the manager")


def test_the_same_twice_changes_nothing(vault: Vault, memory: Memory) -> None:
    path = write_session_note(memory, SESSION, KEPT)
    before = text_of(vault, path)
    write_session_note(memory, SESSION, KEPT)
    assert text_of(vault, path) == before


def test_other_sessions_have_other_notes(memory: Memory) -> None:
    first = write_session_note(memory, SESSION, KEPT)
    assert write_session_note(memory, SESSION._replace(id="other"), KEPT) != first
    assert find_session_note(memory, SESSION._replace(host="codex")) == ""


def test_what_a_person_wrote_into_the_note_stays_byte_for_byte(vault: Vault, memory: Memory) -> None:
    path = write_session_note(memory, SESSION, KEPT)
    mine = (
        text_of(vault, path).replace("## Facts", "My own remark.  \n\n## Facts ##\n\n* a star") + "\nThe end"
    )
    vault.write(path, mine)
    write_session_note(memory, SESSION, [Kept("We decided to drop Java", "decision")])
    after = text_of(vault, path)
    kept = [line for line in after.split("\n") if line != "- We decided to drop Java"]
    assert [line for line in kept if line] == [line for line in mine.split("\n") if line]


def test_what_must_be_forgotten_goes_with_its_heading_and_the_owners_words_stay(
    vault: Vault, memory: Memory
) -> None:
    path = write_session_note(memory, SESSION, [*KEPT, Kept("User has two cats", "fact")])
    mine = "- I once wrote: User lives in Utrecht, and it was wrong"
    vault.write(path, text_of(vault, path).replace("## Facts\n", f"{mine}\n\n## Facts\n"))
    whole = text_of(vault, path)

    def holds(text: str) -> bool:
        return "User lives in Utrecht" in text

    assert take_from_session_notes(memory, holds) == 1
    assert text_of(vault, path) == whole.replace("- User lives in Utrecht\n", "")
    assert take_from_session_notes(memory, lambda text: text == "User has two cats") == 1
    assert text_of(vault, path).endswith(f"- We decided to use Go\n\n{mine}\n")
    vault.write("Agent/Sessions/Own.md", "- User has two cats\n")
    assert take_from_session_notes(memory, lambda text: text == "User has two cats") == 0


def test_a_heading_inside_code_is_no_place_for_a_bullet(vault: Vault, memory: Memory) -> None:
    path = write_session_note(memory, SESSION, [Kept("User lives in Utrecht", "fact")])
    vault.write(path, text_of(vault, path) + "\n```\n## Decisions\n```\n")
    write_session_note(memory, SESSION, [Kept("We decided to use Go", "decision")])
    assert text_of(vault, path).endswith("```\n\n## Decisions\n\n- We decided to use Go\n")


def test_notes_that_are_mentioned_are_linked(vault: Vault, make_app: Callable[..., App]) -> None:
    vault.write("Tools/PostgreSQL.md", "# PostgreSQL\n")
    app = make_app(vault.root)
    app.sync()
    path = write_session_note(app.memory, SESSION, [Kept("We decided to use PostgreSQL", "decision")])
    assert "- We decided to use [[PostgreSQL]]\n" in text_of(vault, path)
    write_session_note(app.memory, SESSION, [Kept("We decided to use PostgreSQL", "decision")])
    assert text_of(vault, path).count("PostgreSQL") == 1


def test_a_layout_with_a_place_for_sessions_is_followed(vault: Vault, make_app: Callable[..., App]) -> None:
    for name in ("SOUL.md", "USER.md", "AGENTS.md", "IDENTITY.md", "MEMORY.md", "TOOLS.md"):
        vault.write(name, f"# {name}\n")
    memory = make_app(vault.root).memory
    assert memory.layout.name == "openclaw"
    assert write_session_note(memory, SESSION, KEPT).startswith("sessions/")


def test_text_that_would_be_markup_stays_text(vault: Vault, memory: Memory) -> None:
    path = write_session_note(
        memory, SESSION, [Kept("# not a heading", "fact"), Kept("- [ ] not a task", "fact")]
    )
    assert "\n- \\# not a heading\n- \\- [ ] not a task\n" in text_of(vault, path)


def test_a_project_with_an_odd_name_still_gives_a_note(memory: Memory) -> None:
    for name in ("../../etc", "a/b:c|d", "CON", "", "   ", "名前", "x" * 300):
        path = write_session_note(memory, SessionKey("codex", name), KEPT, project=name)
        assert path.startswith("Agent/Sessions/2026-05-15 ") and path.count("/") == 2


def test_a_session_is_tallied_until_it_has_a_note(memory: Memory) -> None:
    tally = Tally(memory.state)
    assert tally.add(SESSION, KEPT[:1]) == KEPT[:1]
    assert tally.add(SESSION, KEPT) == KEPT
    assert Tally(memory.state).add(SESSION, []) == KEPT
    assert tally.add(SessionKey("codex", "x"), []) == []
    tally.clear(SESSION)
    assert tally.add(SESSION, []) == []
