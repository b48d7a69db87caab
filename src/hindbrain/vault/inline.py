"""What stands inside a line: links, tags, Dataview fields and block ids.

Pure, one line at a time, in time linear in its length. Knows nothing of blocks: its caller never hands it a
line of a code, math or comment block. Code spans, math, comments and addresses inside the line are blanked
out first, at equal length, so that positions in the blanked line are positions in the line. A code span that
goes on over a line end is not seen as one.

Every pattern stops at the next character of its own kind or is possessive: no input makes it go back twice.
"""

import re
from dataclasses import dataclass, field

from hindbrain.vault.note import BlockId, InlineField, Link

_RUN = re.compile(r"`++")
_MATH = re.compile(r"\$\$[^$]*+\$\$|(?<!\\)\$(?![\s$])[^$]*+(?<![\s\\])\$(?![\d$])")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.\-]{1,15}://[^\s<>]*+")
# In a tag anything but space and punctuation may stand, as in Obsidian, so that emoji and marks survive.
_TAG = re.compile(
    r"(?<![^\s(,;，。；、：（])(?<!\]\()#"
    r"([^\s!-,.:-@\[-^`{-~\x00-\x1f\x7f\u00a0-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]++)"
)
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]]++)\]\]")
_LINK = re.compile(
    r"(!?)\[([^\[\]]*+)\]\([ \t]*+"
    r"(?:<([^<>]*+)>|([^\s()<>]++(?:\([^\s()]*+\)[^\s()]*+)*+))"
    r"(?:\)|[ \t]++[\"'(])"
)
_LINK_SHOWN = re.compile(r"!?\[([^\[\]]++)\]\([^()]*+\)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+:|//")
_BRACKET_FIELD = re.compile(
    r"\[([^\[\]():\"'=;{}<>$]++)::([^\[\]]*+(?:(?:\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])[^\[\]]*+)*+)\](?!\()"
)
_PAREN_FIELD = re.compile(r"(?<!\])\(([^\[\]():\"'=;{}<>$]++)::([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_LINE_FIELD = re.compile(
    r"[>\s]*+(?:(?:[-*+]|\d{1,9}[.)])\s++(?:\[.\]\s++)?)?"
    r"([^\s\[\](){}:|<>`\"'=;$][^\[\](){}:|<>`\"=;$]{0,60}+)::(?:\s++|$)"
)
_BLOCK_ID = re.compile(r"[A-Za-z0-9\-]++")


@dataclass(slots=True)
class Found:
    """Collects what the lines of one note hold."""

    links: list[Link] = field(default_factory=list)
    tags: dict[str, None] = field(default_factory=dict)  # an ordered set
    fields: list[InlineField] = field(default_factory=list)
    block_ids: list[BlockId] = field(default_factory=list)


def extract(line: str, number: int, found: Found) -> None:
    """Add what `line` holds to `found`. Most lines hold nothing: look for the trigger characters first."""
    has_link, has_tag, has_field, has_id = "[" in line, "#" in line, "::" in line, "^" in line
    if not (has_link or has_tag or has_field or has_id):
        return
    shown = mask(line)
    if has_link:
        _find_links(line, shown, number, found.links)
    if has_tag:
        _find_tags(shown, found.tags)
    if has_field:
        _find_fields(line, shown, number, found.fields)
    if has_id:
        _find_block_id(shown, number, found.block_ids)


def mask(line: str) -> str:
    """Blank out code spans, comments and math; the length stays."""
    if "`" in line:
        line = mask_code(line)
    if "%%" in line:
        line = _mask_between(line, "%%", "%%")
    if "<!--" in line:
        line = _mask_between(line, "<!--", "-->")
    if "$" in line:
        line = _MATH.sub(_blank, line)
    return line


def mask_code(line: str) -> str:
    """Blank out the inside of code spans. A run of backticks closes at the next run of the same length."""
    if "``" not in line:
        parts = line.split("`")
        for i in range(1, len(parts) - 1, 2):
            parts[i] = " " * len(parts[i])
        return "`".join(parts)
    runs = [(match.start(), match.end()) for match in _RUN.finditer(line)]
    partner = _next_of_same_length(runs)
    pieces: list[str] = []
    done = i = 0
    while i < len(runs):
        closing = partner[i]
        if closing:
            start, end = runs[i][1], runs[closing][0]
            pieces += (line[done:start], " " * (end - start))
            done = end
            i = closing
        i += 1
    pieces.append(line[done:])
    return "".join(pieces)


def code_ends(line: str) -> dict[int, int]:
    """For each run of backticks, by its start: where the code span that it opens ends, else where it ends."""
    if "`" not in line:
        return {}
    runs = [(match.start(), match.end()) for match in _RUN.finditer(line)]
    partner = _next_of_same_length(runs)
    return {start: runs[partner[i]][1] if partner[i] else end for i, (start, end) in enumerate(runs)}


def _next_of_same_length(runs: list[tuple[int, int]]) -> list[int]:
    """For each run the index of the next one of its length, 0 when there is none; linear, from the right."""
    partner = [0] * len(runs)
    seen: dict[int, int] = {}
    for i in range(len(runs) - 1, -1, -1):
        length = runs[i][1] - runs[i][0]
        partner[i] = seen.get(length, 0)
        seen[length] = i
    return partner


def _mask_between(line: str, opening: str, closing: str) -> str:
    pieces: list[str] = []
    done = 0
    while True:
        start = line.find(opening, done)
        end = line.find(closing, start + len(opening)) if start >= 0 else -1
        if end < 0:
            break
        end += len(closing)
        pieces += (line[done:start], " " * (end - start))
        done = end
    return "".join([*pieces, line[done:]]) if pieces else line


def _blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _find_tags(shown: str, tags: dict[str, None]) -> None:
    if "://" in shown:
        shown = _URL.sub(_blank, shown)
    for tag in _TAG.findall(shown):
        tag = tag.strip("/")
        if tag and not tag.replace("/", "").isdecimal():
            tags[tag] = None


def _find_links(line: str, shown: str, number: int, links: list[Link]) -> None:
    first = len(links)
    starts: list[int] = []
    if "[[" in shown:
        for match in _WIKILINK.finditer(shown):
            links.append(_wikilink(line[match.start(2) : match.end(2)], match[1] == "!", number))
            starts.append(match.start())
    wikilinks = len(starts)
    if "](" in shown:
        for match in _LINK.finditer(shown):
            link = _markdown_link(line, match, number)
            if link is not None:
                links.append(link)
                starts.append(match.start())
    if 0 < wikilinks < len(starts):  # both kinds on one line: bring them into the order of the line
        in_order = sorted(range(len(starts)), key=starts.__getitem__)
        links[first:] = [links[first + i] for i in in_order]


def without_links(text: str) -> str:
    """As a reader sees it: `[[Anna Berg|Anna]]` and `[Anna](Berg.md)` say "Anna"."""
    if "[" not in text:
        return text
    return _LINK_SHOWN.sub(r"\1", _WIKILINK.sub(lambda found: found[2].rpartition("|")[2], text))


def _wikilink(inner: str, embed: bool, number: int) -> Link:
    path, bar, alias = inner.partition("|")
    if bar and path.endswith("\\"):  # a "|" in a table is written "\|"
        path = path[:-1]
    target, _, heading = path.partition("#")
    heading, block = _split_anchor(heading)
    return Link(target.strip(), heading, block, alias.strip(), embed, number)


def _markdown_link(line: str, match: re.Match[str], number: int) -> Link | None:
    angled = match.start(3) >= 0
    address = line[match.start(3) : match.end(3)] if angled else line[match.start(4) : match.end(4)]
    if not address or _SCHEME.match(address) or address.startswith("[["):
        return None  # Logseq's [text]([[Page]]) is found as the wikilink in it
    if "%" in address:
        from urllib.parse import unquote

        address = unquote(address)
    target, _, anchor = address.partition("#")
    heading, block = _split_anchor(anchor)
    return Link(target, heading, block, line[match.start(2) : match.end(2)], match[1] == "!", number)


def _split_anchor(anchor: str) -> tuple[str, str]:
    anchor = anchor.strip()
    return ("", anchor[1:]) if anchor.startswith("^") else (anchor, "")


def _find_fields(line: str, shown: str, number: int, fields: list[InlineField]) -> None:
    matches = [*_BRACKET_FIELD.finditer(shown), *_PAREN_FIELD.finditer(shown)]
    if matches:
        matches.sort(key=lambda match: match.start())
        for match in matches:
            _add_field(match[1], line[match.start(2) : match.end(2)], number, fields)
    elif whole := _LINE_FIELD.match(shown):
        _add_field(whole[1].strip("*_ "), line[whole.end() :], number, fields)


def _add_field(key: str, value: str, number: int, fields: list[InlineField]) -> None:
    key = key.strip()
    # `(::before)` and other punctuation is no key; an emoji is one.
    if key and (not key.isascii() or any(map(str.isalnum, key))):
        fields.append(InlineField(key, value.strip(), number))


def _find_block_id(shown: str, number: int, block_ids: list[BlockId]) -> None:
    text = shown.rstrip()
    at = text.rfind("^")
    if (at == 0 or (at > 0 and text[at - 1].isspace())) and _BLOCK_ID.fullmatch(text, at + 1):
        block_ids.append(BlockId(text[at + 1 :], number))
