"""What was injected is what a host was given: an answer that nobody got is not in the session's ledger."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import PATIENCE_S, InProcess, wait_until

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.context.topic.ledger import FOLDER, PageLedger
from hindbrain.context.turn import SessionKey
from hindbrain.edge.daemon import client, verbs
from hindbrain.edge.daemon.address import read_address
from hindbrain.edge.daemon.verbs import Verb
from workbench import Vault

_ASKED = {"host": "claude-code", "session": "s", "prompt": "at which temperature is green tea brewed?"}


class Held:
    """The verb `turn`, which says when it has begun and when it has written, and waits between them."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.done = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, app: App, given: Mapping[str, Any]) -> dict[str, object]:
        self.begun.set()
        assert self.go_on.wait(PATIENCE_S)
        result = verbs._turn(app, given)
        self.done.set()
        assert result[verbs.PASSAGES]
        return result


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    made = Held()
    monkeypatch.setattr(verbs, "VERBS", {**verbs.VERBS, "turn": verbs.VERBS["turn"]._replace(do=made)})
    return made


@pytest.fixture
def served(notes: Vault, in_process: InProcess) -> Iterator[InProcess]:
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    app.close()
    in_process.start()
    yield in_process


def _window(notes: Vault) -> frozenset[str]:
    app = build_app(load_config(), notes.root, warm=False)
    return PageLedger(app.state / FOLDER, SessionKey("claude-code", "s")).in_window()


def _sent(folder: Path, vault: Path, patience_s: float = PATIENCE_S) -> socket.socket:
    address = read_address(str(folder))
    assert address is not None
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE_S)
    opened.connect(address.place)
    asked = {
        "v": client.PROTOCOL, "token": address.token, "verb": "turn", "vault": str(vault),
        "patience_s": patience_s, "arguments": _ASKED,
    }  # fmt: skip
    opened.sendall(json.dumps(asked).encode() + b"\n")
    return opened


def _settled(served: InProcess, vault: Path) -> None:
    """All that was handed to the vault before is done."""
    wait_until(lambda: served.daemon._active == 0)
    served.ask("ping", vault)


def test_what_a_caller_got_is_in_the_window(notes: Vault, served: InProcess, folder: Path) -> None:
    result = client.ask(folder, "turn", notes.root, _ASKED, timeout_s=PATIENCE_S)
    assert result is not None
    _settled(served, notes.root)
    assert _window(notes) == set(result["passages"])  # type: ignore[call-overload]
    assert _window(notes)


def test_an_answer_that_the_caller_could_not_use_is_taken_back(
    notes: Vault, served: InProcess, folder: Path
) -> None:
    assert client.ask(folder, "turn", notes.root, _ASKED, timeout_s=PATIENCE_S, fits=lambda _: False)
    _settled(served, notes.root)
    assert not _window(notes)


def test_an_answer_whose_caller_has_gone_meanwhile_is_taken_back(
    notes: Vault, served: InProcess, folder: Path, held: Held
) -> None:
    with _sent(folder, notes.root):
        assert held.begun.wait(PATIENCE_S)
    held.go_on.set()
    assert held.done.wait(PATIENCE_S)
    _settled(served, notes.root)
    assert not _window(notes)


def test_an_answer_that_was_read_and_not_acknowledged_is_taken_back(
    notes: Vault, served: InProcess, folder: Path
) -> None:
    with _sent(folder, notes.root) as opened:
        assert json.loads(opened.makefile("rb").readline())["ok"]
    _settled(served, notes.root)
    assert not _window(notes)


def test_an_answer_that_comes_too_late_is_taken_back(
    notes: Vault, served: InProcess, folder: Path, held: Held
) -> None:
    served.ask("ping", notes.root)  # the vault is open: what is asked next is begun at once
    with _sent(folder, notes.root, patience_s=1.0) as opened:
        assert held.begun.wait(PATIENCE_S)
        assert json.loads(opened.makefile("rb").readline())["code"] == "busy"
    held.go_on.set()
    assert held.done.wait(PATIENCE_S)
    _settled(served, notes.root)
    served.ask("ping", notes.root)  # the taking back was handed over when the turn had ended
    assert not _window(notes)


def test_for_a_caller_who_has_gone_nothing_is_begun(
    notes: Vault, served: InProcess, folder: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def block(*_: Any) -> dict[str, object]:
        begun.set()
        return {"n": go_on.wait(PATIENCE_S)}

    monkeypatch.setattr(verbs, "VERBS", {**verbs.VERBS, "block": Verb({}, {}, block)})
    assert client.tell(folder, "block", notes.root, {})
    assert begun.wait(PATIENCE_S)
    waiting = served.daemon.vaults.served_at(str(notes.root)).serving._lane._waiting
    with _sent(folder, notes.root):
        wait_until(lambda: not waiting.empty())
    go_on.set()
    _settled(served, notes.root)
    assert not held.begun.is_set()
