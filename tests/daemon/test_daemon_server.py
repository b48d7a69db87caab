"""What a running daemon does with its callers, quick and slow, right and wrong."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import PATIENCE_S, InProcess, wait_until

from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.catching_up import CaughtUp
from hindbrain.context.capture.spool import read_events
from hindbrain.edge.daemon import client, server, verbs
from hindbrain.edge.daemon.address import ADDRESS_FILE, read_address
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.edge.daemon.verbs import Verb
from workbench import Vault


@pytest.fixture
def known_verbs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Verb]:
    """The verbs, to which a test may add."""
    known = dict(verbs.VERBS)
    monkeypatch.setattr(verbs, "VERBS", known)
    return known


def _connection(folder: Path) -> socket.socket:
    address = read_address(str(folder))
    assert address is not None
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.settimeout(PATIENCE_S)
    opened.connect(address.place)
    return opened


def _exchange(folder: Path, line: bytes) -> Any:
    with _connection(folder) as opened:
        opened.sendall(line)
        return json.loads(opened.makefile("rb").readline() or b"null")


def test_a_vault_is_opened_when_it_is_first_asked_about(notes: Vault, in_process: InProcess) -> None:
    daemon = in_process.start()
    assert in_process.ask("status")["result"]["vaults"] == []
    assert in_process.ask("ping", notes.root) == {"ok": True, "result": {"vault": str(notes.root)}}
    in_process.ask("ping", notes.root)
    (served,) = in_process.ask("status")["result"]["vaults"]
    assert (served["path"], served["requests"]) == (str(notes.root), 2)
    wait_until(lambda: not daemon.vaults.at_work())
    found = in_process.ask("search", notes.root, {"query": "green tea"})["result"]
    assert found["hits"][0]["path"] == "Tea.md"


def test_the_daemon_gives_one_hit_a_note_and_passages_on_request(notes: Vault, in_process: InProcess) -> None:
    notes.write(
        "Rudder.md", "\n\n".join(f"# Part {n}\n\nThe rudder. {'More of it. ' * 60}" for n in range(4))
    )
    daemon = in_process.start()
    in_process.ask("ping", notes.root)
    wait_until(lambda: not daemon.vaults.at_work())

    def paths(**more: object) -> list[str]:
        found = in_process.ask("search", notes.root, {"query": "the rudder", **more})["result"]
        return [hit["path"] for hit in found["hits"]]

    assert paths().count("Rudder.md") == 1
    assert paths(passages=True).count("Rudder.md") > 1


def test_an_index_that_is_being_made_is_a_reason_to_try_again(
    notes: Vault, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    from hindbrain.edge.serving.keeping import Keeper

    real = Keeper._make_first_index
    monkeypatch.setattr(
        Keeper, "_make_first_index", lambda self, app: (go_on.wait(PATIENCE_S), real(self, app))
    )
    in_process.start()
    assert in_process.ask("search", notes.root, {"query": "tea"})["code"] == "busy"
    go_on.set()


def test_ask_gives_the_result_and_none_for_what_the_daemon_can_not_do(
    notes: Vault, in_process: InProcess, folder: Path
) -> None:
    in_process.start()
    assert client.ask(folder, "ping", notes.root, {}, timeout_s=PATIENCE_S) == {"vault": str(notes.root)}
    assert client.ask(folder, "ping", notes.root / "gone", {}, timeout_s=PATIENCE_S) is None


@pytest.mark.parametrize(
    ("verb", "place", "arguments", "code"),
    [
        ("dance", "", {}, "usage"),
        ("dance", "{vault}", {}, "usage"),
        ("turn", "", {}, "usage"),
        ("ping", "relative/path", {}, "usage"),
        ("ping", "/nul\0byte", {}, "usage"),
        ("ping", "{vault}/gone", {}, "not_found"),
        ("ping", "{vault}/Tea.md", {}, "vault"),
        ("search", "{vault}", {"query": 7}, "usage"),
        ("search", "{vault}", {"query": "tea", "limit": 3}, "usage"),
        ("search", "{vault}", {"query": "tea", "k": 0}, "usage"),
        ("search", "{vault}", {}, "usage"),
        ("settle", "{vault}", {"deadline_s": "long"}, "usage"),
        ("settle", "{vault}", {"until": 3}, "usage"),
    ],
)
def test_what_can_not_be_done_is_told_by_its_code(
    notes: Vault, in_process: InProcess, verb: str, place: str, arguments: dict[str, object], code: str
) -> None:
    in_process.start()
    reply = in_process.ask(verb, place.replace("{vault}", str(notes.root)), arguments)
    assert (reply["ok"], reply["code"]) == (False, code)


@pytest.mark.promise("P23")
def test_without_the_token_nothing_is_done(notes: Vault, in_process: InProcess, folder: Path) -> None:
    in_process.start()
    wrong = {"v": 1, "token": "guessed", "verb": "stop", "vault": "", "arguments": {}}
    assert _exchange(folder, json.dumps(wrong).encode() + b"\n")["code"] == "refused"
    assert in_process.ask("ping")["ok"]
    assert not in_process.ask("status")["result"]["vaults"]


@pytest.mark.parametrize(
    "line", [b"\n", b"\x00\xff\xfe\n", b"GET / HTTP/1.1\r\n", b"[" * 3000 + b"\n", b"null\n"]
)
def test_garbage_is_answered_and_the_next_one_is_served(
    in_process: InProcess, folder: Path, line: bytes
) -> None:
    in_process.start()
    assert _exchange(folder, line)["code"] in ("usage", "refused")
    assert in_process.ask("ping")["ok"]


def test_a_silent_client_holds_up_nobody_and_is_let_go(
    in_process: InProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_REQUEST_S", 1.0)  # enough for who sends at once, also on a busy machine
    in_process.start()
    silent = [_connection(folder) for _ in range(10)]
    for one in silent:
        one.sendall(b'{"v":1,')
    assert in_process.ask("ping")["ok"]
    for one in silent:
        assert json.loads(one.makefile("rb").readline())["code"] == "usage"
        one.close()


def test_who_comes_while_all_places_are_taken_waits_for_one(
    in_process: InProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 3)
    in_process.start()
    silent = [_connection(folder) for _ in range(3)]
    wait_until(lambda: in_process.daemon._active == 3)
    with ThreadPoolExecutor(8) as threads:
        beyond = [threads.submit(in_process.ask, "ping") for _ in range(8)]
        assert not any(one.done() for one in beyond)
        for one in silent:
            one.close()
        assert all(one.result(PATIENCE_S)["ok"] for one in beyond)


def test_two_hundred_requests_from_eight_threads_are_all_answered(
    notes: Vault, in_process: InProcess, known_verbs: dict[str, Verb]
) -> None:
    known_verbs["echo"] = Verb({"n": "number"}, {}, lambda _, given: {"n": given["n"]})
    in_process.start()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda n: in_process.ask("echo", notes.root, {"n": n}), range(200)))
    assert [reply["result"]["n"] for reply in replies] == list(range(200))


def test_a_bug_is_told_as_one_and_the_next_request_is_served(
    notes: Vault, in_process: InProcess, known_verbs: dict[str, Verb], capsys: pytest.CaptureFixture[str]
) -> None:
    known_verbs["fail"] = Verb({}, {}, lambda _, __: {"x": 1 / 0})
    known_verbs["odd"] = Verb({}, {}, lambda _, __: {"x": object()})
    in_process.start()
    for verb in ("fail", "odd"):
        assert in_process.ask(verb, notes.root)["code"] == "internal"
    assert in_process.ask("ping", notes.root)["ok"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_what_nobody_waits_for_any_more_is_not_begun(
    notes: Vault, in_process: InProcess, folder: Path, known_verbs: dict[str, Verb]
) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), []

    def block(_: Any, __: Any) -> dict[str, object]:
        begun.set()
        go_on.wait(PATIENCE_S)
        return {}

    known_verbs["block"] = Verb({}, {}, block)
    known_verbs["note"] = Verb({"what": "text"}, {}, lambda _, given: {"n": done.append(given["what"])})  # type: ignore[func-returns-value]
    in_process.start()
    assert client.tell(folder, "block", notes.root, {})
    assert begun.wait(PATIENCE_S)
    assert client.ask(folder, "note", notes.root, {"what": "left"}, timeout_s=0.2) is None
    wait_until(lambda: in_process.daemon._active == 0)
    go_on.set()
    in_process.ask("note", notes.root, {"what": "waited"})
    assert done == ["waited"]


def test_a_turn_does_not_wait_for_settling_which_adds_up_its_pieces(
    notes: Vault, in_process: InProcess, known_verbs: dict[str, Verb]
) -> None:
    pieces: list[float] = []
    begun, go_on = threading.Event(), threading.Event()

    def settle(_: Any, given: Any) -> dict[str, object]:
        pieces.append(given["deadline_s"])
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return CaughtUp(1, 10, problems=("one bad line",), more=len(pieces) < 4)._asdict()

    known_verbs["settle"] = Verb({}, {"deadline_s": "number"}, settle)
    in_process.start()
    with ThreadPoolExecutor(1) as threads:
        settled = threads.submit(in_process.ask, "settle", notes.root, {"deadline_s": 50})
        assert begun.wait(PATIENCE_S)
        assert in_process.ask("ping", notes.root)["ok"]
        go_on.set()
        result = settled.result(PATIENCE_S)["result"]
    assert max(pieces) <= verbs.PIECE_S
    assert (len(pieces), result["messages"], result["more"]) == (4, 40, False)
    assert result["problems"] == ["one bad line"] * 4


def test_settling_that_gets_nowhere_is_not_tried_again_and_again(
    notes: Vault, in_process: InProcess, known_verbs: dict[str, Verb]
) -> None:
    pieces: list[int] = []

    def settle(_: Any, __: Any) -> dict[str, object]:
        pieces.append(1)
        return CaughtUp(problems=("busy",), more=True)._asdict()

    known_verbs["settle"] = Verb({}, {"deadline_s": "number"}, settle)
    in_process.start()
    assert in_process.ask("settle", notes.root, {"deadline_s": 50})["result"]["more"]
    assert len(pieces) == 1


def test_a_vault_that_is_taken_away_is_told_and_others_are_served(
    notes: Vault, in_process: InProcess, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    daemon = in_process.start()
    assert in_process.ask("ping", notes.root)["ok"]
    wait_until(lambda: not daemon.vaults.at_work())
    moved = notes.root.rename(tmp_path / "elsewhere")
    for verb, arguments in (("ping", {}), ("search", {"query": "tea"})):
        assert in_process.ask(verb, notes.root, arguments)["code"] == "vault_away"
    assert in_process.ask("ping", other)["ok"]
    moved.rename(notes.root)
    assert in_process.ask("search", notes.root, {"query": "tea"})["result"]["hits"]


def test_the_vault_that_was_not_used_for_longest_is_closed(tmp_path: Path, in_process: InProcess) -> None:
    daemon = in_process.start()
    daemon.vaults._most = 2
    roots = [tmp_path / name for name in ("a", "b", "c")]
    for root in roots:
        (root / ".obsidian").mkdir(parents=True)
    for index in (0, 1, 0, 2):
        assert in_process.ask("ping", roots[index])["ok"]
    assert {one.root for one in daemon.vaults.served()} == {roots[0], roots[2]}
    assert in_process.ask("ping", roots[1])["ok"]


def test_settings_that_change_and_an_id_that_is_given_open_a_vault_anew(
    notes: Vault, in_process: InProcess, tmp_path: Path
) -> None:
    daemon = in_process.start()
    servings = []
    settings, vault_id = tmp_path / "settings" / "config.toml", notes.root / ".hindbrain" / "vault-id"
    for change in (None, (settings, "[search]\nk = 1\n"), (vault_id, "v-123\n")):
        if change is not None:
            change[0].parent.mkdir(exist_ok=True)
            change[0].write_text(change[1], encoding="utf-8")
        assert in_process.ask("ping", notes.root)["ok"]
        assert in_process.ask("ping", notes.root)["ok"]
        servings.append(daemon.vaults.served_at(str(notes.root)))
    assert len({id(serving) for serving in servings}) == 3


def test_wrong_settings_are_told_and_put_right_without_a_restart(
    notes: Vault, in_process: InProcess, tmp_path: Path
) -> None:
    in_process.start()
    settings = tmp_path / "settings" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[search]\nk = 'many'\n", encoding="utf-8")
    assert in_process.ask("ping", notes.root)["code"] == "config"
    settings.unlink()
    assert in_process.ask("ping", notes.root)["ok"]


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_ends_when_nobody_has_asked_about_a_vault_for_long(notes: Vault, in_process: InProcess) -> None:
    clock = Time()
    daemon = in_process.start(idle_s=600.0, clock=clock)
    in_process.ask("ping", notes.root)
    wait_until(lambda: not daemon.vaults.at_work())
    clock.now = 500.0
    in_process.ask("ping", notes.root)
    clock.now = 1_099.0
    in_process.ask("status")  # a look at it is no use of it
    wait_until(lambda: daemon._active == 0)
    assert daemon._reason_to_end() == ""
    clock.now = 1_101.0
    assert wait_until(daemon._reason_to_end)


def test_it_does_not_end_while_a_first_index_is_made(
    notes: Vault, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Time()
    daemon = in_process.start(idle_s=600.0, clock=clock)
    clock.now = 10_000.0
    monkeypatch.setattr(daemon.vaults, "at_work", lambda: True)
    assert daemon._reason_to_end() == ""


def test_it_ends_by_itself(in_process: InProcess, folder: Path) -> None:
    in_process.start(idle_s=0.05)
    assert in_process.join()
    assert not (folder / ADDRESS_FILE).exists()


def test_it_ends_when_its_folder_is_taken_away(
    in_process: InProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_LOOK_S", 0.05)
    in_process.start()
    shutil.rmtree(folder)
    assert in_process.join()


def test_to_stop_answers_first_and_leaves_nothing(in_process: InProcess, folder: Path, notes: Vault) -> None:
    in_process.start()
    in_process.ask("ping", notes.root)
    assert in_process.ask("stop")["ok"]
    assert in_process.join() == "it was asked to"
    assert {path.name for path in folder.iterdir()} == {"daemon.lock"}
    assert client.request(folder, "ping", "", {}, timeout_s=PATIENCE_S) is None


@pytest.mark.parametrize(("version", "asked_to_end"), [("0.0.9", True), ("99.0.0", False)])
def test_an_older_daemon_is_asked_to_end_and_a_newer_one_is_left_alone(
    in_process: InProcess, folder: Path, version: str, asked_to_end: bool
) -> None:
    in_process.start()
    file = folder / ADDRESS_FILE
    file.write_text(
        json.dumps({**json.loads(file.read_text(encoding="utf-8")), "version": version}), encoding="utf-8"
    )
    assert client.ask(folder, "ping", "", {}, timeout_s=PATIENCE_S) is None
    if asked_to_end:
        in_process.join()
    else:
        assert not in_process.daemon._stopping


def test_the_vault_is_found_from_a_folder_in_it_or_by_the_settings(
    notes: Vault, in_process: InProcess, tmp_path: Path, folder: Path
) -> None:
    in_process.start()
    below = notes.root / "Projects" / "Deep"
    below.mkdir(parents=True)
    reply = client.request(folder, "ping", "", {}, near=str(below), timeout_s=PATIENCE_S)
    assert reply is not None
    assert reply["code"] == "not_found"  # it looks like a vault, and nobody has opened it yet
    build_app(load_config(), notes.root).state.mkdir(parents=True)
    assert client.ask(folder, "ping", "", {}, near=str(below), timeout_s=PATIENCE_S) == {
        "vault": str(notes.root.resolve())
    }
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    reply = client.request(folder, "ping", "", {}, near=str(elsewhere), timeout_s=PATIENCE_S)
    assert reply is not None
    assert reply["code"] == "not_found"
    settings = tmp_path / "settings" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(f"[vault]\npath = {str(notes.root)!r}\n", encoding="utf-8")
    assert client.ask(folder, "ping", "", {}, near=str(elsewhere), timeout_s=PATIENCE_S)
    reply = client.request(folder, "ping", "", {}, near="relative", timeout_s=PATIENCE_S)
    assert reply is not None
    assert reply["code"] == "usage"


def test_a_daemon_whose_state_folder_the_settings_have_moved_ends(
    notes: Vault, in_process: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_process.start()
    in_process.ask("ping", notes.root)
    settings = tmp_path / "settings" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(f"[state]\nfolder = {str(tmp_path / 'other')!r}\n", encoding="utf-8")
    monkeypatch.delenv("HINDBRAIN_STATE_FOLDER")
    assert in_process.ask("ping", notes.root)["code"] == "busy"
    assert in_process.join()


def test_what_is_kept_is_looked_at_soon(
    notes: Vault, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = in_process.start()
    in_process.ask("ping", notes.root)
    chores = daemon.vaults.served_at(str(notes.root)).chores
    woken: list[int] = []
    monkeypatch.setattr(chores, "submit", lambda _: woken.append(len(read_events(_state(daemon)).events)))
    event = {"event": "stop", "host": "claude-code", "session": "s-1"}
    assert in_process.ask("keep", notes.root, {"event": event})["ok"]
    assert woken == [1]


def _state(daemon: server.Daemon) -> Path:
    (served,) = daemon.vaults.served()
    return served.serving.submit(lambda app: app.state).result(PATIENCE_S)


def test_it_ends_though_something_long_is_under_way(
    notes: Vault, in_process: InProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_CLOSING_S", 0.1)
    begun, go_on = threading.Event(), threading.Event()

    def catch_up(_: Any) -> bool:
        begun.set()
        return go_on.wait(PATIENCE_S)

    in_process.start(vaults=Vaults(folder.parent, lambda _: False, catch_up))
    in_process.ask("ping", notes.root)
    assert begun.wait(PATIENCE_S)
    in_process.ask("stop")
    in_process.join()
    go_on.set()


def test_a_prompt_of_5_mb_passes(notes: Vault, in_process: InProcess, known_verbs: dict[str, Verb]) -> None:
    known_verbs["echo"] = Verb({"prompt": "text"}, {}, lambda _, given: {"prompt": given["prompt"]})
    in_process.start()
    prompt = "\u6f22\u5b57 and half \ud800 " * 250_000
    assert len(prompt.encode("utf-8", "surrogatepass")) >= 5_000_000
    assert in_process.ask("echo", notes.root, {"prompt": prompt})["result"]["prompt"] == prompt
