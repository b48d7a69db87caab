"""Reading a transcript, whichever host wrote it: from a byte offset on, as far as it is whole.

One table of readers. Nothing in a file stops the reading: what is no record is counted and passed over, a
half written end waits for the next time. Reads only; how far was read is for the caller to keep.
"""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from hindbrain.base.plural import plural
from hindbrain.context.capture.transcripts import codex, plain
from hindbrain.context.capture.transcripts.blocks import Record, texts
from hindbrain.context.capture.transcripts.claude import TYPES as CLAUDE_TYPES
from hindbrain.context.capture.transcripts.claude import ClaudeReader
from hindbrain.context.capture.transcripts.codex import CodexReader
from hindbrain.context.capture.transcripts.gemini import GeminiReader
from hindbrain.context.capture.transcripts.lines import whole_lines
from hindbrain.context.capture.transcripts.plain import PlainReader
from hindbrain.context.messages import Message

_MOST_BYTES = 200_000_000  # of one reading, unless the caller wants less
_LARGEST_DOCUMENT = 64_000_000  # bytes of a session that is one JSON document
_HEAD_BYTES = 256_000  # that are looked at to tell the host
_HEAD_RECORDS = 20


class Reader(Protocol):
    """Makes messages of one host's records, in their order."""

    cwd: str  # where the conversation was at the last record; "" when it does not say

    def take(self, record: Record) -> list[Message]: ...


READERS: Mapping[str, Callable[[], Reader]] = {
    "claude-code": ClaudeReader,
    "codex": CodexReader,
    "gemini": GeminiReader,
    "cursor": PlainReader,
    "openclaw": PlainReader,
    "own": PlainReader,
}


class Read(NamedTuple):
    """What was read. No message and no problem: there was nothing new."""

    messages: tuple[Message, ...]
    stop: int  # the byte from which the next reading goes on
    problems: tuple[str, ...] = ()
    skipped: int = 0  # lines that are no records
    more: bool = False  # there is more than one reading takes
    whole: bool = False  # a file that can't be read from the middle: these are all its messages
    elsewhere: int = 0  # messages that the caller did not want, by the folder they were said in


def read_transcript(
    path: Path,
    *,
    host: str = "",
    start: int = 0,
    most_bytes: int = _MOST_BYTES,
    wanted: Callable[[str], bool] | None = None,
) -> Read:
    """Read from byte `start` on. `wanted` is asked for the folder in which something was said.

    Never raises for what a file holds or for a file that can't be opened: that is a problem in the answer.
    """
    try:
        with _opened(path) as file:
            size = file.seek(0, io.SEEK_END)
            reader = READERS.get(_kind(file) or host, PlainReader)()
            if start > size:
                return Read((), start, (f"{str(path)!r} is shorter than what was read of it; read it anew",))
            if _is_document(file):
                return _read_document(file, path, reader, size, start)
            return _read_lines(file, path, reader, start, most_bytes, wanted)
    except OSError as error:
        return Read((), start, (f"{str(path)!r} can't be read ({error.strerror or error})",))


def sniff(path: Path) -> str:
    """The host that wrote a transcript, by its first records; "" when it can't be told."""
    try:
        with _opened(path) as file:
            return _kind(file)
    except OSError:
        return ""


def _opened(path: Path) -> io.BufferedReader:
    # A path in an event may be anything; opening a pipe would wait for its other end for ever.
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "not a file")
    return open(path, "rb")


def _read_lines(
    file: io.BufferedReader,
    path: Path,
    reader: Reader,
    start: int,
    most_bytes: int,
    wanted: Callable[[str], bool] | None,
) -> Read:
    messages: list[Message] = []
    stop, skipped, elsewhere, more = start, 0, 0, False
    for line in whole_lines(file, start):
        stop = line.stop
        record = parse_record(line.data)
        found = _taken(reader, record) if record is not None else None
        if found is None:
            skipped += line.data is None or bool(line.data.strip())
        elif found and reader.cwd and wanted is not None and not wanted(reader.cwd):
            elsewhere += len(found)
        else:
            messages += found
        if stop - start >= most_bytes:
            more = True
            break
    problems = (f"passed over {plural(skipped, 'line')} of {str(path)!r}: not a record",) if skipped else ()
    return Read(tuple(messages), stop, problems, skipped, more, elsewhere=elsewhere)


def _read_document(file: io.BufferedReader, path: Path, reader: Reader, size: int, start: int) -> Read:
    """A session that is one JSON document, and rewritten as a whole: all of it, each time."""
    if size > _LARGEST_DOCUMENT:
        return Read((), size, (f"{str(path)!r} is one document of {size} bytes, which is too large",), 1)
    file.seek(0)
    try:
        found = json.loads(file.read().decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return Read((), start, (f"{str(path)!r} is no whole JSON yet; it is read again when it changes",))
    records = [
        record for record in (found if isinstance(found, list) else [found]) if isinstance(record, dict)
    ]
    messages = [message for record in records for message in _taken(reader, record) or ()]
    return Read(tuple(messages), size, whole=True)


def parse_record(data: bytes | None) -> Record | None:
    """The JSON object in a line; None when there is none."""
    if data is None or not data.strip():
        return None
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _taken(reader: Reader, record: Record) -> list[Message] | None:
    """The messages of a record; None when it is of a shape that the reader can't make sense of."""
    try:
        return reader.take(record)
    except Exception:  # noqa: BLE001  it is counted, and one record must not cost those after it
        return None


def _is_document(file: io.BufferedReader) -> bool:
    """Is the file one JSON document over several lines, or a list? Else each line is a record."""
    file.seek(0)
    head = file.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        return True
    first, line_end, rest = head.partition(b"\n")
    if not first.startswith(b"{"):
        return False
    if not line_end:  # one line without its end: a document if it is whole, else it is being written
        return _holds_messages(parse_record(first)) or (
            len(head) >= _HEAD_BYTES and any(f'"{name}"'.encode() in head for name in plain.LISTS)
        )
    return parse_record(first) is None and len(first) < 200 and bool(rest.strip())


def _holds_messages(record: Record | None) -> bool:
    return record is not None and any(isinstance(record.get(name), list) for name in plain.LISTS)


def _kind(file: io.BufferedReader) -> str:
    """Tell the host by the first records that are characteristic of one."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    records = [parse_record(line) for line in head.split(b"\n")[:_HEAD_RECORDS]]
    known = [_host_of(record) for record in records if record is not None]
    if told := next((host for host in known if host), ""):
        return told
    text = head.decode("utf-8", "replace")
    if '"projectHash"' in text and '"sessionId"' in text:
        return "gemini"
    return "own" if '"role"' in text and ('"content"' in text or '"message"' in text) else ""


def _host_of(record: Record) -> str:
    kind = texts(record.get("type"))
    if kind in codex.TYPES and "payload" in record:
        return "codex"
    if "projectHash" in record or kind == "gemini":
        return "gemini"
    if kind in CLAUDE_TYPES and any(name in record for name in ("sessionId", "uuid", "leafUuid")):
        return "claude-code"
    if kind in codex.ITEMS and "message" not in record:
        return "codex"
    if kind == "message" and isinstance(record.get("message"), dict):
        return "openclaw"
    if "role" in record and isinstance(record.get("message"), dict):
        return "cursor"
    return "own" if "role" in record else ""
