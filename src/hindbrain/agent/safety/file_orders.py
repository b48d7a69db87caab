"""Which files the owner's command orders to be written. Pure.

Reads a command as a row of plain imperatives in English or German: "read a.md, then write a summary to b.md".
Only the side that is written counts: of "copy a.md to b.md" that is b.md. With one doubtful word (a negation,
a condition, a question, something for later) or one clause that is not understood, the command orders no file
at all, and a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hindbrain.agent.safety.order_words import (
    ABOUT,
    AFTER,
    ARTICLES,
    DOUBT,
    EDGES,
    FINISHED,
    FROM,
    GERMAN,
    GERUNDS,
    HARMLESS,
    INSIDE,
    INTO,
    LEADS,
    LIKE,
    MAKING,
    NAMED,
    NEVER_NOUNS,
    PUTTING,
    READING,
    SPEAKING_OF,
    TAILS,
    TAKING,
    VERBS,
)

_JOINS = ("and", "und", "sowie")
_LONGEST = 2_000  # characters of a command; a longer one holds pasted text
_PATH = r"(?:\.{0,2}/)?[\w~@+%-]*(?:[./\\]+[\w~@+%-]+)+"
_QUOTED_PATH = re.compile(rf"{_PATH}|[^\s/][^\n<>|*?]*\.\w{{1,8}}")
_QUOTED = re.compile(
    r"`([^`\n]*)`|\"([^\"\n]*)\"|“([^”\n]*)”|„([^“”\n]*)[“”]|«([^»\n]*)»"
    r"|(?<!\w)['‘]([^'’\n]*(?:['’]\w[^'’\n]*)*)['’](?!\w)"
)
_ASIDE = re.compile(r"\([^()./\\]*\)")  # without a path in it
# Questions, quotes that do not end, lists, blocks and markup: more than plain sentences.
_NOT_PLAIN = re.compile(r"[`\"“”„«»?？<>|{}\[\]()\x00]|^\s*[-*#>]", re.MULTILINE)
_TOKEN = re.compile(
    rf"(?P<quote>\x01\d+\x01)|(?P<address>\w+://\S+)|(?P<path>{_PATH})|(?P<word>\w+(?:['’-]\w+)*['’]?)"
    r"|(?P<stop>[,;.!:\n–—]|(?<=\s)-(?=\s))|(?P<other>\S)"
)


class _Token(NamedTuple):
    kind: str  # quote, address, path, word, stop, other
    text: str  # of a word in small letters; of a path without "./"


class _Clause(NamedTuple):
    verb: str  # its first word; "" when that is no word
    rest: tuple[_Token, ...]
    ends: str  # the stop behind it: "" at the end and before "and"

    @property
    def paths(self) -> list[int]:
        return [at for at, token in enumerate(self.rest) if token.kind == "path"]

    def words(self, end: int) -> set[str]:
        """The words before that place."""
        return {token.text for token in self.rest[:end] if token.kind == "word"}

    def word(self, at: int) -> str:
        """The word at that place; "" when there is none."""
        return self.rest[at].text if 0 <= at < len(self.rest) and self.rest[at].kind == "word" else ""


def orders_file(command: str, path: str) -> bool:
    """Does the owner's command say to write this file?"""
    if len(path) < 3 or not re.search(r"[./]", path):
        return False  # a word of the language, as far as anybody can tell
    return path.removeprefix("./") in ordered_files(command)


def ordered_files(command: str) -> frozenset[str]:
    """The paths that the command says to write, without "./"; none when any of it is in doubt."""
    found: set[str] = set()
    for clause in _clauses(_tokens(command)):
        written = _written(clause, begun=bool(found))
        if written is None:
            return frozenset()
        found |= written
    return frozenset(found)


def _tokens(command: str) -> list[_Token]:
    """The words up to the first colon: what follows it is a text to be written. Nothing when in doubt."""
    if len(command) > _LONGEST or "\x01" in command:
        return []
    quoted: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        quoted.append(next((text for text in match.groups() if text), ""))
        return f"\x01{len(quoted) - 1}\x01"

    plain = _ASIDE.sub(" ", _QUOTED.sub(set_aside, command.strip()))
    if _NOT_PLAIN.search(plain):
        return []
    tokens = [_token(match, quoted) for match in _TOKEN.finditer(plain)]
    said = " ".join(token.text for token in tokens if token.kind not in ("quote", "path", "address"))
    if any(token.kind == "other" for token in tokens) or DOUBT.search(HARMLESS.sub(" ", said)):
        return []
    colon = next((at for at, token in enumerate(tokens) if token == ("stop", ":")), len(tokens))
    return tokens[:colon]


def _token(match: re.Match[str], quoted: Sequence[str]) -> _Token:
    kind, text = match.lastgroup or "other", match[0]
    if kind == "quote":
        inner = quoted[int(text.strip("\x01"))]
        return _Token("path", inner.removeprefix("./")) if _QUOTED_PATH.fullmatch(inner) else _Token(kind, "")
    return _Token(kind, text.casefold() if kind == "word" else text.removeprefix("./"))


def _clauses(tokens: Sequence[_Token]) -> Iterator[_Clause]:
    begins = 0
    for at, token in enumerate(tokens):
        joins = token.kind == "word" and token.text in ("and", "then", "und", "dann")
        listed = token.text == "," and _is_path(tokens, at - 1) and _is_path(tokens, at + 1)
        if (token.kind == "stop" and not listed) or (joins and _begins_with_verb(tokens[at:])):
            yield from _clause(tokens[begins:at], token.text if token.kind == "stop" else "")
            begins = at + 1
    yield from _clause(tokens[begins:], "")


def _clause(tokens: Sequence[_Token], ends: str) -> Iterator[_Clause]:
    said = _without_leads(tokens)
    if said:
        verb = _stem(said[0].text) if said[0].kind == "word" else ""
        yield _Clause(verb, tuple(said[1:]), ends)


def _begins_with_verb(tokens: Sequence[_Token]) -> bool:
    said = _without_leads(tokens)
    return bool(said) and said[0].kind == "word" and _stem(said[0].text) in VERBS


def _without_leads(tokens: Sequence[_Token]) -> Sequence[_Token]:
    at = 0
    while at < len(tokens) and tokens[at].kind == "word" and tokens[at].text in LEADS:
        at += 1
    return tokens[at:]


def _is_path(tokens: Sequence[_Token], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at].kind == "path"


def _stem(word: str) -> str:
    """A verb as the tables have it: German imperatives with and without an "e" are one."""
    short = word.removesuffix("e")
    return short if word not in VERBS and short in GERMAN else word


def _written(clause: _Clause, *, begun: bool) -> set[str] | None:
    """The files that a clause says to write; None when in doubt. `begun`: a file was named before."""
    if clause.verb in TAILS:
        return set() if begun and not clause.paths else None
    if clause.verb not in READING | MAKING | TAKING:
        return None
    if (clause.paths or not clause.ends) and _holds_a_deed(clause):
        return None
    if not clause.paths and clause.verb in SPEAKING_OF and clause.ends not in ("", ","):
        return None
    if not clause.paths or clause.verb in READING:
        return set()
    targets = _targets(clause)
    if any(not _goes_on_plainly(clause, at) for at in targets):
        return None
    return {clause.rest[at].text for at in targets}


def _holds_a_deed(clause: _Clause) -> bool:
    """Does it speak of another deed: "a mail that says to copy ...", "about writing ..."?"""
    words = [_stem(token.text) if token.kind == "word" else "" for token in clause.rest]
    if words and words[0] in VERBS:
        return True
    behind_to = any(
        (one in ("to", "please") and two in VERBS) or (one == "zu" and two.endswith("en"))
        for one, two in pairwise(words)
    )
    return behind_to or any(word in NEVER_NOUNS or word in GERUNDS for word in words)


def _targets(clause: _Clause) -> list[int]:
    """Where the paths stand that are written."""
    slots = _slots(clause)
    into, inside, behind = ([at for at, slot in slots.items() if slot == name] for name in ("to", "in", ""))
    if into:
        return into if not inside and _is_one_list(into) else []
    if behind and clause.verb in MAKING:
        return behind
    if clause.verb in GERMAN or (not behind and clause.verb in PUTTING and not _takes_from(clause, inside)):
        return inside if _is_one_list(inside) else []
    return []


def _slots(clause: _Clause) -> dict[int, str]:
    """Where a path stands, and behind what: "to", "in", "" (the verb itself), "from" (anything else)."""
    slots: dict[int, str] = {}
    for at in clause.paths:
        before = at - 1
        while clause.word(before) in ARTICLES:
            before -= 1
        joined = before >= 0 and clause.rest[before].text in (",", *_JOINS) and before - 1 in slots
        slots[at] = slots[before - 1] if joined else _slot(clause, before)
    return slots


def _slot(clause: _Clause, before: int) -> str:
    if before < 0:
        return ""
    word, earlier = clause.word(before), clause.word(before - 1)
    if word in INSIDE:
        return "from" if earlier.endswith("ed") or earlier in FINISHED else "in"
    if word in NAMED:
        return "to" if clause.verb in TAKING and not clause.words(before) & LIKE else "from"
    is_target = (word in INTO and earlier not in ABOUT) or (word == "of" and earlier in EDGES)
    return "to" if is_target else "from"


def _takes_from(clause: _Clause, inside: Sequence[int]) -> bool:
    """May the file be where something is taken from: "a list of the ideas in a.md"?"""
    for at in range(inside[0] if inside else 0):
        if clause.word(at) in FROM:
            after = at + 1
            while clause.word(after) in ARTICLES:
                after += 1
            if after not in clause.paths:  # "a summary of a.md in b.md" says what is taken
                return True
    return False


def _is_one_list(places: Sequence[int]) -> bool:
    """Do the paths stand side by side, joined by "and" or commas?"""
    return all(later - earlier <= 2 for earlier, later in pairwise(places))


def _goes_on_plainly(clause: _Clause, at: int) -> bool:
    after = at + 1
    if after >= len(clause.rest) or clause.word(after) in AFTER:
        return True
    return _is_path(clause.rest, after + 1) and clause.rest[after].text in (",", *_JOINS)
