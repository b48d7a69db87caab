"""A long prompt in, the few lines that say what it is about out: pasted logs, stack traces, code, pages.

Pure. People ask before or after what they paste; of what they paste, the lines that report an error say most,
then the names that occur often.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hindbrain.context.topic.entities import find_entities
from hindbrain.search.telling import telling_words

LONG_CHARS = 600  # a prompt up to here is taken as it is
_LONG_LINES = 12
_FIRST_CHARS = 260
_LAST_CHARS = 200
_ERROR_CHARS = 160
_ERRORS = 3
_NAMES = 10
_WORDS = 12

_ERROR = re.compile(
    r"\b(?:\w*(?:Error|Exception)|error|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|denied|refused|not found"
    r"|timed out|cannot|can't|unable to|undefined|unexpected|assert(?:ion)?|abort(?:ed)?|segfault|E\d{3,5})"
    r"\b",
    re.IGNORECASE,
)
_NAMED_ERROR = re.compile(
    r"^\s*(?:E\s+)?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning)\b|^\s*(?:error|fatal|panic)\b", re.I
)
_MATERIAL = re.compile(
    r"^(?: {4}|\t|[>+\-|$#]{1,3} ?\S*[({;=]|\s*(?:at [\w.$<>/]+[(:]|Traceback \(|File \"|\d{4}-\d\d-\d\d"
    r"|\d\d:\d\d|\[[\w :.-]{2,40}\]|#include|from \S+ import |def \w+\(|class \w+[(:{]|function \w*\("
    r"|(?:const|let|var) \w+ ?[=:]|[{}<]))"
)
_NOISE = re.compile(
    r"\d{4}-\d\d-\d\d[T ][\d:.,Z+-]+|\b\d\d:\d\d:\d\d[\d.,]*|\b[0-9a-f]{12,}\b|0x[0-9a-f]+|\b\d{5,}\b", re.I
)
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def digest(text: str) -> str:
    """Return what to search with. A short text is returned as it is, on one line."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(text) <= LONG_CHARS and len(lines) <= _LONG_LINES:
        return " ".join(text.split())
    own, material = _apart(lines)
    parts = [_joined(own, _FIRST_CHARS)]
    rest = own[len(_taken(own, _FIRST_CHARS)) :]
    parts.append(_joined(rest[::-1], _LAST_CHARS, backwards=True))
    parts += _errors(material or own)
    parts.append(" ".join(_names(material or own)))
    return " ".join(" ".join(filter(None, parts)).split())


def _apart(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that a person wrote, and those that were pasted."""
    own: list[str] = []
    material: list[str] = []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or _is_material(line):
            material.append(line)
        else:
            own.append(line)
    return own, material


def _is_material(line: str) -> bool:
    if _MATERIAL.match(line) or _NAMED_ERROR.match(line):
        return True
    signs = sum(1 for char in line if not (char.isalnum() or char.isspace() or char in ",.'’\"?!-"))
    return signs > 0.15 * len(line) or max(map(len, line.split()), default=0) > _LONG_WORD


_LONG_WORD = 60


def _taken(lines: Sequence[str], chars: int) -> list[str]:
    """The first lines up to `chars`, at least one."""
    taken: list[str] = []
    used = 0
    for line in lines:
        if taken and used + len(line) > chars:
            break
        taken.append(line)
        used += len(line)
    return taken


def _joined(lines: Sequence[str], chars: int, *, backwards: bool = False) -> str:
    taken = _taken(lines, chars)
    if not taken:
        return ""
    if backwards:
        return (
            " ".join(taken[::-1])[-chars:].partition(" ")[2]
            if len(taken[0]) > chars
            else " ".join(taken[::-1])
        )
    joined = " ".join(taken)
    return joined if len(joined) <= chars else joined[:chars].rpartition(" ")[0]


def _errors(lines: Sequence[str]) -> list[str]:
    """Lines that report an error, named ones before others; the last is mostly the one that counts."""
    found = [line.strip() for line in lines if _ERROR.search(line)]
    named = [line for line in found if _NAMED_ERROR.match(line)]
    chosen = dict.fromkeys([*named[-1:], *found[-1:], *named[:1], *found[:1]])
    return [_NOISE.sub(" ", line)[:_ERROR_CHARS] for line in list(chosen)[:_ERRORS]]


def _names(lines: Sequence[str]) -> list[str]:
    """What is named most often; without any names, the first telling words."""
    counts: Counter[str] = Counter()
    for line in [*lines[:200], *lines[-200:]]:
        counts.update(find_entities(_NOISE.sub(" ", line[:400])))
    best = [name.replace("\\", "/").rpartition("/")[2] for name, _ in counts.most_common(_NAMES)]
    if best:
        return list(dict.fromkeys(best))
    return list(telling_words(" ".join(lines)).shown.values())[:_WORDS]
