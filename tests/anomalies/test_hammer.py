"""Five minutes of everything at once on one vault: editors, git, sync tools, kills, agents; then the oracle.

HINDBRAIN_HAMMER_S=20 gives a short form. Each actor is a thread that drives real processes or plain files:
- a person's editor that truncates and writes whole notes, to which agents append meanwhile
- git: commits, stashes and brings back, changes branches
- a sync tool: writes beside and renames over, leaves conflict files and temp files
- agents through MCP, HTTP, hooks and commands; their servers and the daemon are killed at random
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest

if sys.platform == "win32":
    pytest.skip("processes are killed by signals", allow_module_level=True)

from tests.anomalies import oracle
from tests.anomalies.machine import Machine, seconds_from, use_some_door

from hindbrain.vault.hashing import content_hash
from index_oracle import assert_sound, index_content, vault_content

_LONG_S = 300.0
_OWN = tuple(f"Own/{number}.md" for number in range(4))
_END = "-- end of what was typed --"
_TYPED = re.compile(r"typed (\w+)")
_UNTOUCHED = {
    "Still/crlf.md": b"one\r\ntwo",
    "Still/bom.md": b"\xef\xbb\xbfwith a mark\n",
    "Still/e\u0301te\u0301.md": b"decomposed name\n",
    "Still/latin.md": "caf\xe9".encode("latin-1"),
}
_EXPECTED = {"ok", "conflict", "busy", ""}  # "": its process was killed


class Hammer:
    def __init__(self, folder: Path, seconds: float) -> None:
        self.machine = Machine(folder, seed=11)
        self.root = self.machine.root
        self.typed: dict[str, str] = {}  # by note: what the person saved last
        self.errors: list[BaseException] = []
        self._over = threading.Event()
        self._hands = threading.Lock()  # who runs git is not typing meanwhile; git itself would lose that
        self._ends = time.monotonic() + seconds
        for path, data in _UNTOUCHED.items():
            _write(self.root / path, data)
        for path in _OWN:
            self._save(path, "first")
        self._git("init", "-q")
        # Else git would keep a temp file that it met, and bring it back later.
        (self.root / ".git" / "info" / "exclude").write_text(f"{oracle.TEMP_PREFIX}*\n", encoding="ascii")
        self._git("add", "-A")
        self._git("commit", "-qm", "first")

    def run(self) -> None:
        actors: list[Callable[[random.Random], None]] = [self._type, self._use_git, self._sync_files]
        actors += [self._be_agent, self._be_agent, self._kill_daemon]
        self.machine.start_daemon()
        threads = [
            threading.Thread(target=self._repeat, args=(actor, random.Random(number)))
            for number, actor in enumerate(actors)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.machine.stop_daemon()
        if self.errors:
            raise self.errors[0]

    def _repeat(self, actor: Callable[[random.Random], None], chance: random.Random) -> None:
        try:
            while time.monotonic() < self._ends and not self._over.is_set():
                actor(chance)
        except BaseException as error:  # noqa: BLE001 - the test shows it
            self.errors.append(error)
            self._over.set()

    # --- actors

    def _type(self, chance: random.Random) -> None:
        """A person changes a note: read, truncate, write; sometimes with a pause in the middle."""
        path = chance.choice(_OWN)
        self._over.wait(chance.uniform(0, 0.05))
        with self._hands:
            self._save(path, self.machine.token(), pause=chance.random() < 0.3)

    def _save(self, path: str, token: str, *, pause: bool = False) -> None:
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        data = f"# Mine\n\ntyped {token}\n\n{'and more of it. ' * 40}\n{_END}\n".encode()
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            half = len(data) // 2
            os.write(fd, data[:half])
            if pause:
                self._over.wait(0.01)
            os.write(fd, data[half:])
        finally:
            os.close(fd)
        self.typed[path] = token

    def _use_git(self, chance: random.Random) -> None:
        for words in chance.choice(
            (
                [("add", "-A"), ("commit", "-qm", "more")],
                [("stash",), ("stash", "pop")],
                [("checkout", "-qB", "aside"), ("checkout", "-q", "-")],
            )
        ):
            with self._hands:
                self._git(*words)
        self._over.wait(chance.uniform(0, 0.3))

    def _git(self, *words: str) -> bytes:
        """It may fail: files change under it, as they do for anybody."""
        usual = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false"]
        ran = subprocess.run(["git", *usual, *words], cwd=self.root, capture_output=True, check=False)
        return ran.stdout

    def _sync_files(self, chance: random.Random) -> None:
        """Another machine's tool brings its version of a note, or a copy of it beside."""
        note = self.root / chance.choice(("Log.md", *_OWN))
        with contextlib.suppress(OSError):
            data = note.read_bytes()
            match chance.randrange(3):
                case 0:
                    _write(note.with_name(f"{note.stem}.sync-conflict-2026-{chance.randrange(99)}.md"), data)
                case 1:
                    _write(note.with_name(f"{note.stem} (conflicted copy {chance.randrange(99)}).md"), data)
                case _:
                    half = note.with_name(f".syncthing.{note.name}.tmp")
                    half.write_bytes(data[: len(data) // 2])
                    half.unlink()
        self._over.wait(chance.uniform(0, 0.1))

    def _be_agent(self, chance: random.Random) -> None:
        """One server's life: some requests, then it is closed or killed."""
        door = self.machine.open_mcp()
        for _ in range(chance.randrange(5, 40)):
            if time.monotonic() >= self._ends:
                break
            if chance.random() < 0.3:
                token = self.machine.token()
                path = chance.choice(_OWN)
                self.machine.use_mcp(door, "vault_append", token, path=path, content=f"- {token} happened")
            else:
                use_some_door(self.machine, door)
        if chance.random() < 0.5:
            killer = threading.Timer(chance.uniform(0, 0.02), door.kill)
            killer.start()
            token = self.machine.token()
            self.machine.use_mcp(door, "vault_append", token, path="Log.md", content=f"- {token} happened")
            killer.join()
        else:
            door.close()

    def _kill_daemon(self, chance: random.Random) -> None:
        self._over.wait(chance.uniform(0.5, 4))
        self.machine.kill_daemon()
        self.machine.start_daemon()

    # --- the oracle

    def judge(self) -> None:
        machine = self.machine
        code = machine.command("sync", "--yes")  # what git and the sync tool took away is meant to be gone
        assert code == "ok", f"nobody else is at work, and sync said {code!r}"
        everything = self._all_texts()
        lost = sorted(token for token in machine.acknowledged() if token not in everything)
        assert lost == [], f"I1: {len(lost)} of {len(machine.acknowledged())} acknowledged writes are nowhere"
        for path, token in self.typed.items():
            assert f"typed {token}" in everything, f"I1: what was typed last into {path!r} is nowhere"
        for path in _OWN:
            self._is_whole(path)
        for path, data in _UNTOUCHED.items():
            assert (self.root / path).read_bytes() == data, f"I3: {path!r} changed"
        index = machine.state / "index.db"
        there = {normalize("NFC", path): digest for path, digest in vault_content(self.root).items()}
        # A copy of a note that was just being saved is empty: believed when it has stayed so for a minute.
        empty = {path for path, digest in there.items() if digest == content_hash(b"")}
        differ = {path for path, _ in there.items() ^ index_content(index).items()} - empty
        assert differ == set(), "I4: index and vault differ"
        assert_sound(index)
        oracle.nothing_is_left_over(self.root, machine.state, pids=machine.pids)
        assert set(machine.codes()) <= _EXPECTED, f"I7: {machine.codes()}"

    def _all_texts(self) -> str:
        """Every place where a text may be: notes and copies, revisions, and what git has put aside."""
        notes = [path.read_bytes() for path in self.root.rglob("*.md") if path.is_file()]
        return b"\n".join([*notes, *oracle.kept_blobs(self.machine.state).values()]).decode(
            "utf-8", "replace"
        )

    def _is_whole(self, path: str) -> None:
        """I2: a note that the person saved holds one whole save, and lines of agents behind it."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.strip(), f"I2: {path!r} is empty"
        if "<<<<<<< " in text:  # git merged it, and left the decision to the person
            return
        assert len(_TYPED.findall(text)) == text.count(_END) == 1, (
            f"I2: {path!r} is torn or mixed: {text[:200]}"
        )


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@needs_git
@pytest.mark.slow
@pytest.mark.promise("P1")
@pytest.mark.promise("P4")
def test_five_minutes_of_everything_at_once_lose_nothing(place: Path) -> None:
    hammer = Hammer(place, seconds_from("HINDBRAIN_HAMMER_S", _LONG_S))
    hammer.run()
    print(hammer.machine.codes())
    hammer.judge()
