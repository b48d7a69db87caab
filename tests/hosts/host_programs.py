"""The real agent hosts: where their programs are, and how each is run with a scratch home and a stub model.

Knows nothing of what hooks answer. Nothing of the person's own home, keys or settings is read or written.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

CLAUDE_VERSION = "2.1.197"
CODEX_VERSION = "0.166.0"
_PACKAGES = (f"@anthropic-ai/claude-code@{CLAUDE_VERSION}", f"@openai/codex@{CODEX_VERSION}")
_INSTALL_S = 300
_RUN_S = 90
# What a host needs of the surroundings to run at all; everything else is left out on purpose.
_KEPT = ("LANG", "LC_ALL", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "TMPDIR")


class Unavailable(Exception):
    """The hosts can't be had here; the text says why and what to do."""


class Programs(NamedTuple):
    """The two programs, as npm installed them."""

    claude: Path
    codex: Path


class Ran(NamedTuple):
    """How a run of a program ended."""

    code: int
    out: str
    err: str
    seconds: float
    stamps: tuple[float, ...] = ()  # when each line of `out` came, in seconds from the start

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines; what is no JSON is left out."""
        return [event for _, event in self.timed_events()]

    def timed_events(self) -> Iterator[tuple[float, dict[str, Any]]]:
        for stamp, line in zip(self.stamps, self.out.splitlines(), strict=False):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield stamp, value

    def hook_millis(self) -> Iterator[tuple[str, float]]:
        """Event and wall time of each hook as Claude Code tells them; not of SessionStart: told too late."""
        begun: dict[str, float] = {}
        for stamp, event in self.timed_events():
            if event.get("subtype") == "hook_started":
                begun[event["hook_id"]] = stamp
            elif event.get("subtype") == "hook_response" and event["hook_event"] != "SessionStart":
                yield event["hook_event"], 1_000 * (stamp - begun[event["hook_id"]])


def cache_folder() -> Path:
    """Where the npm packages are kept between runs: $HINDBRAIN_HOSTS_CACHE, else `.hosts` of the project."""
    chosen = os.environ.get("HINDBRAIN_HOSTS_CACHE")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[2] / ".hosts"


def find_programs() -> Programs:
    """Find the installed hosts, or install the pinned versions once; `Unavailable` says why not."""
    folder = cache_folder()
    found = _installed(folder)
    if found is not None:
        return found
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Unavailable(
            "node and npm are not on the PATH; install Node 20 or later to test with real hosts"
        )
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *_PACKAGES]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_INSTALL_S, check=False, encoding="utf-8"
        )
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"npm did not finish within {_INSTALL_S} s; see {folder}") from late
    found = _installed(folder)
    if found is None:
        raise Unavailable(f"npm could not install {' '.join(_PACKAGES)}: {done.stderr.strip()[-400:]}")
    return found


def _installed(folder: Path) -> Programs | None:
    suffix = ".cmd" if os.name == "nt" else ""
    found = Programs(*(folder / "node_modules" / ".bin" / f"{name}{suffix}" for name in ("claude", "codex")))
    return found if all(program.exists() for program in found) else None


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    timeout_s: float = _RUN_S,
    stdin: str = "",
) -> Ran:
    """Run to the end, or kill it with all its children and say so."""
    began = time.monotonic()
    process = start(command, cwd=cwd, environ=environ)
    lines: list[tuple[float, str]] = []
    errors: list[str] = []
    threads = [
        threading.Thread(target=_read_timed, args=(process.stdout, began, lines), daemon=True),
        threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True),
        threading.Thread(target=_write, args=(process.stdin, stdin), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        process.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        kill(process)
        tail = "".join(line for _, line in lines[-20:])
        raise AssertionError(
            f"{command[0]} did not end within {timeout_s} s\n{tail}{''.join(errors)}"
        ) from None
    seconds = time.monotonic() - began
    for thread in threads:
        # Whoever holds the output of a host open after its end would keep a terminal waiting too.
        thread.join(timeout=5)
        assert not thread.is_alive(), f"{command[0]} ended, and something of it still holds its output open"
    return Ran(
        process.returncode,
        "".join(line for _, line in lines),
        "".join(errors),
        seconds,
        tuple(stamp for stamp, _ in lines),
    )


def _read_timed(stream: IO[str] | None, began: float, lines: list[tuple[float, str]]) -> None:
    lines.extend((time.monotonic() - began, line) for line in stream or ())


def _write(stream: IO[str] | None, text: str) -> None:
    if stream is not None:
        with contextlib.suppress(BrokenPipeError), stream:
            stream.write(text)


def start(command: Sequence[str | Path], *, cwd: Path, environ: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start in an own process group, so that `kill` reaches all that it starts."""
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=os.name != "nt",
    )


def kill(process: subprocess.Popen[str]) -> None:
    """End the process and its children at once, as a crash or a closed lid would."""
    if os.name == "nt":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.poll()


@dataclass
class Surroundings:
    """A scratch home and a project folder that a host runs in, and the environment it is given."""

    folder: Path
    path: str  # the PATH of the host, and so of its hooks
    extra: dict[str, str] = field(default_factory=dict)
    hook_millis: list[tuple[str, float]] = field(
        default_factory=list
    )  # of all runs here, event and wall time

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        home = str(self.home)
        return {**kept, "PATH": self.path, "HOME": home, "USERPROFILE": home, **self.extra}


@dataclass
class ClaudeCode:
    """Claude Code in print mode, with plugins of the test's choosing."""

    program: Path
    place: Surroundings
    url: str  # of the model
    plugins: tuple[Path, ...] = ()

    @property
    def environ(self) -> dict[str, str]:
        return {
            **self.place.environ,
            "CLAUDE_CONFIG_DIR": str(self.place.home / ".claude"),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "dummy-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def command(self, prompt: str, *options: str, tools: str = "Bash") -> list[str | Path]:
        plugins = [part for folder in self.plugins for part in ("--plugin-dir", str(folder))]
        shown = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
        allowed = ("--allowedTools", tools) if tools else ()
        return [self.program, "-p", prompt, *shown, *plugins, *options, *allowed]

    def ask(self, prompt: str, *options: str, tools: str = "Bash", timeout_s: float = _RUN_S) -> Ran:
        """One prompt, to its end."""
        command = self.command(prompt, *options, tools=tools)
        ran = run(command, cwd=self.place.project, environ=self.environ, timeout_s=timeout_s)
        self.place.hook_millis.extend(ran.hook_millis())
        return ran

    def converse(self, *prompts: str) -> Ran:
        """Several prompts in one process, as an interactive session has them."""
        lines = [
            json.dumps({"type": "user", "message": {"role": "user", "content": text}}) for text in prompts
        ]
        command = self.command("", "--input-format", "stream-json")
        command.remove("")
        written = "".join(f"{line}\n" for line in lines)
        return run(command, cwd=self.place.project, environ=self.environ, stdin=written)

    def transcripts(self) -> list[Path]:
        return sorted((self.place.home / ".claude" / "projects").rglob("*.jsonl"))


@dataclass
class Codex:
    """Codex in `exec` mode, with hooks as its own `hooks.json` in the scratch home has them."""

    program: Path
    place: Surroundings
    url: str
    settings: str = ""  # further lines of config.toml, above the tables

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        if (self.home / "config.toml").exists():
            return  # somebody may have installed something into it since
        (self.home / "config.toml").write_text(
            'model = "stub-model"\nmodel_provider = "stub"\napproval_policy = "never"\n'
            f'sandbox_mode = "danger-full-access"\n{self.settings}\n'
            f'[model_providers.stub]\nname = "stub"\nbase_url = "{self.url}/v1"\nwire_api = "responses"\n'
            'env_key = "STUB_API_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
            "[analytics]\nenabled = false\n",
            encoding="utf-8",
        )

    @property
    def home(self) -> Path:
        return self.place.home / ".codex"

    @property
    def environ(self) -> dict[str, str]:
        return {**self.place.environ, "CODEX_HOME": str(self.home), "STUB_API_KEY": "dummy-key"}

    def command(self, prompt: str, *options: str, trusted: bool = True, resume: str = "") -> list[str | Path]:
        trust = ("--dangerously-bypass-hook-trust",) if trusted else ()
        shown = ("--json", "--skip-git-repo-check")
        if resume:
            return [self.program, "exec", *trust, *options, "resume", *shown, resume, prompt]
        return [self.program, "exec", *shown, *trust, *options, prompt]

    def ask(self, prompt: str, *options: str, trusted: bool = True, resume: str = "") -> Ran:
        """One prompt, to its end."""
        command = self.command(prompt, *options, trusted=trusted, resume=resume)
        return run(command, cwd=self.place.project, environ=self.environ)

    def trust_hooks(self) -> int:
        """Trust all hooks as its person does in the terminal, through the host's own interface; how many."""
        cwd = self.place.project
        [listed] = self._request("hooks/list", {"cwds": [str(cwd)]})["data"]
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["hooks"]}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        self._request("config/batchWrite", {"edits": [edit]})
        return len(state)

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        about = {"clientInfo": {"name": "tests", "title": "tests", "version": "0"}}
        asked = [
            {"id": 1, "method": "initialize", "params": about},
            {"method": "initialized"},
            {"id": 2, "method": method, "params": params},
        ]
        process = start([self.program, "app-server"], cwd=self.place.project, environ=self.environ)
        late = threading.Timer(_RUN_S, kill, (process,))
        late.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("".join(json.dumps(line) + "\n" for line in asked))
            process.stdin.flush()
            answers = (json.loads(line) for line in process.stdout)
            found = next(answer for answer in answers if answer.get("id") == 2)
        finally:
            late.cancel()
            kill(process)
            process.communicate()
        assert "result" in found, found
        return dict(found["result"])

    def transcripts(self) -> list[Path]:
        return sorted((self.home / "sessions").rglob("*.jsonl"))
