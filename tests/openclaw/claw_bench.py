"""An OpenClaw as `hindbrain openclaw` finds it on a machine: its settings, and its program's package."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from command_runs import Ran
from hindbrain.edge.main import main
from hindbrain.edge.mcp.json5_edit import read_members

PLAIN = """{
  "gateway": {
    "mode": "local",
    "port": 18999,
    "auth": { "mode": "token", "token": "open-sesame" }
  },
  "agents": { "defaults": { "model": { "primary": "stub/stub-1" } } }
}
"""
FILES = {
    "plain": PLAIN,
    "one line": '{"gateway":{"mode":"local"},"plugins":{"entries":{"browser":{"enabled":true}}}}',
    "empty object": "{}\n",
    "JSON5": (
        "// my gateway\n{\n  gateway: { mode: 'local', port: 18_999.0, }, // keep\n"
        "  agents: { defaults: { workspace: '~/claw \"one\"' } },\n  /* last */\n}\n"
    ).replace("18_999.0", "0x4a37"),
    "comments and commas": (
        '{\n  // plugins: none\n  "plugins": {\n    "load": { "paths": ["/opt/other",], }, // mine\n'
        '    "slots": { "memory": "memory-lancedb" },\n  },\n  "last": [1, 2,],\n}\n'
    ),
    "CRLF and tabs": '{\r\n\t"plugins": {\r\n\t\t"enabled": true\r\n\t},\r\n\t"a": 1\r\n}\r\n',
    "BOM": '\ufeff{\n    "gateway": {"mode": "local"}\n}\n',
    "slot taken": '{\n  "plugins": {\n    "slots": {\n      "memory": "memory-lancedb"\n    }\n  }\n}',
    "allow list": '{\n  "plugins": { "allow": ["memory-core", "browser"], "slots": {} }\n}\n',
    "our words": (
        '{\n  "plugins": { "entries": { "hindbrain": {\n    "enabled": false,\n    "config": '
        '{ "maxResults": 8, "preserveLocal": true, "dreaming": { "enabled": true } }\n  } } }\n}\n'
    ),
}


class Claw:
    """One OpenClaw, and our command line beside it."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.folder = home / ".openclaw"
        self.file = self.folder / "openclaw.json"
        self.state = Path(os.environ["HINDBRAIN_STATE_FOLDER"])
        self.copy = self.state / "openclaw" / "plugin"
        self._capsys = capsys

    def write(self, text: str) -> bytes:
        self.folder.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        self.file.write_bytes(data)
        return data

    @property
    def members(self) -> dict[str, Any]:
        return read_members(self.file.read_text(encoding="utf-8"))

    @property
    def entry(self) -> dict[str, Any]:
        return dict(self.members["plugins"]["entries"]["hindbrain"])

    def __call__(self, *words: str) -> Ran:
        self._capsys.readouterr()
        code = main(["openclaw", *words])
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def install(self, *words: str) -> Any:
        """Without the daemon, which has its own test."""
        ran = self("install", "--no-start", "--json", *words)
        assert ran.code == 0, ran.out
        return ran.data

    def refused(self, *words: str) -> tuple[str, str]:
        """The code and the words of the error, of a run that changes nothing."""
        before = self.traces()
        ran = self(*words, "--json")
        assert ran.code in (1, 2)
        assert self.traces() == before
        return ran.data["error"]["code"], ran.data["error"]["message"]

    def problems(self) -> list[str]:
        ran = self("status", "--json")
        assert ran.code == 0
        assert all(problem["next"] for problem in ran.data["problems"])
        return [problem["what"] for problem in ran.data["problems"]]

    def traces(self) -> dict[str, bytes]:
        """Every file of OpenClaw's and ours."""
        roots = [self.home, self.state, Path(os.environ["HINDBRAIN_CONFIG"]).parent]
        return {str(path): path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}


def put_program(folder: Path, version: str) -> Path:
    """The package of OpenClaw as npm lays it out, as far as its version goes; running it does nothing."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    package = (bin_folder if os.name == "nt" else folder) / "node_modules" / "openclaw"
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.json").write_text(
        json.dumps({"name": "openclaw", "version": version}), encoding="utf-8"
    )
    if os.name == "nt":
        (bin_folder / "openclaw.cmd").write_text("@exit /b 3\n", encoding="utf-8")
        return bin_folder
    program = package / "openclaw.mjs"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    (bin_folder / "openclaw").unlink(missing_ok=True)
    (bin_folder / "openclaw").symlink_to(program)
    return bin_folder


@contextmanager
def answering(body: bytes) -> Iterator[int]:
    """A server on loopback that says the same to everybody; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
