"""OpenClaw's gateway as a process on a free loopback port, with a home of its own, and ways to speak with it.

Knows nothing of Hindbrain but its client of the gateway's WebSocket. All state is below one folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tests.real_openclaw.program import Program

from hindbrain.agent.channels.openclaw.device import load_device
from hindbrain.agent.channels.openclaw.gateway import Connection, Gateway

Json: TypeAlias = dict[str, Any]
TOKEN = "gateway-token-of-the-test"
HOOK_TOKEN = "hook-token-of-the-test"
_READY_S = 240.0
_END_S = 30.0
_TURN_S = 180.0
# What a program needs of the surroundings to run at all; everything else is left out on purpose.
_KEPT = ("LANG", "LC_ALL", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "TMPDIR")


class Ran(NamedTuple):
    """How a run of a program ended."""

    code: int
    out: str
    err: str
    seconds: float


@dataclass
class GatewayProcess:
    """`write_config`, then `start`; `stop` and `start` again as often as a story needs it."""

    program: Program
    folder: Path
    port: int = 0
    path: tuple[str, ...] = ()  # folders in front of the PATH: where our own programs are
    extra: dict[str, str] = field(default_factory=dict)
    start_seconds: list[float] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.port = self.port or free_port()
        self.state.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def state(self) -> Path:
        return self.home / ".openclaw"

    @property
    def config(self) -> Path:
        return self.state / "openclaw.json"

    @property
    def workspace(self) -> Path:
        """Of the agent `main`, unless the config says another."""
        return self.state / "workspace"

    @property
    def log(self) -> Path:
        return self.folder / "gateway.log"

    @property
    def output(self) -> Path:
        """What the process says on its terminal."""
        return self.folder / "gateway.out"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = [*self.path, str(self.program.bin), "/usr/local/bin", "/usr/bin", "/bin"]
        return {
            **kept,
            "PATH": os.pathsep.join(path),
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_CONFIG_PATH": str(self.config),
            **self.extra,
        }

    def write_config(self, config: Mapping[str, Any]) -> None:
        self.config.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

    def read_config(self) -> Json:
        found: Json = json.loads(self.config.read_text(encoding="utf-8"))
        return found

    def start(self) -> None:
        """Come back when it says that it is ready."""
        assert self._process is None, "the gateway runs already"
        began = time.monotonic()
        command = [*self.program.command, "gateway", "run", "--port", str(self.port)]
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                command, cwd=self.home, env=self.environ, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        wait_until(self._is_ready, what="a ready gateway", timeout_s=_READY_S, told=self.tail)
        self.start_seconds.append(time.monotonic() - began)

    def stop(self) -> None:
        """Ask it to end, and see to it."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            process.wait(_END_S)

    def kill(self) -> None:
        """As a power cut does."""
        process, self._process = self._process, None
        if process is not None:
            _kill_group(process)
            process.wait(_END_S)

    def run(self, *words: str, timeout_s: float = 120.0) -> Ran:
        """OpenClaw's command line. It takes seconds to start."""
        return run([*self.program.command, *words], cwd=self.home, environ=self.environ, timeout_s=timeout_s)

    def post(self, path: str, body: Mapping[str, Any], *, token: str = TOKEN, **headers: str) -> Json:
        """POST of JSON to the gateway's HTTP side; AssertionError with its words when it refuses."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}", **named},
        )
        try:
            with urllib.request.urlopen(request, timeout=_TURN_S) as answer:
                found: Json = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            said = error.read().decode("utf-8", "replace")
            raise AssertionError(f"{path} was refused: {error.code} {said}") from error
        return found

    def ask(self, message: str, *, session: str = "agent:main:main", **headers: str) -> str:
        """A turn over /v1/chat/completions, the fast way; the agent's answer. Its trigger is the owner."""
        agent = session.split(":")[1]
        body = {"model": f"openclaw/{agent}", "messages": [{"role": "user", "content": message}]}
        answer = self.post("/v1/chat/completions", body, x_openclaw_session_key=session, **headers)
        return str(answer["choices"][0]["message"]["content"])

    def invoke(self, tool: str, **arguments: object) -> Json:
        """POST /tools/invoke, as the agent `main`: the tool's own result, as its `details` have it."""
        body = {"tool": tool, "args": arguments, "sessionKey": "agent:main:main"}
        answer = self.post("/tools/invoke", body)
        assert answer.get("ok") is True, answer
        details: Json = answer["result"]["details"]
        return details

    @contextlib.contextmanager
    def connected(self, *, token: str = TOKEN, timeout_s: float = _TURN_S) -> Iterator[Connection]:
        """A connection over the WebSocket as Hindbrain makes it."""
        device = self.folder / "device"
        gateway = Gateway(
            f"ws://127.0.0.1:{self.port}", token, lambda: load_device(device), timeout_s=timeout_s
        )
        with gateway.connected() as connection:
            yield connection

    def rpc(self, method: str, **params: object) -> Json:
        with self.connected() as connection:
            return dict(connection.request(method, params))

    def chat(self, message: str, *, session: str = "main") -> Json:
        """A turn over the WebSocket, as the web page of OpenClaw does it; how the run ended."""
        with self.connected() as connection:
            key = str(uuid.uuid4())
            connection.request(
                "chat.send", {"sessionKey": session, "message": message, "idempotencyKey": key}
            )
            return dict(connection.request("agent.wait", {"runId": key, "timeoutMs": int(_TURN_S * 900)}))

    def logged(self, words: str) -> list[str]:
        """The lines of its log that hold these words."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if words in line]

    def tail(self, lines: int = 40) -> str:
        """The end of what it said, for a failure's report."""
        said = self.output.read_text(encoding="utf-8", errors="replace") if self.output.exists() else ""
        return "\n".join(said.splitlines()[-lines:])

    def _is_ready(self) -> bool:
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"the gateway ended with {code}:\n{self.tail()}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=10) as answer:
                return bool(json.loads(answer.read()).get("ready"))
        except (OSError, ValueError):
            return False


def run(command: Sequence[str], *, cwd: Path, environ: Mapping[str, str], timeout_s: float = 120.0) -> Ran:
    """Run to the end; what does not end is killed with its children, and is a failure."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=cwd, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        process.wait(_END_S)
        raise AssertionError(f"{' '.join(command)} did not end within {timeout_s} s") from None
    seconds = time.monotonic() - began
    return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), seconds)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until(
    holds: Callable[[], object], *, what: str, timeout_s: float = 60.0, told: Callable[[], str] = str
) -> None:
    """Look again and again until it holds; `told` says more when it does not."""
    pause = threading.Event()
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come within {timeout_s} s\n{told()}"
        pause.wait(0.1)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
