"""What an owner would want to know about a note: things that are broken, not matters of taste.

Pure but for `check_files`, which reads notes and may run in another process. Knows nothing of memories, tasks
or agents; whether a link leads anywhere is asked of whoever knows the vault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.line_shapes import fence_run, indent_of, item_content
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Link, Note, Property
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import read_note

# (target as written, the note it stands in) -> where it leads. None when it means a file that is no note, or
# one that is left out of the index: nothing is said of these.
Resolve: TypeAlias = Callable[[str, str], "LinkEnd | None"]

_TAG_KEYS = ("tags", "tag")
_SHOWN = 5
# Obsidian reads a tag up to the first of these.
_NOT_IN_TAGS = re.compile(r"[\s!-,.:-@\[-^`{-~]")
# A "#" where a tag begins: an item of a block list, behind "[" or ",", or a value of nothing but such words.
_ITEM_HASH = re.compile(r"(\s*-\s+[\"']?)#+(?=[^\s#])")
_FLOW_HASH = re.compile(r"(?<=[\[,])(\s*[\"']?)#+(?=[^\s#])")
_TEXT_HASH = re.compile(r"([^:]*:\s+[\"']?)(#+[^\s,#]+(?:[,\s]+#+[^\s,#]+)*)([\"']?\s*)")
_COMMENT = re.compile(r"(?:^|\s)#(?:\s.*)?$")


class LintProblem(NamedTuple):
    """Something to mend, and where."""

    path: str  # vault-relative
    line: int  # 1-based; 0 when it is about the whole note
    code: str  # stable: broken_link, duplicate_block_id, ...
    message: str
    fixable: bool = False  # can be mended without a decision of the owner's


class LinkMention(NamedTuple):
    """A link to another file or into its own, still to be looked up."""

    target: str  # with the heading or block: "Ada#Boats", "#^m-7f3k2a"
    line: int


class LinkEnd(NamedTuple):
    """Where a link leads."""

    notes: Sequence[str]  # that it may mean: none is broken, several are ambiguous
    lacks: Literal["", "heading", "block"] = ""  # what the note does not have


class Checked(NamedTuple):
    """What one note shows by itself."""

    path: str
    problems: tuple[LintProblem, ...]
    links: tuple[LinkMention, ...]


def check_note(path: str, data: bytes) -> Checked:
    text, unread = decode_note(data)
    if not text.strip():
        return Checked(path, (LintProblem(path, 0, "empty_note", "the note is empty"),), ())
    note = parse_note(text, stem=path.rpartition("/")[2].rpartition(".")[0])
    problems = [LintProblem(path, p.line, p.code, p.message) for p in (*unread, *note.problems)]
    problems += _open_fences(path, note)
    problems += _equal_block_ids(path, note)
    problems += _unreadable_tags(path, note)
    links = tuple(LinkMention(_written(link), link.line) for link in note.links)
    return Checked(path, tuple(problems), links)


def _written(link: Link) -> str:
    anchor = f"#^{link.block}" if link.block else f"#{link.heading}" if link.heading else ""
    return link.target + anchor


def check_files(root: Path, paths: Sequence[NotePath], max_bytes: int) -> list[Checked]:
    """Check notes on disk. One that can't be read affects only itself."""
    results: list[Checked] = []
    for path in paths:
        try:
            data = read_note(root, path, max_bytes=max_bytes + 1)
            results.append(_too_large(path, max_bytes) if len(data) > max_bytes else check_note(path, data))
        except HindbrainError as error:
            results.append(Checked(path, (LintProblem(path, 0, error.code, str(error)),), ()))
    return results


def _too_large(path: str, max_bytes: int) -> Checked:
    message = f"the note is larger than {max_bytes} bytes and was not looked at (vault.max_note_mb)"
    return Checked(path, (LintProblem(path, 0, "too_large", message),), ())


def check_links(path: str, links: Sequence[LinkMention], resolve: Resolve) -> Iterator[LintProblem]:
    for target, line in links:
        end = resolve(target, path)
        if end is None:
            continue
        notes = end.notes
        if not notes:
            yield LintProblem(path, line, "broken_link", f"no note answers to {target!r}")
        elif end.lacks:
            message = f"{target!r} leads to {notes[0]!r}, which has no such {end.lacks}"
            yield LintProblem(path, line, f"broken_{end.lacks}", message)
        if len(notes) > 1:
            shown = ", ".join(map(repr, sorted(notes)[:_SHOWN])) + (", ..." if len(notes) > _SHOWN else "")
            message = f"{len(notes)} notes answer to {target!r}: {shown}; write the path of one"
            yield LintProblem(path, line, "ambiguous_link", message)


def fix_tags(data: bytes) -> bytes:
    """Take the "#" from tags in the frontmatter: YAML reads it as a comment, or Obsidian as part of the tag.

    The rest of the line stays. Idempotent; a frontmatter with problems is left alone.
    """
    if b"#" not in data[: 1 << 17] or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data
    lines = NoteLines(data)
    changed = False
    for at, _ in _hash_tags(lines.texts):
        lines.replace(at, _without_hash(lines.texts[at]))
        changed = True
    return lines.data() if changed else data


def _hash_tags(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines (from 0) of the property `tags` that write a tag with "#"."""
    front = read_frontmatter(list(texts) or [""])
    if any(problem.code != "frontmatter_duplicate_key" for problem in front.problems):
        return
    for key, (first, last) in front.spans.items():
        if key.lower() in _TAG_KEYS:
            for at in range(first - 1, last):
                if _without_hash(texts[at]) != texts[at]:
                    yield at, texts[at]


def _without_hash(line: str) -> str:
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    body, rest = line[:end], line[end:]
    if body.lstrip().startswith("-"):
        return _ITEM_HASH.sub(r"\1", body, count=1) + rest
    if whole := _TEXT_HASH.fullmatch(body):
        return whole[1] + whole[2].replace("#", "") + whole[3] + rest
    return (_FLOW_HASH.sub(r"\1", body) if not body.lstrip().startswith("#") else body) + rest


def _open_fences(path: str, note: Note) -> Iterator[LintProblem]:
    """Code that no fence closes and that therefore hides everything to the end of the note."""
    if not note.blocks or note.blocks[-1].kind != "code":
        return
    block = note.blocks[-1]
    opening = indent_of(note.lines[block.first_line - 1])[1]
    opening = opening[item_content(opening) :]
    if opening[:1] not in ("`", "~") or not (run := fence_run(opening)):
        return
    closing = note.lines[block.last_line - 1].strip()
    closed = closing.startswith(opening[:run]) and not closing.strip(opening[0])
    if not closed or block.last_line == block.first_line:
        message = f"the code that begins here with {opening[:run]!r} is never closed"
        yield LintProblem(path, block.first_line, "unclosed_fence", message)


def _equal_block_ids(path: str, note: Note) -> Iterator[LintProblem]:
    seen: dict[str, int] = {}
    for block in note.block_ids:
        first = seen.setdefault(block.id.casefold(), block.line)
        if first != block.line:
            message = f"line {first} has the block id ^{block.id} already; a link leads to one of them only"
            yield LintProblem(path, block.line, "duplicate_block_id", message)


def _unreadable_tags(path: str, note: Note) -> Iterator[LintProblem]:
    for key, value in note.frontmatter.items():
        if key.lower() in _TAG_KEYS:
            yield from _tags_with_hash(path, note)
            line = next((i for i, text in enumerate(note.lines, 1) if text.lstrip(" \"'").startswith(key)), 1)
            for tag in _written_tags(value):
                if reason := _why_unreadable(tag.lstrip("#")):
                    yield LintProblem(path, line, "tag_unreadable", f"the tag {tag!r} {reason}")


def _tags_with_hash(path: str, note: Note) -> Iterator[LintProblem]:
    inside = note.lines[: note.body_line - 1]
    if not any("#" in line for line in inside):
        return
    for at, text in _hash_tags(inside):
        message = f"a tag in the frontmatter is written with '#': {text.strip()!r}"
        yield LintProblem(path, at + 1, "tag_with_hash", message, fixable=True)


def _written_tags(value: Property) -> list[str]:
    if isinstance(value, str):
        return value.replace(",", " ").split()
    return [item for item in value if item.strip()] if isinstance(value, list) else []


def _why_unreadable(tag: str) -> str:
    if "{{" in tag or "<%" in tag:
        return ""  # a template's place holder
    if bad := _NOT_IN_TAGS.search(tag.strip()):
        what = "a space" if bad[0].isspace() else repr(bad[0])
        return f"holds {what}, which ends a tag in Obsidian"
    if tag.strip("/").replace("/", "").isdecimal():
        return "is only digits, which Obsidian takes for no tag"
    return ""
