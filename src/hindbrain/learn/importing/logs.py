"""A log file as records, one after the other, and an account of what could not be read of it.

A log is JSON lines, one JSON list, or one JSON document, perhaps with gzip around it. Lines and lists are
never held as a whole. Knows nothing of what the records say.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from hindbrain.base.errors import NotFound

_T = TypeVar("_T")
Record: TypeAlias = Mapping[str, Any]
LONGEST = 16_000_000  # bytes of one line, characters of one element; a screenshot as text has some 5 MB
_LARGEST_DOCUMENT = 64_000_000
_HEAD = 256_000
_STEP = 1 << 16
_NAMED = 3  # problems of one file that are told with their reasons; the others are counted


class Numbered(NamedTuple):
    number: int  # of the line or of the list's element, from 1
    record: Record


class Log:
    """One file. Reading it counts what is no record; adapters add what they could not understand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = 0  # records
        self.left_out = 0
        self._reasons: list[str] = []

    def refuse(self, number: int, why: str) -> None:
        """Record `number` is left out."""
        self.left_out += 1
        if len(self._reasons) < _NAMED:
            self._reasons.append(f"{self.path.name}:{number}: {why}")

    @property
    def problems(self) -> tuple[str, ...]:
        more = self.left_out - len(self._reasons)
        return (*self._reasons, *((f"{self.path.name}: {more} more records left out",) if more else ()))

    @property
    def written(self) -> float:
        """When the file was last changed: what is known of the time of runs that tell none."""
        return self.path.stat().st_mtime

    def records(self) -> Iterator[Numbered]:
        """Every JSON object, whatever the file's shape."""
        for number, value in self._read(self._values):
            if isinstance(value, dict):
                self.read += 1
                yield Numbered(number, value)
            else:
                self.refuse(number, f"a JSON {type(value).__name__} where an object should be")

    def lines(self, *, blank: bool = False) -> Iterator[tuple[int, bytes]]:
        """Every line, as it stands. `blank`: also the empty ones, which part a text."""
        for number, line in self._read(self._raw_lines):
            if blank or line.strip():
                self.read += 1
                yield number, line

    def _read(self, how: Callable[[io.BufferedReader], Iterator[tuple[int, _T]]]) -> Iterator[tuple[int, _T]]:
        try:
            with opened(self.path) as file:
                yield from how(file)
        except (OSError, EOFError, zlib.error) as error:  # the last two: gzip that ends early, or is none
            self.refuse(self.read + 1, f"can't be read on ({getattr(error, 'strerror', '') or error})")

    def _values(self, file: io.BufferedReader) -> Iterator[tuple[int, object]]:
        shape = _shape(file.peek(_HEAD)[:_HEAD])
        if shape == "list":
            yield from self._elements(file)
        elif shape == "document":
            yield from self._document(file)
        else:
            yield from self._line_values(file)

    def _raw_lines(self, file: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(_whole_lines(file), start=1):
            if line is None:
                self.refuse(number, f"a line of more than {LONGEST} bytes")
            else:
                yield number, line

    def _line_values(self, file: io.BufferedReader) -> Iterator[tuple[int, object]]:
        for number, line in self._raw_lines(file):
            text = line.decode("utf-8-sig", "replace").strip()
            if not text:
                continue
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                self.refuse(number, f"no JSON: {text[:60]!r}")
                continue
            yield number, value

    def _elements(self, file: io.BufferedReader) -> Iterator[tuple[int, object]]:
        number = 0
        try:
            for number, value in enumerate(_list_elements(file), start=1):
                yield number, value
        except (ValueError, RecursionError) as error:
            self.refuse(number + 1, f"the list is damaged from here on ({error})")

    def _document(self, file: io.BufferedReader) -> Iterator[tuple[int, object]]:
        data = file.read(_LARGEST_DOCUMENT + 1)
        if len(data) > _LARGEST_DOCUMENT:
            self.refuse(1, f"one document of more than {_LARGEST_DOCUMENT} bytes")
            return
        try:
            value = json.loads(data.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as error:
            self.refuse(1, f"no JSON ({error})")
            return
        yield 1, value


def opened(path: Path) -> io.BufferedReader:
    """The file's bytes, unpacked. Raises NotFound for what is no file."""
    try:
        # A pipe would wait for its other end for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotFound(f"{str(path)!r} is no file; give log files or a folder of them")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {str(path)!r}") from error
    if path.suffix == ".gz":
        # It reads bytes in the same way; it is no raw stream by its type only.
        return io.BufferedReader(cast("io.RawIOBase", gzip.open(path, "rb")), _HEAD)
    return io.BufferedReader(io.FileIO(path), _HEAD)


def first_records(path: Path, most: int = 20) -> list[Record]:
    """What a file begins with; [] when that is no record. For telling formats apart."""
    log = Log(path)
    found: list[Record] = []
    for _, record in log.records():
        found.append(record)
        if len(found) == most:
            break
    return found


def first_text(path: Path) -> str:
    """What a file begins with, as text; "" when it is none."""
    try:
        with opened(path) as file:
            head = file.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return ""
    return "" if b"\0" in head else head.decode("utf-8-sig", "replace")


def _shape(head: bytes) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return "list"
    first, _, rest = text.partition(b"\n")
    if first.startswith(b"{") and rest.strip() and len(first) < 200:
        try:
            json.loads(first)
        except (ValueError, RecursionError):
            # A document over several lines; but a damaged first line of JSON lines has a record after it.
            return "lines" if rest.lstrip(b" \t").startswith(b"{") else "document"
    return "lines"


def _whole_lines(file: io.BufferedReader) -> Iterator[bytes | None]:
    """Every line, the last one also without its end; None for one that is too long."""
    while line := file.readline(LONGEST + 1):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_STEP)
        yield None


def _list_elements(file: io.BufferedReader) -> Iterator[object]:
    """The elements of one JSON list, of which only the one that is being read is held."""
    decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
    decoder = json.JSONDecoder()
    text, at, step = decode(file.read(_STEP)).lstrip().removeprefix("["), 0, _STEP
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at < len(text) and text[at] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
            step = _STEP
        except ValueError:
            data = file.read(step)
            if not data or len(text) - at > LONGEST:
                raise
            text, at = text[at:] + decode(data), 0
            step *= 2  # so that a long element is not tried again for each small piece
            continue
        yield value
