"""What a single line looks like: heading, fence, list marker, rule, table row.

Pure predicates on one line, each linear in its length. Knows nothing of the lines around it.
A `body` is a line without its indentation.
"""

import re
from collections.abc import Callable

ORDERED = re.compile(r"[0-9]{1,9}[.)](?=[ \t]|$)")
CALLOUT = re.compile(r"\[!([^\[\]]++)\][+\-]?(.*)", re.DOTALL)
VERBATIM_TAGS = frozenset({"pre", "script", "style", "textarea"})
# Tags that begin a block of raw HTML, as in CommonMark; any other tag stands inside text.
HTML_BLOCK = re.compile(
    r"</?(pre|script|style|textarea|address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup"
    r"|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr"
    r"|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|search|section"
    r"|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul|video|audio|svg|math|object|canvas)"
    r"(?=[ \t/>]|$)",
    re.IGNORECASE,
)
_DELIMITER_CHARS = frozenset("|-: \t")


def indent_of(line: str) -> tuple[int, str]:
    """The column at which the text of a line begins (tabs stop at every fourth), and that text."""
    body = line.lstrip(" \t")
    width = len(line) - len(body)
    if width and "\t" in line[:width]:
        width = len(line[:width].expandtabs(4))
    return width, body


def heading_level(body: str) -> int:
    """1..6 for `# heading`, 0 for anything else; `#tag` is no heading."""
    level = 1
    while level < 7 and body[level : level + 1] == "#":
        level += 1
    return level if level < 7 and body[level : level + 1] in ("", " ", "\t") else 0


def fence_run(body: str) -> int:
    """The length of the fence that `body` opens, 0 when it opens none."""
    mark = body[0]
    run = len(body) - len(body.lstrip(mark))
    if run < 3 or (mark == "`" and body.find("`", run) >= 0):
        return 0
    return run


def is_rule(body: str) -> bool:
    mark = body[0]
    return mark in "-*_" and body.count(mark) >= 3 and body.count(mark) == len(body) - _blanks(body)


def _blanks(body: str) -> int:
    return body.count(" ") + body.count("\t")


def item_content(body: str) -> int:
    """How far into `body` the content of a list item begins, 0 when `body` is no list item."""
    mark = body[:1]
    if mark in _BULLETS:
        width = 1
    elif mark in _DIGITS:
        match = ORDERED.match(body)
        if not match:
            return 0
        width = match.end()
    else:
        return 0
    after = body[width : width + 5]
    if not after or after.isspace():
        return width + 1
    spaces = len(after) - len(after.lstrip(" \t"))
    # Five spaces and more begin indented code inside the item: its content column is one behind the marker.
    return 0 if not spaces else width + (spaces if spaces < 5 else 1)


def is_delimiter_row(line: str) -> bool:
    """`| --- | :-: |`: the line under a table's header."""
    return "-" in line and "|" in line and _DELIMITER_CHARS.issuperset(line)


def interrupts_text(line: str, base: int) -> bool:
    """Say whether a non-blank line begins a new block although text stands right before it.

    `base` is the content column of the list item the text belongs to, 0 outside lists.
    """
    indent, body = indent_of(line)
    test = _INTERRUPTS.get(body[:1])
    if test is None:
        return False
    if indent - base >= 4 and not (base and item_content(body)):
        return False
    return test(body, base)


def _marker_interrupts(body: str, base: int) -> bool:
    if is_rule(body):
        return True
    content = item_content(body)
    # In a paragraph "2023. A good year" and a lone "-" are text; in a list they are the next item.
    return content > 0 and (base > 0 or len(body.rstrip()) > 1)


def _number_interrupts(body: str, base: int) -> bool:
    if base:
        return item_content(body) > 0
    return body[:2] in ("1.", "1)") and item_content(body) > 0 and len(body.rstrip()) > 2


_BULLETS = frozenset("-*+")
_DIGITS = frozenset("0123456789")
_INTERRUPTS: dict[str, Callable[[str, int], bool]] = {
    "#": lambda body, _: heading_level(body) > 0,
    ">": lambda _body, _: True,
    "`": lambda body, _: fence_run(body) > 0,
    "~": lambda body, _: fence_run(body) > 0,
    "-": _marker_interrupts,
    "*": _marker_interrupts,
    "+": _marker_interrupts,
    "_": lambda body, _: is_rule(body),
    "$": lambda body, _: body.startswith("$$"),
    "%": lambda body, _: body.startswith("%%"),
    "<": lambda body, _: body.startswith("<!--") or HTML_BLOCK.match(body) is not None,
    **dict.fromkeys("0123456789", _number_interrupts),
}
