"""Agents: processes that use one vault at once through the tools, and keep a log of what they were told.

The log lies outside the vault, one file for each agent, a line for each call, written after it returned.
"""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError, NoteChanged
from hindbrain.memory.items.category import CATEGORIES
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import ToolResult, call

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
_BACK_AND_FORTH = 8


class Told(NamedTuple):
    """One call of a tool: what it was for, what was answered ("ok" or an error's code), how long it took."""

    deed: str
    tool: str
    token: str  # a word that nobody else writes
    code: str
    seconds: float
    current_hash: str = ""  # of a conflict


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
    agent = Agent(app, 0, folder / "told.jsonl")
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


def _live(folder: Path, who: int, deeds: int, gate: int, embedder: str) -> None:
    """In a process of its own, which never returns to the test."""
    code = 1
    try:
        app = make_app(folder, embedder=embedder)
        agent = Agent(app, who, folder / "told" / f"{who}.jsonl")
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

    def __init__(self, app: App, who: int, log: Path) -> None:
        self._app = app
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
            content = change(str(read.data["text"]))
            if self._use(deed, "vault_write", token, path=path, content=content, hash=read.data["hash"]):
                return

    def _use(self, deed: str, tool: str, token: str, **args: Any) -> ToolResult | None:
        """None after an error that says what to do; anything else ends the agent, and the test."""
        begun = time.perf_counter()
        code, current, result = "ok", "", None
        try:
            result = call(self._app.memory, tool_named(tool), args)
        except HindbrainError as error:
            code = error.code
            current = error.current_hash if isinstance(error, NoteChanged) else ""
        seconds = time.perf_counter() - begun
        self._log.write(json.dumps(Told(deed, tool, token, code, seconds, current)) + "\n")
        self._log.flush()
        return result


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
