"""P29: each fault shows in `status`, in `doctor` and in one line of a log.

Through real processes. The log is that of whoever met the fault: the lines that a command prints, the
daemon's log, or the log of hooks.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from tests.anomalies.agents import environ, make_app
from tests.anomalies.machine import wait_until

from faulty_provider import HANGS, REFUSES, Faulty
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from hindbrain.search.query import SearchQuery

NOTES = 60


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Rig:
    """A vault, and the commands of its owner."""

    def __init__(self, place: Path, ending: ExitStack) -> None:
        self.place = place
        self.root = place / "vault"
        self.ending = ending  # what is called when the test is over
        self.environ = environ(place)
        self.wrapped: list[str] = []  # each command runs inside of this one
        self.preexec: Callable[[], None] | None = None

    def run(self, *words: str) -> Ran:
        command = [sys.executable, "-m", "hindbrain", words[0], "--vault", str(self.root), *words[1:]]
        return self._run(command)

    def bare(self, *words: str) -> Ran:
        return self._run([sys.executable, "-m", "hindbrain", *words])

    def hook(self, event: str, data: bytes) -> Ran:
        return self._run([sys.executable, "-m", "hindbrain.edge.hooks.main", "claude-code", event], data)

    def _run(self, command: list[str], data: bytes = b"") -> Ran:
        ran = subprocess.run(
            [*self.wrapped, *command], env=self.environ, input=data, capture_output=True, check=False,
            cwd=self.place, preexec_fn=self.preexec,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))

    def start(self, *words: str, log: Path) -> subprocess.Popen[bytes]:
        command = [*self.wrapped, sys.executable, "-m", "hindbrain", *words]
        with log.open("ab") as lines:
            process = subprocess.Popen(command, env=self.environ, stdout=lines, stderr=lines, cwd=self.place)
        self.ending.callback(_end, process)
        return process

    def one(self, pattern: str) -> Path:
        (found,) = (self.place / "state").rglob(pattern)
        return found

    @property
    def own_state(self) -> Path:
        """The folder in which the vault's state is kept."""
        return self.one("index.lock").parent

    @property
    def index(self) -> Path:
        return self.one("index.db")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


@pytest.fixture
def rig(place: Path) -> Iterator[Rig]:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for number in range(NOTES):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nzebra {number}\n", encoding="utf-8")
    with ExitStack() as ending:
        rig = Rig(place, ending)
        rig.run("init", "--layout", "obsidian")
        assert rig.run("sync").code == 0
        yield rig


class Fault(NamedTuple):
    name: str
    meet: Callable[[Rig], str]  # makes it, does what meets it, and gives the log
    line: str  # in exactly one line of the log
    status: str  # in what `status` prints
    doctor: str  # the check of `doctor` that is not well; "": doctor itself fails with `status`


def _errors(rig: Rig, *words: str, code: int | None = 1) -> str:
    ran = rig.run(*words)
    assert code is None or ran.code == code, ran
    return ran.err


# The index


def _page_damaged(rig: Rig) -> str:
    data = bytearray(rig.index.read_bytes())
    data[4_096:8_192] = b"\xff" * 4_096
    rig.index.write_bytes(data)
    return _errors(rig, "sync")


def _index_garbage(rig: Rig) -> str:
    rig.index.write_bytes(b"no database " * 1_000)
    return _errors(rig, "sync")


def _index_missing(rig: Rig) -> str:
    rig.index.unlink()
    return _errors(rig, "search", "zebra", "--no-sync")


def _index_too_new(rig: Rig) -> str:
    db = apsw.Connection(str(rig.index))
    db.execute("INSERT INTO migration VALUES ('m999_of_a_later_version', 0)")
    db.close()
    return _errors(rig, "sync")


def _index_outdated(rig: Rig) -> str:
    rig.environ["HINDBRAIN_CHUNK_TOKENS"] = "77"
    return _errors(rig, "search", "zebra", "--no-sync", code=0)


def _index_cut_short(rig: Rig) -> str:
    db = apsw.Connection(str(rig.index))
    db.execute("DELETE FROM meta WHERE key = 'synced_at'")
    db.close()
    return _errors(rig, "search", "zebra", "--no-sync", code=0)


# The vault


def _vault_away(rig: Rig) -> str:
    rig.root.rename(rig.place / "elsewhere")
    return _errors(rig, "sync")


def _vault_emptied(rig: Rig) -> str:
    shutil.rmtree(rig.root)
    rig.root.mkdir()
    return _errors(rig, "sync")


def _quarter_lost(rig: Rig) -> str:
    for number in range(NOTES // 4):
        (rig.root / f"{number}.md").unlink()
    return _errors(rig, "sync")


def _note_unreadable(rig: Rig) -> str:
    (rig.root / "1.md").write_bytes(bytes(range(256)) * 100)
    return _errors(rig, "sync")


def _note_too_long(rig: Rig) -> str:
    (rig.root / "1.md").write_text("~~~\n" * 44_000, encoding="utf-8")
    ran = rig.run("sync")
    assert ran.code == 0
    return ran.out


def _layout_broken(rig: Rig) -> str:
    (rig.root / ".hindbrain" / "layout.toml").write_text("layout = [", encoding="utf-8")
    return _errors(rig, "remember", "The dinghy has a red sail.")


def _settings_broken(rig: Rig) -> str:
    (rig.place / "config.toml").write_text("[search\n", encoding="utf-8")
    return _errors(rig, "sync", code=None)


# The embedder


def _provider(kind: str, **settings: str) -> Callable[[Rig], str]:
    def meet(rig: Rig) -> str:
        service = Faulty(kind)
        rig.ending.callback(service.close)
        rig.environ |= {
            "HINDBRAIN_EMBEDDING_PROVIDER": "openai",
            "HINDBRAIN_EMBEDDING_BASE_URL": service.url,
            "HINDBRAIN_EMBEDDING_MODEL": "test",
            "HINDBRAIN_EMBEDDING_MAX_RETRIES": "0",
            "HINDBRAIN_EMBEDDING_TIMEOUT_S": "0.3" if kind == HANGS else "60",
            "HINDBRAIN_EMBEDDING_BATCH_SIZE": "1",
            **{f"HINDBRAIN_EMBEDDING_{name.upper()}": value for name, value in settings.items()},
        }
        return _errors(rig, "sync")

    return meet


def _key_missing(rig: Rig) -> str:
    rig.environ = {name: value for name, value in rig.environ.items() if not name.endswith("_API_KEY")}
    rig.environ["HINDBRAIN_EMBEDDING_PROVIDER"] = "voyage"
    return _errors(rig, "sync")


def _model_folder_missing(rig: Rig) -> str:
    rig.environ["HINDBRAIN_EMBEDDING_PROVIDER"] = "onnx"
    rig.environ["HINDBRAIN_EMBEDDING_PATH"] = str(rig.place / "nowhere")
    return _errors(rig, "sync")


# The state folder


def _disk_full(rig: Rig) -> str:
    def no_byte_more() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    (rig.root / "1.md").write_text("# Note 1\n\nan elephant\n", encoding="utf-8")
    rig.preexec = no_byte_more
    return _errors(rig, "sync")


def _state_read_only(rig: Rig) -> str:
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 77; exec "$@"'
    rig.wrapped = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    rig.wrapped.append(str(rig.place / "state"))
    ran = rig.run("sync")
    if ran.code == 77 or ran.err.startswith("unshare:"):
        pytest.skip(f"this system allows no mount: {ran.err.strip()}")
    assert ran.code == 1
    return ran.err


def _queue_damaged(rig: Rig) -> str:
    # A server that is killed before it has brought a memory into its note.
    call(make_app(rig.place).memory, tool_named("remember"), {"fact": "The dinghy is red", "importance": 0.3})
    with rig.one("queue.jsonl").open("ab") as queue:
        queue.write(b"\x00\xff no line of ours\n")
    rig.environ["HINDBRAIN_WRITES_BATCH_SIZE"] = "1"
    return _errors(rig, "recall", "dinghy", code=0)


# Conversations, the daemon, the watcher


def _spooled_garbage(rig: Rig) -> str:
    spool = rig.own_state / "spool"
    spool.mkdir()
    (spool / "00000000000000000001-aa.json").write_text("no event", encoding="utf-8")
    ran = rig.run("hook", "settle")
    return ran.out + ran.err


def _hook_failed(rig: Rig) -> str:
    rig.hook("user-prompt-submit", b"[7")
    return (rig.place / "state" / "hooks.log").read_text(encoding="utf-8")


def _daemon_killed(rig: Rig) -> str:
    (rig.place / "state").mkdir(exist_ok=True)
    log = rig.place / "daemon.txt"
    address = rig.place / "state" / "daemon" / "daemon.json"
    daemon = rig.start("up", "--foreground", log=log)
    wait_until(address.exists)
    daemon.kill()
    daemon.wait()
    shown = rig.run("status"), rig.run("doctor")
    assert "ended without notice" in shown[0].out and "ended without notice" in shown[1].out
    again = rig.start("up", "--foreground", log=log)
    wait_until(lambda: "listening" in log.read_text("utf-8").split("ended without notice")[-1])
    wait_until(lambda: "ended without notice" in log.read_text("utf-8"))
    again.kill()
    again.wait()
    return log.read_text(encoding="utf-8")


def _watch_limit(rig: Rig) -> str:
    for number in range(60):
        (rig.root / f"f{number}").mkdir()
    script = 'echo 20 > /proc/sys/user/max_inotify_watches || exit 77; exec "$@"'
    rig.wrapped = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
    if rig.run("status").code:
        pytest.skip("this system allows no user namespace with a limit of its own")
    log = rig.place / "watch.txt"
    rig.start("watch", "--vault", str(rig.root), log=log)
    rig.wrapped = []

    def is_known() -> bool:
        watch = json.loads(rig.run("status", "--json").out)["watch"]
        return bool(watch and watch["events_fault"])

    wait_until(is_known)
    return log.read_text(encoding="utf-8")


def _watch_killed(rig: Rig) -> str:
    log = rig.place / "watch.txt"
    watch = rig.start("watch", "--vault", str(rig.root), log=log)
    wait_until(lambda: json.loads(rig.run("status", "--json").out)["watch"])
    watch.kill()
    watch.wait()
    assert "stopped without notice" in rig.run("status").out
    again = rig.start("watch", "--vault", str(rig.root), log=log)
    wait_until(lambda: "ended without notice" in log.read_text("utf-8"))
    again.kill()
    again.wait()
    return log.read_text(encoding="utf-8")


FAULTS = (
    Fault("a page of the index is damaged", _page_damaged, "(index_damaged)", "(index_damaged)", "index"),
    Fault("the index is no database", _index_garbage, "(index_damaged)", "(index_damaged)", "index"),
    Fault("the index is gone", _index_missing, "(index_missing)", "none yet", "index"),
    Fault("the index is of a later version", _index_too_new, "(index_too_new)", "(index_too_new)", "index"),
    Fault("the index is outdated", _index_outdated, "index_outdated", "(index_outdated)", "index"),
    Fault("the index was cut short", _index_cut_short, "index_incomplete", "(index_incomplete)", "index"),
    Fault("the vault is away", _vault_away, "(vault_away)", "(vault_away)", "vault"),
    Fault("the vault is empty", _vault_emptied, "(vault_away)", "(vault_away)", "vault"),
    Fault("a quarter of the notes is missing", _quarter_lost, "(brake)", "15 notes brake", "notes"),
    Fault("a note can't be read", _note_unreadable, "(unreadable)", "1 note unreadable", "notes"),
    Fault("a note is too long", _note_too_long, "1 too long", "too_many_passages", "notes"),
    Fault("the layout file is broken", _layout_broken, "(config)", "its file can't be used", "memory"),
    Fault("the settings are broken", _settings_broken, "(config)", "(config)", ""),
    Fault("the provider is down", _provider(REFUSES), "(embedder_down)", "(embedder_down)", "embedder"),
    Fault("the provider hangs", _provider(HANGS), "(embedder_down)", "(embedder_down)", "embedder"),
    Fault("the provider fails", _provider("error"), "(embedder_down)", "(embedder_down)", "embedder"),
    Fault("the provider refuses the key", _provider("no key"), "(embedder)", "(embedder)", "embedder"),
    Fault("the provider answers nonsense", _provider("garbage"), "(embedder)", "(embedder)", "embedder"),
    Fault("the provider gives NaN", _provider("NaN"), "(embedder)", "(embedder)", "embedder"),
    Fault(
        "the provider gives another dimension", _provider("wrong dimension", dimension="8"),
        "(embedder_mismatch)", "(embedder_mismatch)", "embedder",
    ),
    Fault("the key is missing", _key_missing, "(config)", "(config)", "embedder"),
    Fault("the model's folder is missing", _model_folder_missing, "(config)", "(config)", "embedder"),
    Fault("the disk is full", _disk_full, "(index)", "nothing can be written", "state"),
    Fault("the state folder is read-only", _state_read_only, "(write_failed)", "Read-only file", "state"),
    Fault("a line of the queue is damaged", _queue_damaged, "damaged", "1 damaged line", "memory"),
    Fault("a spooled event is garbage", _spooled_garbage, "spooled event", "event can't be read", "capture"),
    Fault("a hook failed", _hook_failed, '"failed"', "1 failed", "hooks"),
    Fault("the daemon was killed", _daemon_killed, "ended without notice", "ended without notice", "daemon"),
    Fault("the limit of watches is reached", _watch_limit, "can't watch", "can't watch", "watch"),
    Fault("the watcher was killed", _watch_killed, "ended without", "stopped without notice", "watch"),
)  # fmt: skip
_ON_LINUX = (_state_read_only, _watch_limit)
_NOT_ON_WINDOWS = (_disk_full, _daemon_killed, _watch_killed)


@pytest.mark.promise("P29")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_shows_in_status_in_doctor_and_in_one_line(rig: Rig, fault: Fault) -> None:
    if fault.meet in _ON_LINUX and (sys.platform != "linux" or shutil.which("unshare") is None):
        pytest.skip("needs namespaces")
    if fault.meet in _NOT_ON_WINDOWS and os.name == "nt":
        pytest.skip("needs signals and limits of a POSIX system")
    log = fault.meet(rig)
    assert sum(fault.line in line for line in log.splitlines()) == 1, log
    shown = rig.run("status")
    assert fault.status in shown.out + shown.err, shown
    examined = rig.run("doctor")
    if not fault.doctor:
        assert fault.status in examined.err
    else:
        assert fault.doctor in _not_well(examined), examined


def _not_well(examined: Ran) -> list[str]:
    """The first word of each check with a mark."""
    rows = [row.split() for row in examined.out.splitlines()]
    return [row[1] for row in rows if row[:1] in (["!"], ["x"])]


@pytest.mark.promise("P29")
def test_a_sound_vault_shows_no_fault(rig: Rig) -> None:
    shown = rig.run("status")
    assert shown.err == ""
    state = json.loads(rig.run("status", "--json").out)
    assert (state["findings"], state["embedder"]["failure"], state["index"]["lacks"]) == ([], None, "")
    examined = rig.run("doctor")
    assert examined.code == 0
    assert not _not_well(examined)


@pytest.mark.promise("P29")
def test_a_provider_that_works_again_is_shown_as_working(rig: Rig) -> None:
    _provider("error")(rig)
    failed = json.loads(rig.run("status", "--json").out)["embedder"]["failure"]
    assert (failed["role"], failed["code"]) == ("any", "embedder_down")
    assert failed["since"] <= failed["at"]
    works = Faulty("wrong dimension")  # one number a text: wrong only for who expects more
    rig.ending.callback(works.close)
    rig.environ["HINDBRAIN_EMBEDDING_BASE_URL"] = works.url
    assert rig.run("sync").code == 0
    assert json.loads(rig.run("status", "--json").out)["embedder"]["failure"] is None


@pytest.mark.promise("P29")
def test_an_agent_that_asks_for_the_status_hears_that_the_embedder_fails(rig: Rig) -> None:
    _provider(REFUSES)(rig)
    app = build_app(load_config(rig.environ), rig.root)
    rig.ending.callback(app.close)
    told = call(app.memory, tool_named("memory_status"), {})
    assert "embedder_down" in told.text and "embedder_down" in told.data["embedder_problem"]


@pytest.mark.promise("P29")
def test_a_service_that_is_down_is_said_where_auto_falls_back(rig: Rig) -> None:
    works = Faulty("wrong dimension")
    rig.environ |= {
        "HINDBRAIN_EMBEDDING_PROVIDER": "auto",
        "HINDBRAIN_EMBEDDING_BASE_URL": works.url,
        "HINDBRAIN_EMBEDDING_MODEL": "test",
        "HINDBRAIN_EMBEDDING_BATCH_SIZE": "1",
    }
    assert rig.run("sync").code == 0
    works.close()
    (rig.root / "1.md").write_text("# Note 1\n\nan elephant\n", encoding="utf-8")
    met = rig.run("sync")
    assert met.code == 1 and "(embedder_down)" in met.err
    assert "(embedder_down)" in rig.run("status").out
    assert "embedder" in _not_well(rig.run("doctor"))


@pytest.mark.promise("P29")
def test_a_server_logs_one_line_when_questions_can_not_be_embedded(rig: Rig) -> None:
    works = Faulty("wrong dimension")
    rig.environ |= {
        "HINDBRAIN_EMBEDDING_PROVIDER": "openai",
        "HINDBRAIN_EMBEDDING_BASE_URL": works.url,
        "HINDBRAIN_EMBEDDING_MODEL": "test",
        "HINDBRAIN_EMBEDDING_MAX_RETRIES": "0",
        "HINDBRAIN_EMBEDDING_BATCH_SIZE": "1",
    }
    assert rig.run("sync").code == 0
    works.close()
    app = build_app(load_config(rig.environ), rig.root)
    rig.ending.callback(app.close)
    log: list[str] = []
    app.tell = log.append
    for words in ("where do zebras live", "how do zebras run"):
        assert app.search(SearchQuery(words)).notices
    assert [line for line in log if "(embedder_down)" in line] == log and len(log) == 1
    failure = json.loads(rig.run("status", "--json").out)["embedder"]["failure"]
    assert (failure["role"], failure["code"]) == ("query", "embedder_down")
