"""What goes wrong with the service is told: to whoever asks, in `up status`, `status`, `doctor` and the log.
And the service goes on."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from service_runs import PATIENCE_S, ServiceRun, free_port, wait_until
from test_service_routes import BODIES

from faulty_provider import FAULTS, HANGS, REFUSES, Faulty
from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture import spool
from hindbrain.context.topic.ledger import FOLDER, PageLedger
from hindbrain.context.turn import SessionKey
from hindbrain.edge.daemon import listening, server
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.edge.main import main
from hindbrain.edge.service.routes import ROUTES
from hindbrain.edge.serving.keeping import Keeper
from workbench import Vault


class Look:
    """What a person sees: commands run in this process, and the log of the daemon beside it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root = root
        self._capsys = capsys
        self._log = ""

    def __call__(self, *words: str) -> str:
        self._log += self._capsys.readouterr().err
        main(words if words[0] == "up" else (words[0], "--vault", str(self._root), *words[1:]))
        out, err = self._capsys.readouterr()
        self._log += err
        return out

    def log(self, part: str) -> int:
        """How many lines of the log hold this."""
        self._log += self._capsys.readouterr().err
        return sum(part in line for line in self._log.splitlines())

    def everywhere(self, part: str) -> bool:
        return all(part in self(*words) for words in (("up", "status"), ("status",), ("doctor",)))


@pytest.fixture
def look(notes: Vault, capsys: pytest.CaptureFixture[str]) -> Look:
    return Look(notes.root, capsys)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The answers of `search` wait for this, on the lane of the vault."""
    go_on, real = threading.Event(), ROUTES["search"]

    def wait(app: Any, given: Any) -> Any:
        go_on.wait(PATIENCE_S)
        return real.do(app, given)

    monkeypatch.setitem(ROUTES, "search", real._replace(do=wait, patience_s=0.2))
    yield go_on
    go_on.set()


@pytest.mark.promise("P29")
def test_a_port_that_is_taken_is_told_and_tried_again(service: ServiceRun, look: Look) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        service.start(port=port, serving=False)
        wait_until(lambda: service.status()["service"]["problem"])
        assert look.everywhere(f"port {port} is in use already")
        assert look.log("plugins are not served") == 1
    wait_until(lambda: service.status()["service"]["url"])
    service.indexed()
    assert look.everywhere(f"http://127.0.0.1:{port}/v1")


@pytest.mark.promise("P29", "P23")
@pytest.mark.skipif(os.name == "nt", reason="modes of files are another matter there")
def test_a_token_that_others_can_read_opens_nothing(service: ServiceRun, look: Look) -> None:
    service.start()
    service.indexed()
    file = service.state / "service-token"
    file.chmod(0o644)
    assert service.status()["service"]["url"] == ""
    with pytest.raises(OSError):
        service.connected().close()
    assert look.everywhere("chmod 600")
    assert look.log("can be read by others") == 1
    file.chmod(0o600)
    assert service.status()["service"]["url"]
    assert service.ask("search", {"query": "tea"}).status == 200


def test_a_new_token_holds_from_the_next_look_on(served: ServiceRun) -> None:
    before = served.token
    (served.state / "service-token").unlink()
    served.status()
    assert served.token != before
    assert served.ask("search", {"query": "tea"}).status == 200
    assert served.ask("search", {"query": "tea"}, Authorization=f"Bearer {before}").status == 401


def test_a_changed_port_is_taken_up_and_none_ends_the_service(served: ServiceRun) -> None:
    before, served.port = served.port, free_port()
    served.set(service_port=served.port)
    assert served.status()["service"]["url"].endswith(f":{served.port}/v1")
    assert served.ask("search", {"query": "tea"}).status == 200
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", before), timeout=5).close()
    served.set(service_port=0)
    assert (served.status()["service"]["url"], served.status()["service"]["port"]) == ("", 0)
    with pytest.raises(OSError):
        served.connected().close()


@pytest.mark.promise("P29")
@pytest.mark.parametrize("port", [-1, 65_536, 10**12])
def test_a_port_that_is_none_is_told(service: ServiceRun, look: Look, port: int) -> None:
    service.start(port=port, serving=False)
    problem = wait_until(lambda: service.status()["service"]["problem"])
    assert "service.port" in problem and "from 0 to 65535" in problem
    for words in (("up", "status"), ("status",), ("doctor",)):
        said = look.log("from 0 to 65535")
        look(*words)
        assert look.log("from 0 to 65535") == said + 1


@pytest.mark.promise("P29")
def test_settings_that_can_not_be_read_are_told_and_it_goes_on(
    served: ServiceRun, look: Look, tmp_path: Path, notes: Vault
) -> None:
    named = {"query": "tea", "vault": str(notes.root)}
    file = tmp_path / "settings" / "config.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text("[vault\n", encoding="utf-8")
    assert "not valid TOML" in served.status()["service"]["problem"]
    assert served.ask("search", named).code == "config"
    assert look.log("not valid TOML") >= 1
    file.write_text(text, encoding="utf-8")
    assert served.status()["service"]["problem"] == ""
    assert served.ask("search", named).status == 200


@pytest.mark.promise("P29")
def test_a_vault_that_is_gone_is_told_and_found_again(served: ServiceRun, notes: Vault, look: Look) -> None:
    away = notes.root.with_name("unmounted")
    notes.root.rename(away)
    for route, body in BODIES.items():
        for _ in range(2 if route != "said" else 0):
            answer = served.ask(route, body)
            assert (answer.status, answer.code) == (503, "vault_away"), route
            assert str(notes.root) in answer.told["error"]["message"]
    assert "vault.path" in served.ask("search", BODIES["search"]).told["error"]["message"]
    named = served.ask("search", {**BODIES["search"], "vault": str(notes.root)})
    assert "named in the request" in named.told["error"]["message"]
    assert served.ask("status").code == "vault_away"
    assert "vault_away" in look("up", "status")
    assert look.log("asked for search: the vault at") == 1
    away.rename(notes.root)
    assert served.ask("search", {"query": "tea"}).told["results"]
    assert look.log("answers search again") == 1
    assert "is away" in look("status")
    assert "is away" in look("doctor")


@pytest.mark.promise("P12")
@pytest.mark.parametrize("mount_point", [False, True])
def test_what_is_said_while_the_vault_is_away_waits_for_it(
    service: ServiceRun, notes: Vault, mount_point: bool
) -> None:
    """A disk that is not mounted leaves no folder, or an empty one."""
    notes.write(".hindbrain/vault-id", "0198f3c1-7b1e\n")
    looked: list[bool] = []

    def catch_up(app: App) -> bool:
        looked.append((app.root / "Tea.md").exists())
        return False

    service.start(vaults=Vaults(service.state, lambda _: False, catch_up))
    service.indexed()
    away = notes.root.with_name("unmounted")
    notes.root.rename(away)
    if mount_point:
        notes.root.mkdir()
    try:
        looked.clear()
        for _ in range(2):
            assert service.ask("said", BODIES["said"]).told["keptUntil"] == 1_790_000_000_000
        elsewhere = {**BODIES["said"], "vault": str(notes.root.with_name("never"))}
        assert service.ask("said", elsewhere).code == "not_found"
        assert service.ask("search", BODIES["search"]).code == "vault_away"
        assert notes.root.exists() is mount_point
    finally:
        if mount_point:
            notes.root.rmdir()
        away.rename(notes.root)
    assert service.ask("status").told["waiting"] == 1
    wait_until(lambda: looked)
    assert all(looked)


def test_a_vault_whose_disk_is_not_mounted_costs_no_note(served: ServiceRun, notes: Vault) -> None:
    """The folder is there and empty: nothing is taken for deleted."""
    away = notes.root.with_name("unmounted")
    notes.root.rename(away)
    notes.root.mkdir()
    assert served.ask("read", {"path": "Tea.md"}).code == "vault_away"
    assert served.ask("status").code == "vault_away"
    assert not list(notes.root.iterdir())
    notes.root.rmdir()
    away.rename(notes.root)
    assert served.ask("search", {"query": "green tea"}).told["results"][0]["path"] == "Tea.md"


@pytest.mark.promise("P29", "P6")
def test_a_damaged_index_is_told_and_what_needs_none_goes_on(
    service: ServiceRun, notes: Vault, look: Look
) -> None:
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    index = app.index_path
    app.close()
    index.write_bytes(b"this is no database" * 400)
    service.start()
    answers = {route: service.ask(route, body) for route, body in BODIES.items()}
    assert answers["search"].status == 503
    assert answers["search"].code.startswith("index")
    assert {route for route, answer in answers.items() if answer.status != 200} == {"search"}
    told = answers["context"].told
    assert "memory_status" in told["context"]
    assert told["notices"]
    service.ask("search", BODIES["search"])
    state = service.ask("status").told
    assert state["index"]["state"].startswith("index")
    assert state["problems"]
    assert look.everywhere("search") or "index" in look("doctor")
    assert look.log("the service, asked for search") == 1


@pytest.mark.promise("P29")
def test_while_the_first_index_is_made_all_but_searching_goes_on(
    service: ServiceRun, monkeypatch: pytest.MonkeyPatch, notes: Vault
) -> None:
    go_on, real = threading.Event(), Keeper._make_first_index
    monkeypatch.setattr(
        Keeper, "_make_first_index", lambda self, app: (go_on.wait(PATIENCE_S), real(self, app))
    )
    service.start()
    try:
        assert service.ask("search", BODIES["search"]).code == "busy"
        assert service.ask("status").told["index"]["state"] == "indexing"
        assert 'state="indexing"' in service.ask("context", BODIES["context"]).told["context"]
        for route in ("read", "save", "card", "said", "event", "flush-plan", "flushed"):
            assert service.ask(route, BODIES[route]).status == 200, route
    finally:
        go_on.set()
    service.indexed()
    assert service.ask("search", BODIES["search"]).told["results"]


@pytest.mark.promise("P29", "P12")
def test_a_full_disk_is_told_and_nothing_is_called_kept(
    served: ServiceRun, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:

        def no_room(*_: object) -> None:
            raise OSError(28, "No space left on device")

        full.setattr(spool, "replace_file", no_room)
        for _ in range(3):
            answer = served.ask("said", BODIES["said"])
            assert (answer.status, answer.code) == (503, "write_failed")
    assert look.everywhere("No space left")
    assert look.log("asked for said") == 1
    assert served.ask("context", BODIES["context"]).told["keptUntil"] == 0
    assert served.ask("said", BODIES["said"]).told["keptUntil"] == 1_790_000_000_000


@pytest.mark.promise("P29", "P28")
def test_a_late_answer_is_told_and_the_rest_goes_on(
    served: ServiceRun, look: Look, slow: threading.Event
) -> None:
    for _ in range(2):
        answer = served.ask("search", BODIES["search"])
        assert (answer.status, answer.code) == (504, "late")
    # What is told does not wait behind it.
    for route in ("said", "event", "flush-plan", "flushed"):
        assert served.ask(route, BODIES[route]).status == 200
    assert served.ask("status").status == 200
    slow.set()
    assert look.everywhere("(late)")
    assert look.log("asked for search") == 1
    wait_until(lambda: served.ask("search", BODIES["search"]).status == 200)


@pytest.mark.promise("P29")
def test_a_daemon_of_another_version_is_told(
    service: ServiceRun, look: Look, monkeypatch: pytest.MonkeyPatch, notes: Vault
) -> None:
    monkeypatch.setattr(listening, "__version__", "99.0.0")
    service.start(serving=False)
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    app.close()
    assert look.everywhere("99.0.0")


@pytest.mark.promise("P29")
def test_a_daemon_that_does_not_run_is_told(service: ServiceRun, look: Look, notes: Vault) -> None:
    service.set(service_port=free_port())
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    app.close()
    assert "no daemon runs" in look("status")
    assert "no daemon runs" in look("doctor")


@pytest.mark.promise("P29")
def test_a_wrong_token_is_doubtful_until_the_right_one_comes(served: ServiceRun, look: Look) -> None:
    for _ in range(3):
        served.ask("search", BODIES["search"], Authorization="Bearer wrong")
    assert look.everywhere("token 3")
    assert " !  plugins" in look("doctor")
    assert look.log("refused a request (token)") == 1
    served.ask("search", BODIES["search"])
    assert "ok  plugins" in look("doctor")


def test_who_asked_is_shown_as_far_as_it_is_safe(served: ServiceRun, look: Look) -> None:
    agent = "openclaw\x1b[31m\t<script>" + "x" * 500
    served.ask("search", BODIES["search"], User_Agent=agent.replace("\x1b", ""))
    shown = served.status()["service"]["last_agent"]
    assert shown.startswith("openclaw[31m<script>xxx")
    assert len(shown) == 60
    assert "\x1b" not in look("up", "status")


def test_a_bug_is_told_without_its_words(
    served: ServiceRun, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise ZeroDivisionError("the private words of a note")

    monkeypatch.setitem(ROUTES, "card", ROUTES["card"]._replace(do=fails))
    for _ in range(2):
        answer = served.ask("card")
        assert (answer.status, answer.code) == (500, "internal")
        assert "private" not in str(answer.told)
    assert "private" not in str(served.status())
    assert look.log("ZeroDivisionError: the private words") >= 1
    assert served.ask("search", BODIES["search"]).status == 200


def _in_window(notes: Vault, session: str) -> bool:
    state = build_app(load_config(), notes.root, warm=False).state
    return bool(PageLedger(state / FOLDER, SessionKey("openclaw", session, keeps=False)).in_window())


def test_context_that_nobody_hears_is_taken_back(
    served: ServiceRun, notes: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who aborts in mid-turn has none of it in its window: not when it went before, and not when after."""
    assert served.ask("context", {**BODIES["context"], "session": "heard"}).status == 200
    assert _in_window(notes, "heard")
    began, go_on, real = threading.Event(), threading.Event(), ROUTES["context"]

    def wait(app: Any, given: Any) -> Any:
        found = real.do(app, given)
        began.set()
        go_on.wait(PATIENCE_S)
        return found

    monkeypatch.setitem(ROUTES, "context", real._replace(do=wait, patience_s=PATIENCE_S))
    asker = _sent(served, "gone")
    assert began.wait(PATIENCE_S)
    assert _in_window(notes, "gone")
    asker.close()
    go_on.set()
    wait_until(lambda: not _in_window(notes, "gone"))
    # Too late for its time.
    began.clear()
    go_on.clear()
    monkeypatch.setitem(ROUTES, "context", real._replace(do=wait, patience_s=0.05))
    assert served.ask("context", {**BODIES["context"], "session": "late"}).code == "late"
    go_on.set()
    wait_until(lambda: began.is_set() and not _in_window(notes, "late"))


def _sent(service: ServiceRun, session: str) -> socket.socket:
    body = f'{{"session": "{session}", "message": "how do I brew green tea?"}}'.encode()
    head = (
        f"POST /v1/context HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\n"
        f"Authorization: Bearer {service.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    asker = service.connected()
    asker.sendall(head.encode() + body)
    return asker


def test_who_has_gone_before_its_turn_gets_no_work_done(
    served: ServiceRun, notes: Vault, slow: threading.Event
) -> None:
    served.ask("search", BODIES["search"])  # the lane is busy with it, for nobody
    _sent(served, "gone").close()
    wait_until(lambda: served.status()["service"]["asked"] >= 3)
    slow.set()
    assert served.ask("context", {**BODIES["context"], "session": "here"}).status == 200
    assert not _in_window(notes, "gone")


def test_a_daemon_that_serves_plugins_does_not_end_for_idleness(
    service: ServiceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_LOOK_S", 0.05)
    now = [1_000.0]
    service.start(idle_s=60.0, clock=lambda: now[0])
    now[0] += 3_600
    assert service.daemon._reason_to_end() == ""
    assert service.status()["ends_after_idle_s"] == 0
    service.set(service_port=0)
    service.status()
    wait_until(lambda: service.daemon._stopping)
    assert "nobody asked" in service.daemon._stopping


@pytest.mark.promise("P13")
@pytest.mark.parametrize("fault", [*FAULTS, HANGS, REFUSES])
def test_every_route_answers_whatever_the_providers_do(service: ServiceRun, fault: str) -> None:
    faulty = Faulty(fault)
    try:
        service.set(
            embedding_provider="openai", embedding_base_url=faulty.url, embedding_model="test",
            embedding_max_retries=0, embedding_timeout_s=0.3,
            chat_provider="openai", chat_base_url=faulty.url, chat_model="test",
        )  # fmt: skip
        service.start()
        service.indexed()
        answers = {route: service.ask(route, body) for route, body in BODIES.items()}
        assert {route for route, answer in answers.items() if answer.status != 200} == set()
        assert answers["search"].told["results"][0]["path"] == "Tea.md"
        assert "70 degrees" in answers["context"].told["context"]
    finally:
        faulty.close()
