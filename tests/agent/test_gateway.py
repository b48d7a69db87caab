"""Commands wait for their turn: none is lost, none is begun twice, one run goes on at a time."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.agent.gateway import RUN_LOCK, CommandGateway, Ticket
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy, UsageError, VaultError, WriteFailed
from hindbrain.vault.lock import FileLock


@pytest.fixture
def gateway(tmp_path: Path, clock: FakeClock) -> CommandGateway:
    return CommandGateway(tmp_path, clock)


def _never() -> bool:
    return False


def _until_empty(gateway: CommandGateway) -> Callable[[], bool]:
    return lambda: not gateway.waiting()


def _texts(tickets: list[Ticket]) -> list[str]:
    return [ticket.text for ticket in tickets]


def test_commands_wait_in_the_order_in_which_they_came(
    gateway: CommandGateway, clock: FakeClock, tmp_path: Path
) -> None:
    for text in ("one", "two", "three"):
        gateway.submit(text, "http")
    clock.advance(-3_600)  # a clock that is set back makes nobody jump the queue
    gateway.submit("four", "phone", "ada")
    again = CommandGateway(tmp_path, clock)
    assert _texts(again.waiting()) == ["one", "two", "three", "four"]


def test_each_is_carried_out_once_and_its_end_can_be_asked_for(gateway: CommandGateway) -> None:
    tickets = [gateway.submit(text, "http") for text in ("one", "two")]
    ran: list[str] = []

    def run_one(ticket: Ticket) -> dict[str, str]:
        assert gateway.state_of(ticket.id) == "running"
        ran.append(ticket.text)
        return {"answer": ticket.text.upper()}

    assert gateway.work(run_one, _until_empty(gateway)) == 2
    assert ran == ["one", "two"]
    ends = [gateway.end_of(ticket.id) for ticket in tickets]
    assert [end and end["answer"] for end in ends] == ["ONE", "TWO"]
    assert [gateway.state_of(ticket.id) for ticket in tickets] == ["done", "done"]
    assert gateway.waiting() == gateway.interrupted() == []


def test_what_comes_while_another_is_carried_out_has_its_turn_after_it(gateway: CommandGateway) -> None:
    gateway.submit("one", "http")
    ran: list[str] = []

    def run_one(ticket: Ticket) -> dict[str, str]:
        ran.append(ticket.text)
        if ticket.text == "one":
            gateway.submit("two", "http")
        return {}

    gateway.work(run_one, _until_empty(gateway))
    assert ran == ["one", "two"]


def test_only_what_has_not_begun_can_be_taken_back(gateway: CommandGateway) -> None:
    first, second = gateway.submit("one", "http"), gateway.submit("two", "http")
    taken = gateway.take_next()
    assert taken is not None and taken.id == first.id
    assert not gateway.withdraw(first.id)
    assert gateway.withdraw(second.id)
    assert not gateway.withdraw(second.id)
    assert gateway.waiting() == []


def test_a_message_that_is_given_twice_is_one_command(gateway: CommandGateway) -> None:
    """A process may die between taking a message and telling the channel so."""
    first = gateway.submit("open it", "phone", key="message-1")
    assert gateway.submit("open it", "phone", key="message-1").id == first.id
    assert gateway.submit("open it", "mail", key="message-1").id != first.id
    assert len(gateway.waiting()) == 2
    gateway.work(lambda _: {}, _until_empty(gateway))
    assert gateway.submit("open it", "phone", key="message-1").id == first.id
    assert gateway.waiting() == []


@pytest.mark.parametrize("id_", ["", "..", "../run", "q-1", "q-00000000000000-000000000000/../x", "nobody"])
def test_a_name_that_is_none_of_ours_finds_nothing(gateway: CommandGateway, id_: str) -> None:
    assert (gateway.state_of(id_), gateway.end_of(id_), gateway.withdraw(id_)) == ("", None, False)


def test_what_is_no_command_is_refused(gateway: CommandGateway) -> None:
    for text in ("", "  \n", "x" * 200_000):
        with pytest.raises(UsageError):
            gateway.submit(text, "http")
    assert gateway.waiting() == []


def test_each_sender_has_a_conversation_of_their_own(gateway: CommandGateway) -> None:
    """What follows a failure counts as its correction only where the same person says it."""
    sessions = [
        gateway.submit("open it", "phone", "ada").session,
        gateway.submit("open it", "phone", "bob").session,
        gateway.submit("open it", "http").session,
        gateway.submit("open it", "http", session="talk-1").session,
    ]
    assert len(set(sessions)) == 4


def test_what_had_begun_when_its_process_died_is_known_and_not_simply_begun_again(
    gateway: CommandGateway, tmp_path: Path, clock: FakeClock
) -> None:
    ticket = gateway.submit("send the letter", "http")

    def die(_: Ticket) -> dict[str, str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gateway.work(die, _never)
    after = CommandGateway(tmp_path, clock)
    assert after.waiting() == []
    (cut_off,) = after.interrupted()
    assert cut_off == ticket._replace(begun=clock.now())
    after.put_back(cut_off)
    assert (after.waiting(), after.interrupted()) == ([ticket], [])


def test_what_waits_for_its_owner_is_known_to_the_next_process(
    gateway: CommandGateway, tmp_path: Path, clock: FakeClock
) -> None:
    ticket = gateway.submit("send the letter", "http")
    gateway.take_next()
    gateway.finish(ticket, {"end": "waiting", "run": "r-1"})
    after = CommandGateway(tmp_path, clock)
    assert [one.id for one in after.interrupted()] == [ticket.id]
    after.finish(ticket, {"end": "complete", "run": "r-1"})
    assert after.interrupted() == []


def test_an_end_that_was_kept_counts_though_its_process_died_right_after(
    gateway: CommandGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = gateway.submit("one", "http")
    gateway.take_next()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            gateway.finish(ticket, {"answer": "done"})
    assert gateway.state_of(ticket.id) == "done"
    assert gateway.interrupted() == []


def test_a_file_that_a_disk_has_spoilt_does_not_stop_the_others(
    gateway: CommandGateway, tmp_path: Path
) -> None:
    spoilt = gateway.submit("one", "http")
    gateway.submit("two", "http")
    file = tmp_path / "agent" / "queue" / f"{spoilt.id}.json"
    file.write_bytes(b"\0" * 40)
    ran: list[str] = []
    gateway.work(lambda ticket: {"n": ran.append(ticket.text)}, _until_empty(gateway))  # type: ignore[func-returns-value]
    assert ran == ["two"]
    assert list(file.parent.glob("*.bad"))  # kept, for whoever wants to look


def test_an_end_is_kept_for_a_week(gateway: CommandGateway, clock: FakeClock) -> None:
    first = gateway.submit("one", "http")
    gateway.work(lambda _: {}, _until_empty(gateway))
    clock.advance(6 * 86_400)
    second = gateway.submit("two", "http")
    gateway.work(lambda _: {}, _until_empty(gateway))
    assert gateway.end_of(first.id) is not None
    clock.advance(2 * 86_400)
    gateway.submit("three", "http")
    gateway.work(lambda _: {}, _until_empty(gateway))
    assert gateway.end_of(first.id) is None
    assert gateway.end_of(second.id) is not None


def test_files_of_the_queue_are_their_owners_alone(gateway: CommandGateway, tmp_path: Path) -> None:
    ticket = gateway.submit("tell nobody", "http")
    if os.name != "nt":
        file = tmp_path / "agent" / "queue" / f"{ticket.id}.json"
        assert file.stat().st_mode & 0o077 == 0


# One at a time


@pytest.mark.parametrize("lock", [RUN_LOCK, "turn.lock"], ids=["a run without a turn", "a turn"])
def test_without_patience_a_run_that_goes_on_is_busy(
    gateway: CommandGateway, tmp_path: Path, lock: str
) -> None:
    turn = gateway.turn(wait=False, until=_never)
    with FileLock(tmp_path / "agent" / lock).held(0), pytest.raises(Busy), turn:
        raise AssertionError("two at once")


def test_whoever_waits_is_told_once_and_gets_the_turn_when_it_is_free(
    gateway: CommandGateway, tmp_path: Path
) -> None:
    waits, told = threading.Event(), []

    def tell() -> None:
        told.append(1)
        waits.set()

    def second() -> None:
        with gateway.turn(told=tell, until=_never) as ours:
            told.append(ours)

    with FileLock(tmp_path / "agent" / RUN_LOCK).held(0):
        thread = threading.Thread(target=second)
        thread.start()
        assert waits.wait(10)
        assert told == [1]
    thread.join(10)
    assert told == [1, True]


def test_whoever_no_longer_wants_to_wait_leaves_the_line(gateway: CommandGateway, tmp_path: Path) -> None:
    with FileLock(tmp_path / "agent" / RUN_LOCK).held(0), gateway.turn(until=lambda: True) as ours:
        assert not ours
    with gateway.turn(wait=False, until=_never) as ours:  # and leaves nothing locked
        assert ours


def _submit_many(folder: str, name: str, count: int) -> None:
    gateway = CommandGateway(Path(folder), FakeClock())
    for number in range(count):
        gateway.submit(f"{name} {number}", "http")


def _work_all(folder: str, count: int) -> None:
    """Notes each command between two marks: whoever runs beside another spoils the order of the marks."""
    gateway = CommandGateway(Path(folder), FakeClock())
    log = Path(folder) / "log"

    def run_one(ticket: Ticket) -> dict[str, str]:
        for mark in ("begin", "end"):
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{mark} {ticket.text}\n")
        return {}

    def all_done() -> bool:
        return len(list((Path(folder) / "agent" / "ends").glob("*.json"))) == count

    gateway.work(run_one, all_done)


def test_many_processes_lose_nothing_and_never_run_two_at_once(tmp_path: Path) -> None:
    make = multiprocessing.get_context("spawn").Process
    names, each = ("a", "b", "c"), 5
    processes = [make(target=_submit_many, args=(str(tmp_path), name, each)) for name in names]
    processes += [make(target=_work_all, args=(str(tmp_path), len(names) * each)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    begun = [line.removeprefix("begin ") for line in lines[::2]]
    assert lines[1::2] == [f"end {text}" for text in begun]
    assert sorted(begun) == sorted(f"{name} {number}" for name in names for number in range(each))
    for name in names:
        assert [text for text in begun if text[0] == name] == [f"{name} {number}" for number in range(each)]


@pytest.mark.skipif(sys.platform == "win32", reason="faults are injected through fork and kill")
def test_a_kill_at_any_call_loses_no_command_that_was_acknowledged(tmp_path: Path) -> None:
    from tests.anomalies.killer import NEVER, Faults, kill, kill_in_the_middle, run_forked

    def submit(folder: Path) -> None:
        CommandGateway(folder, FakeClock()).submit("do it", "http")

    counted = Faults(NEVER, kill)
    with counted.active():
        submit(tmp_path / "dry")
    acknowledged = 0
    for at in range(1, len(counted.calls) + 2):
        folder = tmp_path / str(at)

        def dying(at: int = at, folder: Path = folder) -> None:
            with Faults(at, kill_in_the_middle).active():
                submit(folder)

        _, acked = run_forked(dying)
        acknowledged += acked
        found = _texts(CommandGateway(folder, FakeClock()).waiting())
        assert found == ["do it"] if acked else found in ([], ["do it"]), f"call {at}"
    assert acknowledged == 1


@pytest.mark.parametrize("broken", ["queue", "begun", "ends"])
def test_what_the_disk_refuses_is_told_as_an_error_of_ours(
    gateway: CommandGateway, tmp_path: Path, broken: str
) -> None:
    ticket = gateway.submit("one", "http")
    folder = tmp_path / "agent" / broken
    if folder.exists():
        folder.rename(folder.with_name("away"))
    folder.write_text("no folder", encoding="utf-8")
    deeds: dict[str, list[Callable[[], object]]] = {
        "queue": [
            gateway.waiting,
            gateway.take_next,
            lambda: gateway.withdraw(ticket.id),
            lambda: gateway.put_back(ticket),
        ],
        "begun": [gateway.interrupted, gateway.take_next],
        "ends": [
            lambda: gateway.end_of(ticket.id),
            lambda: gateway.state_of(ticket.id),
            lambda: gateway.finish(ticket, {"answer": "x"}),
        ],
    }
    for deed in (lambda: gateway.submit("two", "http"), *deeds[broken]):
        with pytest.raises((WriteFailed, VaultError), match=broken):
            deed()


def test_a_file_that_can_not_be_read_by_anybody_is_told(gateway: CommandGateway, tmp_path: Path) -> None:
    ticket = gateway.submit("one", "http")
    file = tmp_path / "agent" / "queue" / f"{ticket.id}.json"
    file.unlink()
    file.mkdir()
    with pytest.raises(VaultError, match="can't be read"):
        gateway.waiting()
    with pytest.raises(WriteFailed):
        gateway.withdraw(ticket.id)
