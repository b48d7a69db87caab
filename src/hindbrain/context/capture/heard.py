"""What a host without a transcript has handed over, kept for a while as a transcript that learning can read.

One file per session in the state folder, without secrets; written after the capture, and never read by it.
Losing it costs what a run could have taught, and no memory, so it is not made durable. Gone some days after
the last word.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hindbrain.base.files import append_record, make_folder
from hindbrain.context.capture.cursors import file_name
from hindbrain.context.capture.keeping import without_secrets
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey

FOLDER = "heard"
_KEPT_S = 7 * 86_400.0
_MOST_BYTES = 50_000_000  # of one session; then it begins anew


def heard_file(state: Path, session: SessionKey) -> Path:
    return state / FOLDER / file_name(session)


def add_heard(state: Path, session: SessionKey, messages: Sequence[Message], *, cwd: str, now: float) -> None:
    """Add what was captured; a disk that takes nothing more is no reason to fail."""
    path = heard_file(state, session)
    with contextlib.suppress(OSError):
        make_folder(path.parent)
        known = path.exists()
        if not known:
            _drop_old(path.parent, now)
        elif path.stat().st_size > _MOST_BYTES:
            path.unlink()
        records: list[Mapping[str, object]] = [{"type": "session", "id": session.id, "cwd": cwd}]
        records += [_record(message) for message in messages]
        data = "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records)
        append_record(path, data.encode("ascii"), durable=False)


def _record(message: Message) -> dict[str, object]:
    """As OpenClaw writes its own, which every reader here knows."""
    text = without_secrets(message.text)
    inner: dict[str, object] = {"role": message.role, "content": text}
    if message.role == "tool":
        inner |= {"role": "toolResult", "toolCallId": message.call, "toolName": message.tool}
        inner["isError"] = message.failed
    elif message.tool:
        made = {"type": "toolCall", "id": message.call, "name": message.tool, "arguments": text}
        inner["content"] = [made]
    return {"type": "message", "id": message.id, "timestamp": message.at, "message": inner}


def _drop_old(folder: Path, now: float) -> None:
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(OSError):  # gone, or no file
            if now - path.stat().st_mtime > _KEPT_S:
                path.unlink(missing_ok=True)
