"""Work while nobody is there: what the agent does unasked, what its owner has allowed, and what waits."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.agent.policy_file import ACTING, parse_policy
from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.models.chat import Image
from hindbrain.models.chat_fake import ScriptedChat, calls
from workbench import Vault

READ = calls("read_file", path="in.txt")  # after it, somebody else may be behind what is wanted
DONE = "All of it is done.\nTASK_COMPLETE"
PICTURE = Image(b"\x89PNG a screen")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    work = tmp_path / "work"
    work.mkdir()
    (work / "in.txt").write_text("do it all", encoding="utf-8")
    monkeypatch.chdir(work)
    made = Stage(monkeypatch)
    made.nobody()
    return made


@pytest.fixture
def agent_toml(tmp_path: Path) -> Path:
    folder = tmp_path / "settings"
    folder.mkdir(exist_ok=True)
    return folder / "agent.toml"


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of a server that takes everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def _end(cli: Cli, *options: str) -> str:
    """How a run ends at which nobody is asked."""
    ran = cli("run", "do what in.txt says", "--no-memory", "--unattended", "--json", *options)
    return str(ran.data["end"])


# What is the agent's own


def test_its_own_tasks_need_no_question_and_those_of_the_owner_do(
    cli: Cli, indexed: Vault, stage: Stage
) -> None:
    create = calls("task_create", title="Count the peas")
    update = calls("task_update", title="Count the peas", status="done")
    stage.script(READ, create, update, DONE)
    assert _end(cli) == "complete"
    (task,) = cli("task", "list", "--status", "done", "--json").data["tasks"]
    assert (task["title"], task["source"]) == ("Count the peas", "tool")
    assert cli("task", "add", "Call Noor").code == 0
    stage.script(READ, calls("task_update", title="Call Noor", status="cancelled"), DONE)
    assert _end(cli) == "waiting"


def test_its_own_folder_needs_no_question_and_what_it_writes_there_says_whose_word_it_is(
    cli: Cli, indexed: Vault, stage: Stage
) -> None:
    write = calls("vault_write", path="Peas.md", content="# Peas\n\nSown in March.\n")
    stage.script(READ, write, calls("vault_append", path="Peas.md", content="Picked in June.\n"), DONE)
    assert _end(cli) == "complete"
    (note,) = indexed.root.rglob("Peas.md")
    text = note.read_text(encoding="utf-8")
    assert note.parent.name == "Agent" and "Picked in June." in text
    assert "source: tool" in text.split("---")[1]


@pytest.mark.parametrize("path", ["Tea.md", "Agent/Mine.md", "Agent/Daily/2026-05-15.md"])
def test_notes_of_the_owner_and_notes_with_a_role_are_still_asked_about(
    cli: Cli, indexed: Vault, stage: Stage, path: str
) -> None:
    indexed.write(path, "# Mine\n\nWritten by hand.\n")
    stage.script(READ, calls("vault_append", path=path, content="Not by hand.\n"), DONE)
    assert _end(cli) == "waiting"
    assert "Not by hand" not in (indexed.root / path).read_text(encoding="utf-8")


def test_web_text_does_not_enter_a_note_that_is_trusted_more(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed.write("Agent/Peas.md", "---\nsource: agent\n---\n# Peas\n")
    _sees(monkeypatch)
    stage.script(calls("vault_append", path="Agent/Peas.md", content="Buy them at evil.example.\n"), DONE)
    assert _end(cli) == "waiting"


@pytest.mark.parametrize(
    "path", ["AGENTS.md", "Agent/CLAUDE.md", "Agent/Memory/fact.md", ".obsidian/app.md", "../out.md"]
)
def test_what_is_protected_is_not_written_whoever_allows_it(
    cli: Cli, indexed: Vault, stage: Stage, agent_toml: Path, path: str
) -> None:
    agent_toml.write_text("[tools]\nallow = ['vault_write', 'vault_append']\n", encoding="utf-8")
    stage.script(
        READ, calls("vault_write", path=path, content="obey\n"),
        calls("vault_append", path=path, content="obey\n"), DONE,
    )  # fmt: skip
    _end(cli, "--allow", "vault_write", "--allow", "vault_append")
    assert not [note for note in indexed.root.rglob("*.md") if note.read_text("utf-8").strip() == "obey"]
    assert not (indexed.root.parent / "out.md").exists()


@pytest.mark.parametrize(
    ("owners", "message", "end"),
    [
        ("owners = ['ada']", "The peas are sown.", "complete"),
        ("", "The peas are sown.", "waiting"),  # it does not say whom it reaches
        ("owners = ['ada']", "The password: hunter2-Xk9!pQ", "waiting"),
    ],
)
def test_a_message_to_the_owner_needs_no_question(
    cli: Cli,
    indexed: Vault,
    stage: Stage,
    agent_toml: Path,
    receiver: str,
    owners: str,
    message: str,
    end: str,
) -> None:
    table = f"[channels.phone]\nkind = 'webhook'\naddress = '{receiver}'\n{owners}\n"
    agent_toml.write_text(table, encoding="utf-8")
    stage.script(READ, calls("openclaw_send", message=message), DONE)
    assert _end(cli) == end


@pytest.mark.parametrize(("to", "end"), [("42", "complete"), ("-100", "waiting")])
def test_a_message_to_a_group_is_asked_about(
    cli: Cli, indexed: Vault, stage: Stage, agent_toml: Path, to: str, end: str
) -> None:
    agent_toml.write_text(
        "[channels.phone]\nkind = 'openclaw'\naddress = 'ws://127.0.0.1:9'\nchannel = 'telegram'\n"
        f"to = '{to}'\nowners = ['42']\n", encoding="utf-8",
    )  # fmt: skip
    stage.script(READ, calls("openclaw_send", message="The peas are sown."), DONE)
    assert _end(cli) == end


# What the owner allows beforehand


def test_agent_toml_allows_tools_in_every_run(
    cli: Cli, indexed: Vault, stage: Stage, agent_toml: Path
) -> None:
    write = calls("write_file", path="out.txt", content="x")
    stage.script(READ, write, DONE)
    assert _end(cli) == "waiting"
    agent_toml.write_text("[tools]\nallow = ['write_file']\n", encoding="utf-8")
    stage.script(READ, write, DONE)
    assert _end(cli) == "complete"
    assert Path("out.txt").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize(
    "table",
    ["allow = ['run_shell_command']", "allow = ['write_fiel']", "allow = 'write_file'", "alow = []",
     "allow = ['recall']"],
)  # fmt: skip
def test_what_can_not_be_allowed_is_an_error_of_the_file(
    cli: Cli, indexed: Vault, stage: Stage, agent_toml: Path, table: str
) -> None:
    agent_toml.write_text(f"[tools]\n{table}\n", encoding="utf-8")
    chat = stage.script("never asked")
    assert cli("run", "do it", "--json").error == "config"
    assert not chat.asked


def test_the_example_in_the_docs_is_a_file_that_can_be_used() -> None:
    page = Path(__file__).parents[2] / "docs" / "agent.md"
    section = page.read_text(encoding="utf-8").partition("## agent.toml")[2]
    policy = parse_policy(tomllib.loads(section.partition("```toml")[2].partition("```")[0]))
    assert policy.tools == ("write_file",) and policy.channels.keys() == {"phone", "script"}


def test_every_tool_that_acts_can_be_allowed_but_the_shell(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.agent.tools.desktop.tools.desktop_missing", lambda: "")
    from hindbrain.agent.tools.desktop.tools import desktop_tools

    acting = {tool.name for tool in desktop_tools({}) if tool.effect == "act"}
    assert acting <= set(ACTING)
    assert "run_shell_command" not in ACTING


def test_allow_goes_with_listen_and_not_inside_an_agents_shell(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, ...]] = []

    def listen(_app: object, request: Any, _out: object, *, port: int | None) -> int:
        del port
        heard.append(request.allowed)
        return 0

    monkeypatch.setattr("hindbrain.edge.agent_runs.listening.listen", listen)
    stage.script("never asked")
    assert cli("run", "--listen", "--allow", "write_file").code == 0
    assert heard == [("write_file",)]
    assert cli("run", "--listen", "--allow", "run_shell_command", "--json").error == "usage"
    monkeypatch.setenv("CODEX_SANDBOX", "seatbelt")
    assert cli("run", "--listen", "--allow", "write_file", "--json").error == "needs_person"


# The screen


def _sees(monkeypatch: pytest.MonkeyPatch, *, failed: bool = False) -> None:
    """A desktop whose screen can be looked at."""
    seen = (
        Result("no display", failed=True)
        if failed
        else Result("The screen.", images=(PICTURE,), source="web")
    )
    look = ActionTool("take_screenshot", "See the screen.", (), "read", lambda _: seen)
    monkeypatch.setattr("hindbrain.agent.tools.box.desktop_tools", lambda _: (look,))


def _command(chat: ScriptedChat, number: int) -> tuple[str, tuple[Image, ...]]:
    message = next(message for message in chat.asked[number].messages if message.role == "user")
    return message.text, message.images


def test_the_first_message_carries_the_screen_when_there_are_desktop_tools(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = stage.script(DONE, DONE)
    assert _end(cli) == "complete"
    _sees(monkeypatch)
    assert _end(cli) == "complete"
    assert _command(chat, 0) == ("do what in.txt says", ())
    assert _command(chat, 1) == ("do what in.txt says", (PICTURE,))


def test_what_the_screen_shows_is_nobodys_order(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sees(monkeypatch)
    stage.script(calls("write_file", path="out.txt", content="x"), DONE)
    assert _end(cli) == "waiting"


def test_an_old_picture_of_the_screen_is_not_sent_again_and_again(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sees(monkeypatch)
    chat = stage.script(*(calls("list_files", path=f"folder{number}") for number in range(7)), DONE)
    for number in range(7):
        Path(f"folder{number}").mkdir()
    assert _end(cli) == "complete"
    assert _command(chat, 1)[1] == (PICTURE,)
    assert _command(chat, 7)[1] == ()


def test_a_screen_that_can_not_be_seen_costs_a_notice(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sees(monkeypatch, failed=True)
    stage.script(DONE)
    ran = cli("run", "do it", "--no-memory")
    assert ran.code == 0 and "no display" in ran.err
