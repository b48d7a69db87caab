"""Is one error the same as another one? Two lines in, a likeness out.

A line is read as plain words, codes (ECONNREFUSED, TS7016, ModuleNotFoundError) and names (what is quoted,
or looks like an identifier). Paths, addresses, versions, hashes and most numbers differ from run to run and
do not count. Words must agree; codes must not differ; a name must be the same where the error is about just
that name.
Pure. Knows nothing of fixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LEAST_COVER = 0.8  # of the words of the known line, by weight
_LEAST_SHARE = 0.45  # of the words of the other line
_WHOLE = 0.99
_LEAST_SHARE_OF_MORE = 0.3  # where all of many words are there, and more around them
_LEAST_COVER_OF_END = 0.9  # of the last part of a line by that of another one, both ways
_END_SCORE = 0.6  # of lines that only end alike
_FEW_WORDS = 3  # with no more than that, another program with the same error is another matter
_CODE_WEIGHT = 2.0
_LIGHT = 0.3  # weight of words that every error has
_LABELS = _set(
    "error err errors fatal failed failure npm warning warn e bash sh zsh docker line exit code exception "
    "traceback caused by remote hint command"
)
_LEAST_MENTION = 0.5  # of the words of a telling line, by a text that is on it
_RARE_CODE = re.compile(r"_|[A-Z]\d{2}")  # LEADER_NOT_AVAILABLE, TS7016; unlike ValueError and ENOENT
_COMMON = _set(
    "a an the to of in on at is are was were be been not no for from with and or it its this that you your "
    "have has had do did does by as if can could cannot please run running when while using use set"
)
_QUOTED = re.compile(
    r"(?<!\w)(?:'([^'\s]{1,120})'|\"([^\"\s]{1,120})\"|`([^`\s]{1,120})`|[‘“]([^’”\s]{1,120})[’”])"
)
_ARROW = re.compile(r"\S+ -> \S+")  # main -> main
_URL = re.compile(r"\b[a-z][\w+.-]*://\S+|\b[\w.-]+@[\w.-]+(?::\S*)?")
_PATH = re.compile(r"(?:[A-Za-z]:)?[~.\w@+-]*(?:[\\/][\w.@+%=-]+)+[\\/]?")
_EXCEPTION = re.compile(r"\b[A-Za-z_][\w.]*(?:Error|Exception|NotFound|Interrupt)\b")
_SHOUTED = re.compile(r"\b(?:E[A-Z]{3,}|[A-Z]{1,5}-?\d{2,6}[A-Z]?|[A-Z]+(?:_[A-Z]+)+)\b")
_CAMEL = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")
_STATUS = re.compile(r"\b(?:HTTP(?:/[\d.]+)?|status(?: code)?|error)[ :]+([1-5]\d\d)\b", re.IGNORECASE)
_PORT = re.compile(r"(?:port |:)(\d{2,5})\b")
_REFUSED = re.compile(r"refused", re.IGNORECASE)
_OPTION = re.compile(r"(?<!\S)--?([A-Za-z][\w-]*)(?:=\S*)?")
_NUMBER = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b|\b\d[\d.]*\w*\b", re.IGNORECASE)
_VERSION = re.compile(r"[@ -]?v?\d+(?:\.\d+)+[\w.-]*|[<>=^~]+\s*\d[\d.]*")
_PLACE = re.compile(r"^\S+:\d+(?::\d+)?:\s|^[\w./-]+: (?=(?:[Ee]rror|fatal)\b)")  # main.go:9:2: · psql: error
_VERSIONED = re.compile(r"[\w.@/+-]*\d+\.\d[\w.+-]*")  # pg-1.5.4
_TIME = re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?")
_FILE = re.compile(
    r"(?<![\w./])[\w+-]*\.?[\w+-]+\.(?:[a-z]{1,5}|\w?\d)(?![\w.])|(?<![\w./])\.env\b"
)  # zlib.h
_DOTTED = re.compile(r"\S*\w[.:]\w+[.:]\w\S*")  # org.apache.maven:compile
_WORD = re.compile(r"[^\W\d_]{2,}(?:'t)?")
_IDENTIFIER = re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z0-9]+)+\b")
# Errors that say that a certain thing is missing: with another name it is another error.
_OF_A_NAME = re.compile(
    r"no module named|cannot find (?:module|package|name|declaration)|not found|no such file"
    r"|recogni[sz]ed|unknown |no such (?:option|module|command|service|table|column)|fixture |\bKeyError\b"
    r"|is not set|not defined|undefined|undeclared|unresolved|no attribute|cannot import"
    r"|could not find a (?:version|declaration)"
    r"|no matching distribution|custom build command|unable to locate|refused"
    r"|\b(?:role|user|group|database|schema|type|function|extension|image|network|volume|service)\b"
    r".+not exist",
    re.IGNORECASE,
)
# The name stands before the words, bare: `bash: pnpm: command not found`, `zsh: command not found: pnpm`.
_BARE_NAME = re.compile(r"([\w.+-]+):? (?:command )?not found(?!: \S)|command not found: ([\w.+-]+)")


class Reading(NamedTuple):
    """A line of an error as it is compared."""

    words: frozenset[str]
    codes: frozenset[str]
    names: frozenset[str]
    files: frozenset[str]  # names of files without their folders
    of_a_name: bool  # it is about a thing with just that name

    @property
    def telling(self) -> int:
        """Words that not every error has."""
        return sum(word not in _COMMON and word not in _LABELS for word in self.words)


def likeness(known: str, line: str, *, same_program: bool, cure: str = "") -> float:
    """How alike two errors are, 0..1; 0 when they are not the same. `cure`: of the known one."""
    old, new = read_error(known), read_error(line)
    if old.codes and new.codes and not old.codes & new.codes:
        return 0.0
    if (old.of_a_name or new.of_a_name) and _other_thing(old, new, cure.casefold()):
        return 0.0
    cover, share = _cover(old, new), _cover(new, old)
    whole = cover > _WHOLE and old.telling >= _FEW_WORDS and (same_program or old.telling > _FEW_WORDS)
    if cover < LEAST_COVER or share < (_LEAST_SHARE_OF_MORE if whole else _LEAST_SHARE):
        return _END_SCORE if same_program and _end_alike(known, line) else 0.0
    shared, same_file = bool(old.names & new.names), bool(old.files & new.files)
    codes = old.codes & new.codes
    # An exception alone says what kind of error it is, and not which.
    sure_code = any(old.telling >= 2 or not _EXCEPTION.fullmatch(code) for code in codes)
    anchored = shared or same_file or sure_code
    if not anchored and (old.telling < 2 or (old.telling <= _FEW_WORDS and not same_program)):
        return 0.0
    return min(1.0, 0.5 * cover + 0.25 * share + 0.1 * same_program + 0.1 * shared + 0.05 * same_file)


def tokens_of(lines: Iterable[str]) -> frozenset[str]:
    """All words and codes of an output, for `may_be_among`."""
    read = [read_error(line) for line in lines]
    return frozenset().union(*(one.words | one.codes for one in read))


def may_be_among(known: str, tokens: frozenset[str]) -> bool:
    """Can an error be the same as a line of an output with these tokens? A quick no spares comparing all."""
    return _covered(read_error(known), tokens) >= LEAST_COVER or (
        _covered(read_error(known.rpartition(": ")[2]), tokens) >= _LEAST_COVER_OF_END
    )


def is_on_error(text: str, telling: Iterable[str], others: Iterable[str] = ()) -> bool:
    """Is a text on this error? `telling`: the lines that say most; `others`: more of the output, of which it
    must say more."""
    plain = text.casefold()
    return any(_mentions(plain, line, 2, _LEAST_MENTION) for line in telling) or any(
        _mentions(plain, line, _FEW_WORDS + 1, LEAST_COVER) for line in others
    )


def _mentions(text: str, line: str, least_words: int, least: float) -> bool:
    read = read_error(line)
    if any(code.casefold() in text for code in read.codes if _RARE_CODE.search(code)):
        return True
    words = {word for word in read.words if _weight(word) == 1.0}
    terms = (
        words
        | read.names
        | {code.casefold() for code in read.codes}
        | {file.casefold() for file in read.files}
    )
    found = {term for term in terms if re.search(rf"(?<![^\W_]){re.escape(term)}", text)}
    return len(found) >= least_words and len(found) >= least * len(terms)


def _other_thing(old: Reading, new: Reading, cure: str) -> bool:
    """Are two errors about things with different names? The name that the cure has is the one that counts."""
    if cured := {name for name in old.names if name in cure}:
        return not cured <= new.names
    if old.names & new.names:
        return bool(old.names - new.names and new.names - old.names)
    if old.names or new.names:
        return True
    return bool(old.files or new.files) and not old.files & new.files


def _end_alike(known: str, line: str) -> bool:
    """Do both end in the same cause? `...: no space left on device`"""
    old, new = (read_error(text.rpartition(": ")[2]) for text in (known, line))
    anchored = old.telling >= _FEW_WORDS or (old.telling >= 2 and bool(old.files & new.files))
    if not anchored or old.of_a_name or new.of_a_name or (old.files and not old.files & new.files):
        return False
    return min(_cover(old, new), _cover(new, old)) >= _LEAST_COVER_OF_END


@lru_cache(maxsize=4096)
def read_error(line: str) -> Reading:
    """A line as it is compared."""
    of_a_name = _OF_A_NAME.search(line) is not None
    line = _ARROW.sub(" ", _PLACE.sub("", _TIME.sub(" ", line)))
    names = {name for match in _BARE_NAME.findall(line) for name in match if name}
    if _REFUSED.search(line):
        names |= set(_PORT.findall(line))
    files: set[str] = set()
    for quoted in _QUOTED.findall(line):
        _take_name("".join(quoted), names, files, of_a_name=of_a_name)
    bare = _URL.sub(" ", line)
    codes = _codes(_PATH.sub(" ", bare), _PATH.sub(" ", _QUOTED.sub(" ", bare)))
    text = _QUOTED.sub(" ", bare)
    for path in _PATH.findall(text):
        _take_name(path, names, files, of_a_name=of_a_name)
    text = _PATH.sub(" ", text)
    if of_a_name:
        names |= set(_OPTION.findall(text))
        text = _OPTION.sub(" ", text)
        files |= set(_FILE.findall(text))
        names |= {name for name in _IDENTIFIER.findall(text) if name not in codes}
    text = _FILE.sub(" ", _DOTTED.sub(" ", _OPTION.sub(" ", text)))
    text = _NUMBER.sub(" ", _VERSION.sub(" ", _VERSIONED.sub(" ", _SHOUTED.sub(" ", text))))
    others = {one.casefold() for one in (*codes, *names)}
    words = {word.casefold() for word in _WORD.findall(text)} - others
    return Reading(
        frozenset(words), frozenset(codes), frozenset(map(str.casefold, names)), frozenset(files), of_a_name
    )


def _codes(line: str, unquoted: str) -> set[str]:
    codes = {code.rpartition(".")[2] for code in _EXCEPTION.findall(line)} | set(_CAMEL.findall(unquoted))
    codes |= set(_SHOUTED.findall(line)) | set(_STATUS.findall(line))
    return {code for code in codes if code not in ("ERROR", "FATAL")}


def _take_name(text: str, names: set[str], files: set[str], *, of_a_name: bool) -> None:
    """A quoted word or a path: a file counts by its last part, a place in a machine not at all."""
    if _URL.match(text) or _NUMBER.fullmatch(text):
        return
    if "/" in text.strip("/") or "\\" in text.strip("\\"):
        last = re.split(r"[\\/]", text.rstrip("\\/"))[-1]
        if of_a_name or "." in last.strip("."):
            files.add(last)
        return
    if _FILE.fullmatch(text):
        files.add(text)
        return
    plain = _VERSION.sub("", text).strip("/").lstrip("-")
    plain = plain.partition("=")[0]
    if plain:
        names.add(plain)


def _cover(one: Reading, other: Reading) -> float:
    """How much of `one` is in `other`, by weight."""
    return _covered(one, other.words | other.codes)


def _covered(one: Reading, there: frozenset[str]) -> float:
    weights = {word: _weight(word) for word in one.words}
    weights |= {code: 1.0 if _EXCEPTION.fullmatch(code) else _CODE_WEIGHT for code in one.codes}
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in there) / total if total else 0.0


def _weight(word: str) -> float:
    return 0.0 if word in _LABELS else _LIGHT if word in _COMMON else 1.0
