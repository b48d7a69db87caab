"""What goes wrong from outside, in the terminal and through the tools: a clear code, and nothing lost."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.errors import Ambiguous, HindbrainError, NoteChanged
from hindbrain.edge.main import main
from hindbrain.edge.opening import open_app
from hindbrain.memory.service import Memory
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call

_NOTES = {
    "Boat.md": b"# Boat\r\n\r\nThe mast needs varnish.\r\n",
    "A/Twin.md": b"# Twin\n\none\n",
    "B/Twin.md": b"# Twin\n\ntwo",
    "Broken.md": b"---\na: b: c\ntags: [x\n---\n# Broken\n",
    "Bytes.md": b"# Bytes\n\ncaf\xe9\n",
    "Agent/Active Tasks.md": b"# Active Tasks\n\n- [ ] Buy rope ^t-rope\n- [ ] Buy oars\n",
    "Agent/Memory/fact.md": b"# Facts\n\n- The mast is oak [source:: user] ^m-oak\n",
}
_MEGABYTE = 1_000_000
_OTHER_HASH = "0123456789abcdef"

# What is sent, as a tool and as it is typed, and the code that it must have. None: not to be said that way.
_CASES: dict[str, tuple[tuple[str, dict[str, object]] | None, list[str] | None, str]] = {
    "a note that is missing": (("vault_read", {"path": "Nope"}), ["note", "read", "Nope"], "not_found"),
    "a note of two": (("vault_read", {"path": "Twin"}), ["note", "read", "Twin"], "ambiguous"),
    "append to a note of two": (
        ("vault_append", {"path": "Twin", "content": "x"}),
        ["note", "append", "Twin", "x"],
        "ambiguous",
    ),
    "a heading that is missing": (
        ("vault_append", {"path": "Boat.md", "content": "x", "heading": "Sails"}),
        ["note", "append", "Boat.md", "x", "--heading", "Sails"],
        "not_found",
    ),
    "no hash": (
        ("vault_write", {"path": "Boat.md", "content": "x"}),
        ["note", "write", "Boat.md", "--text", "x"],
        "conflict",
    ),
    "a hash of something else": (
        ("vault_write", {"path": "Boat.md", "content": "x", "hash": _OTHER_HASH}),
        ["note", "write", "Boat.md", "--text", "x", "--hash", _OTHER_HASH],
        "conflict",
    ),
    "what is no hash": (
        ("vault_write", {"path": "Boat.md", "content": "x", "hash": "latest"}),
        ["note", "write", "Boat.md", "--text", "x", "--hash", "latest"],
        "usage",
    ),
    "empty content": (
        ("vault_write", {"path": "New.md", "content": " "}),
        ["note", "write", "New.md", "--text", " "],
        "usage",
    ),
    "nothing to append": (
        ("vault_append", {"path": "Boat.md", "content": ""}),
        ["note", "append", "Boat.md", "--text", ""],
        "usage",
    ),
    "a device of Windows": (
        ("vault_write", {"path": "Trips/con.md", "content": "x"}),
        ["note", "write", "Trips/con.md", "--text", "x"],
        "unsafe_path",
    ),
    "a sign that Windows forbids": (
        ("vault_append", {"path": "why?.md", "content": "x"}),
        ["note", "append", "why?.md", "x"],
        "unsafe_path",
    ),
    "outside of the vault": (
        ("vault_read", {"path": "../secret.md"}),
        ["note", "read", "../secret.md"],
        "unsafe_path",
    ),
    "properties of broken YAML": (None, ["note", "set", "Broken.md", "status=done"], "vault"),
    "an empty fact": (("remember", {"fact": " \n"}), ["remember", " \n"], "usage"),
    "a fact as long as a note": (
        ("remember", {"fact": "x" * _MEGABYTE}),
        ["remember", "x" * 100_000],
        "usage",
    ),
    "more than a megabyte": (
        ("vault_append", {"path": "Boat.md", "content": "x" * (_MEGABYTE + 1)}),
        None,
        "usage",
    ),
    "half a character": (("remember", {"fact": "Tea \ud83c"}), None, "usage"),
    "a memory that does not exist": (
        ("memory_forget", {"memory_id": "m-nope"}),
        ["forget", "m-nope"],
        "not_found",
    ),
    "a correction of none": (
        ("memory_update", {"memory_id": "[[Agent/Memory/fact#^m-nope]]", "content": "x"}),
        None,
        "not_found",
    ),
    "a task of two": (
        ("task_update", {"title": "Buy", "status": "done"}),
        ["task", "done", "Buy"],
        "ambiguous",
    ),
    "no such task": (
        ("task_update", {"title": "Sell the boat", "status": "done"}),
        ["task", "done", "Sell the boat"],
        "not_found",
    ),
    "a task without a title": (("task_create", {"title": "- [ ] "}), ["task", "add", "- "], "usage"),
}


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with notes, tasks and a memory, known to the index."""
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for path, data in _NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    monkeypatch.chdir(root)
    assert main(["init"]) == 0
    assert main(["sync"]) == 0
    return root


Type = Callable[..., tuple[int, Any]]


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Type:
    """A command with --json: its exit code and its answer."""

    def run(*words: str, stdin: bytes = b"") -> tuple[int, Any]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@contextmanager
def agent(root: Path) -> Iterator[Memory]:
    with closing(open_app(Namespace(vault=str(root)))) as app:
        yield app.memory


def use(root: Path, tool: str, **arguments: object) -> dict[str, Any]:
    with agent(root) as memory:
        return dict(call(memory, tool_named(tool), arguments).data)


def notes_of(root: Path) -> dict[str, bytes]:
    """Every note with its bytes."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.md")}


@pytest.mark.parametrize("name", [name for name, case in _CASES.items() if case[0]])
def test_a_tool_says_what_is_wrong_and_nothing_is_changed(root: Path, name: str) -> None:
    asked, _, code = _CASES[name]
    assert asked is not None
    before = notes_of(root)
    with pytest.raises(HindbrainError) as caught:
        use(root, asked[0], **asked[1])
    assert caught.value.code == code
    assert caught.value.advice == "fix"  # all of these are mended by other arguments
    assert notes_of(root) == before


@pytest.mark.parametrize("name", [name for name, case in _CASES.items() if case[1]])
def test_a_command_says_what_is_wrong_and_nothing_is_changed(root: Path, typed: Type, name: str) -> None:
    _, words, code = _CASES[name]
    assert words is not None
    before = notes_of(root)
    ended, answer = typed(*words)
    assert (ended, answer["error"]["code"]) == (2 if code == "usage" else 1, code)
    assert notes_of(root) == before


@pytest.mark.parametrize(
    "words", [["note", "append", "Boat.md"], ["note", "write", "New.md"], ["remember", "-"]]
)
@pytest.mark.parametrize("data", [b"caf\xe9", b"", b"\xff\xfeT\x00"])
def test_bytes_that_are_no_text_are_refused(root: Path, typed: Type, words: list[str], data: bytes) -> None:
    before = notes_of(root)
    ended, answer = typed(*words, stdin=data)
    assert (ended, answer["error"]["code"]) == (2, "usage")
    assert notes_of(root) == before


def test_candidates_are_names_that_can_be_given_instead(root: Path) -> None:
    with pytest.raises(Ambiguous) as two:
        use(root, "task_update", title="Buy", status="done")
    assert set(two.value.candidates) == {"^t-rope", "Buy oars (line 4)"}
    for name in two.value.candidates:
        assert use(root, "task_update", title=name, status="done")["task"]["status"] == "done"
    with pytest.raises(Ambiguous) as notes:
        use(root, "vault_read", path="Twin")
    assert set(notes.value.candidates) == {"A/Twin.md", "B/Twin.md"}


def test_a_conflict_brings_the_hash_to_go_on_with(root: Path, typed: Type) -> None:
    shown = typed("note", "read", "Boat.md")[1]["hash"]
    (root / "Boat.md").write_bytes(b"# Boat\r\n\r\nThe mast is varnished.\r\n")  # its owner, in between
    ended, answer = typed(
        "note", "write", "Boat.md", "--hash", shown, "--text", "# Boat\n\nThe mast needs oil.\n"
    )
    assert (ended, answer["error"]["code"]) == (1, "conflict")
    now = typed("note", "read", "Boat.md")[1]["hash"]
    assert now[:16] in answer["error"]["message"]
    with pytest.raises(NoteChanged) as caught:
        use(root, "vault_write", path="Boat.md", content="# Boat\n\nThe mast needs oil.\n", hash=shown)
    assert caught.value.current_hash == now
    assert (root / "Boat.md").read_bytes() == b"# Boat\r\n\r\nThe mast is varnished.\r\n"
    assert typed("note", "write", "Boat.md", "--hash", now, "--text", "# Boat\n\nOiled.\n")[0] == 0


def test_an_edit_of_other_lines_in_between_is_merged(root: Path, typed: Type) -> None:
    text = "# Trip\n\nMonday.\n\n## Food\n\nBread.\n"
    made = typed("note", "write", "Trip.md", "--text", text)[1]["hash"]
    (root / "Agent/Trip.md").write_text(text.replace("Monday", "Tuesday"), encoding="utf-8")
    ended, answer = typed(
        "note", "write", "Trip.md", "--hash", made, "--text", text.replace("Bread", "Cheese")
    )
    assert (ended, answer["merged"]) == (0, True)
    kept = (root / "Agent/Trip.md").read_text(encoding="utf-8")
    assert "Tuesday" in kept and "Cheese" in kept


def test_a_megabyte_is_taken_by_a_note(root: Path, typed: Type) -> None:
    line = "A line of a long log.\n"
    text = line * (_MEGABYTE // len(line))
    assert typed("note", "append", "Log.md", stdin=text.encode())[0] == 0
    assert (root / "Agent/Log.md").read_text(encoding="utf-8") == text
    use(root, "vault_append", path="Boat.md", content=text)
    assert (root / "Boat.md").read_bytes().startswith(_NOTES["Boat.md"])


@pytest.mark.promise("P5")
def test_what_is_broken_by_hand_is_read_and_added_to_and_keeps_its_bytes(root: Path, typed: Type) -> None:
    assert typed("note", "read", "Broken.md")[1]["problems"]
    for path in ("Broken.md", "Bytes.md"):
        assert typed("note", "append", path, "More.")[0] == 0
        assert (root / path).read_bytes().startswith(_NOTES[path])
    assert typed("lint", "--check")[0] == 1
    (root / "Agent/Memory/fact.md").write_bytes(
        b"---\na: b: c\n---\n- The mast is oak ^m-oak\n- caf\xe9 ^m-cafe\n"
    )
    assert typed("remember", "The sail is red")[0] == 0
    assert typed("forget", "m-oak")[0] == 0
    left = (root / "Agent/Memory/fact.md").read_bytes()
    assert left.startswith(b"---\na: b: c\n---\n- caf\xe9 ^m-cafe\n") and b"The sail is red" in left


_WRITES: dict[str, tuple[str, dict[str, object]]] = {
    "remember": ("remember", {"fact": "The sail is red", "importance": 0.9}),
    "hold": ("remember", {"fact": "The ferry leaves at 9:40", "source": "web"}),
    "update": ("memory_update", {"memory_id": "m-oak", "content": "The mast is pine"}),
    "forget": ("memory_forget", {"memory_id": "m-oak"}),
    "write": ("vault_write", {"path": "New.md", "content": "x"}),
    "append": ("vault_append", {"path": "Boat.md", "content": "x"}),
    "task": ("task_create", {"title": "Sew the sail"}),
    "done": ("task_update", {"title": "Buy rope", "status": "done"}),
}


def _full(_fd: int, _data: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.promise("P2")
@pytest.mark.parametrize("name", list(_WRITES))
def test_on_a_full_disk_a_write_fails_and_everything_is_as_it_was(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    tool, arguments = _WRITES[name]
    before = notes_of(root)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _full)
        with pytest.raises(HindbrainError) as caught:
            use(root, tool, **arguments)
        assert caught.value.code == "write_failed"
        assert caught.value.advice == "stop"
    assert notes_of(root) == before
    use(root, tool, **arguments)  # there is room again
    assert notes_of(root) != before


@pytest.fixture
def read_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault lies on a medium that takes nothing; the state folder does not."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc to tell where a descriptor leads")
    opened, made = os.open, os.mkdir

    def is_inside(path: Any, dir_fd: int | None) -> bool:
        base = Path(f"/proc/self/fd/{dir_fd}").readlink() if dir_fd is not None else Path.cwd()
        return (base / os.fsdecode(path)).is_relative_to(root)

    def refuse() -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def open_(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and is_inside(path, dir_fd):
            refuse()
        return opened(path, flags, mode, dir_fd=dir_fd)

    def mkdir(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        if is_inside(path, dir_fd):
            refuse()
        made(path, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "mkdir", mkdir)
    return root


@pytest.mark.parametrize("name", list(_WRITES))
def test_a_vault_that_takes_nothing_is_said_to(read_only: Path, name: str) -> None:
    tool, arguments = _WRITES[name]
    before = notes_of(read_only)
    with pytest.raises(HindbrainError) as caught:
        use(read_only, tool, **arguments)
    assert caught.value.code == "write_failed"
    assert notes_of(read_only) == before


def test_a_vault_that_takes_nothing_is_read_and_keeps_what_waits(
    read_only: Path, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [item["text"] for item in typed("recall", "mast")[1]["memories"]] == ["The mast is oak"]
    assert typed("note", "read", "Boat.md")[0] == 0
    assert len(typed("task")[1]["tasks"]) == 2
    queued = use(read_only, "remember", fact="The sail is red")  # durable beside the vault
    assert queued["action"] == "queued"
    assert "The sail is red" in [item["text"] for item in typed("recall", "sail")[1]["memories"]]
    monkeypatch.undo()
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(read_only.parent / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(read_only.parent / "state"))
    with agent(read_only) as memory:
        memory.settle(idle=True)
    assert b"The sail is red" in (read_only / "Agent/Memory/fact.md").read_bytes()
