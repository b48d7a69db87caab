"""Which task is meant: by id, by title, or by a title that is nearly right.

Pure. Never guesses between two: whoever names a task that is not the only one gets the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindbrain.base.errors import Ambiguous, NotFound
from hindbrain.memory.tasks.task_line import OPEN, TaskItem
from hindbrain.memory.tasks.task_note import TaskLines

_CLOSE = 0.8  # of two titles as difflib compares them; below it they are different tasks
_CLEARLY = 0.08  # how much better the best one must be than the next
_SHORTEST_WORD = 3  # letters: a shorter one in the middle of a title names nothing by itself
_COMPARED = 500  # letters: comparing takes the square of the length
_SHOWN = 5
_FEWEST_WORDS = 2  # "Groceries" may mean anything
_WORD = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*")
_ORDER = re.compile(
    r"^(?:(?:ok(?:ay)?|hey|hi|now|then|so|please|bitte)[, ]+)*(?:(?:can|could|would|will) you |i want you to "
    r"|i'd like you to |let's |go ahead and |kannst du |peux-tu |puedes )?"
)
# Articles, "my", "please" and "now": with them or without, it is the same.
_SMALL = frozenset({
    "a", "an", "the", "my", "our", "your", "please", "now", "today", "tomorrow", "tonight", "just", "finally",
    "me", "der", "die", "das", "den", "dem", "ein", "eine", "einen", "mein", "meine", "meinen", "bitte",
    "heute", "morgen", "le", "la", "les", "un", "une", "mon", "ma", "mes", "el", "los", "las", "una", "mi",
    "mis", "il", "lo", "gli", "i", "o", "os", "as", "um", "uma", "meu", "minha", "de", "het", "een", "mijn",
})  # fmt: skip
_DAY_WORDS = frozenset({"today", "tomorrow", "tonight", "heute", "morgen"})
_LINE = re.compile(r"(.*) \(line ([0-9]+)\)", re.DOTALL)


def find_task(tasks: Sequence[TaskLines], name: str, path: str) -> TaskLines:
    """Raises Ambiguous with the candidates, or NotFound with the nearest titles."""
    wanted = name.strip()
    for found in (_by_id(tasks, wanted), _by_line(tasks, wanted), _by_title(tasks, wanted)):
        if found:
            return _only(found, wanted)
    scored = sorted(
        ((_likeness(wanted, found.task.title), found) for found in tasks), key=lambda pair: -pair[0]
    )
    close = [(score, found) for score, found in scored if score >= _CLOSE]
    if close:
        best = close[0][0]
        return _only([found for score, found in close if score > best - _CLEARLY], wanted)
    parts = [found for found in tasks if _holds(_key(found.task.title), _key(wanted))]
    if len(parts) > 1:
        return _only(parts, wanted)
    raise NotFound(f"no task {wanted[:80]!r} in {path!r}{_hint(scored)}")


def find_twin(tasks: Sequence[TaskLines], wanted: TaskItem) -> TaskLines | None:
    """The open task of the same title; one of another project is no twin.

    An agent words a task anew each time: of its tasks, one with the same aim is a twin.
    """
    near = _by_title(tasks, wanted.title)
    if wanted.source:
        near += [found for found in tasks if _says_again(wanted.title, found.task.title)]
    return next(
        (
            found
            for found in near
            if found.task.status in OPEN and found.task.project.casefold() == wanted.project.casefold()
        ),
        None,
    )


def _says_again(one: str, other: str) -> bool:
    """Same aim, and at most one of the two names a day in words."""
    days = [_DAY_WORDS.intersection(_WORD.findall(text.casefold())) for text in (one, other)]
    return same_aim(one, other) and (not all(days) or days[0] == days[1])


def same_aim(one: str, other: str) -> bool:
    """Do two texts ask for the same? Only small words and endings may differ, and nothing in their order."""
    aim = _aim(one)
    return len(aim) >= _FEWEST_WORDS and aim == _aim(other)


def _aim(text: str) -> list[str]:
    from hindbrain.search.telling import stem

    words = _ORDER.sub("", text.casefold().replace("’", "'").strip()).replace("'s ", " ")
    return [stem(word) for word in _WORD.findall(words) if word not in _SMALL]


def _by_id(tasks: Sequence[TaskLines], wanted: str) -> list[TaskLines]:
    key = wanted.removeprefix("^").casefold()
    return [found for found in tasks if found.task.id and found.task.id.casefold() == key]


def _by_line(tasks: Sequence[TaskLines], wanted: str) -> list[TaskLines]:
    match = _LINE.fullmatch(wanted)
    if match is None:
        return []
    return [found for found in _by_title(tasks, match[1]) if found.task.line == int(match[2])]


def _by_title(tasks: Sequence[TaskLines], wanted: str) -> list[TaskLines]:
    return [found for found in tasks if _key(found.task.title) == _key(wanted)]


def _only(found: Sequence[TaskLines], wanted: str) -> TaskLines:
    """The one that is meant; of several, the only one that is still open."""
    if len(found) == 1:
        return found[0]
    still_open = [one for one in found if one.task.status in OPEN]
    if len(still_open) == 1:
        return still_open[0]
    tasks = [one.task for one in still_open or found]
    told = list(
        zip(*(_varying(attribute) for attribute in zip(*map(_attributes, tasks), strict=True)), strict=True)
    )
    shown = "; ".join(
        f"{task.handle} ({', '.join(filter(None, about))})" if any(about) else task.handle
        for task, about in zip(tasks[:_SHOWN], told, strict=False)
    )
    names = tuple(task.handle for task in tasks)
    raise Ambiguous(
        f"{len(names)} tasks answer to {wanted[:80]!r}: {shown}; give one of these", candidates=names
    )


def _attributes(task: TaskItem) -> tuple[str, ...]:
    """What may tell two tasks apart, in words."""
    details = task.details.strip().partition("\n")[0].strip(" -*")
    return (
        repr(task.title[:60]) if task.id else "",  # a handle without an id has the title
        task.status,
        task.priority,
        f"#{task.project}" if task.project else "no project",
        f"due {task.due}" if task.due else "not due",
        repr(details[:40]) if details else "no details",
        f"line {task.line}" if task.id else "",
    )


def _varying(values: Sequence[str]) -> Sequence[str]:
    """The values of one attribute; empty where they do not tell tasks apart."""
    return values if len(set(values)) > 1 else [""] * len(values)


def _likeness(wanted: str, title: str) -> float:
    """0..1; a title that begins with `wanted`, or holds all of its words, is as good as nearly the same."""
    from difflib import SequenceMatcher

    a, b = _key(wanted[:_COMPARED]), _key(title[:_COMPARED])
    if not a or not b:
        return 0.0
    if f"{b} ".startswith(f"{a} ") or (_says_something(a) and _holds(b, a)):
        return 0.9
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() > 0.4 and matcher.quick_ratio() > 0.4 else 0.0


def _holds(title: str, words: str) -> bool:
    """Are all the words in the title? Both as keys."""
    return bool(words) and set(words.split()) <= set(title.split())


def _says_something(words: str) -> bool:
    from hindbrain.search.terms import STOP_WORDS

    return any(len(word) >= _SHORTEST_WORD and word not in STOP_WORDS for word in words.split())


def _hint(scored: Sequence[tuple[float, TaskLines]]) -> str:
    near = [found.task for score, found in scored[:3] if score >= 0.4]
    if near:
        return "; the nearest: " + ", ".join(f"{task.title[:60]!r} ({task.handle[:80]})" for task in near)
    return "; list the tasks to see what there is" if scored else "; there are no tasks yet"


def _key(title: str) -> str:
    """Equal for titles that differ in case, spaces and signs only."""
    return " ".join(re.sub(r"\W+", " ", title.casefold()).split()) or title.strip()
