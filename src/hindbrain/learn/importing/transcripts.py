"""Transcripts of Claude Code, Codex and OpenClaw as runs.

The hosts' own readers make messages of records; what they leave out since nobody said it, but which tells how
a run ended, is added here: that the person stopped the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from hindbrain.context.capture.transcripts.blocks import blocks_of, mapping, texts
from hindbrain.context.capture.transcripts.reading import READERS
from hindbrain.context.messages import Message
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.turns import INTERRUPTED, Cutter
from hindbrain.learn.runs.events import Event

HOSTS = ("claude-code", "codex", "openclaw")


def runs_of_transcript(log: Log, host: str) -> Iterator[list[Event]]:
    """The runs of one transcript. A last one that still waits for its answer is left for the next import."""
    reader = READERS[host]()
    cutter = Cutter(host, start=log.written)
    for number, record in log.records():
        cutter.session = _session(record) or cutter.session
        try:
            messages = _stops(record) + reader.take(_without_stop(record))
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            log.refuse(number, f"no record of {host} ({type(error).__name__})")
            continue
        cutter.app = _project(reader.cwd) or cutter.app
        for message in messages:
            if run := cutter.take(message):
                yield run
    if run := cutter.rest(unfinished=False):
        yield run


def _session(record: Record) -> str:
    """The conversation's own name, whatever the file is called."""
    if record.get("type") == "session":  # OpenClaw
        return texts(record.get("id"))
    if record.get("type") == "session_meta":  # Codex
        return texts(mapping(record.get("payload")).get("id"))
    return texts(record.get("sessionId"))  # Claude Code


def _stops(record: Record) -> list[Message]:
    """That the person stopped the agent, as each host tells it."""
    payload = mapping(record.get("payload"))
    message = mapping(record.get("message")) or payload
    stopped = payload.get("type") == "turn_aborted" or message.get("stopReason") == "aborted"
    if not stopped and message.get("role") == "user":
        stopped = any(_is_mark(block) for block in blocks_of(_content(message)))
    return [Message("system", f"{INTERRUPTED}]")] if stopped else []


def _without_stop(record: Record) -> Record:
    """Without the mark alone: the person's next words may stand in the same record."""
    message = mapping(record.get("message"))
    content = message.get("content")
    if not isinstance(content, list) or message.get("role") != "user":
        return record
    if not any(isinstance(block, dict) and _is_mark(block) for block in content):
        return record
    kept = [block for block in blocks_of(content) if not _is_mark(block)]
    return {**record, "message": {**message, "content": kept}}


def _content(message: Record) -> object:
    content = message.get("content")
    return [content] if isinstance(content, str) else content


def _is_mark(block: Record) -> bool:
    text = block.get("text")
    return isinstance(text, str) and text.lstrip().startswith((INTERRUPTED, "<turn_aborted>"))


@lru_cache(maxsize=16)
def _project(cwd: str) -> str:
    """A project is known by its folder's name, wherever it lies."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]
