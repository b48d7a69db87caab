"""What an agent reads out of a text about the past. It favours no format.

The text is cut into passages: a passage begins at a heading, a tag, a line that names a source, or a command
where the passage before has one. JSON is read as the lines that it would be. In each passage:

command    the known command in it, or in a heading above it
segments   the calls in the order in which they stand, up to a statement of how they went; what stands before
           all calls ("Outcome: failed") is about those that no statement follows, and a heading or a tag
           ("avoid mistakes") about those of which nothing else is said
avoid      single calls that are said to fail, or not to be made: "do not X", "X failed", "Y instead of X"
reasons    known reasons of failures
taste      a sentence that says "prefer", "use", "always", "want", ... beside one of two things; the one
           behind "over", "instead of", "rather than" or "not" is the one that is not liked
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from benchmarks.learning.vocabulary import Seen, Vocabulary, vocabulary
from benchmarks.learning.world import World

Verdict: TypeAlias = Literal["good", "bad", ""]

_HEADING = re.compile(r"\s*(#{1,6})\s+\S")
_TAG = re.compile(r"\s*<(/?)([\w-]+)[^<>]*>\s*$")
_SOURCE = re.compile(r"\s*\[[^\]\n]+\]\s*$")
_RULE = re.compile(r"\s*(?:…|\.\.\.|-{3,}|\*{3,}|_{3,})\s*$")
_CLAUSE = re.compile(r";|(?<=[.!?])\s|\s(?:but|whereas)\s")
_MARK = re.compile(
    r"(?P<reject>\brejected\b)"
    r"|(?P<bad>\b(?:worked|works|went well|succeeded)(?: in)? 0 of|\b(?:did|does|could)(?: not|n['’]t)\b"
    r"|\bnever work(?:ed|s)\b|\bunsuccessful\w*|\bnot successful\b|\bwithout success\b|\bfail\w*|\berrors?\b"
    r"|\brefused\b|\bwrong\w*|\bin vain\b|\bcancell?ed\b|\bcalled off\b|\bstopped\b|\bmistakes?\b"
    r"|\bstuck\b|\b0 of \d)"
    r"|(?P<avoid>\bdo not\b|\bdon['’]t\b|\bavoid\w*|\bnever\b|\binstead of\b|\brather than\b"
    r"|\bnot(?=[\s`\"'*]*\ue000))"
    r"|(?P<good>\bsuccess\w*|\bsucceeded\b|\bwork(?:ed|s)\b|\bwent well\b|\bdone\b|\bpass(?:ed|es)\b"
    r"|\bcomplete\w*|\bsolved\b|\bfixed\b|\bhelp(?:ed|s)\b|\breliabl\w*|\baccepted\b)"
    r"|(?P<use>\buse\b|\btry\b|\brecommended\b|\binstead\b)"
    r"|(?P<cut>…|\.\.\.)",
    re.IGNORECASE,
)
_ABOVE_BAD = re.compile(r"avoid|mistake|fail|issue|wrong|error|problem", re.IGNORECASE)
_ABOVE_GOOD = re.compile(r"template|success|worked|reliable|how to|skill", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3,}")
_OPEN = re.compile(r"\{[^{}]*\}|<\w+>|…|\.\.\.")
_LIKES = re.compile(
    r"\b(?:prefer\w*|likes?|wants?|always|uses?|sign|address|corrected|added|instead of|rather than)\b",
    re.IGNORECASE,
)
_NOT = (
    r"(?:over|instead of|rather than|not|never|no longer|than|removed:?)\s+(?:in\s+|with\s+|to\s+)?[\"“'*`]*"
)


class Segment(NamedTuple):
    """Calls that belong together, and how they went; "" when nothing is said of it."""

    calls: tuple[str, ...]
    verdict: Verdict
    is_cut: bool = False  # an ellipsis says that steps are missing


class Passage(NamedTuple):
    """What one entry, sentence or record says."""

    kind: str = ""  # of the command that it is about; "" when none is known
    command: str = ""
    values: Mapping[str, str] = {}  # what that command filled in
    segments: tuple[Segment, ...] = ()
    avoid: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()  # the others that stand in it, and above it


class Advice(NamedTuple):
    passages: tuple[Passage, ...] = ()  # as they stand
    reasons: frozenset[str] = frozenset()  # casefolded: why something has failed
    said: str = ""  # the text without calls and reasons

    def with_reason(self, reason: str) -> Advice:
        """The same after one more failure."""
        return self._replace(reasons=self.reasons | {reason.casefold()})


def read(text: str, world: World) -> Advice:
    reader = _Reader(vocabulary(world))
    passages = tuple(reader.read(_as_lines(text, vocabulary(world))))
    reasons = frozenset(reason.casefold() for passage in passages for reason in passage.reasons)
    return Advice(passages, reasons, "\n".join(reader.said))


# --- passages


class _Reader:
    def __init__(self, known: Vocabulary) -> None:
        self._known = known
        self._above: list[tuple[int, str, Seen | None]] = []  # headings in force: level, text, command
        self._around = ""  # the tag and the source in force
        self._draft = _Draft()
        self.said: list[str] = []

    def read(self, text: str) -> Iterator[Passage]:
        for line in text.split("\n"):
            heading = _HEADING.match(line)
            if _TAG.match(line) or _SOURCE.match(line):
                yield from self._finished()
                self._enter(line)
            elif _RULE.match(line) or (not line.strip() and self._draft.is_whole):
                yield from self._finished()
            elif heading:
                yield from self._finished()
                self._put_above(len(heading[1]), line)
            else:
                yield from self._take(line)
        yield from self._finished()

    def _enter(self, line: str) -> None:
        tag = _TAG.match(line)
        self._above = []
        if tag is None:
            self._around = f"{self._around.partition(' ')[0]} {line}"
        else:
            self._around = "" if tag[1] else tag[2]

    def _put_above(self, level: int, line: str) -> None:
        self._above = [one for one in self._above if one[0] < level]
        commands = [one for one in self._known.find(line) if one.what == "command"]
        self._above.append((level, line, commands[0] if commands else None))

    def _take(self, line: str) -> Iterator[Passage]:
        found = self._known.find(line)
        self.said.append(_masked(line, [one for one in found if one.what != "command"]))
        for start, end in _clauses(line, found):
            clause = [one for one in found if start <= one.start < end]
            if self._draft.command and any(one.what == "command" for one in clause):
                yield from self._finished()
            self._draft.take(_tokens(line, start, end, clause))
            self._draft.words |= set(_WORD.findall(_masked(line, found)[start:end].casefold()))

    def _finished(self) -> Iterator[Passage]:
        draft, self._draft = self._draft, _Draft()
        if draft.is_empty:
            return
        above = [command for _, _, command in self._above if command is not None]
        if draft.command is None and above:
            draft.command = above[-1]
        titles = " ".join(title for _, title, _ in self._above)
        draft.words |= set(_WORD.findall(titles.casefold()))
        yield draft.finished(_verdict_above(titles) or _verdict_above(self._around))


def _verdict_above(text: str) -> Verdict:
    return "bad" if _ABOVE_BAD.search(text) else "good" if _ABOVE_GOOD.search(text) else ""


def _clauses(line: str, found: Sequence[Seen]) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CLAUSE.finditer(_masked(line, found)):
        yield start, cut.end()
        start = cut.end()
    yield start, len(line) + 1


def _masked(line: str, found: Sequence[Seen]) -> str:
    for one in found:
        line = line[: one.start] + "\ue000" * (one.end - one.start) + line[one.end :]
    return line


def _tokens(line: str, start: int, end: int, found: Sequence[Seen]) -> list[Seen]:
    """What was recognised in a clause and the words that say how it went, in order."""
    masked = _masked(line, found)
    marks = [
        Seen(*match.span(), str(match.lastgroup), match[0]) for match in _MARK.finditer(masked, start, end)
    ]
    return sorted((*found, *marks), key=lambda one: one.start)


class _Draft:
    """A passage while it is read."""

    def __init__(self) -> None:
        self.command: Seen | None = None
        self.words: set[str] = set()
        self._segments: list[Segment] = []
        self._open: list[str] = []
        self._is_cut = False
        self._overall: Verdict = ""
        self._avoid: list[str] = []
        self._reasons: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not (self.command or self._segments or self._open or self._avoid or self._reasons)

    @property
    def is_whole(self) -> bool:
        """A blank line ends it: it waits for nothing."""
        return self.command is None or bool(self._segments or (self._open and self._overall))

    def take(self, tokens: Sequence[Seen]) -> None:
        self._reasons += [one.text for one in tokens if one.what == "reason"]
        self.command = self.command or next((one for one in tokens if one.what == "command"), None)
        self._is_cut |= any(one.what == "cut" for one in tokens)
        if any(one.what == "call" for one in tokens):
            self._take_calls(tokens)
        else:
            self._take_verdict(tokens)

    def finished(self, above: Verdict) -> Passage:
        if self._open:
            self._close(self._overall or above)
        kind, command, values = ("", "", {}) if self.command is None else (
            self.command.kind, self.command.text, self.command.values
        )  # fmt: skip
        return Passage(
            kind, command, values, tuple(self._segments), tuple(self._avoid), tuple(self._reasons),
            frozenset(self.words),
        )  # fmt: skip

    def _close(self, verdict: Verdict) -> None:
        if self._open:
            self._segments.append(Segment(tuple(self._open), verdict, self._is_cut))
        self._open, self._is_cut = [], False

    def _take_verdict(self, tokens: Sequence[Seen]) -> None:
        """A clause without calls: it is about those before it, or where there are none, those to come."""
        said = [_VERDICTS[one.what] for one in tokens if one.what in _VERDICTS and one.what != "reason"]
        said = said or [_VERDICTS[one.what] for one in tokens if one.what in _VERDICTS]
        if not said:
            return
        if self._open and self._overall == "bad" and said[0] == "good":
            self._close("bad")  # what failed was solved afterwards
            self._overall = "good"
        elif self._open:
            self._close(said[0])
        else:
            self._overall = self._overall or said[0]

    def _take_calls(self, tokens: Sequence[Seen]) -> None:
        mode, waiting, chosen = "", list[str](), list[str]()
        for one in tokens:
            if one.what == "call":
                calls = [one.text] * one.times
                if mode in ("avoid",):
                    self._avoid += calls[:1]
                elif mode == "use":
                    chosen += calls
                else:
                    waiting += calls
            elif one.what in ("avoid", "use"):
                mode = one.what
                if one.what == "use" and waiting and one.text.casefold() == "instead":
                    chosen, waiting, mode = [*chosen, *waiting], [], ""
            elif one.what in _VERDICTS:
                waiting, chosen, mode = self._judged(one, waiting, chosen, mode)
        if chosen:
            self._segments.append(Segment(tuple(chosen), "good"))
        if mode == "bad" and waiting:
            self._judge_bad(waiting, whole=len(waiting) > 1)
        elif mode == "good" and waiting:
            self._open += waiting
            self._close("good")
        else:
            self._open += waiting

    def _judged(
        self, mark: Seen, waiting: list[str], chosen: list[str], mode: str
    ) -> tuple[list[str], list[str], str]:
        """How what stands before it in its clause went; where nothing does, what follows."""
        verdict = _VERDICTS[mark.what]
        if not waiting:
            if mode == "use" and verdict == "bad" and len(chosen) > 1:
                self._avoid.append(chosen.pop())
            return waiting, chosen, mode or ("" if chosen or self._avoid else verdict)
        if mode in ("good", "bad"):
            return waiting, chosen, mode
        if verdict == "bad":
            self._judge_bad(waiting, whole=len(waiting) > 1 or mark.what == "reject")
        elif len(waiting) > 1:
            self._open += waiting
            self._close("good")
        else:
            self._open += waiting
            self._segments.append(Segment(tuple(waiting), "good"))
        return [], chosen, ""

    def _judge_bad(self, calls: Sequence[str], *, whole: bool) -> None:
        """One call of several that failed is left out; where it is said of several, they failed together."""
        if whole:
            self._open += calls
            self._close("bad")
        else:
            self._avoid += calls


_VERDICTS: Mapping[str, Verdict] = {"good": "good", "bad": "bad", "reject": "bad", "reason": "bad"}


# --- JSON

_STARTS = re.compile(r"^[ \t]*(?:[-*] )?(?=[{\[])", re.MULTILINE)
_SUCCESS_KEYS = ("ok", "success", "succeeded", "passed")


def _as_lines(text: str, known: Vocabulary) -> str:
    """The text with each JSON value in it as lines of `name: value`, calls as calls."""
    decoder = json.JSONDecoder()
    parts, end = [], 0
    for start in _STARTS.finditer(text):
        if start.end() < end:
            continue
        try:
            value, stop = decoder.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list) and value:
            parts += [text[end : start.start()], "\n".join(_lines(value, "", known))]
            end = stop
    return "".join((*parts, text[end:]))


def _lines(value: Any, name: str, known: Vocabulary) -> Iterator[str]:
    if isinstance(value, dict):
        call = _call_in(value, known)
        if call is not None:
            yield call
            return
        for key, inner in value.items():
            yield from _lines(inner, key, known)
    elif isinstance(value, list):
        for inner in value:
            yield from _lines(inner, "", known)
    elif isinstance(value, bool):
        if name in _SUCCESS_KEYS:
            yield "success" if value else "failed"
    else:
        label = name.replace("_", " ") + ": " if name else ""
        yield label + str(value).replace("\n", " ").replace("run.fail", "failed")


def _call_in(record: Mapping[str, Any], known: Vocabulary) -> str | None:
    """A record of a call as one line; None when it is none."""
    named = [key for key, value in record.items() if isinstance(value, str) and value in known.tools]
    if not named:
        return None
    values = [_decoded(value) for value in record.values()]
    arguments = [value for value in values if isinstance(value, dict)]
    rest = ", ".join(f"{key}: {_told(value)}" for key, value in (arguments[0] if arguments else {}).items())
    failed = any(record.get(key) is False for key in _SUCCESS_KEYS) or record.get("error")
    return f"{record[named[0]]}({rest})" + (" failed" if failed else "")


def _decoded(value: Any) -> Any:
    """Arguments may be JSON in a string."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _told(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- likes


def liked(text: str, options: Sequence[str]) -> str:
    """Which of the two the text says the user likes; "" when it does not say. The majority wins."""
    votes: Counter[str] = Counter()
    for line in text.split("\n"):
        if not _LIKES.search(line):
            continue
        for option in options:
            named = re.escape(option)
            if re.search(rf"(?<!\w){named}(?!\w)", line) and not re.search(rf"{_NOT}{named}(?!\w)", line):
                votes[option] += 1
    return votes.most_common(1)[0][0] if votes else ""


@lru_cache(100_000)
def fits(pattern: str, action: str) -> bool:
    """Is it this action? `{name}` and `<url>` in a pattern stand for anything."""
    if not _OPEN.search(pattern):
        return pattern.casefold() == action.casefold()
    parts = _OPEN.split(pattern)
    return re.fullmatch(".*".join(map(re.escape, parts)), action, re.IGNORECASE | re.DOTALL) is not None
