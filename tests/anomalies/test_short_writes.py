"""A write of which the disk takes only a half, at every write of every operation that keeps something.

The system may write fewer bytes than it was given, most of all when the disk is nearly full. Then either the
rest is written, too, or the operation says that it has failed; what was acknowledged before is still there.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

if sys.platform == "win32":
    pytest.skip("faults are injected into POSIX calls", allow_module_level=True)

from tests.anomalies.test_consolidation_crashes import MEMORIES
from tests.learn.consolidating import day, make_own, write_day

from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.agent.entries import Advised
from hindbrain.agent.transcript import Transcript
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError
from hindbrain.context.capture.spool import append_event, count_waiting
from hindbrain.context.messages import Message
from hindbrain.context.topic.ledger_file import LedgerFile
from hindbrain.context.turn import SessionKey
from hindbrain.edge.http.token import read_or_make_token
from hindbrain.edge.main import main
from hindbrain.learn.consolidation.budget import TokenLedger
from hindbrain.learn.runs.events import RunCreated, RunEnded, ToolExecuted
from hindbrain.memory.storage.queue import Waiting, WriteQueue
from workbench import NOW

SAMPLE = 6  # writes that are struck in the short form
SESSION = SessionKey("openclaw", "agent:main:main", keeps=False)
FACTS = ("Ada lives in Lund", "Bob plays the oboe", "The rent is due in May", "The boiler key is with Anna")
_write = os.write


class Disk:
    """Counts writes to files. At the n-th only half is taken, and then `full_for` writes get nothing."""

    def __init__(self, at: int, full_for: float = 0) -> None:
        self.at = at
        self.full_until = at + full_for
        self.count = 0

    def write(self, fd: int, data: bytes) -> int:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return _write(fd, data)
        self.count += 1
        if self.count == self.at and len(data) > 1:
            return _write(fd, bytes(data)[: len(data) // 2])
        if self.at < self.count <= self.full_until:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _write(fd, data)

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        os.write = self.write  # type: ignore[assignment]
        try:
            yield
        finally:
            os.write = _write


class Box:
    """A vault and all that Hindbrain keeps beside it, always at one place: a vault at another is a copy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.state = folder / "vault", folder / "state" / "the-vault"
        self.acks: list[str] = []
        self.told = ""  # what an operation said of its failure

    def app(self) -> App:
        environ = {
            "HINDBRAIN_STATE_FOLDER": str(self.folder / "state"),
            "HINDBRAIN_EMBEDDING_PROVIDER": "none",
        }
        return build_app(load_config(environ, self.folder / "none.toml"), self.root, clock=FakeClock(NOW))

    def command(self, *words: str, ack: str = "") -> None:
        """Run a command; its exit code is the acknowledgement."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([words[0], "--vault", str(self.root), "--json", *words[1:]])
        if code == 0:
            self.acks.append(ack)
            return
        said = json.loads(out.getvalue() or "{}").get("error", {})
        self.told = said.get("code") or err.getvalue() or f"exit code {code}"

    def attempt(self, act: Callable[[], object], ack: str = "") -> None:
        try:
            act()
            self.acks.append(ack)
        except HindbrainError as error:
            self.told = error.code
        except OSError as error:  # only of parts whose contract says so
            self.told = error.strerror or str(error)

    def memories(self) -> set[str]:
        """What is in notes after the next settling, or was put into the queue and can't get there."""
        with closing(self.app()) as app:
            settled = app.memory.settle(idle=True)
            assert settled.problems == ()
            assert app.memory.queue.pending() == []
            return {item.text for item in app.memory.book.items() if not item.superseded}

    def texts(self) -> str:
        return "\n".join(path.read_text("utf-8") for path in sorted(self.root.rglob("*.md")))


class Operation(NamedTuple):
    """Something that is acknowledged. `check` looks at what is there when the disk has room again."""

    name: str
    act: Callable[[Box], None]
    check: Callable[[Box], None]
    prepare: Callable[[Box], None] = lambda _: None

    def __str__(self) -> str:
        return self.name


def check_memories(box: Box) -> None:
    assert set(box.acks) <= box.memories()


def check_lines(box: Box) -> None:
    assert all(ack in box.texts() for ack in box.acks)


# Memories


def remember_each(box: Box) -> None:
    with closing(box.app()) as app:
        for fact in FACTS:
            box.attempt(lambda fact=fact: app.memory.remember(fact), fact)  # type: ignore[misc]


def queue_all(box: Box) -> None:
    queue = WriteQueue(box.state)
    for number, fact in enumerate(FACTS):
        entry = Waiting(f"m-0000000{number}", fact, NOW, created="2026-05-15")
        box.attempt(lambda entry=entry: queue.add(entry), fact)  # type: ignore[misc]


def settle(box: Box) -> None:
    with closing(box.app()) as app:
        settled = app.memory.settle(idle=True)
        box.told = "; ".join(settled.problems)
        waiting = [entry.text for entry in app.memory.queue.pending()]
        assert box.told or not waiting, f"{waiting} wait and nobody was told"


def flush_half(box: Box) -> None:
    """The other half can't reach its notes and goes on waiting."""
    queue = WriteQueue(box.state)
    with queue.flushing(0) as taken:
        taken.done(entry.id for entry in taken.waiting[:2])
    box.acks = list(FACTS[2:])
    box.told = taken.problem


def check_waiting(box: Box) -> None:
    assert set(box.acks) <= {entry.text for entry in WriteQueue(box.state).pending()}


def prepare_undo(box: Box) -> None:
    box.command("remember", "Ada lives in Lund")
    box.acks.clear()


def check_undo(box: Box) -> None:
    there = "Ada lives in Lund" in box.memories()
    assert not (box.acks and there)


def prepare_purge(box: Box) -> None:
    box.command("remember", "The owl nests at quay 4711")
    box.acks.clear()


def check_purge(box: Box) -> None:
    if box.acks:
        held = [path for path in box.folder.rglob("*") if path.is_file() and b"4711" in path.read_bytes()]
        assert held == []
    else:
        assert box.told


# Conversations


MESSAGES = [
    Message("user", "I prefer green tea over coffee.", at=NOW - 9, id="m1"),
    Message("assistant", "Noted.", at=NOW - 8, id="m2"),
    Message("user", "We decided to use Caddy instead of nginx.", at=NOW - 7, id="m3"),
]


def hear(box: Box) -> None:
    with closing(box.app()) as app:
        box.attempt(lambda: app.context.said(SESSION, MESSAGES), "said")


def capture(box: Box) -> None:
    hear(box)
    with closing(box.app()) as app, contextlib.suppress(HindbrainError):
        app.context.catch_up(deadline_s=60)
        app.memory.flush(timeout_s=10)


def capture_hook(box: Box) -> None:
    """What the hook program does when an agent stops."""
    event = {"event": "stop", "host": "claude-code", "session": "s1", "cwd": str(box.root)}
    transcript = str(box.folder / "transcript.jsonl")
    box.attempt(lambda: append_event(box.state, {**event, "transcript": transcript}), "said")
    with closing(box.app()) as app, contextlib.suppress(HindbrainError):
        app.context.catch_up(deadline_s=60)


def write_transcript(box: Box) -> None:
    lines = [
        {
            "type": one.role, "uuid": one.id, "sessionId": "s1", "cwd": str(box.root),
            "timestamp": "2026-05-15T11:59:00Z", "message": {"role": one.role, "content": one.text},
        }
        for one in MESSAGES
    ]  # fmt: skip
    (box.folder / "transcript.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def check_captured(box: Box) -> None:
    with closing(box.app()) as app:
        app.context.catch_up(deadline_s=60)
        assert count_waiting(app.state) == 0
    texts = box.memories()
    assert not box.acks or all(any(word in text for text in texts) for word in ("green tea", "Caddy")), texts


def take_flush(box: Box) -> None:
    text = "- Decision: Caddy replaces nginx\n- The lease of the office ends in June 2027\n"
    with closing(box.app()) as app:
        box.attempt(
            lambda: app.context.take_flush(SESSION, "memory/2026-05-14.md", text), "Caddy replaces nginx"
        )


# Runs and learning


def journal_run(box: Box) -> None:
    run = [
        RunCreated("r-1", NOW, "open the window"),
        ToolExecuted("r-1", NOW + 1, "open", {"what": "window"}),
        RunEnded("r-1", NOW + 2, "complete", 95),
    ]
    with closing(box.app()) as app:
        journal = app.learning.runs.journal("r-1")
        for event in run:
            if not box.told:  # a run that can't be noted does not go on
                box.attempt(lambda event=event: journal.add(event), type(event).__name__)  # type: ignore[misc]


def check_journal(box: Box) -> None:
    with closing(box.app()) as app:
        runs = app.learning.runs
        found = {type(event).__name__ for event in runs.events("r-1")} if runs.knows("r-1") else set()
        assert set(filter(None, box.acks)) <= found


def transcribe(box: Box) -> None:
    transcript = Transcript(box.state, "r-1")
    for number in range(3):
        entry = Advised(f"words {number}")
        box.attempt(lambda entry=entry: transcript.append(entry), f"words {number}")  # type: ignore[misc]


def check_transcript(box: Box) -> None:
    found = Transcript(box.state, "r-1").entries() if box.acks else []
    assert set(box.acks) <= {entry.text for entry in found if isinstance(entry, Advised)}


def prepare_days(box: Box) -> None:
    make_own(box.root)
    write_day(box.root, 40, "- [09:00] We decided to use Caddy instead of nginx", "- typed by hand")
    write_day(box.root, 20, "- Decided: the favourite editor is emacs", "- Checked 4 new emails")
    (box.root / "Memory").mkdir()
    (box.root / "Memory" / "fact.md").write_text(MEMORIES.format(old=day(200), new=day(20)), "utf-8")
    box.acks += ["typed by hand", "the favourite editor is emacs", "Caddy", "I typed this myself", "ficus"]


def consolidate(box: Box) -> None:
    with closing(box.app()) as app:
        box.attempt(lambda: app.learning.consolidate(), "typed by hand")


# Small files


def set_language(box: Box) -> None:
    box.command("config", "writes.batch_size", "7", ack="7")


def check_settings(box: Box) -> None:
    settings = tomllib.loads((box.folder / "config.toml").read_text("utf-8"))
    assert settings["search"]["k"] == 9
    assert settings.get("writes", {}).get("batch_size") in ([7] if box.acks else [7, None])


def make_token(box: Box) -> None:
    box.attempt(lambda: box.acks.append(read_or_make_token(box.folder / "state" / "token")), "")


def check_token(box: Box) -> None:
    token = read_or_make_token(box.folder / "state" / "token")
    assert set(filter(None, box.acks)) <= {token}


def install(box: Box) -> None:
    box.command("mcp", "install", "cursor", "--write", ack="hindbrain")


def prepare_host(box: Box) -> None:
    (box.folder / "home" / ".cursor").mkdir(parents=True)
    (box.folder / "home" / ".cursor" / "mcp.json").write_text('{"mcpServers": {"mine": {}}}', "utf-8")


def check_host(box: Box) -> None:
    servers = json.loads((box.folder / "home" / ".cursor" / "mcp.json").read_bytes())["mcpServers"]
    assert "mine" in servers
    assert "hindbrain" in servers or not box.acks


def keep_message(box: Box) -> None:
    files = KeptFiles(box.state, "agent", "outbox")
    box.attempt(lambda: files.put("one", {"text": "x" * 100}), "one")
    box.attempt(lambda: files.put_new("two", {"text": "x" * 100}), "two")
    box.attempt(lambda: files.put("one", {"text": "y" * 100}), "one")


def check_messages(box: Box) -> None:
    files = KeptFiles(box.state, "agent", "outbox")
    assert set(box.acks) <= set(files.names())
    assert all(files.read(name) for name in files.names())


def note_events(box: Box) -> None:
    for number in range(4):
        ledger = LedgerFile(box.state / "ledgers" / "s.ledger.jsonl")
        event = {"event": f"event {number}", "words": "x" * 50}
        box.attempt(lambda ledger=ledger, event=event: ledger.append([event]), f"event {number}")  # type: ignore[misc]
        ledger.replace(ledger.new_events()[0])


def check_events(box: Box) -> None:
    ledger = LedgerFile(box.state / "ledgers" / "s.ledger.jsonl")
    found = {str(event["event"]) for event in ledger.new_events()[0]}
    assert set(box.acks) <= found


def count_tokens(box: Box) -> None:
    """Counted as far as the disk lets us: what can't be noted is no error, and spoils no other line."""
    ledger = TokenLedger(box.state, FakeClock(NOW))
    for tokens in (1, 10, 100):
        ledger.add("learning", tokens)


def check_tokens(box: Box) -> None:
    assert TokenLedger(box.state, FakeClock(NOW)).spent() in {
        sum(some) for n in range(4) for some in itertools.combinations((1, 10, 100), n)
    }
    box.told = box.told or "not counted"


def command(*words: str, ack: str = "") -> Callable[[Box], None]:
    return lambda box: box.command(*words, ack=ack)


OPERATIONS = [
    Operation("remember", command("remember", FACTS[0], ack=FACTS[0]), check_memories),
    Operation("remember batched", remember_each, check_memories),
    Operation("queue", queue_all, check_memories),
    Operation("flush the queue", settle, check_memories, queue_all),
    Operation("flush a part", flush_half, check_waiting, queue_all),
    Operation("undo", command("undo", ack="undone"), check_undo, prepare_undo),
    Operation("purge", command("forget", "--purge", "--yes", "owl", ack="gone"), check_purge, prepare_purge),
    Operation("task", command("task", "add", "Water the ficus", ack="Water the ficus"), check_lines),
    Operation("daily", command("daily", "--add", "Ordered paper", ack="Ordered paper"), check_lines),
    Operation("note", command("note", "append", "Plan.md", "a new line", ack="a new line"), check_lines),
    Operation("said", hear, check_captured),
    Operation("capture", capture, check_captured),
    Operation("hook", capture_hook, check_captured, write_transcript),
    Operation("take a flush", take_flush, check_lines),
    Operation("journal", journal_run, check_journal),
    Operation("transcript", transcribe, check_transcript),
    Operation("learn", command("learn"), check_journal, journal_run),
    Operation("consolidate", consolidate, check_lines, prepare_days),
    Operation("settings", set_language, check_settings),
    Operation("token", make_token, check_token),
    Operation("install", install, check_host, prepare_host),
    Operation("outbox", keep_message, check_messages),
    Operation("ledger", note_events, check_events),
    Operation("tokens", count_tokens, check_tokens),
]  # fmt: skip
EACH = pytest.mark.parametrize("operation", OPERATIONS, ids=str)
FULL_FOR = pytest.mark.parametrize(
    "full_for", [0, 1, float("inf")], ids=["short", "short_once_full", "short_then_full"]
)


@pytest.fixture
def box(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    for name in [name for name in os.environ if name.startswith("HINDBRAIN_")]:
        monkeypatch.delenv(name)
    box = Box(place / "box")
    (box.root / ".hindbrain").mkdir(parents=True)
    (box.root / ".hindbrain" / "vault-id").write_text("the-vault", "utf-8")
    (box.root / ".hindbrain" / "layout.toml").write_text('base = "obsidian"\nfolder = ""\n', "utf-8")
    (box.root / "Plan.md").write_text("# Plan\n\n- mine\n", "utf-8")
    (box.folder / "config.toml").write_text("[search]\nk = 9\n", "utf-8")
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(box.folder / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(box.folder / "state"))
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("HOME", str(box.folder / "home"))
    umask = os.umask(0o022)
    yield box
    os.umask(umask)


def everything_is_whole(box: Box) -> None:
    """No file that is replaced as a whole is torn, nothing half written is left, others can read nothing."""
    for path in (box.folder / "state").rglob("*"):
        assert not re.search(r"\.tmp$|tmp-", path.name), f"{path} was left behind"
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} has the mode {mode:o}"
        if path.suffix == ".json":
            json.loads(path.read_bytes())
    assert not [path for path in box.folder.rglob("*.tmp") if box.root not in path.parents]
    assert not list(box.root.rglob(".hindbrain-tmp-*"))


def strike(box: Box, operation: Operation, full_for: float, most: int) -> None:
    operation.prepare(box)
    before, template = list(box.acks), box.folder.with_name("template")
    shutil.copytree(box.folder, template)
    counted = Disk(0)
    with counted.attached():
        operation.act(box)
    assert counted.count, "nothing was written: the test would prove nothing"
    assert not box.told
    everything = len(box.acks)
    operation.check(box)
    everything_is_whole(box)
    for at in range(1, counted.count + 1, max(1, -(-counted.count // most))):
        shutil.rmtree(box.folder)
        shutil.copytree(template, box.folder)
        box.acks, box.told = list(before), ""
        with Disk(at, full_for).attached():
            operation.act(box)
        told = box.told
        operation.check(box)
        everything_is_whole(box)
        if not full_for:  # the disk has room: a short write alone is no reason to fail
            assert (told, len(box.acks)) == ("", everything), f"write {at} of {counted.count}"
        assert len(box.acks) == everything or told, f"write {at}: refused and not told"


@pytest.mark.promise("P1", "P2", "P29")
@EACH
@FULL_FOR
def test_a_short_write_loses_nothing_that_was_acknowledged(
    box: Box, operation: Operation, full_for: float
) -> None:
    strike(box, operation, full_for, SAMPLE)


@pytest.mark.slow
@pytest.mark.promise("P1", "P2", "P29")
@EACH
@FULL_FOR
def test_a_short_write_at_each_write_loses_nothing_that_was_acknowledged(
    box: Box, operation: Operation, full_for: float
) -> None:
    strike(box, operation, full_for, 1 << 30)


_ON_A_SMALL_DISK = """
import json, os, sys
from pathlib import Path
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError

disk, filler = Path(sys.argv[1]), Path(sys.argv[1]) / "filler"
(disk / "vault" / ".obsidian").mkdir(parents=True)
environ = {"HINDBRAIN_STATE_FOLDER": str(disk / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}

def opened():
    return build_app(load_config(environ, disk / "none.toml"), disk / "vault")

app, acked, refused = opened(), [], 0
app.memory.remember("The first memory makes the note", importance=0.9)
for free in (0, 1, 2, 3, 5, 8):  # pages of the disk that are left
    with open(filler, "ab", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            file.truncate(max(0, file.tell() - 4096 * free))
    for number in range(25):
        text = f"Friend {free}-{number} likes the number {number * 7919} and lives in house {number * 104729}"
        try:
            app.memory.remember(text)
            acked.append(text)
        except HindbrainError:
            refused += 1
    app.memory.settle(idle=True)
    os.truncate(filler, 0)
app.close()
app = opened()
problems = app.memory.settle(idle=True).problems
there = " ".join(path.read_text("utf-8") for path in (disk / "vault").rglob("*.md"))
lost = [text for text in acked if text not in there]
left = [str(path) for path in disk.rglob("*tmp*")]
print(json.dumps([len(acked), refused, lost, left, list(problems), len(app.memory.queue.pending())]))
"""


@pytest.mark.promise("P1", "P2")
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs namespaces")
def test_a_real_disk_that_is_nearly_full_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=512k small "$1" || exit 77; exec "$2" -c "$3" "$1"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    ran = subprocess.run(
        [*command, str(disk), sys.executable, _ON_A_SMALL_DISK],
        capture_output=True, text=True, timeout=120, check=False, encoding="utf-8",
    )  # fmt: skip
    if ran.returncode == 77 or ran.stderr.startswith("unshare:"):
        pytest.skip(f"this system allows no small disk: {ran.stderr.strip()}")
    assert ran.returncode == 0, ran.stderr
    acked, refused, lost, left, problems, waiting = json.loads(ran.stdout)
    assert (lost, left, problems, waiting) == ([], [], [], 0)
    assert acked and refused  # else the disk was not full, or took nothing at all
