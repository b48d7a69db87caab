"""`hindbrain read`: a note, or a section, block or range of lines of it, as it stands on disk."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.edge.note_names import find_part
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.app import App
    from hindbrain.vault.note import Note, Problem
    from hindbrain.vault.path_rules import NotePath

_LINES = re.compile(r"(\d+)(?:-(\d*))?")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="NOTE",
        help="path, title, alias or file name; NOTE#Heading or NOTE#^block for a part",
    )
    parser.add_argument("--lines", default="", metavar="A-B", help="only these lines: 12, 12-15 or 12-")


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        return _show(app, args, out)


def _show(app: App, args: Namespace, out: Output) -> int:
    from hindbrain.vault.parse import decode_note, parse_note
    from hindbrain.vault.paths import read_note

    path, part = find_part(app, " ".join(args.words))
    data = read_note(app.root, path)
    text, problems = decode_note(data)
    note = parse_note(text, stem=path.rpartition("/")[2].rpartition(".")[0])
    first, last = _range(note, path, part, args.lines)
    body = "\n".join(note.lines[first - 1 : last])
    if out.json:
        shown = note_data(path, data, note, (*problems, *note.problems))
        out.data(shown | part_data(note, first, last) | {"text": body})
    else:
        out.line((safe(body) if out.on_terminal else body).removesuffix("\n"))
    _remember(app, path, out)
    return 0


def note_data(path: NotePath, data: bytes, note: Note, problems: Sequence[Problem]) -> dict[str, Any]:
    """A note without its text, as JSON. The shape is a promise: docs/json.md."""
    from dataclasses import asdict

    from hindbrain.vault.hashing import content_hash

    return {
        "path": path,
        "title": note.name,
        "aliases": list(note.aliases),
        "tags": list(note.tags),
        "date": note.date,
        "hash": content_hash(data),
        "first_line": 1,
        "last_line": 0,
        "lines": len(note.lines),
        "text": "",
        "problems": [asdict(problem) for problem in problems],
    }


def part_data(note: Note, first: int, last: int) -> dict[str, Any]:
    """Which lines are shown. By a part, the whole note can't be replaced: then there is no hash."""
    from hindbrain.vault.note_parts import end_of

    lines: dict[str, Any] = {"first_line": first, "last_line": last}
    return lines if (first, last) == (1, end_of(note)) else lines | {"hash": ""}


def _range(note: Note, path: NotePath, part: str, lines: str) -> tuple[int, int]:
    from hindbrain.vault.note_parts import block_of, range_of, section_of

    if part and lines:
        raise UsageError("give a heading or --lines, not both")
    if part.startswith("^"):
        return block_of(note, path, part)
    if part:
        return section_of(note, path, part)
    return range_of(note, path, *line_range(lines)) if lines else range_of(note, path, 1, 0)


def line_range(text: str) -> tuple[int, int]:
    """ "12", "12-15" or "12-" as the first line and the last (0: to the end)."""
    match = _LINES.fullmatch(text.strip())
    first = int(match[1]) if match else 0
    last = first if match and match[2] is None else int(match[2]) if match and match[2] else 0
    if match is None or first < 1 or (match[2] and last < first):
        raise UsageError(f"--lines {text!r} is no range; write 12, 12-15 or 12-")
    return first, last


def _remember(app: App, path: NotePath, out: Output) -> None:
    """Count the access. The note was read, so whatever goes wrong here is only said."""
    try:
        app.record_access(path)
    except HindbrainError as error:
        out.warn(f"this reading was not counted ({error.code})")
