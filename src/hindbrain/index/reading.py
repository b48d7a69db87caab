"""Files in, their records out: read, decode, mask, parse, cut. Writes nothing; may run in another process.

What looks like a secret is masked before anything is made of the text, and what is not for readers (comments,
drawing data) is blanked out, so that neither the index nor an embedder nor a hit ever has it. Length and
lines stay, so that passages and citations are those of the note.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hindbrain.base.errors import HindbrainError, NoteUnreadable
from hindbrain.base.secrets import mask
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.plan import KnownNote
from hindbrain.index.record import NoteRecord, make_canvas_record, make_record
from hindbrain.vault.canvas import is_canvas, read_canvas
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.logseq import as_page
from hindbrain.vault.parse import decode_note
from hindbrain.vault.paths import read_note
from hindbrain.vault.scan_result import ScannedFile
from hindbrain.vault.visible import visible_note

_BINARY_LOOK = 8_192  # bytes in which a NUL marks a file that is no text
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Reading:
    file: ScannedFile
    digest: str
    at_ns: int  # when the bytes were read
    record: NoteRecord | None  # None: the bytes are those that are known


@dataclass(frozen=True, slots=True)
class FileFailure:
    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadSettings:
    root: Path
    chunks: ChunkSettings
    max_bytes: int
    logseq: bool = False  # the vault is a Logseq graph


def read_files(
    settings: ReadSettings, files: Sequence[tuple[ScannedFile, KnownNote | None]], now_ns: int
) -> list[Reading | FileFailure]:
    """Read each file with what is known of it. One bad note affects only itself."""
    results: list[Reading | FileFailure] = []
    for file, known in files:
        try:
            results.append(_read_file(settings, file, known, now_ns))
        except Exception as error:  # noqa: BLE001 - told in the report
            results.append(as_failure(file.path, error))
    return results


def as_failure(path: str, error: Exception) -> FileFailure:
    if isinstance(error, HindbrainError):
        return FileFailure(path, error.code, str(error))
    return FileFailure(path, "internal", f"{path!r} can't be indexed: {type(error).__name__}: {error}")


def _read_file(settings: ReadSettings, file: ScannedFile, known: KnownNote | None, now_ns: int) -> Reading:
    data = read_note(settings.root, file.path, max_bytes=settings.max_bytes)
    digest = content_hash(data)
    if known is not None and known.hash == digest:
        return Reading(file, digest, now_ns, None)
    if b"\0" in data[:_BINARY_LOOK] and not data.startswith(_UTF16_MARKS):
        raise NoteUnreadable(f"{file.path!r} is a binary file with a note's name; it is left out")
    text, problems = decode_note(data)
    stem = file.path.rpartition("/")[2].rpartition(".")[0]
    if is_canvas(file.path):
        canvas = read_canvas(text, stem=stem, clean=mask)
        return Reading(file, digest, now_ns, make_canvas_record(file.path, canvas, settings.chunks))
    note = visible_note(mask(text), stem=stem)
    if settings.logseq:
        note = as_page(file.path, note)
    if problems:
        note = replace(note, problems=problems + note.problems)
    return Reading(file, digest, now_ns, make_record(file.path, note, settings.chunks))
