"""The documents about the command line say what the program does."""

from __future__ import annotations

import json
import os
import re
import shlex
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base import errors
from hindbrain.base.config import load_config
from hindbrain.context.turn import SessionKey
from hindbrain.edge.commands import NAMES
from hindbrain.edge.commands.watch import _tell
from hindbrain.edge.output import Output
from hindbrain.edge.reference import reference
from hindbrain.index.follow import FollowEvent
from hindbrain.models.chat_fake import Scripted, calls
from hindbrain.vault.write import VaultWriter
from workbench import Vault, person_says

_DOCS = Path(__file__).parents[2] / "docs"
_TOKEN = "ghp_" + "0a1B2c3D4e5F6g7H8i" * 2  # looks like one, and is none
_OPEN = frozenset(
    ("why", "left_out_by_code", "attachments", "value", "default", "took_ms")
)  # whose keys or kinds are data


def _examples() -> dict[str, list[Any]]:
    """By section: one, or one for each of the shapes that a command has."""
    text = (_DOCS / "json.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {
        name: [json.loads(found) for found in re.findall(r"```json\n(.*?)```", body, re.DOTALL)]
        for name, body in sections
    }


def _shape(value: Any, name: str = "") -> Any:
    """Keys and kinds of values; a list is the shape of its first element."""
    if name in _OPEN:
        return "open"
    if isinstance(value, dict):
        return {key: _shape(item, key) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, int | float) else "text"


def _agree(shown: Any, written: Any) -> bool:
    """Is what is printed of the shape that is written down? What may be empty or null may be so in either."""
    if "NoneType" in (shown, written):
        return True
    if isinstance(shown, dict) and isinstance(written, dict):
        return shown.keys() == written.keys() and all(_agree(shown[key], written[key]) for key in shown)
    if isinstance(shown, list) and isinstance(written, list):
        return not shown or not written or _agree(shown[0], written[0])
    return bool(shown == written)


@pytest.fixture
def linked(notes: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """Notes with links of every kind, and a home that is not the tester's."""
    notes.edit("Tea.md", "Green tea", "[[Projects/Garden/plan|Plan]] [[plan]] [[nowhere]] Green tea")
    notes.write("Projects/Pot.md", "# Pot\n\nFor [[Tea]], which is green and brewed at 70 degrees.\n")
    notes.write("Projects/Kettle.md", "# Kettle\n\nGreen tea is brewed at 70 degrees. [[Pot]]\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return notes


def test_the_page_of_commands_is_the_one_that_the_program_makes() -> None:
    assert (_DOCS / "cli.md").read_text(encoding="utf-8") == reference(), (
        "run: python -m hindbrain.edge.reference > docs/cli.md"
    )


def test_words_that_may_be_left_out_are_shown_so() -> None:
    usage = [line.split() for line in reference().splitlines() if line.startswith("    hindbrain ")]
    (task,) = [words for words in usage if words[1] == "task"]
    (remember,) = [words for words in usage if words[1] == "remember"]
    assert "[TITLE...]" in task and "TEXT..." in remember


def _check(shown: Any, name: str, shape: int = 0) -> None:
    printed, written = _shape(shown), _shape(_examples()[name][shape])
    assert _agree(printed, written), f"{printed}\n{written}"


def test_every_command_has_a_shape_that_is_written_down() -> None:
    examples = _examples()
    assert set(examples) == {*NAMES, "error", "version"}
    assert all(examples.values())


def test_every_code_of_an_error_is_written_down() -> None:
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.HindbrainError)
    }
    section = (_DOCS / "json.md").read_text(encoding="utf-8").partition("## error")[2].partition("```json")[0]
    assert codes == set(re.findall(r"`([a-z_]+)`", section)) - {"code"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("init", ["init"]),
        ("sync", ["sync", "--verify"]),
        ("search", ["search", "plan"]),
        ("search", ["search", "xylophone", "--keyword"]),
        ("read", ["read", "Broken"]),
        ("status", ["status"]),
        ("doctor", ["doctor", "--fix"]),
        ("eval", ["eval"]),
        ("history", ["history"]),
        ("undo", ["undo"]),
        ("config", ["config"]),
        ("demo", ["demo"]),
        ("completion", ["completion", "fish"]),
        ("error", ["read", "nowhere"]),
        ("version", ["--version"]),
    ],
)  # fmt: skip
def test_json_has_the_shape_that_is_written_down(cli: Cli, notes: Vault, name: str, words: list[str]) -> None:
    notes.write("Broken.md", "---\ntags: [open\n---\ntext\n")
    notes.write("Blob.md", b"\0\1\2" * 500)
    notes.write("Tea (conflicted copy 2026-01-01).md", "old")
    cli("sync")
    state = Path(cli("status", "--json").data["vault"]["state"])
    from hindbrain.base.clock import SystemClock

    with VaultWriter(notes.root, state, SystemClock()) as writer:
        writer.append_note("Tea.md", b"More.\n")
    ran = cli.bare(*words, "--json", *([] if name == "version" else ["--vault", str(notes.root)]))
    _check(ran.data, name)


# A shape is worth little when its lists are empty: `filled` are those that must not be.
@pytest.mark.parametrize(
    ("name", "filled", "commands"),
    [
        ("init", "created", ["init --layout para"]),
        ("init", "kept", ["init --layout obsidian", "init --layout obsidian"]),
        ("init", "moved", ["init --layout obsidian", "init --layout obsidian --folder Other --switch"]),
        ("remember", "text", ["remember 'Ada prefers green tea'"]),
        ("remember", "other", ["remember 'Ada prefers green tea'", "remember 'Ada prefers black tea'"]),
        ("remember", "reasons", ["remember 'Ferries leave at nine' --source web"]),
        ("remember", "removed", [f"remember 'The boat log is pushed with {_TOKEN}'"]),
        ("recall", "memories passages", ["remember 'Tea is brewed at 70 degrees'", "recall tea degrees"]),
        ("recall", "", ["recall xylophone"]),
        ("inbox", "waiting", ["remember 'Ferries leave at nine' --source web", "inbox"]),
        ("inbox", "refused", ["remember 'Ferries leave at nine' --source web", "inbox refuse 1"]),
        ("inbox", "accepted", ["remember 'Ferries leave at nine' --source web", "inbox accept 1"]),
        ("inbox 1", "approvals", ["remember 'Ferries' --source web", "inbox refuse 1", "inbox --log"]),
        ("error", "", ["remember 'Ferries leave at nine' --source web", "inbox accept 1 --yes"]),
        ("task", "tasks", ["task add 'Buy rope' --project boat"]),
        ("task", "tasks", ["task add 'Buy rope'", "task done 'Buy rope'"]),
        ("task", "", ["task list"]),
        ("daily", "added", ["daily --add '- rowed to the island'"]),
        ("daily", "", ["daily yesterday"]),
        ("read", "text", ["note read Tea"]),
        ("note", "hash", ["note append Tea '- a list item'"]),
        ("note", "hash", ["note set Tea status=old"]),
        ("note", "secrets", [f"note write New.md --text 'The token is {_TOKEN}'"]),
        ("lint", "problems", ["lint --check"]),
        ("lint", "mended", ["init --layout obsidian", "note write Agent/Memory/issue.md --text x", "lint"]),
        ("context", "text left_out", ["context 'green tea degrees'"]),
        ("context", "", ["context xylophone --keyword"]),
        ("links", "backlinks outgoing related", ["links Tea"]),
        ("links 1", "broken", ["links --broken"]),
        ("links 2", "orphans", ["links --orphans"]),
        ("links 3", "ambiguous", ["links --ambiguous"]),
        ("mcp", "diff command", ["mcp install claude-code --dry-run"]),
        ("mcp 1", "", ["mcp uninstall claude-code --dry-run"]),
        ("mcp 2", "token", ["mcp token"]),
        ("hook", "files", ["hook install claude-code --dry-run"]),
        ("hook 1", "hosts", ["hook status"]),
        ("hook 2", "", ["hook settle"]),
        ("hook 3", "", ["hook log"]),
        ("error", "", ["task add 'Buy rope'", "task add 'Buy oars'", "task done Buy"]),
    ],
)
def test_the_memory_commands_print_the_shapes_that_are_written_down(
    cli: Cli,
    linked: Vault,
    name: str,
    filled: str,
    commands: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person_says(monkeypatch, "y")
    *before, last = map(shlex.split, commands)
    for command in before:
        ran = cli(*command)
        assert ran.code == 0, ran.err
    shown = cli(*last, "--json").data
    assert all(shown[key] for key in filled.split())
    section, _, shape = name.partition(" ")
    _check(shown, section, int(shape or 0))


def test_openclaw_s_commands_print_the_shapes_that_are_written_down(
    cli: Cli, linked: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("OPENCLAW_")]:
        monkeypatch.delenv(name)
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw" / "openclaw.json").write_text(
        '{"plugins": {"slots": {"memory": "memory-core"}}}', encoding="utf-8"
    )
    _check(cli("openclaw", "status", "--json").data, "openclaw", 2)
    made = cli("openclaw", "install", "--no-start", "--json").data
    assert made["settings"] and made["edits"]
    _check(made, "openclaw")
    stands = cli("openclaw", "status", "--json").data
    assert stands["problems"]  # no daemon runs
    _check(stands, "openclaw", 2)
    _check(cli("openclaw", "uninstall", "--json").data, "openclaw", 1)


def test_an_undo_beneath_a_later_change_has_the_shape_that_is_written_down(cli: Cli, linked: Vault) -> None:
    cli("note", "append", "Tea", "one", "--heading", "Tea")
    cli("note", "append", "Projects/Garden/plan.md", "two")
    first = cli("history", "--json").data["revisions"][1]["id"]
    linked.edit("Tea.md", "tags: [drink]", "tags: [drink, hot]")
    shown = cli("undo", first, "--json").data
    assert shown["notes"][0]["merged"] is True
    _check(shown, "undo")
    _check(cli("undo", "--list", "--json").data, "undo", 1)
    _check(cli("redo", "--json").data, "redo")


def test_a_server_tells_where_it_is_in_the_shape_that_is_written_down(
    cli: Cli, linked: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listen(*args: Any) -> None:
        args[-1]("http://127.0.0.1:8737/mcp")

    monkeypatch.setattr("hindbrain.edge.mcp.http.serve_http", listen)
    _check(cli("mcp", "--http", "--json").data, "mcp", 3)


def test_a_replay_has_the_shape_that_is_written_down(cli: Cli, linked: Vault, tmp_path: Path) -> None:
    said = [{"role": "user", "content": text} for text in ("How hot is green tea?", "And the pot?")]
    (tmp_path / "talk.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in said) + "broken\n", encoding="utf-8"
    )
    shown = cli("context", "--replay", str(tmp_path / "talk.jsonl"), "--json").data
    assert shown["turns"] and shown["notices"]
    _check(shown, "context", 1)


def test_receipts_have_the_shape_that_is_written_down(cli: Cli, linked: Vault) -> None:
    with closing(build_app(load_config(), linked.root, warm=False)) as app:
        app.sync()
        app.context.turn(SessionKey("claude-code", "s1"), "At how many degrees is green tea brewed?")
    shown = cli("context", "--last", "--json").data
    assert shown["receipts"][0]["entered"]
    _check(shown, "context", 2)
    slots = cli("stats", "--json").data["slots"]
    assert slots["slots"]
    assert _agree(_shape(slots), _shape(_examples()["stats"][0]["slots"]))
    answers = cli("stats", "--json").data["answers"]
    assert answers and _agree(_shape(answers), _shape(_examples()["stats"][0]["answers"]))
    metrics, written = cli("stats", "--json").data["metrics"], _examples()["stats"][0]["metrics"]
    assert [one["name"] for one in metrics] == [one["name"] for one in written]
    assert _agree(_shape(metrics), _shape(written))


def test_forgetting_has_the_shape_that_is_written_down(cli: Cli, linked: Vault) -> None:
    known = cli("remember", "Ada prefers green tea", "--json").data
    gone = cli("forget", known["id"], "--json").data
    assert gone["revision"]
    _check(gone, "forget")


def test_a_purge_has_the_shape_that_is_written_down(cli: Cli, linked: Vault) -> None:
    known = cli("remember", "Ada prefers black tea", "--json").data
    gone = cli("forget", known["id"], "--purge", "--json").data
    assert gone["complete"]
    _check(gone, "forget", 1)


def _in_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *script: Scripted) -> None:
    """What the agent's model says, and a file for it to read."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "in.txt").write_text("write!", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "work")
    stage = Stage(monkeypatch)
    stage.script(*script)
    stage.pipe(["do what in.txt says"])


def test_the_agents_commands_print_the_shapes_that_are_written_down(
    cli: Cli, linked: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, writes = calls("read_file", path="in.txt"), calls("write_file", path="summary.md", content="# May")
    _in_a_workspace(tmp_path, monkeypatch, reads, writes, "Done.", "Fine.")
    waiting = cli("run", "which green tea?", "--json").data
    assert waiting["recalled"]
    _check(waiting, "run")
    asked = _shape(_examples()["approve"][0]["waiting"][0])
    assert _shape(waiting["waiting"][0]) == asked
    _check(cli("approve", "--json").data, "approve")
    denied = cli("approve", waiting["waiting"][0]["id"], "--deny", "--json").data
    _check(denied, "approve")
    assert (_shape(denied["denied"]), denied["approved"], denied["waiting"]) == (asked, None, [])
    ended = cli("runs", "resume", waiting["run"], "--json").data
    _check(ended, "run")
    assert _agree(_shape(ended["learned"]), _shape(_examples()["learn"][0]))
    _check(json.loads(cli("chat", "--json").out), "chat")


def test_whoever_listens_tells_where_in_the_shape_that_is_written_down(
    cli: Cli, linked: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _in_a_workspace(tmp_path, monkeypatch)
    monkeypatch.setattr("hindbrain.edge.agent_runs.listening.Worker.work", lambda _: None)
    _check(cli("run", "--listen", "--port", "0", "--json").data, "run", 1)


def test_an_event_of_the_watcher_has_the_shape_that_is_written_down(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _tell(FollowEvent("error", 1.0, None, "busy", "held"), Output(json=True))
    (line,) = capsys.readouterr().out.splitlines()
    _check(json.loads(line), "watch")
