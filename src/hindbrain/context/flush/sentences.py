"""What a person said in their own words, sentence by sentence: no code, quotes, logs, pastes or role play.

Pure. Rather a sentence too few than one that is somebody else's. Knows nothing of what a sentence means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hindbrain.context.topic.said import what_was_said

MASK = "\u2423"  # stands for a character inside quotes or code, where no cue counts
_LONGEST_TYPED = 3_000  # characters; of a longer message only the edges are somebody's own words
_EDGE_PARAGRAPH = 600
_LONGEST_SENTENCE = 400
_SHORTEST_QUOTE = 2  # words; shorter ones are names
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w.-]*)(?:\s[^<>]*)?>")
_CODE_LINE = re.compile(
    r"\s*(?:"
    r"[>|#+]"  # a quote, a table, a heading, a diff
    r"|-{3}|={3}|@@ |diff --git |index [0-9a-f]{6,}"
    r"|\$ |% |PS [A-Z]:|>>> |\.\.\. |C:\\"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b[\s:\]]"
    r"|Traceback |File \"|at [\w$.<>]+\s?\(|[\w.]*(?:Error|Exception):|npm ERR!"
    r"|https?://\S+\s*$"
    r"|[\"']?[\w.-]+[\"']?\s*[:=]\s*[\[{\"'].*[,;\]}\"']\s*$"
    r"|(?:def|class|import|from|const|let|var|function|public|private"
    r"|return|if|for|while|SELECT|INSERT|UPDATE"
    r"|FROM|RUN|COPY|export|set|git|npm|pip|docker|curl|cd|sudo)\s[^a-z]*[\w.$/-]+.*[;{}()=\[\]]\s*$"
    r"|[\w.]+\s*=\s*\S.*$|[{}\[\]();]+\s*$"
    r")"
)
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s+(?:\[.\]\s+)?")
# What follows such a colon is a text to work on, not something that its sender says.
_HANDED_OVER = re.compile(
    r"\b(?:translate|translation|rewrite|rephrase|reword|proof-?read|correct"
    r"|fix (?:the )?(?:grammar|spelling|typos)"
    r"|improve|polish|edit|shorten|make (?:it|this) (?:shorter|better"
    r"|longer|sound)|summari[sz]e|paraphrase|complete"
    r"|continue|analy[sz]e|explain|classify|extract|here(?:'s| is| are)|below is|this is (?:the|my|what|a)"
    r"|(?<!remember the )following|the (?:log|logs|output|error|message|text|transcript"
    r"|email|article|prompt|question|code|docs?)"
    r"(?: \w+)? (?:is|says|said|reads)|(?:he|she|they|someone|somebody|it) (?:says?|said|wrote|writes)"
    r"|sentences? that|e\.g|for example|example|generate|write|draft|compose|create|user story|story|quote"
    r"|übersetze|korrigiere|traduis|traduce|corrige)\b[^.!?\n]{0,80}:\s*",
    re.IGNORECASE,
)
_PLAYED = re.compile(
    r"\b(?:pretend|role-?play|imagine (?:you|that|we|i|our|my|a)|act as"
    r"|act like|you are (?:now )?an? (?!bit|little)"
    r"|you're an? (?!bit|little)|as if you were|in the (?:voice|style)"
    r" of|(?:write|tell|draft|compose|create|generate"
    r"|continue)(?: me| us)? (?:an? |the |another |some |\d+ )?(?:[\w-]+"
    r" ){0,3}(?:story|stories|poem|song|lyrics"
    r"|scene|dialogue|dialog|script|play|novel|chapter|essay|email|e-mail"
    r"|letter|cover letter|speech|post|tweet|bio"
    r"|persona|character|monologue|joke|blog|article|review|message|reply|statement|sentences)"
    r"|in (?:the|this|my|our) (?:story|novel|game|play|scene|example|scenario|book|movie|film|campaign)"
    r"|the character|hypothetically|for the sake of argument|user stor(?:y|ies))\b",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\s])|(?<=[。！？])\s*|(?<=[;；])\s+|\s+[-–—]{1,2}\s+(?=(?:I"
    r"|we|always|never)\b)"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|e\.g|i\.e|approx|Jr|Sr|Inc|Ltd|Nr|bzw|z\.B|ca)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_GERMAN_DATE = re.compile(  # "am 4. Juli"
    r"(?<=\d\.)\s+(?=(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)"
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|「[^」\n]{1,400}」"
    r"|(?<!\w)'[^'\n]{1,200}'(?!\w)|(?<!\w)‘[^’\n]{1,200}’(?!\w)|`[^`\n]{1,200}`"
)


class Sentence(NamedTuple):
    """One sentence of a person."""

    text: str  # as it was typed, white space folded
    masked: str  # of the same length, with quotes and code blanked out

    @property
    def asks(self) -> bool:
        return self.text.rstrip("\"'”’) ").endswith(("?", "？"))


def spoken(message: str) -> list[Sentence]:
    """The sentences that whoever sent the message says themselves, in order."""
    text = own_words(message)
    if _PLAYED.search(mask_quotes(text)):
        return []
    return [sentence for paragraph in _paragraphs(text) for sentence in split_sentences(paragraph)]


def own_words(message: str) -> str:
    """The message without fences, elements, quoted lines, logs, and what was handed over to be worked on."""
    text = _without_elements(_FENCE.sub("\n", what_was_said(message).replace("\r\n", "\n")))
    lines = [line for line in text.split("\n") if not _CODE_LINE.match(line) and not _INDENTED.match(line)]
    text = "\n".join(lines)
    handed = _HANDED_OVER.search(mask_quotes(text))
    if handed:
        text = text[: handed.start()]
    return _edges(text) if len(text) > _LONGEST_TYPED else text


def _without_elements(text: str) -> str:
    """Without `<log>...</log>` and the like; a tag that is never closed is a word."""
    tags = list(_TAG.finditer(text))
    last_end = {tag["name"]: tag.start() for tag in tags if tag["end"]}
    kept: list[str] = []
    at, inside = 0, ""
    for tag in tags:
        if inside:
            if tag["end"] and tag["name"] == inside:
                at, inside = tag.end(), ""
        elif not tag["end"] and last_end.get(tag["name"], -1) > tag.start():
            kept.append(text[at : tag.start()])
            inside = tag["name"]
    return "\n".join([*kept, text[at:]])


def mask_quotes(text: str) -> str:
    """The text, of the same length, with what stands in quotes or code blanked out."""

    def blank(match: re.Match[str]) -> str:
        inner = match[0][1:-1]
        if match[0][0] != "`" and len(inner.split()) < _SHORTEST_QUOTE and len(inner) < 12:
            return match[0]
        return match[0][0] + MASK * len(inner) + match[0][-1]

    return _QUOTED.sub(blank, text)


def split_sentences(paragraph: str) -> list[Sentence]:
    text = " ".join(paragraph.split())
    masked = mask_quotes(text)
    found: list[Sentence] = []
    start = 0
    for stop in [*_stops(masked), len(text)]:
        piece = text[start:stop]
        lead = len(piece) - len(piece.lstrip())
        piece = piece.strip()
        if piece and len(piece) <= _LONGEST_SENTENCE:
            at = start + lead
            found.append(Sentence(piece, masked[at : at + len(piece)]))
        start = stop
    return found


def _stops(masked: str) -> Iterator[int]:
    for match in _STOP.finditer(masked):
        if _GERMAN_DATE.match(masked, match.start()):
            continue
        if not _ABBREVIATED.search(masked[max(0, match.start() - 12) : match.start()].rstrip("\"'”’)]")):
            yield match.end()


def _paragraphs(text: str) -> Iterator[str]:
    """Runs of lines that belong together: a list item begins anew, a wrapped line goes on."""
    block: list[str] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        bare = line[item.end() :] if item else line
        if block and (item or not line.strip() or not _goes_on(block[-1], line)):
            yield " ".join(block)
            block = []
        if bare.strip():
            block.append(bare.strip())
    if block:
        yield " ".join(block)


def _goes_on(before: str, line: str) -> bool:
    return len(before) >= 60 and before[-1] not in ".!?:;。！？" and line.lstrip()[:1].islower()


def _edges(text: str) -> str:
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    edges = [paragraphs[0], paragraphs[-1]] if len(paragraphs) > 1 else paragraphs
    return "\n\n".join(part for part in edges if len(part) <= _EDGE_PARAGRAPH)
