"""A person's desk: a vault, our programs, two real agent hosts and a model that answers from a script.

All of it in one scratch folder: nothing outside is read or written, nothing runs on when the test ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_programs import ClaudeCode, Codex, Programs, Ran, Surroundings, run
from stub_model import StubModel

PROJECT = Path(__file__).resolve().parents[2]
PLUGIN = PROJECT / "integrations" / "claude-code"
_SCRIPTS = {"hindbrain": "hindbrain.edge.main", "hindbrain-hook": "hindbrain.edge.hooks.main"}
# As pip writes them, so that a hook costs what it costs its user.
_SCRIPT = """#!{python}
import sys
from {module} import main
sys.exit(main())
"""


@dataclass
class Desk:
    """`claude` and `codex` are asked as a person would; `hindbrain(...)` is our command line beside them."""

    folder: Path
    programs: Programs
    model: StubModel
    daemon: bool = False  # whether hooks may start one
    place: Surroundings = field(init=False)

    def __post_init__(self) -> None:
        self.bin.mkdir()
        self.vault.mkdir()
        (self.vault / ".obsidian").mkdir()
        for name in _SCRIPTS:
            self.put_program(name)
        self.config.write_text(f"[vault]\npath = {json.dumps(str(self.vault))}\n", encoding="utf-8")
        self.place = Surroundings(self.folder, self._path())
        (self.folder / "tmp").mkdir()
        self.place.extra.update(
            TMPDIR=str(self.folder / "tmp"),
            HINDBRAIN_CONFIG=str(self.config),
            HINDBRAIN_STATE_FOLDER=str(self.state),
            HINDBRAIN_HOOKS_DAEMON="true" if self.daemon else "false",
            HINDBRAIN_EMBEDDING_PROVIDER="builtin",
        )

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    def put_program(self, name: str) -> None:
        """Install one of our programs on this desk's PATH."""
        script = _SCRIPT.format(python=sys.executable, module=_SCRIPTS[name])
        file = self.bin / name
        file.write_text(script, encoding="utf-8")
        file.chmod(0o755)

    def _path(self) -> str:
        # Not the tests' own PATH: what is installed there must not stand in for what is missing here.
        node = Path(shutil.which("node") or "").parent
        return os.pathsep.join([str(self.bin), str(node), "/usr/local/bin", "/usr/bin", "/bin"])

    def write(self, note: str, text: str) -> Path:
        file = self.vault / note
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def vault_text(self) -> str:
        """All notes of the vault, one after the other."""
        notes = sorted(file for file in self.vault.rglob("*.md"))
        return "\n".join(file.read_text(encoding="utf-8") for file in notes)

    @property
    def claude(self) -> ClaudeCode:
        return ClaudeCode(self.programs.claude, self.place, self.model.url, (PLUGIN,))

    @property
    def codex(self) -> Codex:
        return Codex(self.programs.codex, self.place, self.model.url)

    def hindbrain(self, *words: str, timeout_s: float = 60) -> Ran:
        """Our command line, in the project's folder."""
        command = [str(self.bin / "hindbrain"), *words]
        return run(command, cwd=self.place.project, environ=self.place.environ, timeout_s=timeout_s)

    def hindbrain_json(self, *words: str) -> Any:
        ran = self.hindbrain(*words, "--json")
        assert ran.code == 0, ran
        return json.loads(ran.out)

    def clear_away(self) -> list[str]:
        """End what still runs for this desk; give what it was, so that a test can complain."""
        with contextlib.suppress(AssertionError, OSError):
            self.hindbrain("up", "stop", timeout_s=20)
        with contextlib.suppress(AssertionError):  # who served a host that is gone needs a moment to notice
            wait_until(lambda: not list(self._running()), what="the end of all processes", timeout_s=10)
        left = list(self._running())
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [words for _, words in left]

    def _running(self) -> Iterator[tuple[int, str]]:
        """Processes that were given this desk's own state folder; only Linux tells."""
        mark = f"HINDBRAIN_STATE_FOLDER={self.state}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    if words:
                        yield int(entry.name), words


def hook_answers(ran: Ran, event: str) -> list[dict[str, Any]]:
    """How the hooks of an event ended, as Claude Code reports it."""
    return [
        seen for seen in ran.events if seen.get("subtype") == "hook_response" and seen["hook_event"] == event
    ]


def session_start_millis(transcripts: Sequence[Path]) -> Iterator[tuple[str, float]]:
    """The wall time of SessionStart hooks, which the host's stream tells too late to be measured by."""
    for file in transcripts:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"durationMs"' in line and '"hookEvent":"SessionStart"' in line:
                yield "SessionStart", json.loads(line)["attachment"]["durationMs"]


def rest(transcripts: Sequence[Path]) -> None:
    """Let an hour pass since the transcripts were written to: a conversation that rests has lost its end."""
    for file in transcripts:
        written = file.stat().st_mtime - 3_600
        os.utime(file, (written, written))


def wait_until(holds: Callable[[], bool], *, what: str, timeout_s: float = 30) -> None:
    """Look again and again until it holds."""
    pause = threading.Event()
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen within {timeout_s} s"
        pause.wait(0.02)
