"""The last messages of a transcript: what a prompt goes on from. Reads the end of the file alone."""

from __future__ import annotations

from pathlib import Path

from hindbrain.context.capture.transcripts.reading import read_transcript
from hindbrain.context.messages import Message

_BYTES = 64_000
_MOST = 12  # messages


def last_messages(path: Path, *, host: str = "", before: str = "") -> tuple[Message, ...]:
    """What was said last, oldest first; () when it can't be told. `before`: the prompt that is asked."""
    try:
        start = max(0, path.stat().st_size - _BYTES)
    except (OSError, ValueError):
        return ()
    read = read_transcript(path, host=host, start=start)
    said = [
        message
        for message in read.messages
        if message.role in ("user", "assistant") and not message.tool and message.text.strip()
    ]
    if said and said[-1].role == "user" and said[-1].text.strip() == before.strip():
        said.pop()
    return tuple(said[-_MOST:])
