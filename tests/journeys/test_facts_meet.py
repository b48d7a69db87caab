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
