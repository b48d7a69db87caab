"""The real program, as a host starts it: it always answers, whatever happens around it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.daemon.address import ADDRESS_FILE, UNIX, Address, address_data, daemon_folder
from hindbrain.edge.hooks.hosts import HOSTS
from hindbrain.edge.hooks.journal import read_calls

_PATIENCE_S = 60  # for a slow machine; nothing here waits for it
# When the time is up the log gets a moment, which a busy machine may exceed.
_TIME_FOR_THE_LOG = f"from hindbrain.edge.hooks import main as hook\nhook._LAST_WORDS_S = {_PATIENCE_S}\n"


def _command(host: str, event: str) -> list[str]:
    return [sys.executable, "-m", "hindbrain.edge.hooks.main", host, event]


def _run(host: str, event: str, data: bytes | str) -> dict[str, Any]:
    sent = data.encode() if isinstance(data, str) else data
    done = subprocess.run(_command(host, event), input=sent, capture_output=True, timeout=_PATIENCE_S)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _context(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _prompt(root: Path, prompt: str = "which port has the kite server?", **more: object) -> str:
    return json.dumps({"session_id": "s", "cwd": str(root), "prompt": prompt, **more})


@pytest.mark.promise("P13")
def test_without_a_daemon_it_answers_by_itself(synced: Any, surroundings: Path) -> None:
    assert "7421" in _context(_run("claude-code", "user-prompt-submit", _prompt(synced.root)))
    call = read_calls(surroundings)[-1]
    assert (call.outcome, call.by, call.chars > 0) == ("ok", "self", True)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
def test_input_may_end_in_any_way(ending: str, synced: Any) -> None:
    assert "7421" in _context(_run("codex", "user-prompt-submit", _prompt(synced.root) + ending))


def test_a_payload_over_several_lines_is_read_whole(synced: Any) -> None:
    pretty = json.dumps(json.loads(_prompt(synced.root, nested={"a": {"b": {}}})), indent=2)
    assert "7421" in _context(_run("gemini", "user-prompt-submit", pretty))


def test_a_host_that_never_closes_the_input_is_answered(synced: Any) -> None:
    with subprocess.Popen(
        _command("claude-code", "user-prompt-submit"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(_prompt(synced.root).encode())  # no newline, no end
        process.stdin.flush()
        assert "7421" in _context(json.loads(process.stdout.read()))
        assert process.wait(_PATIENCE_S) == 0


@pytest.mark.parametrize("sent", [b"", b'{"session_id": "s", "cwd": '])
def test_a_host_that_sends_nothing_more_is_answered_when_the_time_is_up(
    sent: bytes, surroundings: Path
) -> None:
    program = f"{_TIME_FOR_THE_LOG}hook.main(['codex', 'session-end'])\n"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert isinstance(json.loads(process.stdout.read()), dict)
        assert process.wait(_PATIENCE_S) == 0
    assert read_calls(surroundings)[-1].outcome == "late"


@pytest.mark.promise("P14")
def test_a_prompt_of_5_mb_is_answered(synced: Any) -> None:
    prompt = "which port has the kite server?\n" + "lorem ipsum } dolor\n" * 250_000
    assert isinstance(_run("claude-code", "user-prompt-submit", _prompt(synced.root, prompt)), dict)


def test_switched_off_it_says_nothing(synced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_HOOKS", "off")
    assert _run("claude-code", "user-prompt-submit", _prompt(synced.root)) == {}


@pytest.mark.parametrize(
    "words", [[], ["claude-code"], ["claude-code", "no-event"], ["nobody", "stop"], ["--no-option"]]
)
def test_arguments_that_it_does_not_know_stop_no_host(words: list[str], surroundings: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hindbrain.edge.hooks.main", *words],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0 and json.loads(done.stdout) == {}
    assert all(host.name.encode() in done.stderr for host in HOSTS)


def test_what_a_library_prints_never_reaches_the_host(surroundings: Path) -> None:
    program = (
        "from hindbrain.edge.hooks import main as hook\n"
        "import os\n"
        "def read():\n"
        "    print('stray', flush=True); os.system('echo stray'); return b'{}'\n"
        "hook.read_payload = read\n"
        "hook.main(['claude-code', 'stop'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=_PATIENCE_S)
    assert "stray" in done.stderr.decode() and isinstance(json.loads(done.stdout), dict)


def test_an_installation_that_is_broken_stops_no_host(surroundings: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['hindbrain.edge.hooks.doing'] = None\n"
        "from hindbrain.edge.hooks.main import main\n"
        "main(['gemini', 'stop'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=b"{}", capture_output=True, timeout=_PATIENCE_S
    )
    assert done.returncode == 0 and json.loads(done.stdout) == {} and done.stderr


@pytest.mark.promise("P13")
def test_a_hang_inside_is_cut_short_with_a_valid_answer(synced: Any, surroundings: Path) -> None:
    program = (
        "import threading\n"
        "import hindbrain.context.capture.spool as spool\n"
        "spool.append_event = lambda *_: threading.Event().wait()\n"
        f"{_TIME_FOR_THE_LOG}"
        "hook.main(['codex', 'session-end'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=_prompt(synced.root).encode(), capture_output=True,
        timeout=_PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 0 and "systemMessage" in json.loads(done.stdout)
    assert read_calls(surroundings)[-1].outcome == "late"


def _write_address(surroundings: Path, place: str) -> None:
    from hindbrain import __version__

    folder = Path(daemon_folder(surroundings))
    folder.mkdir(parents=True, exist_ok=True)
    address = Address(UNIX, place, "token", os.getpid(), __version__, 0.0)
    (folder / ADDRESS_FILE).write_text(json.dumps(address_data(address)), encoding="utf-8")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the stand-in daemon needs a Unix socket")
@pytest.mark.promise("P13")
@pytest.mark.parametrize("reply", [None, b"", b"garbage\n", b'{"ok": false, "code": "busy"}\n'])
def test_a_daemon_that_does_not_answer_well_is_done_without(
    reply: bytes | None, synced: Any, surroundings: Path, tmp_path: Path
) -> None:
    place = (
        f"/tmp/hb-{os.getpid()}-{id(reply) % 10_000}.sock" if len(str(tmp_path)) > 80 else str(tmp_path / "s")
    )
    held: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                held.append(connection)
                if reply is not None:
                    connection.sendall(reply)
                    connection.close()

        threading.Thread(target=serve, daemon=True).start()
        _write_address(surroundings, place)
        answer = _run("claude-code", "user-prompt-submit", _prompt(synced.root))
        listening.shutdown(socket.SHUT_RDWR)
    for connection in held:
        connection.close()
    Path(place).unlink(missing_ok=True)
    assert "7421" in _context(answer)
    assert read_calls(surroundings)[-1].by == "self"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "unix"}', "\0"])
def test_a_broken_address_of_the_daemon_is_no_hindrance(text: str, synced: Any, surroundings: Path) -> None:
    folder = Path(daemon_folder(surroundings))
    folder.mkdir(parents=True)
    (folder / ADDRESS_FILE).write_text(text, encoding="utf-8")
    assert "7421" in _context(_run("claude-code", "user-prompt-submit", _prompt(synced.root)))


@pytest.mark.promise("P6")
def test_a_damaged_index_is_told_and_stops_nothing(synced: Any, surroundings: Path) -> None:
    for index in surroundings.rglob("index.db*"):
        index.write_bytes(b"not a database " * 1_000)
    answer = _run("claude-code", "user-prompt-submit", _prompt(synced.root))
    assert "7421" not in json.dumps(answer)


def test_an_answer_that_is_too_long_for_the_host_does_not_count_as_injected(
    synced: Any, surroundings: Path
) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.topic.ledger import FOLDER, PageLedger
    from hindbrain.context.turn import SessionKey

    def in_window() -> frozenset[str]:
        state = build_app(load_config(), synced.root, warm=False).state
        return PageLedger(state / FOLDER, SessionKey("claude-code", "s")).in_window()

    program = (
        "from hindbrain.edge.hooks.main import main\n"
        "from hindbrain.edge.hooks.hosts import host_named\n"
        "host_named('claude-code').longest = 100\n"
        "main(['claude-code', 'user-prompt-submit'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=_prompt(synced.root).encode(), capture_output=True,
        timeout=_PATIENCE_S, check=True,
    )  # fmt: skip
    assert not _context(json.loads(done.stdout))
    assert read_calls(surroundings)[-1].note.startswith("too_long") and not in_window()
    assert "7421" in _context(_run("claude-code", "user-prompt-submit", _prompt(synced.root)))
    assert in_window()


def test_with_a_daemon_a_prompt_imports_almost_nothing(synced: Any, surroundings: Path) -> None:
    program = (
        "import os, sys\n"
        "from hindbrain.edge.hooks import main\n"
        "from hindbrain.edge.daemon import client\n"
        "client.ask = lambda *_, **__: {'text': 'known', 'notices': []}\n"
        "os._exit = lambda _: (sys.stderr.write(' '.join(sys.modules)), sys.stderr.flush())\n"
        "main.main(['claude-code', 'user-prompt-submit'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], input=_prompt(synced.root).encode(), capture_output=True,
        timeout=_PATIENCE_S, check=True,
    )  # fmt: skip
    assert _context(json.loads(done.stdout)) == "known"
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    costly = {"json", "re", "enum", "collections", "typing", "pathlib", "contextlib", "hindbrain.base.config"}
    assert "hindbrain.edge.hooks.doing" in done.stderr.decode().split()
    assert costly.isdisjoint(set(done.stderr.decode().split()) - set(bare.stdout.split()))


def test_on_its_way_to_the_daemon_it_imports_nothing_heavy(surroundings: Path) -> None:
    program = (
        "import hindbrain.edge.hooks.main, hindbrain.edge.hooks.doing, hindbrain.app, sys\n"
        "import hindbrain.edge.daemon.client, hindbrain.edge.daemon.address\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    heavy = {
        "numpy",
        "apsw",
        "httpx",
        "rich",
        "asyncio",
        "re2",
        "argparse",
        "dataclasses",
        "subprocess",
        "logging",
    }
    assert heavy.isdisjoint(done.stdout.split())
