"""A day with memory, as the owner of a vault sees it: in the terminal, in the notes, and with an agent."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hindbrain.base.errors import HindbrainError
from hindbrain.edge.main import main
from hindbrain.edge.opening import open_app
from hindbrain.memory.service import Memory
from hindbrain.memory.tools import TOOLS
from hindbrain.memory.tools.tool import call
from hindbrain.vault.layout import LAYOUTS
from hindbrain.vault.parse import decode_note, parse_note
from workbench import person_says

# As people keep them: Windows line ends, no final newline, a byte order mark.
_OWN_NOTES = {
    "Boat.md": b"# Boat\r\n\r\nThe mast needs varnish before June. See [[Ada]].\r\n",
    "People/Ada.md": b"---\naliases: [Ada Lovelace]\n---\n# Ada\n\nSails with me on Sundays. [[Boat]]",
    "Journal/2026-03-02.md": b"\xef\xbb\xbfRowed to the island with [[Ada Lovelace]].\n",
}


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Hindbrain = Callable[..., Ran]


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_") or name == "OPENCLAW_HOME":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def hindbrain(capsys: pytest.CaptureFixture[str]) -> Hindbrain:
    """The program, in this process; a command that fails is told at once."""

    def run(*words: str, code: int = 0) -> Ran:
        capsys.readouterr()
        ended = main(words)
        ran = Ran(ended, *capsys.readouterr())
        assert ended == code, f"{words}: {ended}\n{ran.out}\n{ran.err}"
        return ran

    return run


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault that its owner had before, and the terminal stands in it."""
    root = tmp_path / "my notes"
    (root / ".obsidian").mkdir(parents=True)
    for path, data in _OWN_NOTES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(data)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def vault(hindbrain: Hindbrain, notes: Path) -> Path:
    """The same, with a place for the agents."""
    hindbrain("init", "--layout", "obsidian")
    return notes


@contextmanager
def _agent(root: Path) -> Iterator[Memory]:
    with closing(open_app(Namespace(vault=str(root)))) as app:
        yield app.memory


def _call(root: Path, tool: str, **arguments: object) -> dict[str, Any]:
    """What an agent does: one call of a tool, in a process of its own as far as the files can tell."""
    declared = next(known for known in TOOLS if known.name == tool)
    with _agent(root) as memory:
        return dict(call(memory, declared, arguments).data)


def _files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def _edit(note: Path, old: str, new: str) -> None:
    """As an editor does it."""
    text = note.read_bytes().decode()
    assert old in text
    note.write_bytes(text.replace(old, new).encode())


def _texts(ran: Ran) -> list[str]:
    return [memory["text"] for memory in ran.data["memories"]]


def _line(note: Path, words: str) -> str:
    (line,) = [line for line in note.read_text(encoding="utf-8").splitlines() if words in line]
    return line


@pytest.mark.promise("P5")
def test_the_owners_notes_are_byte_for_byte_as_they_were(hindbrain: Hindbrain, notes: Path) -> None:
    hindbrain("init", "--layout", "obsidian")
    hindbrain("remember", "The boat is moored at Pier 4")
    hindbrain("remember", "Ada Lovelace prefers black tea", "--category", "contact")
    hindbrain("task", "add", "Varnish the mast", "--project", "boat")
    hindbrain("daily", "--add", "Rowed to the island")
    hindbrain("lint")
    after = _files(notes)
    assert {path: after[path] for path in _OWN_NOTES} == _OWN_NOTES
    assert all(path.startswith(("Agent/", ".hindbrain/")) for path in after if path not in _OWN_NOTES)


def test_facts_are_remembered_and_a_new_value_replaces_the_old_one(hindbrain: Hindbrain, vault: Path) -> None:
    hindbrain("remember", "The boat is moored at Pier 4")
    hindbrain("remember", "I like short answers", "--category", "preference")
    newer = hindbrain("remember", "The boat is moored at Pier 7", "--json").data
    assert newer["action"] == "supersede"

    note = vault / newer["path"]
    assert _line(note, "Pier 4").startswith("- ~~The boat is moored at Pier 4~~ ")
    assert f"^{newer['id']}" in _line(note, "Pier 4")  # what came instead
    assert _line(note, "Pier 7").endswith(f"^{newer['id']}")

    shown = hindbrain("recall", "where is the boat moored")
    assert "Pier 7" in shown.out.splitlines()[0] and "Pier 4" not in shown.out
    found = hindbrain("recall", "where is the boat moored", "--json").data
    assert found["memories"][0]["citation"] == newer["citation"]
    assert "Boat.md" in [passage["path"] for passage in found["passages"]]


def test_a_task_is_added_started_and_done(hindbrain: Hindbrain, vault: Path) -> None:
    added = hindbrain("task", "add", "Varnish the mast", "--priority", "high", "--json").data["tasks"][0]
    note = vault / added["path"]
    assert _line(note, "Varnish").startswith("- [ ] ")
    hindbrain("task", "start", "varnish")
    assert _line(note, "Varnish").startswith("- [/] ")
    hindbrain("task", "done", added["id"], "--note", "two coats")
    assert _line(note, "Varnish").startswith("- [x] ")
    assert "two coats" in note.read_text(encoding="utf-8")
    assert hindbrain("task", "list", "--json").data["tasks"] == []
    done = hindbrain("task", "list", "--status", "done", "--json").data["tasks"]
    assert [(task["id"], task["title"]) for task in done] == [(added["id"], "Varnish the mast")]


def test_a_task_that_was_typed_by_hand_is_a_task(hindbrain: Hindbrain, vault: Path) -> None:
    path = hindbrain("task", "add", "Buy rope", "--json").data["tasks"][0]["path"]
    with (vault / path).open("ab") as note:
        note.write(b"- [ ] Oil the winch\n")
    assert "Oil the winch" in hindbrain("task").out
    hindbrain("task", "done", "oil the winch")
    assert _line(vault / path, "Oil the winch").startswith("- [x] Oil the winch")


def test_the_day_is_written_down(hindbrain: Hindbrain, vault: Path) -> None:
    hindbrain("daily", "--add", "Rowed to the island")
    day = hindbrain("daily", "--add", "Ada steered", "--json").data
    lines = (vault / day["path"]).read_text(encoding="utf-8").splitlines()
    assert [re.sub(r"\d\d:\d\d", "TIME", line) for line in lines[-2:]] == [
        "- [TIME] Rowed to the island",
        "- [TIME] Ada steered",
    ]
    assert "Ada steered" in hindbrain("daily").out


def test_what_is_changed_by_hand_in_a_note_is_what_is_remembered(hindbrain: Hindbrain, vault: Path) -> None:
    stored = hindbrain("remember", "I like short answers", "--category", "preference", "--json").data
    _edit(vault / stored["path"], "short answers", "long answers with examples")
    with (vault / stored["path"]).open("ab") as note:
        note.write(b"- I never eat turnips\n")
    (found, *_) = hindbrain("recall", "answers", "--json").data["memories"]
    assert (found["text"], found["id"]) == ("I like long answers with examples", stored["id"])
    assert "I never eat turnips" in _texts(hindbrain("recall", "turnips", "--json"))


@pytest.mark.promise("P22")
@pytest.mark.parametrize("in_between", ["recall", ""])  # or the agent's call is the first since then
def test_what_is_deleted_by_hand_is_not_learned_again_by_an_agent(
    hindbrain: Hindbrain, vault: Path, in_between: str
) -> None:
    fact = "My door code is the year I was born"
    stored = hindbrain("remember", fact, "--json").data
    hindbrain("remember", "The boat is moored at Pier 4")
    _edit(vault / stored["path"], _line(vault / stored["path"], "door code") + "\n", "")
    if in_between:
        assert _texts(hindbrain(in_between, "door code", "--json")) == []
    for words in (fact, f"{fact.lower()}."):
        with pytest.raises(HindbrainError) as refused:
            _call(vault, "remember", fact=words)
        assert refused.value.code == "refused"
    assert _texts(hindbrain("recall", "door code", "--json")) == []
    assert b"door code" not in (vault / stored["path"]).read_bytes()
    # Its owner may have changed their mind.
    assert hindbrain("remember", fact, "--json").data["action"] == "new"


@pytest.mark.promise("P18")
def test_words_from_the_web_wait_until_they_are_ticked_in_the_note(hindbrain: Hindbrain, vault: Path) -> None:
    held = _call(vault, "remember", fact="The ferry to Texel leaves at 9:40", source="web")
    assert held["action"] == "held"
    waiting = hindbrain("inbox", "--json").data
    assert [item["text"] for item in waiting["waiting"]] == ["The ferry to Texel leaves at 9:40"]
    assert _texts(hindbrain("recall", "ferry", "--json")) == []

    note = vault / waiting["note"]
    assert _line(note, "ferry").startswith("- [ ] remember: ")
    _edit(note, "- [ ] remember: ", "- [x] remember: ")
    (found,) = hindbrain("recall", "ferry", "--json").data["memories"]
    assert (found["text"], found["source"]) == ("The ferry to Texel leaves at 9:40", "web")
    assert b"ferry" not in note.read_bytes()
    assert "web" in _line(vault / found["path"], "ferry")
    assert hindbrain("inbox", "--json").data["waiting"] == []


def test_what_is_deleted_in_the_inbox_is_not_asked_again(hindbrain: Hindbrain, vault: Path) -> None:
    _call(vault, "remember", fact="The ferry to Texel leaves at 9:40", source="web")
    note = vault / hindbrain("inbox", "--json").data["note"]
    _edit(note, _line(note, "ferry") + "\n", "")
    assert [item["text"] for item in hindbrain("inbox", "--json").data["refused"]] == [
        "The ferry to Texel leaves at 9:40"
    ]
    with pytest.raises(HindbrainError) as refused:
        _call(vault, "remember", fact="The ferry to Texel leaves at 9:40", source="web")
    assert refused.value.code == "refused"


@pytest.mark.promise("P9")
def test_forgetting_can_be_undone(hindbrain: Hindbrain, vault: Path) -> None:
    stored = hindbrain("remember", "I like short answers", "--category", "preference", "--json").data
    before = (vault / stored["path"]).read_bytes()
    gone = hindbrain("forget", stored["id"], "--json").data
    assert _texts(hindbrain("recall", "short answers", "--json")) == []
    assert b"short answers" not in (vault / stored["path"]).read_bytes()
    with pytest.raises(HindbrainError) as refused:
        _call(vault, "remember", fact="I like short answers")
    assert refused.value.code == "refused"

    hindbrain("undo", gone["revision"])
    assert (vault / stored["path"]).read_bytes() == before
    assert _texts(hindbrain("recall", "short answers", "--json")) == ["I like short answers"]
    again = _call(vault, "remember", fact="I like short answers", category="preference", importance=0.9)
    assert (again["action"], again["id"]) == ("merge", stored["id"])


@pytest.mark.promise("P22")
def test_what_was_brought_back_may_be_learned_at_once(hindbrain: Hindbrain, vault: Path) -> None:
    stored = hindbrain("remember", "I like short answers", "--category", "preference", "--json").data
    gone = hindbrain("forget", stored["id"], "--json").data
    hindbrain("undo", gone["revision"])
    again = _call(vault, "remember", fact="I like short answers", category="preference", importance=0.9)
    assert (again["action"], again["id"]) == ("merge", stored["id"])


def test_at_the_end_of_the_day_the_vault_is_in_order(hindbrain: Hindbrain, vault: Path) -> None:
    hindbrain("remember", "The boat is moored at Pier 4")
    hindbrain("remember", "The boat is moored at Pier 7")
    _call(vault, "remember", fact="Ada Lovelace teaches me to splice rope", category="contact")
    _call(vault, "remember", fact="The ferry to Texel leaves at 9:40", source="web")
    _call(vault, "task_create", title="Varnish the mast", details="two coats", project="boat")
    _call(vault, "task_update", title="Varnish the mast", status="in_progress", notes="first coat")
    hindbrain("daily", "--add", "Rowed to the island")
    assert hindbrain("lint", "--check", "--json").data["problems"] == []
    assert hindbrain("links", "--broken", "--json").data["total"] == 0
    assert hindbrain("links", "--ambiguous", "--json").data["total"] == 0
    before = _files(vault)
    hindbrain("lint")
    hindbrain("init", "--layout", "obsidian")
    assert _files(vault) == before
    assert hindbrain("doctor").code == 0


def test_a_replaced_memory_whose_successor_was_deleted_by_hand_is_still_in_order(
    hindbrain: Hindbrain, vault: Path
) -> None:
    hindbrain("remember", "The boat is moored at Pier 4")
    newer = hindbrain("remember", "The boat is moored at Pier 7", "--json").data
    _edit(vault / newer["path"], _line(vault / newer["path"], "at Pier 7") + "\n", "")
    assert hindbrain("lint", "--check", "--json").data["problems"] == []
    assert "replaced by a memory that is gone" in hindbrain("recall", "where is the boat moored").out


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_new_vault_of_each_layout_is_in_order(
    hindbrain: Hindbrain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    root = tmp_path / "new"
    root.mkdir()
    monkeypatch.chdir(root)
    made = hindbrain("init", ".", "--layout", layout, "--json").data
    assert made["created"] and not made["failed"]
    before = _files(root)
    for path in made["created"]:
        text, problems = decode_note(before[path])
        problems += parse_note(text, stem=Path(path).stem).problems
        assert not problems, (path, problems)
    assert hindbrain("lint", "--check", "--json").data["problems"] == []
    assert hindbrain("links", "--broken", "--json").data["total"] == 0
    assert hindbrain("links", "--ambiguous", "--json").data["total"] == 0
    again = hindbrain("init", ".", "--layout", layout, "--json").data
    assert (again["made"], again["created"], again["moved"]) == (False, [], [])
    hindbrain("init")
    assert _files(root) == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_day_in_each_layout_leaves_it_in_order(
    hindbrain: Hindbrain, notes: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hindbrain("init", str(notes), "--layout", layout)
    hindbrain("remember", "The boat is moored at Pier 4")
    hindbrain("remember", "Never varnish in the rain", "--category", "pattern")
    assert hindbrain("remember", "The boat is moored at Pier 7", "--json").data["action"] == "supersede"
    _call(notes, "remember", fact="The ferry to Texel leaves at 9:40", source="web")
    person_says(monkeypatch, "y")
    hindbrain("inbox", "accept", "1")
    hindbrain("task", "add", "Varnish the mast", "--project", "boat")
    hindbrain("task", "start", "Varnish the mast")
    hindbrain("task", "done", "Varnish the mast")
    hindbrain("daily", "--add", "Rowed to the island")
    assert "The boat is moored at Pier 7" in _texts(hindbrain("recall", "boat moored", "--json"))
    assert "The ferry to Texel leaves at 9:40" in _texts(hindbrain("recall", "ferry", "--json"))
    assert hindbrain("lint", "--check", "--json").data["problems"] == []
    assert hindbrain("links", "--broken", "--json").data["total"] == 0
    after = _files(notes)
    assert {path: after[path] for path in _OWN_NOTES} == _OWN_NOTES
    hindbrain("init", str(notes), "--layout", layout)
    assert _files(notes) == after
