"""What learning says in notes, beside what anybody else wrote there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.pages.desk import Desk
from hindbrain.learn.pages.drafts import DraftNotes
from hindbrain.learn.pages.sections import with_section
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.memory.notes.own_lines import OWN_LINES, OwnLines
from hindbrain.vault.layout import built_in
from hindbrain.vault.write import VaultWriter

NOTE = (
    b"# Chrome\n\nMine.\n\n## Known Issues\n\n- old one\n  - I saw this, too\n- other\n\n## Mine\n\nStays.\n"
)
OURS = frozenset(("- old one", "- other", "- new one", "## Known Issues"))


def section(data: bytes, lines: list[str], heading: str = "Known Issues") -> str:
    return with_section(data, heading, lines, ours=lambda line: line.strip() in OURS, path="x.md").decode()


def test_our_lines_are_replaced_and_those_of_others_stay_behind_the_line_they_followed() -> None:
    assert section(NOTE, ["- new one", "- old one"]) == (
        "# Chrome\n\nMine.\n\n## Known Issues\n\n- new one\n- old one\n  - I saw this, too\n\n"
        "## Mine\n\nStays.\n"
    )


def test_a_line_of_others_whose_line_of_ours_goes_moves_to_the_end() -> None:
    assert section(NOTE, ["- new one"]) == (
        "# Chrome\n\nMine.\n\n## Known Issues\n\n- new one\n  - I saw this, too\n\n## Mine\n\nStays.\n"
    )


def test_saying_the_same_again_changes_no_byte() -> None:
    once = section(NOTE, ["- new one"]).encode()
    assert section(once, ["- new one"]).encode() == once
    crlf = NOTE.replace(b"\n", b"\r\n")
    assert section(crlf, ["- old one", "- other"]).encode() == crlf


def test_a_section_that_is_missing_is_added_at_the_end() -> None:
    assert section(b"# Chrome", ["- new one"]) == "# Chrome\n\n## Known Issues\n\n- new one\n"
    assert section(b"", ["- new one"]) == "## Known Issues\n\n- new one\n"


def test_with_nothing_to_say_our_empty_heading_goes_and_one_of_others_stays() -> None:
    assert section(b"# A\n\n## Known Issues\n\n- old one\n", []) == "# A\n\n"
    assert section(b"# A\n\n## Patterns\n\n- old one\n", [], "Patterns") == "# A\n\n## Patterns\n"


LINES = st.lists(
    st.sampled_from(["- old one", "- other", "", "mine", "  - mine, too", "## Else", "```", "# Top", "-"]),
    max_size=12,
)


@given(
    LINES,
    st.lists(st.sampled_from(["- old one", "- new one", "- other"]), unique=True),
    st.sampled_from(["\n", "\r\n"]),
)
def test_no_line_of_others_is_ever_lost(before: list[str], said: list[str], end: str) -> None:
    data = end.join(["## Known Issues", *before]).encode()
    after = section(data, said).encode()
    left = after.decode().replace("\r\n", "\n").split("\n")
    for line in before:
        if line.strip() and line.strip() not in OURS:
            assert left.count(line) >= before.count(line), (before, said, after)
    assert section(after, said).encode() == after


@pytest.fixture
def writer(tmp_path: Path, clock) -> VaultWriter:
    (tmp_path / "vault").mkdir()
    return VaultWriter(tmp_path / "vault", tmp_path / "state", clock)


def test_which_lines_are_ours_survives_the_process_and_a_torn_line(
    writer: VaultWriter, tmp_path: Path
) -> None:
    root = tmp_path / "vault"
    OwnLines(root, writer.append_state_line).note("a.md", ["- one", "", "- two"])
    with open(root / ".hindbrain" / OWN_LINES, "ab") as file:
        file.write(b'{"path": "a.md", "li')
    again = OwnLines(root, writer.append_state_line)
    assert again.is_ours("a.md", "  - one ") and again.is_ours("a.md", "- two")
    assert not again.is_ours("a.md", "- three") and not again.is_ours("b.md", "- one")
    again.note("a.md", ["- three"])
    assert OwnLines(root, writer.append_state_line).is_ours("a.md", "- three")


def desk(root: Path, writer: VaultWriter, layout: str = "obsidian") -> Desk:
    own = OwnLines(root, writer.append_state_line)
    return Desk(root, Notebook(root, lambda: writer), built_in(layout), own, lambda: "2026-05-15")


def test_a_draft_shows_what_would_change_and_changes_nothing(writer: VaultWriter, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    real = desk(root, writer)
    real.put_section("a.md", "Said", ["- one"], first_text="# A\n")
    before = (root / "a.md").read_bytes()
    drafts = DraftNotes(real.notes.find)
    drafted = Desk(root, drafts, real.layout, OwnLines(root, lambda *_: None), real.today)
    drafted.put_section("a.md", "Said", ["- two"])
    drafted.put_section("b.md", "Said", ["- three"], first_text="# B\n")
    page = drafted.find("a.md")
    assert page is not None and "- two" in page.text
    assert drafts.changed() == ["a.md", "b.md"]
    assert "-- one" in drafts.diff() and "+- two" in drafts.diff() and "+++ b/b.md" in drafts.diff()
    assert (root / "a.md").read_bytes() == before and not (root / "b.md").exists()
