"""The agent as people meet it: a real process on a real terminal, with a model's service behind HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from workbench import Vault

if sys.platform == "win32":
    pytest.skip("needs a pseudo terminal", allow_module_level=True)

import pty

COMMAND = (sys.executable, "-c", "import sys; from hindbrain.edge.main import main; sys.exit(main())")


class Service:
    """Answers as an OpenAI-compatible server does that does not stream. The answer to the question number
    `hold_at` is held back until `let_go`."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.hold_at = 0
        self.holds, self.let_go = threading.Event(), threading.Event()
        self._asked = 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                service._asked += 1
                if service._asked == service.hold_at:
                    service.holds.set()
                    service.let_go.wait(60)
                message = service.messages.pop(0) if service.messages else {"content": "Done.\nTASK_COMPLETE"}
                stop = "tool_calls" if message.get("tool_calls") else "stop"
                choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": stop}
                body = json.dumps(
                    {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
                )
                with contextlib.suppress(OSError):  # whoever asked may be gone
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body.encode())))
                    self.end_headers()
                    self.wfile.write(body.encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def close(self) -> None:
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()


def _call(name: str, **arguments: str) -> dict[str, Any]:
    call = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": f"c-{name}", "type": "function", "function": call}]}


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


class Terminal:
    """A process whose stdin, stdout and stderr are one terminal."""

    def __init__(self, words: list[str], cwd: Path, environ: dict[str, str]) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environ, start_new_session=True,
            preexec_fn=_take_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        while text not in self.shown:
            ready, _, _ = select.select([self.ours], [], [], seconds)
            assert ready, f"{text!r} never came; so far: {self.shown}"
            try:
                self.shown += os.read(self.ours, 4096).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                assert text in self.shown, self.shown
                return

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def end(self) -> int:
        with contextlib.suppress(OSError):
            while piece := os.read(self.ours, 4096):
                self.shown += piece.decode("utf-8", "replace")
        os.close(self.ours)
        return self.process.wait(60)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def place(notes: Vault, tmp_path: Path, service: Service) -> tuple[Path, dict[str, str]]:
    work = tmp_path / "work"
    work.mkdir()
    (work / "in.txt").write_text("write out.txt", encoding="utf-8")
    environ = {
        **os.environ,
        "HINDBRAIN_VAULT_PATH": str(notes.root),
        "HINDBRAIN_CHAT_PROVIDER": "openai",
        "HINDBRAIN_CHAT_MODEL": "some-model",
        "HINDBRAIN_CHAT_BASE_URL": service.address,
        "HINDBRAIN_CHAT_KEY": "k-123",
        "NO_COLOR": "1",
    }
    return work, environ


def test_at_a_terminal_a_person_is_asked_and_the_run_goes_on(
    place: tuple[Path, dict[str, str]], service: Service
) -> None:
    service.messages = [_call("read_file", path="in.txt"), _call("write_file", path="out.txt", content="x")]
    terminal = Terminal(["run", "do what in.txt says"], *place)
    terminal.wait_for("[n]o: ")
    assert not (place[0] / "out.txt").exists()
    terminal.type("y\n")
    assert terminal.end() == 0, terminal.shown
    assert (place[0] / "out.txt").read_text(encoding="utf-8") == "x"
    assert "Done." in terminal.shown


def test_what_was_typed_before_the_question_is_no_answer_to_it(
    place: tuple[Path, dict[str, str]], service: Service
) -> None:
    service.messages = [_call("read_file", path="in.txt"), _call("write_file", path="out.txt", content="x")]
    service.hold_at = 2
    terminal = Terminal(["run", "do what in.txt says"], *place)
    assert service.holds.wait(60)
    terminal.type("y\n")
    service.let_go.set()
    terminal.wait_for("[n]o: ")
    terminal.type("n\n")
    assert terminal.end() == 0, terminal.shown
    assert not (place[0] / "out.txt").exists()


def test_a_run_goes_on_when_whoever_looked_on_has_left(
    place: tuple[Path, dict[str, str]], service: Service, notes: Vault
) -> None:
    service.messages = [_call("read_file", path="in.txt")]
    service.hold_at = 1
    work, environ = place
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "run", "read in.txt"], cwd=work, env=environ, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=writer,
    )  # fmt: skip
    os.close(writer)
    assert service.holds.wait(60)
    os.close(reader)
    service.let_go.set()
    process.communicate(timeout=60)
    (journal,) = (notes.root / ".hindbrain" / "runs").glob("r-*/journal.jsonl")
    assert '"run.complete"' in journal.read_text(encoding="utf-8")


def test_ctrl_c_at_a_terminal_ends_the_run_cleanly(
    place: tuple[Path, dict[str, str]], service: Service, notes: Vault
) -> None:
    service.hold_at = 1
    terminal = Terminal(["run", "take your time"], *place)
    assert service.holds.wait(60)
    terminal.type("\x03")
    terminal.wait_for("ending the run")
    assert terminal.end() == 130, terminal.shown
    (journal,) = (notes.root / ".hindbrain" / "runs").glob("r-*/journal.jsonl")
    assert '"run.cancelled"' in journal.read_text(encoding="utf-8")


def test_ctrl_c_at_a_question_ends_the_run_with_words_for_its_owner_alone(
    place: tuple[Path, dict[str, str]], service: Service
) -> None:
    service.messages = [_call("read_file", path="in.txt"), _call("write_file", path="out.txt", content="x")]
    terminal = Terminal(["run", "do what in.txt says"], *place)
    terminal.wait_for("[n]o: ")
    terminal.type("\x03")
    assert terminal.end() == 130, terminal.shown
    after = terminal.shown.partition("[n]o: ")[2].replace("\r", "").split("\n")
    assert after[0] in ("", "^C")
    assert "✗" not in "".join(after) and "".join(after).count("cancelled") == 1
    assert not (place[0] / "out.txt").exists()


def test_a_run_that_was_killed_goes_on_where_it_stopped(
    place: tuple[Path, dict[str, str]], service: Service
) -> None:
    service.messages = [_call("read_file", path="in.txt")]
    service.hold_at = 2
    work, environ = place
    first = subprocess.Popen([*COMMAND, "run", "read in.txt", "--unattended"], cwd=work, env=environ)
    assert service.holds.wait(60)
    first.send_signal(signal.SIGKILL)
    first.wait(60)

    def hindbrain(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words], cwd=work, env=environ, capture_output=True, text=True, encoding="utf-8"
        )

    (run,) = json.loads(hindbrain("runs", "list", "--json").stdout)["unfinished"]
    ran = hindbrain("runs", "resume", run, "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["end"], told["run"], told["iterations"]) == ("complete", run, 2)
