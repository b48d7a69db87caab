"""The lines of a note that say something, each with the headings and list items it stands under.

Pure: text in, lines out. Properties, comments, struck lines, empty questions of a template and the layout's
own first text say nothing; nor do rules, and the quote below a title that tells version and date. A heading
is never a line of its own: it enters with the first line below it. The note's title stands over all of it,
so it is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from hindbrain.context.packs.pack import LINE_KEY
from hindbrain.index.spoken import spoken
from hindbrain.vault.line_shapes import heading_level, indent_of, is_rule

# "- Name:", "- **Pronouns:** _(optional)_", "Role: <your role>": a question without an answer.
_UNANSWERED = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*|__)?[^:：]{1,60}[:：](?:\*\*|__)?\s*"
    r"(?:<[^>]*>|\[[^\]]*\]|[*_]\(.*\)[*_]|\(optional\)|tbd|todo|n/a|\.{3}|…|\?+|_+)?\s*",
    re.IGNORECASE,
)
_HINT = re.compile(r"\s*(?:[-*+]\s+)?[*_]{1,2}\(.*\)[*_]{1,2}\s*")  # "_(pick something you like)_"
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s")
_MARKS = " -*+\t|:`>"  # of lists, tables, quotes and rules
_SOURCE = re.compile(r"[ \t]+\[source:: ?(?:user|agent)\](?=\s|$)")  # others say whose word a line is
_TAGS = re.compile(r"(?<=\s)#[^\s#]+")
_FIELD = re.compile(r"[\[(][a-z]+::[^\[\]()\n]*[\])]")
_MARK = re.compile(r"^(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})")
_NO_SETEXT = (" ", "\t", ">", "|", "<")
_ABOUT_NOTE = re.compile(r">\s*[*_]{0,2}([A-Za-z][\w -]{0,30}?)[*_]{0,2}:[*_]{0,2}\s*\S.*")
_ABOUT_KEYS = frozenset(
    ("version", "last updated", "updated", "last modified", "modified", "created", "date")
)
SAME_TEXT_FROM = 24  # characters: shorter lines may well stand in a note or a prompt twice
_BELOW_HEADINGS = 10.0  # levels of headings count from here downwards, indents upwards


Above: TypeAlias = tuple[tuple[int, str], ...]  # headings and list items over a line, with their numbers


class Line(NamedTuple):
    """A line that says something."""

    number: int  # 1-based, in the note
    text: str
    above: Above = ()


class NoteText(NamedTuple):
    title: str  # the note's only heading of the first level; "" when it has none or several
    lines: tuple[Line, ...]


class Room:
    """What a slot can still spend. `cost` is the price of one rendered line; `held`: keys of lines that stand
    elsewhere, which do not enter."""

    def __init__(self, left: int, cost: Callable[[str], int], held: Set[str] = frozenset()) -> None:
        self.left = left
        self.held = held
        self.short = False  # something did not fit
        self._cost = cost

    def pay(self, lines: Iterable[str]) -> bool:
        """Pay for all of the lines, or for none when they do not fit."""
        price = sum(map(self._cost, lines))
        if price > self.left:
            self.short = True
            return False
        self.left -= price
        return True

    def pay_more(self, before: str, after: str) -> bool:
        """Pay for a longer text in place of one that is paid; False when there is no room."""
        more = self._cost(after) - self._cost(before)
        if more > self.left:
            self.short = True
            return False
        self.left -= more
        return True


def note_text(text: str, template: frozenset[str] = frozenset()) -> NoteText:
    """`template`: stripped lines that say nothing, since the layout wrote them."""
    from hindbrain.vault.visible import visible_note

    note = visible_note(text, stem="")
    first = [heading for heading in note.headings if heading.level == 1]
    title = first[0] if len(first) == 1 and first[0] is note.headings[0] else None
    headings = {heading.line: heading for heading in note.headings if heading is not title}
    code = {
        number
        for block in note.blocks
        if block.kind == "code"
        for number in range(block.first_line, block.last_line + 1)
    }
    outline = _Outline(template)
    body = list(enumerate(note.lines[note.body_line - 1 :], note.body_line))
    silent = _about_note(line for line in body if title is None or line[0] > title.line)
    for number, line in body:
        if number in silent or (title is not None and number == title.line):
            continue
        if heading := headings.get(number):
            outline.add_heading(number, f"{'#' * heading.level} {heading.text}", heading.level)
        elif number in code:
            outline.add_code(number, line)
        else:
            outline.add(number, shown_text(line).rstrip())
    return NoteText(title.text if title else "", tuple(outline.lines))


def pick_lines(lines: Iterable[Line], room: Room, head: str, *, skip: bool = False) -> list[Line]:
    """As many of the first `lines` as there is room for, with what stands above them.

    `head` is the line that says where they come from; it is paid with the first of them. `skip`: a line that
    is too long before the first that fits is left out; else it ends the search.
    """
    picked: list[Line] = []
    shown: set[int] = set()
    for line in lines:
        new = {
            number: text for number, text in (*line.above, (line.number, line.text)) if number not in shown
        }
        if not room.pay((*((head,) if not picked else ()), *new.values())):
            if skip and not picked:
                continue
            break
        shown.update(new)
        picked.append(line)
    return picked


def new_lines(path: str, lines: Iterable[Line], room: Room) -> list[Line]:
    """Those that do not stand elsewhere."""
    return [line for line in lines if line_key(path, line.text, line.above) not in room.held]


def text_of(lines: Sequence[Line]) -> str:
    """The lines in the note's order, each heading once, above the first line below it."""
    shown: dict[int, str] = {}
    for line in lines:
        shown.update((*line.above, (line.number, line.text)))
    return "\n".join(shown[number] for number in sorted(shown))


def shown_text(text: str) -> str:
    """As a prompt shows it: without ids and our fields, but with a source that is less trusted."""
    text = spoken(text)
    return _SOURCE.sub("", text) if "[source::" in text else text


def line_keys(path: str, lines: Iterable[Line]) -> tuple[str, ...]:
    """What lines are known by, whatever form they are shown in; a line without words has no key."""
    return tuple(filter(None, (line_key(path, line.text, line.above) for line in lines)))


def line_key(path: str, text: str, above: Above = ()) -> str:
    """The same for the same words in a note; of a few words, for those below the same heading."""
    folded = folded_line(text)
    if not any(map(str.isalnum, folded)):
        return ""
    heading = ""
    if len(folded) < SAME_TEXT_FROM:
        heading = next((over for _, over in reversed(above) if over.startswith("#")), "").lstrip("# ")
    name = f"{path}\0{heading}\0{folded}".encode("utf-8", "surrogatepass")
    return f"{LINE_KEY}{blake2b(name, digest_size=8).hexdigest()}"


def folded_line(text: str) -> str:
    """As it says the same: without marks of lists, tasks and emphasis, tags and fields."""
    text = _MARK.sub("", spoken(text).lstrip(), count=1)
    if " #" in text or "::" in text:
        text = _FIELD.sub("", _TAGS.sub("", text))
    return " ".join(text.replace("**", "").split()).lower()


class Placed(NamedTuple):
    """Where the lines of a note stand, by their numbers."""

    above: Mapping[int, Above]
    after: Mapping[int, Above]  # what a line directly below it may stand under
    headings: frozenset[int]
    code: frozenset[int]
    silent: frozenset[int]  # lines that say nothing
    title: str = ""  # the note's only heading of the first level; it is in no `above`


def place_lines(lines: Sequence[tuple[int, str]]) -> Placed:
    """For the numbered lines of a note's body. Reads no Markdown beyond headings, lists and fences."""
    above: dict[int, Above] = {}
    after: dict[int, Above] = {}
    headings: dict[int, str] = {}
    code: set[int] = set()
    rules: set[int] = set()
    texts: set[int] = set()
    stack = _Stack()
    fence = ""
    underlined = 0
    for at, (number, line) in enumerate(lines):
        if number in above or not line.strip():  # the rest of a long line, or the start of the next chunk
            continue
        indent, body = indent_of(line)
        if fence or number == underlined:
            above[number] = after[number] = stack.standing()
            if fence:
                code.add(number)
                fence = "" if body.startswith(fence) and not body.strip(fence[0] + " \t") else fence
            continue
        level = heading_level(body) if body[0] == "#" and indent < 4 else 0
        if not level and number - 1 not in texts and (level := _setext_level(lines, at)):
            body, underlined = f"{'#' * level} {body}", number + 1
            headings[underlined] = ""
        item = None if level else _ITEM.match(line)
        depth = level - _BELOW_HEADINGS if level else (indent if item else indent - 0.5)
        stack.leave(depth)
        above[number] = stack.standing()
        if level:
            headings[number] = body.rstrip()
            stack.push(depth, number, headings[number])
        elif is_rule(body):
            rules.add(number)
        elif opened := _FENCE.match(line):
            fence = opened[1]
            code.add(number)
        else:
            texts.add(number)
            if item or (body.rstrip().endswith((":", "：")) and _UNANSWERED.fullmatch(line)):
                stack.push(depth, number, shown_text(line).rstrip())
        after[number] = stack.standing()
    title = _title(headings)
    silent = rules | _about_note(line for line in lines if line[0] > title)
    if title:
        above = {number: _without(title, over) for number, over in above.items()}
        after = {number: _without(title, over) for number, over in after.items()}
    named = headings.get(title, "").lstrip("# ")
    return Placed(above, after, frozenset(headings), frozenset(code), frozenset(silent), named)


def _setext_level(lines: Sequence[tuple[int, str]], at: int) -> int:
    """1 or 2 for a line of text with "===" or "---" below it, else 0."""
    number, line = lines[at]
    if at + 1 >= len(lines) or lines[at + 1][0] != number + 1 or line.startswith(_NO_SETEXT):
        return 0
    if _ITEM.match(line) or _FENCE.match(line) or is_rule(line):
        return 0
    indent, below = indent_of(lines[at + 1][1].rstrip())
    if indent > 3 or len(below) < 2 or below.strip(below[0]):
        return 0
    return {"=": 1, "-": 2}.get(below[0], 0)


def _title(headings: Mapping[int, str]) -> int:
    first = [number for number, text in headings.items() if heading_level(text or " ") == 1]
    return first[0] if len(first) == 1 and first[0] == min(headings) else 0


def _without(title: int, above: Above) -> Above:
    return above[1:] if above and above[0][0] == title else above


def _about_note(lines: Iterable[tuple[int, str]]) -> set[int]:
    """The first lines, where they are a quote that only tells version, date and the like of the note."""
    found: dict[int, str] = {}
    for number, line in lines:
        about = _ABOUT_NOTE.fullmatch(line.strip())
        if about:
            found[number] = about[1].strip().lower()
        elif line.startswith(">"):
            return set()
        elif line.strip() or found:
            break
    return set(found) if not _ABOUT_KEYS.isdisjoint(found.values()) else set()


class _Above(NamedTuple):
    depth: float
    number: int
    text: str
    struck: bool = False


class _Stack:
    """What the next line may stand under."""

    def __init__(self) -> None:
        self._above: list[_Above] = []
        self._standing: Above | None = ()

    def leave(self, depth: float) -> None:
        while self._above and self._above[-1].depth >= depth:
            self._above.pop()
            self._standing = None

    def push(self, depth: float, number: int, text: str, *, struck: bool = False) -> None:
        self._above.append(_Above(depth, number, text, struck))
        self._standing = None

    def standing(self) -> Above:
        if self._standing is None:
            self._standing = tuple((one.number, one.text) for one in self._above)
        return self._standing

    @property
    def is_struck(self) -> bool:
        return any(one.struck for one in self._above)


class _Outline:
    """Collects lines, and knows at each one what it stands under."""

    def __init__(self, template: frozenset[str]) -> None:
        self.lines: list[Line] = []
        self._template = template
        self._above = _Stack()

    def add_heading(self, number: int, text: str, level: int) -> None:
        self._above.leave(level - _BELOW_HEADINGS)
        self._above.push(level - _BELOW_HEADINGS, number, text)

    def add_code(self, number: int, line: str) -> None:
        if line.strip(_MARKS + "~"):
            self._keep(number, line)

    def add(self, number: int, line: str) -> None:
        if not line.strip(_MARKS):
            return
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        depth = indent if item else indent - 0.5  # a list stands below the paragraph that introduces it
        self._above.leave(depth)
        if _UNANSWERED.fullmatch(line):  # says something only when there are lines below it
            self._above.push(depth, number, line)
            return
        struck = line.lstrip(_MARKS).startswith("~~")
        if not struck and line.strip() not in self._template and not _HINT.fullmatch(line):
            self._keep(number, line)
        if item:
            self._above.push(depth, number, line, struck=struck)

    def _keep(self, number: int, line: str) -> None:
        if not self._above.is_struck:
            self.lines.append(Line(number, line, self._above.standing()))
