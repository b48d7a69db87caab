"""The block structure of a note's body: which lines belong together, under which headings.

Pure, one pass over the lines, no recursion, so that depth costs nothing. Knows nothing of frontmatter, titles
or chunks. It follows CommonMark as Obsidian shows it, with these choices of its own:
- an item is its marker line with its continuation lines; nested items, and code, quotes or tables inside an
  item, are blocks of their own;
- only a single line of text becomes a heading by underlining: under a long paragraph a rule is meant;
- `$$`, `%%` and `<!--` that are never closed are text, so that one slip can't hide the rest of a note.
"""

from collections.abc import Callable

from hindbrain.vault.inline import Found, extract
from hindbrain.vault.line_shapes import (
    CALLOUT,
    HTML_BLOCK,
    ORDERED,
    VERBATIM_TAGS,
    fence_run,
    heading_level,
    indent_of,
    interrupts_text,
    is_delimiter_row,
    is_rule,
    item_content,
)
from hindbrain.vault.note import Block, BlockKind, Callout, Heading, Task
from hindbrain.vault.spans import CLOSERS, FENCES, SpanSearch, closes, open_span, opened_by


class BlockReader:
    """Reads the lines of one body from `first` (0-based) on; the results are its public lists."""

    __slots__ = (
        "_columns",
        "_indent",
        "_lines",
        "_open_sections",
        "_path",
        "_spans",
        "_tables",
        "_verbatim",
        "blocks",
        "callouts",
        "found",
        "headings",
        "tasks",
    )

    def __init__(self, text: str, lines: list[str]) -> None:
        self._lines = lines
        self._columns: list[int] = []  # content columns of the open list items, outermost first
        self._indent = 0  # of the line that a reader is called for
        self._open_sections: list[tuple[int, str]] = []
        self._path: tuple[str, ...] = ()
        # Looked up once per note, so that most notes never pay for these per line.
        self._tables = "|" in text
        self._spans = SpanSearch(lines) if any(opener in text for opener in CLOSERS) else None
        self._verbatim = SpanSearch(lines)
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []
        self.tasks: list[Task] = []
        self.callouts: list[Callout] = []
        self.found = Found()

    def read(self, first: int) -> None:
        lines, count = self._lines, len(self._lines)
        i = first
        while i < count:
            line = lines[i]
            if not line or line.isspace():
                i += 1
            elif line[0] in _MAYBE_STRUCTURE:
                i = self._read_structure(i, line)
            else:
                self._columns.clear()
                i = self._read_text(i, 0)

    def _read_structure(self, i: int, line: str) -> int:
        indent, body = indent_of(line)
        self._indent = indent
        columns = self._columns
        in_list = bool(columns)
        while columns and columns[-1] > indent:
            columns.pop()
        base = columns[-1] if columns else 0
        if indent - base >= 4 and not (in_list and item_content(body)):
            return self._read_indented_code(i, base + 4)
        reader = _READERS.get(body[0])
        after = reader(self, i, body) if reader else 0
        return after or self._read_text(i, base)

    def _add(self, kind: BlockKind, first: int, after: int) -> int:
        """Record lines `first` up to `after` (0-based, exclusive) as a block; return `after`."""
        self.blocks.append(Block(kind, first + 1, after, self._path))
        return after

    # Text: paragraphs, items, tables

    def _read_text(self, i: int, base: int) -> int:
        if self._tables and self._is_table(i):
            return self._read_table(i)
        after = self._take_line(i)
        if after == i + 1 < len(self._lines) and not base:
            level = _underline_level(self._lines[after])
            if level:
                return self._open_section(i, after + 1, level, self._lines[i].strip())
        return self._add("paragraph", i, self._continue_text(after, base))

    def _continue_text(self, i: int, base: int) -> int:
        """Take the lines that go on with the text before line `i`; return the first that does not."""
        lines, count = self._lines, len(self._lines)
        while i < count:
            line = lines[i]
            if not line or line.isspace():
                break
            if line[0] in _MAYBE_STRUCTURE and interrupts_text(line, base):
                break
            if self._tables and self._is_table(i):
                break
            i = self._take_line(i)
        return i

    def _take_line(self, i: int) -> int:
        """Collect what stands inside line `i`; return the next line to look at."""
        if self._spans is not None:
            return self._take_line_with_spans(i, self._lines[i], self._spans)
        extract(self._lines[i], i + 1, self.found)
        return i + 1

    def _take_line_with_spans(self, i: int, line: str, spans: SpanSearch) -> int:
        """As `_take_line`; a comment or math may open here and close on a later line of the paragraph."""
        while True:
            opener, at = open_span(line)
            closer = CLOSERS.get(opener, "")
            closing = spans.find_in_paragraph(closer, i + 1) if opener else -1
            if closing < 0:
                extract(line, i + 1, self.found)
                return i + 1
            extract(line[:at], i + 1, self.found)
            i, line = closing, self._lines[closing]
            line = line[line.index(closer) + len(closer) :]

    def _is_table(self, i: int) -> bool:
        lines = self._lines
        return "|" in lines[i] and i + 1 < len(lines) and is_delimiter_row(lines[i + 1])

    def _read_table(self, i: int) -> int:
        lines, count = self._lines, len(self._lines)
        base = self._columns[-1] if self._columns else 0
        j = i
        while j < count and (
            j < i + 2 or (lines[j] and not lines[j].isspace() and not interrupts_text(lines[j], base))
        ):
            extract(lines[j], j + 1, self.found)
            j += 1
        return self._add("table", i, j)

    def _read_item(self, i: int, body: str) -> int:
        if is_rule(body):
            return self._add("rule", i, i + 1)
        content = item_content(body)
        if not content:
            return 0
        text = body[content:]
        column = self._indent + content
        self._columns.append(column)
        if text[:3] in FENCES and fence_run(text):
            return self._read_fence(i, column, text)
        self._note_task(text, i)
        after = self._continue_text(self._take_line(i), column)
        return self._add("item", i, self._continue_item(after, column))

    def _continue_item(self, after: int, column: int) -> int:
        """Further paragraphs of an item: text indented to its content, after blank lines."""
        lines, count = self._lines, len(self._lines)
        while True:
            j = after
            while j < count and (not lines[j] or lines[j].isspace()):
                j += 1
            if j in (after, count) or lines[j][0] not in " \t":
                return after
            indent = indent_of(lines[j])[0]
            if not column <= indent < column + 4 or interrupts_text(lines[j], column):
                return after
            if self._tables and self._is_table(j):
                return after
            after = self._continue_text(self._take_line(j), column)

    def _note_task(self, text: str, i: int) -> None:
        if text[:1] == "[" and text[2:4] in ("] ", "]\t"):
            self.tasks.append(Task(text[1], text[4:].strip(), i + 1))

    def _read_ordered_item(self, i: int, body: str) -> int:
        return self._read_item(i, body) if ORDERED.match(body) else 0

    # Headings and rules

    def _read_heading(self, i: int, body: str) -> int:
        level = heading_level(body)
        if not level:
            return 0
        text = body[level:].strip()
        if text.endswith("#"):
            bare = text.rstrip("#")
            if not bare or bare[-1] in " \t":
                text = bare.rstrip()
        extract(body[level:], i + 1, self.found)
        return self._open_section(i, i + 1, level, text)

    def _open_section(self, i: int, after: int, level: int, text: str) -> int:
        sections = self._open_sections
        while sections and sections[-1][0] >= level:
            sections.pop()
        sections.append((level, text))
        self._path = tuple([section for _, section in sections])
        self.headings.append(Heading(level, text, i + 1))
        return self._add("heading", i, after)

    def _read_rule(self, i: int, body: str) -> int:
        return self._add("rule", i, i + 1) if is_rule(body) else 0

    # Blocks whose lines are not read further: code, math, comments, raw HTML

    def _read_fence_line(self, i: int, body: str) -> int:
        base = self._columns[-1] if self._columns else 0
        return self._read_fence(i, base, body) if fence_run(body) else 0

    def _read_fence(self, i: int, base: int, opening: str) -> int:
        lines, count = self._lines, len(self._lines)
        run = fence_run(opening)
        fence = opening[:run]
        for j in range(i + 1, count):
            line = lines[j]
            if fence in line:
                indent, body = indent_of(line)
                if indent - base < 4 and not body.strip(fence[0] + " \t") and body.startswith(fence):
                    return self._add("code", i, j + 1)
            if base and line and not line.isspace() and indent_of(line)[0] < base:
                return self._add("code", i, self._without_blank_end(i, j))
        return self._add("code", i, self._without_blank_end(i, count))

    def _read_indented_code(self, i: int, column: int) -> int:
        lines, count = self._lines, len(self._lines)
        after = j = i + 1
        while j < count:
            line = lines[j]
            if line and not line.isspace():
                if line[0] not in " \t" or indent_of(line)[0] < column:
                    break
                after = j + 1
            j += 1
        return self._add("code", i, after)

    def _without_blank_end(self, i: int, after: int) -> int:
        while after > i + 1 and (not self._lines[after - 1] or self._lines[after - 1].isspace()):
            after -= 1
        return after

    def _read_math(self, i: int, body: str) -> int:
        return self._read_delimited("math", "$$", i, body)

    def _read_comment(self, i: int, body: str) -> int:
        return self._read_delimited("comment", "%%", i, body)

    def _read_delimited(self, kind: BlockKind, opener: str, i: int, body: str) -> int:
        if not body.startswith(opener):
            return 0
        closer = CLOSERS[opener]
        end = body.find(closer, len(opener))
        if end >= 0:
            alone = not body[end + len(closer) :].strip()
            return self._add(kind, i, i + 1) if alone else 0
        closing = self._spans.find_anywhere(closer, i + 1) if self._spans is not None else -1
        return self._add(kind, i, closing + 1) if closing >= 0 else 0

    def _read_html(self, i: int, body: str) -> int:
        if body.startswith("<!--"):
            return self._read_delimited("comment", "<!--", i, body)
        match = HTML_BLOCK.match(body)
        if not match:
            return 0
        tag = match[1].lower()
        if tag in VERBATIM_TAGS and not body.startswith("</"):
            closer = f"</{tag}>"
            closing = i if closer in body else self._verbatim.find_anywhere(closer, i + 1)
            if closing >= 0:
                return self._add("html", i, closing + 1)
        lines, count = self._lines, len(self._lines)
        j = i
        while j < count and lines[j] and not lines[j].isspace():
            j = self._take_line(j)
        return self._add("html", i, j)

    # Quotes and callouts

    def _read_quote(self, i: int, _body: str) -> int:
        lines, count = self._lines, len(self._lines)
        closer = ""  # what ends the code, math or comment that is open inside the quote
        text_before = False  # whether a line without ">" may go on with the quote's text
        j = i
        while j < count:
            line = lines[j]
            if not line or line.isspace():
                break
            inner = line.lstrip("> \t")
            if line[0] != ">" and indent_of(line)[1][0] != ">":
                if not text_before or interrupts_text(line, 0):
                    break
            elif closer:
                closer = "" if closes(inner, closer) else closer
                text_before = False
                j += 1
                continue
            else:
                closer = opened_by(inner)
                text_before = bool(inner) and not closer
            if not closer:
                self._take_quoted(inner, j)
            j += 1
        return self._add("quote", i, j)

    def _take_quoted(self, inner: str, i: int) -> None:
        if inner[:2] == "[!":
            match = CALLOUT.match(inner)
            if match:
                self.callouts.append(Callout(match[1].strip().lower(), match[2].strip(), i + 1))
        content = item_content(inner)
        if content:
            self._note_task(inner[content:], i)
        extract(inner, i + 1, self.found)


def _underline_level(line: str) -> int:
    """1 for a line of "=", 2 for a line of "-" (at least two, indented less than four), else 0."""
    if line[:1] not in ("=", "-", " "):
        return 0
    indent, body = indent_of(line)
    body = body.rstrip()
    if indent > 3 or len(body) < 2 or body.strip(body[0]):
        return 0
    return {"=": 1, "-": 2}.get(body[0], 0)


_Reader = Callable[[BlockReader, int, str], int]
# First character of a line -> who may read it. A reader returns the line after its block, 0 when it is text.
_READERS: dict[str, _Reader] = {
    "#": BlockReader._read_heading,
    ">": BlockReader._read_quote,
    "`": BlockReader._read_fence_line,
    "~": BlockReader._read_fence_line,
    "-": BlockReader._read_item,
    "*": BlockReader._read_item,
    "+": BlockReader._read_item,
    "_": BlockReader._read_rule,
    "$": BlockReader._read_math,
    "%": BlockReader._read_comment,
    "<": BlockReader._read_html,
    **dict.fromkeys("0123456789", BlockReader._read_ordered_item),
}
_MAYBE_STRUCTURE = frozenset(_READERS) | {" ", "\t"}
