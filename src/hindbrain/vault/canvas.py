"""A canvas (JSON Canvas, `.canvas`) as a note: its text nodes are its text, its file nodes are links.

Pure, never raises on any input, and takes linear time. A group's label is the heading of the nodes that lie
in it. Line numbers of the note count the text that is made here; `Canvas.lines` says at which line of the
file each of them stands. Canvases are read only: nothing of ours writes to one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hindbrain.vault.note import Block, Heading, Link, Note, Problem
from hindbrain.vault.parse import parse_note
from hindbrain.vault.visible import visible_note

ENDING = ".canvas"
_CONTENT = {"text": "text", "file": "file", "group": "label"}  # where a node keeps it
_ID = re.compile(r'"id"\s*:\s*"([^"\\]*)"')
_MOST_GROUPS = 200  # the smallest; each node is compared with each of them


@dataclass(frozen=True, slots=True)
class Canvas:
    note: Note
    lines: tuple[int, ...]  # of the file, one for each line of the note


@dataclass(frozen=True, slots=True)
class _Node:
    kind: str  # "text", "file" or "group"
    content: str  # the text, the file's path, the label
    subpath: str  # of a file: "#heading"; else ""
    line: int  # of the file, 1-based
    box: tuple[float, float, float, float]  # left, top, width, height

    @property
    def area(self) -> float:
        return self.box[2] * self.box[3]

    def holds(self, other: _Node) -> bool:
        """Does the middle of the other lie inside?"""
        (left, top, width, height), (x, y, w, h) = self.box, other.box
        return left <= x + w / 2 <= left + width and top <= y + h / 2 <= top + height


def is_canvas(path: str) -> bool:
    return path.lower().endswith(ENDING)


def read_canvas(text: str, *, stem: str, clean: Callable[[str], str] = str) -> Canvas:
    """Read the text of a `.canvas` file. `clean` is applied to what its owner wrote, before it is parsed."""
    empty = replace(parse_note("", stem=stem), name=stem + ENDING)
    try:
        nodes = list(_nodes(text)) if text.strip() else []
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        message = f"the canvas is no valid JSON ({error}); nothing in it is found"
        return Canvas(replace(empty, problems=(Problem("canvas_malformed", message, line),)), (1,))
    return _as_note(nodes, empty, clean)


def _nodes(text: str) -> Iterator[_Node]:
    found = json.loads(text)
    items = found.get("nodes") if isinstance(found, dict) else None
    if not isinstance(items, list) and found != {}:
        raise ValueError("it has no list of nodes")
    lines = _lines_of_ids(text)
    for node in items or ():
        kind = node.get("type") if isinstance(node, dict) else None
        content = node.get(_CONTENT[kind]) if isinstance(kind, str) and kind in _CONTENT else None
        if not isinstance(content, str) or not content.strip():
            continue
        subpath = node.get("subpath")
        left, top, width, height = (_number(node.get(name)) for name in ("x", "y", "width", "height"))
        yield _Node(
            str(kind),
            _sound(content),
            _sound(subpath) if isinstance(subpath, str) else "",
            lines.get(str(node.get("id")), 1),
            (left, top, width, height),
        )


def _lines_of_ids(text: str) -> dict[str, int]:
    """At which line each id stands first, as far as ids are plain."""
    lines: dict[str, int] = {}
    line, done = 1, 0
    for match in _ID.finditer(text):
        line += text.count("\n", done, match.start())
        done = match.start()
        lines.setdefault(match[1], line)
    return lines


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0


def _sound(text: str) -> str:
    """JSON may escape half a character, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _as_note(nodes: Sequence[_Node], empty: Note, clean: Callable[[str], str]) -> Canvas:
    lines: list[str] = []
    numbers: list[int] = []  # of the file, for each of `lines`
    blocks: list[Block] = []
    headings: list[Heading] = []
    links: list[Link] = []
    tags: dict[str, None] = {}
    summary = ""
    for label, node in _in_order(nodes):
        if node.kind == "file":
            links.append(_file_link(node))
            continue
        part = visible_note(clean(node.content), stem=empty.title)
        path = (clean(label),) if label else ()
        blocks += [_moved(block, len(lines), path) for block in part.blocks]
        headings += [replace(heading, line=heading.line + len(lines)) for heading in part.headings]
        links += [replace(link, line=node.line) for link in part.links]
        tags |= dict.fromkeys(part.tags)
        summary = summary or part.summary
        lines += (*part.lines, "")
        numbers += [node.line] * (len(part.lines) + 1)
    note = replace(
        empty,
        lines=tuple(lines) or ("",),
        blocks=tuple(blocks),
        headings=tuple(headings),
        links=tuple(links),
        tags=tuple(tags),
        summary=summary,
    )
    return Canvas(note, tuple(numbers) or (1,))


def _moved(block: Block, by: int, path: tuple[str, ...]) -> Block:
    first, last = block.first_line + by, block.last_line + by
    return replace(block, first_line=first, last_line=last, headings=(*path, *block.headings))


def _file_link(node: _Node) -> Link:
    anchor = node.subpath.removeprefix("#")
    heading, block = ("", anchor[1:]) if anchor.startswith("^") else (anchor, "")
    return Link(node.content, heading, block, "", True, node.line)


def _in_order(nodes: Sequence[_Node]) -> Iterator[tuple[str, _Node]]:
    """Texts and files, each with the label of the smallest group around it: by groups, then from top down."""
    groups = sorted((node for node in nodes if node.kind == "group"), key=lambda group: group.area)
    placed = [
        (next((group for group in groups[:_MOST_GROUPS] if group.holds(node)), None), node)
        for node in nodes
        if node.kind != "group"
    ]
    placed.sort(key=lambda pair: (pair[0] is not None, _place(pair[0]), _place(pair[1])))
    for group, node in placed:
        yield group.content if group else "", node


def _place(node: _Node | None) -> tuple[float, float, int]:
    return (node.box[1], node.box[0], node.line) if node else (0.0, 0.0, 0)
