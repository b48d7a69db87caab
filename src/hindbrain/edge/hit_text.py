"""Search hits as text: wrapped and highlighted on a terminal, plain in a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.edge.output import BOLD, CYAN, DIM, GREEN, YELLOW, Output, safe

if TYPE_CHECKING:
    from hindbrain.search.hit import Hit

_INDENT = "    "
_MAX_LINES = 12  # of one passage on a terminal; `hindbrain read` shows all
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ed", "es", "ly", "s", "e", "y")
_SHORTEST_STEM = 3
# Words; a character of a script that is written without spaces is a word of its own. Text, and compiled
# when a line is broken: that takes 8 ms, more than a whole keyword search.
_PARTS = r" *[\u1100-\u11ff\u2e80-\uffef]| *[^ \u1100-\u11ff\u2e80-\uffef]+"
_SMALLEST_SHARE = 0.015  # of a signal that is worth a word


def hit_lines(hits: Sequence[Hit], out: Output, *, explain: bool) -> Iterator[str]:
    """The lines of an answer, best hit first. In one note, the title stands out once."""
    note = ""
    for number, hit in enumerate(hits, start=1):
        if number > 1:
            yield ""
        yield _head(number, hit, out, same_note=hit.path == note)
        note = hit.path
        yield from (_INDENT + text for text in _body(hit, out))
        if hit.also:
            yield out.paint(f"{_INDENT}also: {', '.join(map(safe, hit.also))}", DIM)
        if hit.more:
            yield out.paint(f"{_INDENT}{plural(hit.more, 'more passage')} in this note", DIM)
        if explain:
            yield out.paint(_INDENT + _why(hit), DIM)


def _head(number: int, hit: Hit, out: Output, *, same_note: bool) -> str:
    lines = f"{hit.first_line}-{hit.last_line}" if hit.last_line > hit.first_line else f"{hit.first_line}"
    place = out.paint(f"{safe(hit.path)}:{lines}", CYAN)
    sure = out.paint(
        f"{hit.confidence:.2f}", GREEN if hit.confidence >= 0.6 else YELLOW if hit.confidence >= 0.3 else DIM
    )
    title = out.paint(safe(_name(hit)), DIM if same_note else BOLD)
    day = out.paint(f"   {hit.date}", DIM) if hit.date and hit.date not in hit.path else ""
    return f"{number:>2}  {title}   {place}   {sure}{day}"


def _name(hit: Hit) -> str:
    """The note's name, then its headings; a first heading that only repeats the name is left out."""
    headings = hit.heading.split(" > ") if hit.heading else []
    if headings and headings[0].casefold() == hit.title.casefold():
        headings = headings[1:]
    return " > ".join((hit.title, *headings))


def _body(hit: Hit, out: Output) -> list[str]:
    text = safe(_sentences(_without_headings(hit.text))).expandtabs(4).strip("\n")
    if not out.on_terminal:
        return text.split("\n")
    lines = [part for line in text.split("\n") for part in wrap(line, out.width - len(_INDENT))]
    if len(lines) > _MAX_LINES:
        lines = [*lines[: _MAX_LINES - 1], "..."]
    pattern = _pattern(hit.terms)
    if pattern is None:
        return lines
    return [pattern.sub(lambda match: out.paint(match[0], BOLD), line) for line in lines]


def _without_headings(text: str) -> str:
    """The head line names them already; a passage that is nothing but a heading keeps it."""
    return re.sub(r"\A(?:\s*#{1,6}[ \t][^\n]*\n+)+(?=\s*\S)", "", text)


def _sentences(text: str) -> str:
    """The passage with its memories as sentences: without fields, ids and what holds no longer."""
    if "^m-" not in text:
        return text
    lines = text.split("\n")
    held = [line for line in lines if not _is_superseded(line)]
    return "\n".join(map(_sentence, held if any(line.strip() for line in held) else lines))


def _is_superseded(line: str) -> bool:
    return "[superseded::" in line and "^m-" in line


def _sentence(line: str) -> str:
    from hindbrain.vault.items.item_line import read_line

    if "^m-" not in line:
        return line
    found = read_line(line)
    if not found.id.startswith("m-") or not found.pieces:
        return line
    tags = "".join(f" #{tag}" for tag in found.tags)
    return f"{line[: found.pieces[0][0]]}{found.text}{tags}"


def _why(hit: Hit) -> str:
    """What each signal gave to the score, the largest first."""
    total = sum(hit.why.values()) or 1.0
    parts = sorted(((share / total, name) for name, share in hit.why.items()), reverse=True)
    told = [f"{name} {part:.0%}" for part, name in parts if part >= _SMALLEST_SHARE and name != "feedback"]
    # However small it is, and it may take something away: an owner wants to know that it had a say.
    told += [f"feedback {part:+.1%}" for part, name in parts if name == "feedback"]
    return "why: " + " · ".join(told)


def _pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """What to highlight: the words of the query and their other endings, since the index knows word stems."""
    parts = [_word_pattern(term) for term in sorted(terms, key=len, reverse=True) if term]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _word_pattern(term: str) -> str:
    if not term.isascii():
        return re.escape(term)
    if " " in term:
        return r"\W+".join(re.escape(word) for word in term.split())
    stem = next(
        (
            term[: -len(end)]
            for end in _ENDINGS
            if term.endswith(end) and len(term) - len(end) >= _SHORTEST_STEM
        ),
        term,
    )
    return (
        rf"\b{re.escape(stem)}\w{{0,4}}\b" if stem != term else rf"\b{re.escape(term)}(?:s|es|ed|ing|ly)?\b"
    )


def wrap(line: str, width: int) -> list[str]:
    """Break a line at spaces, or anywhere between wide characters; the indentation stays."""
    width = max(width, 20)
    if len(line) * 2 <= width or (line.isascii() and len(line) <= width):
        return [line]
    indent = " " * min(len(line) - len(line.lstrip(" ")), width // 2)
    lines, current, used = [], indent, len(indent)
    for piece in _pieces(line.strip(" "), width - len(indent)):
        cells = columns(piece)
        if used + cells > width and current.strip():
            lines.append(current.rstrip(" "))
            current, used = indent, len(indent)
            piece = piece.lstrip(" ")
            cells = columns(piece)
        current += piece
        used += cells
    return [*lines, current.rstrip(" ")]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _pieces(line: str, width: int) -> Iterator[str]:
    """Parts that are not broken: words, with the spaces before them."""
    for word in re.findall(_PARTS, line):
        if columns(word) <= width:
            yield word
        else:
            yield from word
