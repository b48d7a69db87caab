"""`hindbrain read`: a note, or a section, block or range of lines of it, as it stands on disk."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError, NotFound, UsageError
from hindbrain.edge.note_names import find_note
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.edge.parser import nearest

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.vault.note import Note
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
    from dataclasses import asdict

    from hindbrain.vault.hashing import content_hash
    from hindbrain.vault.parse import decode_note, parse_note
    from hindbrain.vault.paths import read_note

    path, part = _resolve(app, " ".join(args.words))
    data = read_note(app.root, path)
    text, problems = decode_note(data)
    note = parse_note(text, stem=path.rpartition("/")[2].rpartition(".")[0])
    first, last = _range(note, path, part, args.lines)
    body = "\n".join(note.lines[first - 1 : last])
    if out.json:
        out.data(
            {
                "path": path,
                "title": note.title,
                "aliases": list(note.aliases),
                "tags": list(note.tags),
                "date": note.date,
                "hash": content_hash(data),
                "first_line": first,
                "last_line": last,
                "lines": len(note.lines),
                "text": body,
                "problems": [asdict(problem) for problem in (*problems, *note.problems)],
            }
        )
    else:
        out.line((safe(body) if out.on_terminal else body).removesuffix("\n"))
    _remember(app, path, out)
    return 0


def _resolve(app: App, name: str) -> tuple[NotePath, str]:
    """The note and the part of it. A "#" may belong to the note's own name, so the whole is tried first."""
    if "#" not in name:
        return find_note(app, name), ""
    try:
        return find_note(app, name), ""
    except NotFound:
        note, _, part = name.partition("#")
        return find_note(app, note), part.strip()


def _range(note: Note, path: NotePath, part: str, lines: str) -> tuple[int, int]:
    end = len(note.lines) - 1 if len(note.lines) > 1 and not note.lines[-1] else len(note.lines)
    if part and lines:
        raise UsageError("give a heading or --lines, not both")
    if part.startswith("^"):
        return _block(note, path, part[1:])
    if part:
        return _section(note, path, part, end)
    if not lines:
        return 1, end
    match = _LINES.fullmatch(lines.strip())
    first = int(match[1]) if match else 0
    last = first if match and match[2] is None else int(match[2]) if match and match[2] else end
    if match is None or first < 1 or last < first:
        raise UsageError(f"--lines {lines!r} is no range; write 12, 12-15 or 12-")
    if first > end:
        raise NotFound(f"{path!r} has {end} lines, so there is no line {first}")
    return first, min(last, end)


def _section(note: Note, path: NotePath, heading: str, end: int) -> tuple[int, int]:
    """From the heading to the next one of its level or above. "A#B" is B below A."""
    wanted = [_folded(name) for name in heading.split("#")]
    trail: list[tuple[int, str]] = []
    for i, found in enumerate(note.headings):
        trail = [item for item in trail if item[0] < found.level] + [(found.level, _folded(found.text))]
        names = [name for _, name in trail]
        if names[-1] == wanted[-1] and all(name in names for name in wanted):
            after = (later.line - 1 for later in note.headings[i + 1 :] if later.level <= found.level)
            return found.line, next(after, end)
    known = [found.text for found in note.headings]
    raise NotFound(f"{path!r} has no heading {heading!r}{nearest(heading, known)}")


def _block(note: Note, path: NotePath, block_id: str) -> tuple[int, int]:
    line = next((found.line for found in note.block_ids if found.id == block_id), 0)
    if not line:
        raise NotFound(
            f"{path!r} has no block {'^' + block_id!r}{nearest(block_id, [b.id for b in note.block_ids])}"
        )
    blocks = list(note.blocks)
    at = next((i for i, block in enumerate(blocks) if block.first_line <= line <= block.last_line), None)
    if at is None:
        return line, line
    # An id that stands alone on its line names the block before it.
    if at and not note.lines[blocks[at].first_line - 1].replace(f"^{block_id}", "").strip():
        return blocks[at - 1].first_line, blocks[at - 1].last_line
    return blocks[at].first_line, blocks[at].last_line


def _folded(heading: str) -> str:
    return " ".join(heading.casefold().split())


def _remember(app: App, path: NotePath, out: Output) -> None:
    """Count the access. The note was read, so whatever goes wrong here is only said."""
    try:
        app.record_access(path)
    except HindbrainError as error:
        out.warn(f"this reading was not counted ({error.code})")
