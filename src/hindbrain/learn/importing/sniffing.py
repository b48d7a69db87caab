"""Which format a log has, by its name and its first records. Reads the beginning of a file alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindbrain.context.capture.transcripts import reading
from hindbrain.context.capture.transcripts.blocks import blocks_of, mapping
from hindbrain.learn.importing import alfworld, chats, journals, transcripts
from hindbrain.learn.importing.logs import Record, first_records

_EVENTS = ("run.", "iteration.", "tool.executed", "verification.rejected", "context.injected")
_BLOCKS = ("tool_use", "tool_result")


def sniff(path: Path) -> str:
    """The format of a file; "" when it can't be told. Raises NotFound when there is no file."""
    records = first_records(path)
    if not records:
        return ""
    if alfworld.FILE.fullmatch(path.name) and "is_success" in records[0]:
        return "reflexion"
    if any(_is_event(record) for record in records):
        return "journal"
    first = records[0]
    if "messages_display" in first or ("traj" in first and "reward" in first):
        return "tau-bench"
    host = "" if path.suffix == ".gz" else reading.sniff(path)
    if host in transcripts.HOSTS:
        return host
    return _chat(records)


def _is_event(record: Record) -> bool:
    ours = "run" in record and "at" in record and str(record.get("type", "")).startswith(_EVENTS)
    return ours or journals.is_event(record)


def _chat(records: Sequence[Record]) -> str:
    """Anthropic's messages hold tool blocks and their system prompt lies beside them; else OpenAI's."""
    found = False
    for record in records:
        inner = mapping(record.get("request")) or mapping(record.get("body")) or record
        requests = chats.is_request(record)
        messages = list(blocks_of(inner.get("messages"))) if requests else [record]
        found = found or any("role" in message for message in messages)
        blocks = [block for message in messages for block in blocks_of(message.get("content"))]
        if any(block.get("type") in _BLOCKS for block in blocks) or (requests and "system" in inner):
            return "anthropic"
    return "openai" if found else ""
