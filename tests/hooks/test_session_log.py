"""The log of a day's sessions: written for those that left something, read when the next day starts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from workbench import Vault

DAY_S = 86_400.0


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that starts at noon, as every part of the product reads it."""
    now = [float(int(time.time() // DAY_S) * DAY_S + DAY_S / 2)]
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process can't be chosen on this system")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(time, "time", lambda: now[0])
    yield now
    monkeypatch.undo()
    time.tzset()


def _event(name: str, session: str, **payload: object) -> str:
    """One event of Claude Code, answered; what it puts into the prompt."""
    host = host_named("claude-code")
    assert host is not None
    event = host.event(name)
    assert event is not None
    doing = Doing(host, event, time.monotonic())
    sent = json.dumps({"session_id": session, "hook_event_name": event.there, **payload}).encode()
    answer = doing.answer(lambda: sent)
    doing.finish(answer)
    assert not doing.note, doing.note
    return answer.text


def _session(vault: Vault, folder: Path, name: str, *said: str, ends: bool = True) -> None:
    """A session in which a person says something, captured as `hindbrain hook settle` does."""
    transcript = folder / f"{name}.jsonl"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time()))
    lines = [
        {
            "type": "user",
            "uuid": f"{name}-{at}-0000-0000-000000000000",
            "timestamp": stamp,
            "cwd": str(folder),
            "sessionId": name,
            "message": {"role": "user", "content": text},
        }
        for at, text in enumerate(said)
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    given = {"transcript_path": str(transcript), "cwd": str(vault.root)}
    _event("stop", name, **given)
    if ends:
        _event("session-end", name, reason="exit", **given)
    assert main(["hook", "settle", "--vault", str(vault.root)]) == 0


def _daily(vault: Vault) -> str:
    app = build_app(load_config(), vault.root, warm=False)
    page = app.memory.daily.read()
    app.close()
    return "" if page is None else page.text.rpartition("---\n")[2]


TODO = "Remind me to call Sarah about the deployment tomorrow."
PREFERENCE = "I prefer tabs over spaces in Makefiles, always."


def test_sessions_of_a_day_are_logged_once_and_the_next_day_reads_what_is_open(
    synced: Vault, tmp_path: Path, at_noon: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(synced.root)
    assert main(["task", "add", "Write the documentation"]) == 0
    assert main(["task", "start", "Write the documentation"]) == 0
    _session(synced, tmp_path, "aaaaaaaa", PREFERENCE, TODO, ends=False)
    assert "## Session Start\n- **Time**: 12:00\n- **Context**: claude-code\n" in _daily(synced)
    assert "## Session End" not in _daily(synced)
    at_noon[0] += 5_400
    _session(synced, tmp_path, "bbbbbbbb", "From now on, always use ruff for Python linting.")
    at_noon[0] += 3_600
    _session(synced, tmp_path, "cccccccc", "We decided to use Caddy instead of nginx because of its TLS.")
    day = _daily(synced)
    assert day.count("## Session Start") == day.count("**Context**") == 1
    assert day.count("## Session End") == day.count("**Duration**") == 1
    assert "## Session End\n- **Time**: 14:30\n- **Duration**: 2h 30m\n" in day
    tomorrow = day.partition("## Notes for Tomorrow\n")[2]
    assert "- Write the documentation\n" in tomorrow and "Call Sarah" in tomorrow
    assert main(["task", "done", "Write the documentation"]) == 0
    at_noon[0] += DAY_S
    card = _event("session-start", "dddddddd", source="startup", cwd=str(synced.root))
    assert "Notes for Tomorrow" in card and "Call Sarah" in card
    assert "Write the documentation" not in card  # it was done since
    assert "**Duration**" not in card and "**Time**" not in card


def test_a_session_that_left_nothing_leaves_no_trace(
    synced: Vault, tmp_path: Path, at_noon: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(synced.root)
    _session(synced, tmp_path, "aaaaaaaa", "what time is it?")
    assert _daily(synced) == ""


def test_an_owners_own_lines_of_a_day_stay_as_they_are(
    synced: Vault, tmp_path: Path, at_noon: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(synced.root)
    app = build_app(load_config(), synced.root, warm=False)
    path = app.memory.daily.path()
    app.close()
    # The daily log of the reference, word for word where it counts.
    written = (
        "# Daily Log: 2025-01-16\n\n## Session Start\n- **Time**: 08:15:00Z\n"
        "- **Context**: Morning routine initiated\n\n## Events\n\n### 08:15 - Gmail Check\n"
        "- **Action**: Checked 23 new emails\n\n## Session End\n- **Time**: 18:30:00Z\n"
        "- **Duration**: 10h 15m\n- **Next scheduled**: 2025-01-17 08:00:00Z\n\n## Notes for Tomorrow\n"
        "- Complete Project Alpha documentation\n"
    )
    synced.write(path, written)
    _session(synced, tmp_path, "aaaaaaaa", PREFERENCE, TODO)
    after = (synced.root / path).read_text(encoding="utf-8")
    assert after.startswith(written) and "Call Sarah" in after.removeprefix(written)
    # What an owner takes out is not written again.
    synced.write(path, written)
    _session(synced, tmp_path, "bbbbbbbb", "From now on, always use ruff for Python linting.")
    assert (synced.root / path).read_text(encoding="utf-8") == written
