"""A memory meets another one, at the command line and in every layout: one line, two, or one struck."""

from __future__ import annotations

import pytest
from journey_doors import CommandLine

from hindbrain.vault.layout import LAYOUTS


@pytest.mark.promise("P12")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_the_same_other_or_changed_ends_as_it_should(hb: CommandLine, layout: str) -> None:
    hb.root.mkdir()
    hb("init", "--layout", layout)

    def remember(text: str) -> tuple[str, str]:
        done = hb.data("remember", text)
        return done["action"], (done["other"] or {}).get("text", "")

    def notes() -> str:
        return "\n".join(path.read_text(encoding="utf-8") for path in hb.root.rglob("*.md"))

    # Numbers are sequences.
    remember("The furnace filter in the cellar measures 20x20x1")
    action, _ = remember("The furnace filter in the attic measures 16x20x1")
    assert action in ("new", "related")
    for text in ("20x20x1", "16x20x1"):
        assert text in notes()

    # Another wording is one memory, and stays readable.
    remember("Prefers dark mode in all apps")
    assert remember("User prefers dark mode") == ("merge", "Prefers dark mode in all apps")
    assert "also said: User prefers dark mode" in notes()
    hb("forget", hb.data("remember", "Prefers dark mode in all apps")["id"])
    assert "dark mode" not in notes()

    # A change that is said as one ends what was before, and nothing else.
    remember("Moved the standup notes to Notion")
    remember("Standup is at 9:00")
    assert remember("Standup moved to 10:00") == ("supersede", "Standup is at 9:00")
    assert remember("Standup moved to 11:30") == ("supersede", "Standup moved to 10:00")
    remember("Benutzt VS Code als Editor")
    assert remember("Benutzt jetzt Neovim als Editor") == ("supersede", "Benutzt VS Code als Editor")
    found = [memory["text"] for memory in hb.data("recall", "standup")["memories"]]
    assert "Standup moved to 11:30" in found and "Moved the standup notes to Notion" in found
    assert "Standup is at 9:00" not in found


@pytest.mark.promise("P12")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Standup is at 9:30", "standup moved to 10:00"),
        ("The database is PostgreSQL 15", "upgraded to PostgreSQL 16"),
        ("Uses VS Code", "switched from VS Code to Neovim"),
        ("Uses npm", "uses pnpm, not npm"),
        ("Project Apollo deadline is 2027-03-01", "The Apollo deadline moved to 2027-03-15"),
        ("Wir nutzen PostgreSQL 15", "auf PostgreSQL 16 aktualisiert"),
        ("Benutzt VS Code", "von VS Code zu Neovim gewechselt"),
        ("Die Miete beträgt 900 Euro", "Die Miete wurde auf 950 Euro erhöht"),
    ],
)
def test_a_change_ends_the_only_memory_that_there_is(hb: CommandLine, before: str, after: str) -> None:
    """In an empty memory no word is rare: the older fact must be found all the same."""
    hb.root.mkdir()
    hb("init", "--layout", "obsidian")
    hb("remember", before)
    done = hb.data("remember", after)
    assert (done["action"], (done["other"] or {}).get("text")) == ("supersede", before)


@pytest.mark.promise("P12")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Staging runs PostgreSQL 15", "upgraded production to PostgreSQL 16"),
        ("Project Gemini deadline is 2027-03-01", "The Apollo deadline moved to 2027-03-15"),
        ("The standup room is 930", "The retro moved to 10:00"),
    ],
)
def test_a_change_of_another_thing_ends_nothing(hb: CommandLine, before: str, after: str) -> None:
    hb.root.mkdir()
    hb("init", "--layout", "obsidian")
    hb("remember", before)
    assert hb.data("remember", after)["action"] in ("new", "related")
