"""Each fault around the real program: the host gets valid output, the exit code 0, and its answer where there
can be one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.vault.lock import FileLock
from workbench import Vault

PROMPT = "which port has the kite server?"
EVENTS = (
    "session-start",
    "user-prompt-submit",
    "post-tool-use-failure",
    "pre-compact",
    "stop",
    "session-end",
)
_PATIENCE_S = 60  # for a slow machine; nothing here waits for it


def run_hook(event: str, root: Path, *, full_disk: bool = False, **more: object) -> dict[str, Any]:
    payload = {
        "session_id": "s", "cwd": str(root), "prompt": PROMPT, "source": "startup", "tool_name": "Bash",
        "tool_input": {"command": "kitectl reload"}, "error": "kite server: no route to port", **more,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "hindbrain.edge.hooks.main", "claude-code", event],
        input=json.dumps(payload).encode(),
        capture_output=True,
        timeout=_PATIENCE_S,
        preexec_fn=_no_byte_more if full_disk else None,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _no_byte_more() -> None:
    """As on a disk without space: no file of this process can grow."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def context_of(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.skipif(os.name == "nt", reason="file sizes can't be limited there")
@pytest.mark.parametrize("event", EVENTS)
def test_on_a_full_disk_every_event_is_answered(synced: Vault, event: str) -> None:
    answer = run_hook(event, synced.root, full_disk=True)
    if event in ("user-prompt-submit", "stop"):  # not even SQLite can open its files: that is told
        assert "Hindbrain" in answer.get("systemMessage", "")


@contextmanager
def locked(app: App) -> Iterator[None]:
    """Somebody holds every lock that we know of, and the index for himself."""
    with ExitStack() as held:
        for name in ("index.lock", "write.lock", "queue.lock", "capture.lock"):
            held.enter_context(FileLock(app.state / name).held(0))
        db = apsw.Connection(str(app.index_path))
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            db.execute("ROLLBACK")
            db.close()


@pytest.mark.parametrize("event", EVENTS)
def test_with_a_locked_vault_every_event_is_answered(synced: Vault, event: str) -> None:
    app = build_app(load_config(), synced.root, warm=False)
    with locked(app):
        answer = run_hook(event, synced.root)
    if event == "user-prompt-submit":
        assert "7421" in context_of(answer)


@contextmanager
def _refusing() -> Iterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@contextmanager
def _never_answering() -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


@pytest.mark.promise("P28")
@pytest.mark.parametrize("service", [_refusing, _never_answering])
@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit"])
def test_with_a_dead_provider_every_event_is_answered(
    synced: Vault, event: str, service: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with service() as url:
        monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "openai")
        monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", url)
        monkeypatch.setenv("HINDBRAIN_EMBEDDING_MODEL", "dead")
        answer = run_hook(event, synced.root)
    if event == "user-prompt-submit":
        assert "7421" in context_of(answer)


@pytest.mark.parametrize("prompt", ["", " \n", "x" * 5_000_000, PROMPT + "\n" + "log line\n" * 500_000])
def test_any_prompt_is_answered(synced: Vault, prompt: str) -> None:
    run_hook("user-prompt-submit", synced.root, prompt=prompt)


@pytest.mark.parametrize("event", ["user-prompt-submit", "stop", "session-end"])
def test_a_transcript_of_garbage_stops_nothing(synced: Vault, tmp_path: Path, event: str) -> None:
    transcript = tmp_path / "talk.jsonl"
    transcript.write_bytes(b'{"type": "user"\n\xff\xfe\x00garbage\n' + b"[" * 100_000 + b"\n{}\n")
    answer = run_hook(event, synced.root, transcript_path=str(transcript))
    if event == "user-prompt-submit":
        assert "7421" in context_of(answer)
    app = build_app(load_config(), synced.root, warm=False)
    caught = app.context.catch_up(deadline_s=float(_PATIENCE_S))
    assert not caught.more
    app.close()
