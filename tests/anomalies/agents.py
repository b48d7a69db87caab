"""Agents that use one vault at once through a door, and keep a log of what they were told.

The log lies outside the vault, one file for each agent, a line for each call, written after it returned. A
door is the tools in a forked process, a real MCP server over stdio, or the real command line.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError, NoteChanged
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from hindbrain.vault.items.category import CATEGORIES

LOG, BOARD, COUNTER = "Shared log.md", "Board.md", "Counter.md"
TASKS, MEMORIES = "Agent/Active Tasks.md", ("Agent/Memory/", "Agent/Decisions/")
DEEDS = (
    "append",
    "append_below",
    "own_line",
    "count",
    "task",
    "remember",
    "insist",
    "task",
    "append",
    "remember",
)
COMMAND_DEEDS = ("append", "own_line", "count", "remember", "append_below", "insist")
_BACK_AND_FORTH = 8


class Told(NamedTuple):
    """One call of a tool: what it was for, what was answered ("ok" or an error's code), how long it took."""

    deed: str
    tool: str
    token: str  # a word that nobody else writes
    code: str
    seconds: float
    current_hash: str = ""  # of a conflict


class Answer(NamedTuple):
    """What a door said to a call."""

    code: str  # "ok", or an error's
    text: str = ""  # of a note that was read
    hash: str = ""  # of a note that was read; of a conflict the current one


class Door(Protocol):
    def use(self, tool: str, args: Mapping[str, Any]) -> Answer: ...

    def close(self) -> None: ...


class ToolDoor:
    """The tools, in this process."""

    def __init__(self, app: App) -> None:
        self._app = app

    def use(self, tool: str, args: Mapping[str, Any]) -> Answer:
        try:
            data = call(self._app.memory, tool_named(tool), args).data
        except HindbrainError as error:
            return Answer(error.code, hash=error.current_hash if isinstance(error, NoteChanged) else "")
        return Answer("ok", str(data.get("text", "")), str(data.get("hash", "")))

    def close(self) -> None:
        self._app.close()


class McpDoor:
    """A real MCP server over stdio, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(folder / "vault"), "--tools", "all",
             "--no-watch"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ(folder),
        )  # fmt: skip
        self.pid = self._process.pid
        self._id = 0
        who = {"name": "agent", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def use(self, tool: str, args: Mapping[str, Any]) -> Answer:
        result = self.ask("tools/call", {"name": tool, "arguments": args})["result"]
        text = str(result["content"][0]["text"])
        if result.get("isError"):
            code, current = re.match(r"error \((\w+)\)", text), re.search(r"[Hh]ash: (\w+)", text)
            return Answer(code[1] if code else text, hash=current[1] if current else "")
        note, _, known = text.rpartition("\nhash: ")
        return Answer("ok", note.rpartition("\n… lines")[0], known)

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        while (answer := json.loads(self._process.stdout.readline())).get("id") != self._id:
            pass
        return dict(answer)

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        self._process.stdout.close()


class CommandDoor:
    """The real command line: a process for each call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def use(self, tool: str, args: Mapping[str, Any]) -> Answer:
        words, given = self._words(tool, args)
        ran = subprocess.run(
            [sys.executable, "-m", "hindbrain", words[0], "--vault", str(self._folder / "vault"), "--json",
             *words[1:]],
            input=given.encode(), capture_output=True, env=environ(self._folder), check=False,
        )  # fmt: skip
        data = json.loads(ran.stdout)
        if ran.returncode:
            current = re.search(r"hash is (\w+)", data["error"]["message"])
            return Answer(data["error"]["code"], hash=current[1] if current else "")
        return Answer("ok", str(data.get("text", "")), str(data.get("hash", "")))

    def _words(self, tool: str, args: Mapping[str, Any]) -> tuple[list[str], str]:
        match tool:
            case "vault_append":
                below = ["--heading", args["heading"]] if "heading" in args else []
                return ["note", "append", args["path"], *below, args["content"]], ""
            case "vault_read":
                return ["read", args["path"]], ""
            case "vault_write":
                return ["note", "write", args["path"], "--hash", args["hash"]], args["content"]
            case "remember":
                return ["remember", args["fact"]], ""
            case "task_create":
                return ["task", "add", args["title"]], ""
        raise AssertionError(tool)

    def close(self) -> None:
        """Nothing stays open."""


def environ(folder: Path, *, embedder: str = "none") -> dict[str, str]:
    usual = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    return {
        **usual,
        "HINDBRAIN_STATE_FOLDER": str(folder / "state"),
        "HINDBRAIN_CONFIG": str(folder / "config.toml"),
        "HINDBRAIN_EMBEDDING_PROVIDER": embedder,
        "HINDBRAIN_HOOKS_DAEMON": "false",
        "OPENBLAS_NUM_THREADS": "1",
    }


def make_app(folder: Path, *, embedder: str = "none") -> App:
    environ = {"HINDBRAIN_STATE_FOLDER": str(folder / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": embedder}
    return build_app(load_config(environ, folder / "none.toml"), folder / "vault")


def prepare(folder: Path, agents: int) -> None:
    """A vault with notes that all agents will write to."""
    root = folder / "vault"
    (root / ".obsidian").mkdir(parents=True)
    board = "".join(f"agent-{who}: -\n\nBetween {who} and the next.\n\n" for who in range(agents))
    (root / BOARD).write_text(f"# Board\n\n{board}", encoding="utf-8")
    (root / COUNTER).write_text("count: 0\n", encoding="utf-8")
    (root / LOG).write_text("# Log\n\n## Events\n\n## Rest\n\n", encoding="utf-8")
    app = make_app(folder)
    app.writer.put_state_file("layout.toml", b'base = "obsidian"\nfolder = "Agent"\n')
    app.close()


def warm_up(folder: Path) -> None:
    """What all of them would import and compile is paid for once, before the processes part."""
    prepare(folder, 1)
    app = make_app(folder)
    agent = Agent(ToolDoor(app), 0, folder / "told.jsonl")
    for number, deed in enumerate(DEEDS):
        agent.do(deed, number)
    app.memory.settle(idle=True)
    app.close()


def run_agents(folder: Path, agents: int, deeds: int, *, embedder: str = "none") -> list[Told]:
    """Let them all begin at once; returns what they were told when all are done."""
    (folder / "told").mkdir()
    gate, opener = os.pipe()
    children = []
    for who in range(agents):
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            _live(folder, who, deeds, gate, embedder)
        children.append(pid)
    os.close(gate)
    os.close(opener)  # all of them read to the end now
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    errors = [file.read_text(encoding="utf-8") for file in (folder / "told").glob("*.error")]
    assert not any(ends), errors[:1]
    return [told for who in range(agents) for told in _read_log(folder, who)]


def run_doors(folder: Path, doors: Sequence[Door], deeds: Callable[[Door], int]) -> list[Told]:
    """An agent for each door, all at once; returns what they were told. The doors are closed afterwards."""
    (folder / "told").mkdir()
    errors: list[str] = []
    start = threading.Barrier(len(doors))

    def live(who: int, door: Door) -> None:
        try:
            agent = Agent(door, who, folder / "told" / f"{who}.jsonl")
            start.wait()
            usable = COMMAND_DEEDS if isinstance(door, CommandDoor) else DEEDS
            for number in range(deeds(door)):
                agent.do(usable[(who + number) % len(usable)], number)
            door.close()
        except BaseException:  # noqa: BLE001 - the test shows it
            start.abort()
            errors.append(traceback.format_exc())

    threads = [threading.Thread(target=live, args=pair) for pair in enumerate(doors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    return [told for who in range(len(doors)) for told in _read_log(folder, who)]


def _live(folder: Path, who: int, deeds: int, gate: int, embedder: str) -> None:
    """In a process of its own, which never returns to the test."""
    code = 1
    try:
        app = make_app(folder, embedder=embedder)
        agent = Agent(ToolDoor(app), who, folder / "told" / f"{who}.jsonl")
        os.read(gate, 1)
        for number in range(deeds):
            agent.do(DEEDS[(who + number) % len(DEEDS)], number)
        app.close()
        code = 0
    except BaseException:  # noqa: BLE001 - the test shows it
        (folder / "told" / f"{who}.error").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def _read_log(folder: Path, who: int) -> Iterator[Told]:
    for line in (folder / "told" / f"{who}.jsonl").read_text(encoding="utf-8").splitlines():
        yield Told(*json.loads(line))


class Agent:
    """Does as agents do: calls tools; after a conflict reads again and makes its change on that."""

    def __init__(self, door: Door, who: int, log: Path) -> None:
        self._door = door
        self._who = who
        self._log = log.open("a", encoding="utf-8")
        self._dice = random.Random(who)
        self._task_token = ""
        self._steps: list[str] = []  # what is still to be done with the task, the next one last

    def do(self, deed: str, number: int) -> None:
        work: Callable[[str], None] = getattr(self, f"_{deed}")
        work(f"zq{self._who}x{number}{self._dice.randrange(16**6):06x}")

    def _append(self, token: str) -> None:
        self._use("append", "vault_append", token, path=LOG, content=f"- {token} happened")

    def _append_below(self, token: str) -> None:
        self._use("append_below", "vault_append", token, path=LOG, content=f"- {token}", heading="Events")

    def _own_line(self, token: str) -> None:
        """Others change other lines of the note meanwhile: theirs must stay."""
        mine = f"agent-{self._who}: "

        def change(text: str) -> str:
            lines = text.split("\n")
            at = next(at for at, line in enumerate(lines) if line.startswith(mine))
            lines[at] = mine + token
            return "\n".join(lines)

        self._change("own_line", BOARD, token, change)

    def _count(self, token: str) -> None:
        """All change the one line of the note: only who has read the last one may write the next."""
        self._change("count", COUNTER, token, lambda text: f"count: {int(text.split()[1]) + 1}")

    def _task(self, token: str) -> None:
        """One at a time: it is begun, comes and goes, and is done in the end."""
        if not self._steps:
            title, self._task_token = f"Look after {token}", token
            self._use("task_create", "task_create", token, title=title, details=f"by {token}")
            self._steps = ["done", *("blocked", "in_progress") * _BACK_AND_FORTH, "in_progress"]
            return
        status = self._steps.pop()
        notes = f"ended by {token}" if status == "done" else ""
        title = f"Look after {self._task_token}"
        self._use(status, "task_update", self._task_token, title=title, status=status, notes=notes)

    def _remember(self, token: str) -> None:
        fact = f"{token}a lives beside {token}b"
        self._use("remember", "remember", token, fact=fact, category=self._dice.choice(CATEGORIES))

    def _insist(self, token: str) -> None:
        fact = f"The colour of {token}a matches {token}b"
        category = self._dice.choice(CATEGORIES)
        self._use("remember", "remember", token, fact=fact, category=category, importance=0.9)

    def _change(self, deed: str, path: str, token: str, change: Callable[[str], str]) -> None:
        while True:
            read = self._use("read", "vault_read", token, path=path)
            assert read is not None
            content = change(read.text)
            if self._use(deed, "vault_write", token, path=path, content=content, hash=read.hash):
                return

    def _use(self, deed: str, tool: str, token: str, **args: Any) -> Answer | None:
        """None after an error; the test judges which errors may be."""
        begun = time.perf_counter()
        answer = self._door.use(tool, args)
        seconds = time.perf_counter() - begun
        current = answer.hash if answer.code != "ok" else ""
        self._log.write(json.dumps(Told(deed, tool, token, answer.code, seconds, current)) + "\n")
        self._log.flush()
        return answer if answer.code == "ok" else None


def distribution(told: Sequence[Told]) -> str:
    """How long the calls took, for a report."""
    rows = []
    for tool in sorted({one.tool for one in told}):
        times = [one.seconds for one in told if one.tool == tool]
        parts = ", ".join(f"p{part * 100:g} {percentile(times, part):.3f}" for part in (0.5, 0.95, 0.99, 1))
        rows.append(f"{tool:13} {len(times):6} calls, seconds: {parts}")
    return "\n".join(rows)


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
