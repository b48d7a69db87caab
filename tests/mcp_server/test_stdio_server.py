"""A session over stdio, as hosts have it: the SDK's client and a server in a process of its own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_clients import Lines, Servers, text_of

from hindbrain.app import App
from hindbrain.memory.tools import TOOL_SETS, TOOLS
from workbench import Vault


@pytest.mark.parametrize(
    "tool_set",
    ["core", "all", *(pytest.param(name, marks=pytest.mark.slow) for name in ("vault", "openclaw"))],
)
def test_a_host_gets_the_tools_of_the_set_it_chose(shared: Servers, tool_set: str) -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = shared.talk(listed, "--tools", tool_set, "--no-watch")
    assert [tool.name for tool in tools] == list(TOOL_SETS[tool_set])
    effects = {tool.name: tool.effect for tool in TOOLS}
    for tool in tools:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations.title
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint == (effects[tool.name] == "read")
        if effects[tool.name] in ("add", "read"):
            assert not tool.annotations.destructive_hint


async def _use_every_tool(client: Client) -> dict[str, str]:
    """Call each tool as an agent would; what each said."""
    said: dict[str, str] = {}

    async def call(name: str, **arguments: Any) -> str:
        result = await client.call_tool(name, arguments)
        said[name] = text_of(result)
        assert not result.is_error, (name, said[name])
        assert result.structured_content is None  # hosts would show it instead of the text
        return said[name]

    await call("remember", fact="Ada prefers oolong tea in the morning.", importance=0.9)
    await call("recall", topic="oolong")
    read = await call("vault_read", path="Tea.md")
    known = read.rpartition("hash: ")[2].strip()
    await call("vault_write", path="Tea.md", content="# Tea\n\nBlack tea now.\n", hash=known)
    await call("vault_append", path="Log.md", content="First line.")
    await call("vault_search", query="black tea")
    await call("vault_list")
    await call("task_create", title="Water the garden", priority="high")
    await call("task_update", title="Water the garden", status="in_progress", notes="Can is empty.")
    await call("task_list")
    written = await call("memory_write", content="The boat lies in Hamburg harbour.", importance=0.9)
    memory_id = written.partition("^")[2].partition("]")[0]
    await call("memory_search", query="boat Hamburg")
    await call("memory_get", path="Tea.md")
    await call("memory_read", file_path="Tea.md", line_start=1, line_end=1)
    await call("memory_update", memory_id=memory_id, content="The boat lies in Bremen harbour.")
    await call("memory_forget", memory_id=memory_id)
    await call("memory_status")
    return said


async def _contradict(client: Client) -> dict[str, str]:
    said = {}
    for tool, arguments in (
        ("remember", {"fact": "Favourite editor is ed", "importance": 0.9, "category": "preference"}),
        ("memory_update", {"memory_id": "m-00000001", "content": "Favourite editor is emacs"}),
    ):
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        said[tool] = text_of(result)
    return said


@pytest.mark.promise("P18")
def test_what_its_owner_typed_stays_readable_when_an_agent_says_something_else(
    servers: Servers, notes: Vault
) -> None:
    path = "Agent/Memory/preference.md"
    mine = "- Favourite editor is vim [source:: user] ^m-00000001"
    notes.write(path, f"---\ntype: memory\ncategory: preference\ntags: [agent]\n---\n{mine}\n")
    said = servers.talk(_contradict, "--tools", "all")
    lines = (notes.root / path).read_text(encoding="utf-8").split("\n")
    (ed,) = [line for line in lines if "is ed " in line]
    assert ed.startswith("- Favourite") and "[source:: agent]" in ed and "[related:: ^m-00000001]" in ed
    (vim,) = [line for line in lines if "is vim" in line]
    (emacs,) = [line for line in lines if "is emacs" in line]
    assert vim.startswith("- ~~Favourite editor is vim~~") and "[source:: user]" in vim
    assert f"[superseded:: {emacs.rpartition(' ')[2]}]" in vim and "[source:: agent]" in emacs
    assert "m-00000001" in said["remember"] and "Favourite editor is vim" in said["memory_update"]


def test_every_tool_works_through_the_protocol(servers: Servers, notes: Vault) -> None:
    said = servers.talk(_use_every_tool, "--tools", "all")
    assert set(said) == {tool.name for tool in TOOLS}
    assert "oolong" in said["recall"]
    assert "Black tea" in said["vault_search"]
    assert "Water the garden" in said["task_list"]
    assert "Hamburg" in said["memory_search"]
    held = {path: path.read_text(encoding="utf-8") for path in notes.root.rglob("*.md")}
    everything = "".join(held.values())
    assert (notes.root / "Tea.md").read_text(encoding="utf-8") == "# Tea\n\nBlack tea now.\n"
    assert "Ada prefers oolong" in everything
    assert "Can is empty." in everything
    assert "Hamburg" not in everything
    assert "Bremen" not in everything


def test_a_failing_tool_says_whether_to_fix_or_to_stop(lines: Lines, shared: Servers) -> None:
    def failure(tool: str, **arguments: Any) -> str:
        result = lines.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"] is True
        return str(result["content"][0]["text"])

    assert "(usage)" in failure("recall")
    assert "'topc'" in failure("recall", topc="tea")
    assert "(usage)" in failure("recall", topic="tea", limit=0)
    assert "(usage)" in failure("task_update", title="x", status="finished")
    assert "(not_found)" in failure("vault_read", path="No such note")
    assert "(not_found)" in failure("memory_forget", memory_id="m-000000")
    assert "(unsafe_path)" in failure("vault_append", path="../outside.md", content="x")
    lines.call("vault_read", path="Tea.md")
    note = shared.root / "Changed.md"
    note.write_text("# Changed\n\nA person wrote this meanwhile.\n", encoding="utf-8")
    assert "(conflict)" in failure(
        "vault_write", path="Changed.md", content="# Mine\n", hash="0123456789abcdef"
    )
    assert "(refused)" in failure("vault_append", path="AGENTS.md", content="Obey.")
    assert "A person wrote this" in note.read_text(encoding="utf-8")
    assert lines.call("task_list")  # the session goes on


def test_an_unknown_tool_is_an_error_of_the_protocol(lines: Lines) -> None:
    assert lines.ask("tools/call", {"name": "no_such_tool", "arguments": {}})["error"]["code"] == -32602


def test_results_come_as_data_too_when_that_is_asked_for(shared: Servers) -> None:
    async def ask(client: Client) -> Any:
        return await client.call_tool("vault_read", {"path": "Tea.md"})

    result = shared.talk(ask, "--structured", "--no-watch")
    assert isinstance(result.structured_content, dict)
    assert "70 degrees" in text_of(result)


async def _read_resources(client: Client) -> None:
    await client.call_tool("task_create", {"title": "Öl kaufen"})
    listed = (await client.list_resources()).resources
    assert "tasks" in [resource.name for resource in listed]
    for resource in listed:
        held = (await client.read_resource(resource.uri)).contents[0]
        assert held.mime_type == "text/markdown"
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["note:///{+path}"]
    for uri in ("note:///Tea.md", "note://Tea.md", "NOTE:///Tea.md", "note:///Projects%2FGarden.md"):
        assert "# " in (await client.read_resource(uri)).contents[0].text  # type: ignore[union-attr]
    for uri in (
        "note:///../secret.md", "note:///%2e%2e/secret.md", "note:////etc/passwd", "note:///C:/x.md",
        "note:///.obsidian/app.json", "note:///", "note:", "file:///etc/passwd", "note:///Tea.md%00",
        "note:///%ff.md", "note:///Nothing.md",
    ):  # fmt: skip
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert raised.value.code == -32602, uri


@pytest.mark.promise("P15")
def test_notes_are_resources_and_no_address_leaves_the_vault(servers: Servers, notes: Vault) -> None:
    (notes.root.parent / "secret.md").write_text("# secret\n", encoding="utf-8")
    servers.talk(_read_resources, "--no-watch")


def test_prompts_bring_in_what_is_known_and_leave_the_inbox_to_its_owner(servers: Servers) -> None:
    async def ask(client: Client) -> tuple[list[str], ...]:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        recall = await client.get_prompt("recall", {"topic": "green tea"})
        empty = await client.get_prompt("review-inbox")
        await client.call_tool("remember", {"fact": "The site says Ada moved to Rome.", "source": "web"})
        review = await client.get_prompt("review-inbox")
        for name, arguments in (("recall", {}), ("recall", {"topic": " "}), ("review-inbox", {"x": "y"})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)
        return names, *([part.content.text for part in got.messages] for got in (recall, empty, review))  # type: ignore[union-attr]

    names, recall, empty, review = servers.talk(ask)
    assert names == ["recall", "review-inbox"]
    assert "70 degrees" in recall[0]
    assert "Rome" not in empty[0]
    assert "Ada moved to Rome" in review[0]
    assert "only I can" in review[0]


def test_the_first_index_is_made_meanwhile_and_progress_is_told(servers: Servers, notes: Vault) -> None:
    for n in range(600):
        notes.write(f"Many/{n:04}.md", f"# Note {n}\n\nOne of many words about number {n}.\n")
    heard: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _: str | None) -> None:
        heard.append((done, total))

    async def ask(client: Client) -> tuple[str, str]:
        read = text_of(await client.call_tool("vault_read", {"path": "Tea.md"}))
        found = text_of(await client.call_tool("recall", {"topic": "number 599"}, progress_callback=progress))  # type: ignore[arg-type]
        return read, found

    read, found = servers.talk(ask)
    assert "70 degrees" in read
    assert "Many/0599" in found
    assert heard == sorted(heard)
    assert len({done for done, _ in heard}) == len(heard)


def test_a_note_that_its_owner_writes_is_found_in_the_same_session(servers: Servers, notes: Vault) -> None:
    client = Lines(servers.start())
    client.greet()
    client.call("recall", topic="tea")
    notes.write("New.md", "# Zeppelin\n\nA zeppelin over the lake.\n")
    until = time.monotonic() + 120  # longer than the time between two looks at the whole vault
    while "zeppelin over" not in client.call("recall", topic="zeppelin"):
        assert time.monotonic() < until, "never found"
    client.hang_up()


def test_nothing_but_the_protocol_is_on_stdout(servers: Servers) -> None:
    client = Lines(servers.start("--tools", "all"))
    client.greet()
    client.call("recall", topic="tea")
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.stdout is not None
    assert client.process.stdout.read() == b""
    assert client.process.wait(30) == 0
    assert client.process.stderr is not None
    assert b"Traceback" not in client.process.stderr.read()
    client.process.stdout.close()
    client.process.stderr.close()


def _everything(root: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.md"))


def _remember_one(servers: Servers, fact: str) -> Lines:
    client = Lines(servers.start("--no-watch"))
    client.greet()
    client.call("remember", fact=fact)  # of middling importance: it is batched
    return client


def test_at_the_end_of_a_session_what_waited_is_in_notes(servers: Servers, notes: Vault) -> None:
    client = _remember_one(servers, "Ada keeps bees on the roof.")
    assert "keeps bees" not in _everything(notes.root)
    assert client.hang_up() == 0
    assert "Ada keeps bees on the roof." in _everything(notes.root)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.slow)])
def test_a_signal_ends_it_in_order(servers: Servers, notes: Vault, name: str) -> None:
    client = _remember_one(servers, "Ada sails on Sundays.")
    client.process.send_signal(getattr(signal, name))
    assert client.process.wait(30) == 0
    assert "Ada sails on Sundays." in _everything(notes.root)
    client.hang_up()


def test_what_was_acknowledged_survives_a_kill(servers: Servers, notes: Vault) -> None:
    client = _remember_one(servers, "Ada plays the cello.")
    client.process.kill()
    client.process.wait(30)
    client.hang_up()
    assert "cello" not in _everything(notes.root)
    again = Lines(servers.start("--no-watch"))
    again.greet()
    again.ask("tools/list")
    assert "cello" in again.call("recall", topic="cello")  # known at once, wherever it is
    assert again.hang_up() == 0
    assert "Ada plays the cello." in _everything(notes.root)


@pytest.mark.promise("P11")
@pytest.mark.parametrize(
    ("count", "rounds"), [(3, 4), pytest.param(8, 12, marks=pytest.mark.slow)], ids=["three", "eight"]
)
def test_servers_on_one_vault_lose_nothing(servers: Servers, notes: Vault, count: int, rounds: int) -> None:
    notes.write("Shared.md", "# Shared\n")

    async def agent(number: int) -> None:
        async with servers.client() as client:
            await client.list_tools()
            for turn in range(rounds):
                word = f"agent{number}turn{turn}"
                for tool, arguments in (
                    ("vault_append", {"path": "Shared.md", "content": f"line {word}"}),
                    (
                        "remember",
                        {"fact": f"The word of {word} is spoken.", "importance": 0.5 + turn % 5 / 10},
                    ),
                    ("task_create", {"title": f"Task {word}"}),
                    ("recall", {"topic": word}),
                ):
                    result = await client.call_tool(tool, arguments)
                    assert not result.is_error, text_of(result)

    async def all_at_once() -> None:
        await asyncio.gather(*(agent(number) for number in range(count)))

    asyncio.run(all_at_once())
    shared = (notes.root / "Shared.md").read_text(encoding="utf-8")
    everything = _everything(notes.root)
    for number in range(count):
        for turn in range(rounds):
            word = f"agent{number}turn{turn}"
            assert shared.count(f"line {word}\n") == 1
            assert everything.count(f"**Task {word}**") == 1
            assert f"of {word} is" in everything


def test_a_vault_that_is_not_there_is_told_at_once(servers: Servers) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(servers.root / "nowhere")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
     encoding="utf-8")  # fmt: skip
    assert ran.returncode == 1
    assert "(not_found)" in ran.stderr
    assert ran.stdout == ""


def test_an_unknown_tool_set_is_a_usage_mistake(servers: Servers) -> None:
    ran = subprocess.run(
        servers.command("--tools", "everything"), stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert ran.returncode == 2


@pytest.mark.promise("P18")
def test_what_is_ticked_while_a_client_uses_the_tools_waits_for_a_person(
    servers: Servers, make_app: Callable[..., App]
) -> None:
    async def speak(client: Client) -> str:
        await client.call_tool("remember", {"fact": "The ferry leaves at 9:40", "source": "web"})
        (note,) = servers.root.rglob("Inbox.md")
        note.write_text(note.read_text("utf-8").replace("- [ ] remember", "- [x] remember"), "utf-8")
        return text_of(await client.call_tool("recall", {"topic": "ferry"}))

    servers.talk(speak, "--no-watch")
    app = make_app(servers.root)
    app.memory.settle()
    assert [(item.text, item.ticked) for item in app.memory.inbox.pending()] == [
        ("The ferry leaves at 9:40", True)
    ]
    assert app.memory.book.items() == []
    app.close()


@pytest.mark.promise("P8", "P29")
def test_a_vault_that_is_away_is_told_by_each_tool_until_it_is_back(servers: Servers) -> None:
    subprocess.run(
        [sys.executable, "-m", "hindbrain", "init", str(servers.root), "--sync"], env=servers.environ
    )
    away = servers.root.with_name("unmounted")
    servers.root.rename(away)
    servers.root.mkdir()
    client = Lines(servers.start("--tools", "all"))
    client.greet()
    for tool, arguments in (("recall", {"topic": "tea"}), ("remember", {"content": "The cat is Ada."})):
        result = client.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"] and "vault_away" in result["content"][0]["text"], result
    assert not list(servers.root.iterdir())
    servers.root.rmdir()
    away.rename(servers.root)
    assert "70 degrees" in client.call("recall", topic="green tea")
    servers.root.rename(away)
    servers.root.mkdir()
    result = client.ask("tools/call", {"name": "recall", "arguments": {"topic": "tea"}})["result"]
    assert result["isError"] and "vault_away" in result["content"][0]["text"]
    assert client.hang_up() == 0
    assert not list(servers.root.iterdir())
