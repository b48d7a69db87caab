"""Which format a log has, by its name and its first records. Reads the beginning of a file alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindbrain.context.capture.transcripts import reading
from hindbrain.context.capture.transcripts.blocks import blocks_of, mapping
from hindbrain.learn.importing import alfworld, chats, journals, records, transcripts
from hindbrain.learn.importing.logs import Record, first_records, first_text

_EVENTS = ("run.", "iteration.", "tool.executed", "verification.rejected", "context.injected")
_LOOKED_AT = 5  # records in which a run is looked for
_BLOCKS = ("tool_use", "tool_result")


def sniff(path: Path) -> str:
    """The format of a file; "" when it can't be told. Raises NotFound when there is no file."""
    found = first_records(path)
    if not found:
        return "text" if records.is_text_log(first_text(path)) else ""
    if alfworld.FILE.fullmatch(path.name) and "is_success" in found[0]:
        return "reflexion"
    if any(_is_event(record) for record in found):
        return "journal"
    first = found[0]
    if "messages_display" in first or ("traj" in first and "reward" in first):
        return "tau-bench"
    host = "" if path.suffix == ".gz" else reading.sniff(path)
    if host in transcripts.HOSTS:
        return host
    if any(map(records.is_run, found[:_LOOKED_AT])) or records.are_steps(found):
        return "trajectory"
    return _chat(found)


def _is_event(record: Record) -> bool:
    ours = "run" in record and "at" in record and str(record.get("type", "")).startswith(_EVENTS)
    return ours or journals.is_event(record)


def _chat(records: Sequence[Record]) -> str:
    """Anthropic's messages hold tool blocks and their system prompt lies beside them; else OpenAI's."""
    found = False
    for record in records:
        inner = mapping(record.get("request")) or mapping(record.get("body")) or record
        requests = chats.is_request(record)
        messages = (
            list(blocks_of(inner.get("messages") or inner.get("input")))
            if requests
            else [mapping(record.get("message")) or record]
        )
        found = found or (requests and isinstance(inner.get("input"), str))
        found = found or any("role" in message for message in messages)
        blocks = [block for message in messages for block in blocks_of(message.get("content"))]
        if any(block.get("type") in _BLOCKS for block in blocks) or (requests and "system" in inner):
            return "anthropic"
    return "openai" if found else ""
