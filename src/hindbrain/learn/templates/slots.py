"""What varies between runs becomes a named slot, bound to the part of the command where its value stands.

Pure. Owns what a slot is called, how its value is found in a new command, and when two arguments are one
slot. Knows nothing of which runs agree, nor of notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from hindbrain.learn.alike import masked
from hindbrain.learn.templates.steps import Column, is_id, parts_said, place_in, stands_in
from hindbrain.learn.templates.template import Slot, Step, Template

END = "."  # among the words behind a slot: the end of the sentence
CONSTANT = 0.8  # of the runs that have the same value: from here on it is part of the step
LONGEST = 120  # characters of a value in a step
_EXAMPLES = 3
_CONTEXT = 3  # different words before or behind a slot that are kept
_LEAST_AFFIX = 4  # letters that values must share to be one text with a gap
_AFFIXED = 80  # characters: what is longer was written for one run, whatever it begins with
_STRUCTURE = 40  # characters of a list or an object that can be part of a step
_EXAMPLE = 60  # characters
_NEAR = 3  # words on each side of a slot that tell where it is
# What is typed into something: where the command says it, it is this run's own, even when all had the same.
_TYPED = frozenset({"body", "content", "input", "message", "query", "subject", "text", "title", "value"})
# Arguments that are called so say nothing about what is filled in.
_GENERIC = frozenset({
    "arg", "args", "cmd", "code", "command", "content", "element", "expression", "input", "key", "keys",
    "label", "param", "string", "target", "text", "thought", "value", "",
})  # fmt: skip
_BY_KIND = {"n": "number", "id": "id", "url": "url", "email": "email", "path": "path"}
_BY_WORD = {
    "to": "recipient", "about": "topic", "regarding": "topic", "called": "name", "named": "name",
    "titled": "title", "saying": "message", "says": "message", "repo": "repo", "repository": "repo",
    "file": "file", "folder": "folder", "branch": "branch", "channel": "channel", "issue": "issue",
}  # fmt: skip
_FILE = re.compile(r"[^/\\\s]+\.\w{1,5}")
_KIND = re.compile(r"<(\w+)>")
_NAMED = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_QUOTES = "\"'“”`‘’"
_END = re.compile(r"[.,;!?](?=\s|$)|\n")


class Bound(NamedTuple):
    steps: tuple[Step, ...]
    slots: tuple[Slot, ...]
    values: Mapping[str, Mapping[int, str]]  # of each slot, by the number of the run


# A varying argument: texts that are the same in all runs, and for each gap its value in every run.
_Woven: TypeAlias = "list[str | Mapping[int, str]]"


def plain(value: str) -> str:
    """A value as a step shows it: one line, cut, and with no second argument hidden in it."""
    line = " ".join(value.split())
    line = re.sub(r",\s+(?=[\w.-]+:\s)", ",", line)
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


def bind(columns: Sequence[Column], commands: Sequence[str]) -> Bound:
    """Steps with `{slots}` from the columns that are kept; `commands` by the number of the run."""
    binder = _Binder(commands)
    steps = tuple(binder.step(column) for column in columns)
    return Bound(steps, tuple(binder.slots), {name: values for values, name in binder.gaps})


def fill(slot: Slot, command: str, commands: Sequence[str] = ()) -> str:
    """The slot's value in a command; "" when it can't be told.

    Where several parts may be it, the one whose surroundings are most like those in other `commands`.
    """
    if not slot.in_command:
        return ""
    if slot.kind:
        looks = [span for kind, span in looks_of(command) if kind == slot.kind]
        told = [span for span in looks if _word_before(command, span[0]) in slot.before]
        chosen = told or looks
        return command[slice(*chosen[0])].strip(_QUOTES) if chosen else ""
    found = _candidates(slot, command)
    if not found:
        return ""
    if len(found) > 1 and commands:
        others = [f" {_plainly(other)} . " for other in commands if other.casefold() != command.casefold()]
        near = [_surroundings(command, candidate, others) for candidate in found]
        found = [one for one, like in zip(found, near, strict=True) if like == max(near)]
    return min(found).value


def filled(template: Template, command: str) -> tuple[Step, ...]:
    """The steps, with slots filled from the command where they can be; the others stay as they are."""
    said = _without_app(command, template.app)
    values = {slot.name: fill(slot, said, template.commands) for slot in template.slots}
    return tuple(
        step._replace(arguments=tuple((key, _with_values(value, values)) for key, value in step.arguments))
        for step in template.steps
    )


def _without_app(command: str, app: str) -> str:
    """ "play Heroes with Spotify" is to play Heroes: where it is done is no part of what."""
    if not app or app.casefold() not in command.casefold():
        return command
    return re.sub(rf"\s+(?:in|on|with|using|via)\s+{re.escape(app)}\s*$", "", command, flags=re.IGNORECASE)


def _with_values(text: str, values: dict[str, str]) -> str:
    return _NAMED.sub(lambda match: values.get(match[1]) or match[0], text)


class _Candidate(NamedTuple):
    """A part of a command that may fill a slot; the least is the best."""

    strange_end: bool  # what stands behind it never stood there
    rank: int  # of the word before it
    start: int
    stop: int
    value: str


def _candidates(slot: Slot, command: str) -> list[_Candidate]:
    longest = max((len(example.split()) for example in slot.examples), default=1)
    found: dict[int, list[_Candidate]] = {}
    for rank, word in enumerate(slot.before):
        for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)[\s:]+", command, re.IGNORECASE):
            value, length, end = _up_to(command[match.end() :], slot.after)
            known = not slot.after or end in slot.after
            if 0 < len(value.split()) <= longest + 2 * known:
                stop = match.end() + length
                found.setdefault(stop, []).append(_Candidate(not known, rank, match.end(), stop, value))
    # Of several with one end the shortest first: "clone the repo x/y" has it behind "repo", not "clone".
    return [
        one._replace(rank=min(other.rank for other in same) if at == 0 else len(slot.before) + at)
        for same in found.values()
        for at, one in enumerate(sorted(same, key=lambda one: (len(one.value), one.rank)))
    ]


def _surroundings(command: str, candidate: _Candidate, others: Sequence[str]) -> int:
    """How many words right before and right behind it stand so in one of the other commands, too."""
    before = _plainly(command[: candidate.start]).split()
    behind = [*_plainly(command[candidate.stop :]).split(), END]
    sides = [
        [before[-n:] for n in range(1, min(_NEAR, len(before)) + 1)],
        [behind[:n] for n in range(1, min(_NEAR, len(behind)) + 1)],
    ]
    return max(sum(_stands(words, other) for side in sides for words in side) for other in others or [""])


def _stands(words: Sequence[str], text: str) -> bool:
    return f" {' '.join(words)} " in text


def _plainly(text: str) -> str:
    """Its words in a row, in lower case."""
    return " ".join(_WORD.findall(text.lower()))


def without_slots(command: str, slots: Sequence[Slot], commands: Sequence[str] = ()) -> str:
    """The command with `<said>` in the place of what fills the slots, as far as that can be told."""
    for value in sorted({fill(slot, command, commands) for slot in slots}, key=len, reverse=True):
        if value and (span := place_in(value, command)):
            command = f"{command[: span[0]]} <said> {command[span[1] :]}"
    return command


def looks_of(command: str) -> list[tuple[str, tuple[int, int]]]:
    """What differs from run to run by its look: the kind, and where it stands; in order."""
    from hindbrain.learn.alike import _PARTS

    found: list[tuple[str, tuple[int, int]]] = []
    # The more special first: an address is no web site.
    for pattern, name in sorted(_PARTS, key=lambda part: part[1] != " <email> "):
        for match in pattern.finditer(command):
            start, stop = match.span()
            if all(stop <= other[0] or start >= other[1] for _, other in found):
                found.append((name.strip(" <>"), (start, stop)))
    return sorted(found, key=lambda part: part[1])


def kind_of(value: str) -> str:
    match = _KIND.fullmatch(masked(value))
    return match[1] if match else ""


class _Binder:
    def __init__(self, commands: Sequence[str]) -> None:
        self._commands = commands
        self.gaps: list[tuple[Mapping[int, str], str]] = []  # values by run, and the slot that they are
        self.slots: list[Slot] = []

    def step(self, column: Column) -> Step:
        keys = Counter(key for action in column.cells.values() for key in dict(action.arguments))
        first = next(iter(column.cells.values()))
        order = [key for key, _ in first.arguments]
        kept = [key for key, count in keys.items() if count * 2 > len(column.cells)]
        kept.sort(key=lambda key: order.index(key) if key in order else len(order))
        arguments = tuple((key, self._argument(key, column)) for key in kept)
        return Step(column.name, arguments, column.many)

    def _argument(self, key: str, column: Column) -> str:
        values = {
            run: plain(dict(action.arguments)[key])
            for run, action in column.cells.items()
            if key in dict(action.arguments)
        }
        woven = _woven(key, values, self._commands)
        return "".join(
            part.replace("{", "(").replace("}", ")")
            if isinstance(part, str)
            else f"{{{self._slot(key, part)}}}"
            for part in woven
        )

    def _slot(self, key: str, values: Mapping[int, str]) -> str:
        """The name of the slot with these values: one that is there, or a new one."""
        for known, name in self.gaps:
            shared = known.keys() & values.keys()
            same = sum(known[run].casefold() == values[run].casefold() for run in shared)
            if len(shared) >= 2 and same >= CONSTANT * len(shared):
                return name
        said = [run for run, value in values.items() if stands_in(value, self._commands[run])]
        in_command = len(said) * 2 > len(values)
        slot = self._described(key, {run: values[run] for run in said} if in_command else values, in_command)
        taken = {other.name for other in self.slots}
        name = next(
            name for n in range(1, 99) if (name := slot.name if n == 1 else f"{slot.name}_{n}") not in taken
        )
        self.slots.append(slot._replace(name=name))
        self.gaps.append((values, name))
        return name

    def _described(self, key: str, values: Mapping[int, str], in_command: bool) -> Slot:
        newest = dict.fromkeys(values[run] for run in sorted(values, reverse=True))
        examples = tuple(map(_cut, newest))[:_EXAMPLES]
        if not in_command:
            return Slot(_name(key, "", (), examples), examples, in_command=False)
        kinds: Counter[str] = Counter()
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for run, value in values.items():
            command = self._commands[run]
            span = place_in(value, command)
            if span is not None:
                kinds[_kind_at(command, span)] += 1
                before[_word_before(command, span[0])] += 1
                after[_word_behind(command, span[1])] += 1
        kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
        if count < CONSTANT * len(values):
            kind = ""
        words = tuple(word for word, _ in before.most_common(_CONTEXT) if word)
        behind = tuple(word for word, _ in after.most_common(_CONTEXT) if word)
        return Slot(_name(key, kind, words, examples), examples, True, kind, words, behind)


def _woven(key: str, values: Mapping[int, str], commands: Sequence[str]) -> _Woven:
    """What stays and what differs. An id always differs: it names one case, whatever runs had."""
    most, count = Counter(values.values()).most_common(1)[0]
    if is_id(key) or (most[:1] in ("[", "{") and len(most) > _STRUCTURE):
        return [values]
    said = sum(stands_in(value, commands[run]) for run, value in values.items())
    in_commands = said * 2 > len(values)
    typed = key.lower() in _TYPED
    if count >= CONSTANT * len(values):
        # An address or a number that the command names is not the task's, either.
        if in_commands and (typed or kind_of(most)):
            return [values]
        return (_said_inside(values, commands, typed=True) if typed else None) or [most]
    if in_commands or max(map(len, values.values())) > _AFFIXED:
        return [values]
    return _said_inside(values, commands, typed=typed) or _with_affixes(values) or [values]


def _said_inside(values: Mapping[int, str], commands: Sequence[str], *, typed: bool) -> _Woven | None:
    """`{title} {day}`: values made of several parts of the command, in most runs in the same way."""
    shapes: dict[tuple[str, ...], dict[int, tuple[str, ...]]] = {}
    for run, value in values.items():
        shape, parts = parts_said(value, commands[run])
        if parts:
            shapes.setdefault(shape, {})[run] = parts
    if not shapes:
        return None
    shape, found = max(shapes.items(), key=lambda pair: len(pair[1]))
    if len(found) < CONSTANT * len(values):
        return None
    gaps = [{run: parts[at] for run, parts in found.items()} for at in range(shape.count(""))]
    woven: _Woven = [gaps.pop(0) if text == "" else text for text in shape]
    if typed:
        return woven
    # A part that all commands name is the task's: "git clone".
    return [
        part if isinstance(part, str) or not _is_one(part) else next(iter(part.values())) for part in woven
    ]


def _is_one(values: Mapping[int, str]) -> bool:
    return len(set(values.values())) == 1 and not kind_of(next(iter(values.values())))


def _with_affixes(values: Mapping[int, str]) -> _Woven | None:
    """`git clone {url}`: what all values begin and end with, cut between words."""
    texts = list(values.values())
    lead = re.sub(r"\w*$", "", _shared_start(texts))
    tail = re.sub(r"^\w*", "", _shared_start([text[len(lead) :][::-1] for text in texts])[::-1])
    middles = {run: value[len(lead) : len(value) - len(tail)] for run, value in values.items()}
    letters = sum(char.isalnum() for char in lead + tail)
    if letters < _LEAST_AFFIX or not all(middle.strip() for middle in middles.values()):
        return None
    return [part for part in (lead, middles, tail) if part]


def _shared_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    same = next((i for i, char in enumerate(first) if char != last[i : i + 1]), len(first))
    return first[:same]


def _cut(value: str) -> str:
    return value if len(value) <= _EXAMPLE else value[: _EXAMPLE - 1].rstrip() + "…"


def _name(key: str, kind: str, before: Sequence[str], examples: Sequence[str]) -> str:
    key = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")
    if key not in _GENERIC:
        return key
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if all(_FILE.fullmatch(example) for example in examples):
        return "file"
    named = next((_BY_WORD[word] for word in before if word in _BY_WORD), "")
    return named or key or "value"


def _kind_at(command: str, span: tuple[int, int]) -> str:
    """By the look of what stands there, quotes and all."""
    for kind, (start, stop) in looks_of(command):
        if start <= span[0] and span[1] <= stop and (stop - start) - (span[1] - span[0]) <= 2:
            return kind
    return ""


def _word_before(command: str, at: int) -> str:
    words = _WORD.findall(command[max(0, at - 40) : at])
    return words[-1].lower() if words else ""


def _word_behind(command: str, at: int) -> str:
    match = _WORD.search(command[at : at + 40])
    return match[0].lower() if match and not _END.search(command[at : at + match.start()]) else END


def _up_to(text: str, ends: Sequence[str]) -> tuple[str, int, str]:
    """The text up to a word that usually follows, or to where the sentence ends; where, and which it was."""
    sentence = _END.search(text)
    stops = [(sentence.start() if sentence is not None else len(text), END)]
    stops += [(match.start(), word) for word in ends if (match := _find_word(word, text))]
    stop, end = min(stops)
    return text[:stop].strip().strip(_QUOTES), stop, end


def _find_word(word: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
