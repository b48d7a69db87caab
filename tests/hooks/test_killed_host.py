"""A host is killed after a prompt: what was said is kept once, by the real hook program and command."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.spool import read_events
from hindbrain.edge.daemon import verbs
from hindbrain.edge.hooks.hosts import HOSTS
from hindbrain.edge.hooks.journal import read_calls
from workbench import Vault

PREFERENCE = "I prefer tabs over spaces in Makefiles, always."
KEPT = "tabs over spaces in Makefiles"
_PATIENCE_S = 60


def call(host: str, event: str, **payload: object) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "hindbrain.edge.hooks.main", host, event],
        input=json.dumps({"session_id": "s1", **payload}).encode(),
        capture_output=True,
        timeout=_PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def settle(vault: Vault) -> str:
    """What the vault holds after a later catching up."""
    subprocess.run(
        [sys.executable, "-m", "hindbrain", "hook", "settle", "--vault", str(vault.root)],
        capture_output=True,
        timeout=_PATIENCE_S,
        check=True,
    )
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(vault.root.rglob("*.md")))


def written(path: Path, *said: tuple[str, str]) -> None:
    records = [
        {"type": role, "uuid": f"u{number}", "sessionId": "s1", "message": {"role": role, "content": text}}
        for number, (role, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


@pytest.mark.promise("P1")
@pytest.mark.parametrize("host", [host.name for host in HOSTS])
def test_what_was_said_is_kept_when_the_record_never_appears(
    synced: Vault, tmp_path: Path, host: str
) -> None:
    place = {"cwd": str(synced.root), "transcript_path": str(tmp_path / "never.jsonl")}
    call(host, "user-prompt-submit", prompt=PREFERENCE, **place)
    call(host, "stop", **place)  # and then it is killed
    assert settle(synced).count(KEPT) == 1


@pytest.mark.promise("P1")
@pytest.mark.parametrize("settled", [False, True])
def test_what_was_said_is_kept_once_when_the_record_appears_late(
    synced: Vault, tmp_path: Path, settled: bool
) -> None:
    record = tmp_path / "late.jsonl"
    place = {"cwd": str(synced.root), "transcript_path": str(record)}
    call("claude-code", "user-prompt-submit", prompt=PREFERENCE, **place)
    call("claude-code", "stop", last_assistant_message="Noted.", **place)
    if settled:
        settle(synced)
    written(record, ("user", PREFERENCE), ("assistant", "Noted."))
    call("claude-code", "session-end", **place)
    assert settle(synced).count(KEPT) == 1


@pytest.mark.promise("P1")
def test_what_was_said_is_kept_once_when_the_record_is_cut(synced: Vault, tmp_path: Path) -> None:
    record = tmp_path / "cut.jsonl"
    place = {"cwd": str(synced.root), "transcript_path": str(record)}
    written(record, ("user", "Hello."), ("assistant", "Hello."), ("user", PREFERENCE))
    record.write_bytes(record.read_bytes()[:-20])
    for prompt in ("Hello.", PREFERENCE):
        call("claude-code", "user-prompt-submit", prompt=prompt, **place)
        call("claude-code", "stop", **place)
    assert settle(synced).count(KEPT) == 1


def test_what_is_said_in_the_place_of_a_memory_keeps_its_cues(synced: Vault, tmp_path: Path) -> None:
    line = "- User lives in Oslo #home [importance:: 0.9] [source:: user] [cues:: address] ^m-oslo1234"
    synced.write("Agent/Memory/fact.md", f"# Facts\n\n{line}\n")
    place = {"cwd": str(synced.root), "transcript_path": str(tmp_path / "never.jsonl")}
    call("claude-code", "user-prompt-submit", prompt="I live in Bergen, by the way.", **place)
    call("claude-code", "stop", **place)
    (new,) = [line for line in settle(synced).splitlines() if line.startswith("- User lives in Bergen")]
    assert "#home" in new and "[importance:: 0.9]" in new and "[cues:: address]" in new


@pytest.mark.promise("P29")
def test_a_prompt_that_can_not_be_kept_is_answered_and_that_is_said(
    synced: Vault, surroundings: Path
) -> None:
    app = build_app(load_config(), synced.root, warm=False)
    (app.state / "spool").write_text("in the way", encoding="utf-8")
    app.close()
    answer = call(
        "claude-code", "user-prompt-submit", prompt="which port has the kite server?", cwd=str(synced.root)
    )
    assert "7421" in answer["hookSpecificOutput"]["additionalContext"]
    assert answer["systemMessage"]
    last = read_calls(surroundings)[-1]
    assert (last.outcome, last.note.partition(":")[0]) == ("failed", "disk")


@pytest.mark.promise("P1")
@pytest.mark.parametrize("spoolable", [True, False])
def test_a_daemon_keeps_what_was_said_or_says_that_it_did_not(synced: Vault, spoolable: bool) -> None:
    with closing(build_app(load_config(), synced.root, warm=False)) as app:
        if not spoolable:
            (app.state / "spool").write_text("in the way", encoding="utf-8")
        said = {"event": "prompt", "host": "claude-code", "session": "s1", "cwd": "", "transcript": "/none"}
        key = {"host": "claude-code", "session": "s1"}
        result = verbs.answer(app, "turn", {**key, "prompt": PREFERENCE, "said": said})
        assert result[verbs.UNKEPT] is not spoolable
        assert [event.prompt for event in read_events(app.state).events] == [PREFERENCE] * spoolable
