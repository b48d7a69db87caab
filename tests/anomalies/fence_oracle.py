"""An oracle for the fence around recalled text: reads a rendered pack as hosts and models do.

It finds the block by its tags, leniently, and knows nothing of how text is escaped.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser

from hindbrain.context.packs.rendering import PREAMBLE, SLOT_TAGS, Form

STATUS = '<memory_status provider="hindbrain" state="ready" />'
_ANY_END = r"\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]"
_OURS = r"memory|memories|memory_context|memory_status|hindbrain|context_pack|recalled"
OPENING = re.compile(r'<(memory|memory_context)((?: [a-z]+="[^"<>]*")*) nonce="([0-9a-f]{8})">')
_SPECIAL = re.compile(
    r"<\s*[|｜]|<\s*/?\s*(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|SYS|USER|ASSISTANT|system|user|assistant"
    r"|human|tool|tool_call|function_calls|invoke|im_start|im_end|think)\b[^<>]{0,99}[>＞]|<<\s*/?SYS>>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|gMASK)\]|<0x[0-9A-F]{2}>",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:human|user|assistant|system|developer|tool|ai|###? ?\w+) ?:|### |<|\|im_|\[/?inst", re.IGNORECASE
)
_JOINERS = "\u200c\u200d"  # some scripts can't be written without
_DRAWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd"  # Arabic signs


def _looks_like(text: str) -> str:
    """As a careless reader or a normalising tokenizer takes it: odd widths folded, unseen characters gone."""
    folded = unicodedata.normalize("NFKC", text)
    folded = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return re.sub("[‹〈〈⟨❮❬⟪《«˂ᐸ]", "<", folded)


class _Tags(HTMLParser):
    """The tags that a browser or an HTML parser would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self.seen.append("!")

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        self.seen.append("!")

    def unknown_decl(self, data: str) -> None:  # noqa: ARG002
        self.seen.append("!")

    def handle_pi(self, data: str) -> None:  # noqa: ARG002
        self.seen.append("?")


def break_outs(text: str, form: Form) -> Iterator[str]:
    """What is wrong with a rendered pack; nothing when the fence held."""
    if form == "json":
        yield from _json_break_outs(text)
        return
    opening = OPENING.match(text)
    if opening is None:
        yield "no opening tag"
        return
    tag, nonce = opening[1], opening[3]
    closing = f'</{tag} nonce="{nonce}">'
    if not text.endswith(f"\n{closing}\n{STATUS}"):
        yield "what stands after the content is not our closing tag and our status"
        return
    inner = text[opening.end() : -len(f"\n{closing}\n{STATUS}")]
    if nonce in inner.lower():
        yield "the nonce stands in the content"
    for reading in (inner, _looks_like(inner)):
        if found := re.search(rf"<[\s\u2800]*/?[\s\u2800]*(?:{_OURS})\b", reading, re.IGNORECASE):
            yield f"a tag of ours inside: {found[0]!r}"
        if found := _SPECIAL.search(reading):
            yield f"a special token inside: {found[0]!r}"
    yield from _unseen(text)
    lines = re.split(_ANY_END, inner)
    yield from _line_break_outs(lines, form)
    parser = _Tags()
    parser.feed(inner)
    parser.close()
    known = {*SLOT_TAGS.values(), "section"} if form != "markdown" else set()
    if strange := [name for name in parser.seen if name.strip("/") not in known]:
        yield f"tags that are not ours: {strange}"


def _line_break_outs(lines: list[str], form: Form) -> Iterator[str]:
    slot = r'<(/?)(\w+)(?: name="[^"<>]*")?(?: match="\d\.\d\d")?>'
    for line in lines:
        if not line or line == PREAMBLE:
            continue
        if form == "markdown":
            ours = line.startswith(("> ", "## ")) or line == ">"
        else:
            tag = re.fullmatch(slot, line)
            named = tag is not None and tag[2] in {*SLOT_TAGS.values(), "section"}
            ours = named or line.startswith(" ") or (line.startswith("[") and line.endswith("]"))
        if not ours:
            yield f"a line that does not begin with a mark of ours: {line!r}"
        if _ROLE.match(line) and not (form != "markdown" and line.startswith("<")):
            yield f"a role at the start of a line: {line!r}"


def _json_break_outs(text: str) -> Iterator[str]:
    if len(re.split(_ANY_END, text)) != 1:
        yield "more than one line"
    try:
        value = json.loads(text)
    except ValueError:
        yield "not one JSON value"
        return
    if set(value) != {
        "source", "preset", "query", "budget", "confidence", "abstained", "frame", "slots", "notices",
        "status",
    }:  # fmt: skip
        yield "keys that are not ours"
    for reading in (text, _looks_like(text)):
        if re.search(r"<", text) or _SPECIAL.search(reading):
            yield "a tag or a special token"
    yield from _unseen(text)


def _unseen(text: str) -> Iterator[str]:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return
    for char in re.sub("\U0001f3f4[\U000e0020-\U000e007f]+", "", text):  # England's flag is written so
        odd = unicodedata.category(char) in {"Cc", "Cf", "Cs"} and char not in f"\n\t{_JOINERS}"
        if odd and char not in _DRAWN:
            yield f"a character that nobody sees: U+{ord(char):04X}"
