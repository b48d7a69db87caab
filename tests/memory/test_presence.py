"""Who may approve, and when agents were at work: decided on values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import NeedsPerson
from hindbrain.memory.inbox.agent_sessions import LIVE_S, SESSIONS_LOG, AgentSessions, Sighting, live_session
from hindbrain.memory.inbox.presence import MARKERS, Presence, agent_among, check_person
from hindbrain.vault.write import VaultWriter
from workbench import Vault


def test_a_person_at_a_terminal_passes() -> None:
    check_person(Presence(terminal=True), command="hindbrain inbox accept")


@pytest.mark.promise("P17")
@pytest.mark.parametrize(
    "presence", [Presence(terminal=False), Presence(True, "Codex"), Presence(False, "Codex")]
)
def test_nobody_else_does(presence: Presence) -> None:
    with pytest.raises(NeedsPerson) as refused:
        check_person(presence, command="hindbrain inbox accept 1")
    assert refused.value.code == "needs_person"
    assert "hindbrain inbox accept 1" in str(refused.value), "it says what to do next"


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_anywhere_among_the_parents_counts(marker: str) -> None:
    assert agent_among([{"PATH": "/bin"}, {}, {marker: "1"}])
    assert not agent_among([{"PATH": "/bin"}, {marker: ""}, {marker: "0"}])


@pytest.mark.parametrize("name", ["CODEX_HOME", "CURSOR_TRACE_ID", "CLAUDE_CONFIG_DIR", "GEMINI_API_KEY"])
def test_what_stands_in_a_persons_own_terminal_is_no_marker(name: str) -> None:
    assert not agent_among([{name: "x"}])


def sightings(*events: tuple[str, float, bool]) -> list[Sighting]:
    return [Sighting(*event) for event in events]


@pytest.mark.parametrize(
    ("at", "live"),
    [
        (90, ""),
        (100, "a"),
        (500, "a"),
        (600, "a"),
        (700, ""),
        (5_000, "b"),
        (5_000 + LIVE_S, "b"),
        (9_000, ""),
    ],
)
def test_a_session_is_live_from_its_first_event_to_its_end_or_half_an_hour_of_silence(
    at: float, live: str
) -> None:
    seen = sightings(("a", 100, False), ("a", 600, True), ("b", 5_000, False))
    assert live_session(seen, at) == live


def test_a_session_that_comes_back_is_live_again() -> None:
    seen = sightings(("a", 100, False), ("a", 200, True), ("a", 1_000, False), ("a", 60_000, False))
    assert live_session(seen, 500) == ""
    assert live_session(seen, 1_500) == live_session(seen, 60_001) == "a"
    assert live_session(seen, 30_000) == ""


@given(
    events=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10_000), st.booleans()), max_size=12),
    at=st.integers(0, 20_000),
)
def test_every_event_that_is_no_end_makes_its_session_live_then(
    events: list[tuple[str, int, bool]], at: int
) -> None:
    seen = sightings(*sorted(events, key=lambda event: event[1]))
    for one in seen:
        if not one.ended:
            assert live_session(seen, one.at)
    if not any(one.at - 1 <= at <= one.at + LIVE_S + 301 for one in seen):
        assert live_session(seen, at) == ""


@pytest.fixture
def sessions(vault: Vault, tmp_path: Path, clock: FakeClock) -> Iterator[AgentSessions]:
    (vault.root / ".hindbrain").mkdir()
    (tmp_path / "state").mkdir()
    writer = VaultWriter(vault.root, tmp_path / "state", clock)
    yield AgentSessions(vault.root, tmp_path / "state", lambda: writer, clock)
    writer.close()


def files(vault: Vault, tmp_path: Path) -> tuple[Path, Path]:
    return vault.root / ".hindbrain" / SESSIONS_LOG, tmp_path / "state" / SESSIONS_LOG


@pytest.mark.promise("P17")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "content", [None, b"", b'\xff\n{}\n[1]\n{"session": 1}\n', b'{"session":"a","at":1}\n']
)
def test_one_of_the_two_files_is_enough(
    vault: Vault, tmp_path: Path, clock: FakeClock, sessions: AgentSessions, which: int, content: bytes | None
) -> None:
    sessions.note("a")
    file = files(vault, tmp_path)[which]
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    assert sessions.live_at(clock.now() + 60) == "a"


def test_events_of_a_busy_session_are_not_all_written(
    vault: Vault, tmp_path: Path, clock: FakeClock, sessions: AgentSessions
) -> None:
    for _ in range(60):
        sessions.note("a")
        clock.advance(10)
    for file in files(vault, tmp_path):
        assert 2 <= len(file.read_bytes().splitlines()) <= 3
    assert sessions.live_at(clock.now() + LIVE_S - 60) == "a"
    sessions.end("a")
    assert sessions.live_at(clock.now() + 60) == ""


def test_the_files_stay_small(
    vault: Vault, tmp_path: Path, clock: FakeClock, sessions: AgentSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.memory.inbox.agent_sessions._MOST_BYTES", 2_000)
    for number in range(100):
        sessions.note(f"session-{number}")
        clock.advance(1)
    for file in files(vault, tmp_path):
        assert file.stat().st_size <= 2_100
    assert sessions.live_at(clock.now())


def test_a_vault_that_was_never_set_up_gets_no_folder(vault: Vault, tmp_path: Path, clock: FakeClock) -> None:
    writer = VaultWriter(vault.root, tmp_path / "elsewhere", clock)
    AgentSessions(vault.root, tmp_path / "state", lambda: writer, clock).note("a")
    writer.close()
    assert not (vault.root / ".hindbrain").exists()
