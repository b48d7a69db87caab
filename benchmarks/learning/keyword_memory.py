"""The reference design without a model: files, keywords, recency. Small and fair: all that it says is done.

    tasks/task-log.md         the last 200 runs: command, outcome, iterations, key actions
    tasks/task-templates/     three successes with half of their keywords in common make a template: the
                              longest common sequence of tools, with arguments that vary left open
    learning/failures.md      rejections and failures: command, score, reason
    learning/corrections.md   a command that was called off, and the one that followed
    context/recent-actions.md the last two hours

Score = 0.4 keywords + 0.3 recency + 0.2 frequency + 0.1 success; 4,000 tokens in slots, as the reference has
them. What only a model can write (lessons from failures, knowledge of applications) is left out, and so is
what the user said in passing, which all arms get in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.learning.memories import Ran, Recalled
from benchmarks.learning.world import LOOK, Verdict, call_of

_KEPT = 200
_GOOD_SCORE, _LEAST_RUNS = 80, 3
_SIMILAR = 0.5
_RETRIED_S = 120
_TWO_HOURS, _HOUR, _DAY, _WEEK = 7_200.0, 3_600.0, 86_400.0, 604_800.0
_SLOTS = {"recent_context": 500, "relevant_knowledge": 1_500, "task_template": 500,
          "avoid_mistakes": 400}  # fmt: skip
_ALWAYS = ("recent_context",)
_MOST_ENTRIES = 5
_WORD = re.compile(r"[\w./~'-]+")
_STOP = frozenset({
    "a", "an", "and", "as", "at", "be", "by", "do", "for", "from", "i", "in", "is", "it", "me", "my", "of",
    "on", "or", "please", "that", "the", "this", "to", "up", "was", "will", "with", "you", "your",
})  # fmt: skip


class Entry(NamedTuple):
    at: float
    command: str
    text: str  # as it stands in its file
    success: float = 0.0
    actions: tuple[str, ...] = ()
    score: int = 0


class Template(NamedTuple):
    words: frozenset[str]
    trigger: re.Pattern[str]
    steps: tuple[str, ...]
    name: str
    uses: int = 0
    good: int = 0


class KeywordMemory:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._log: list[Entry] = []
        self._failures: list[Entry] = []
        self._corrections: list[Entry] = []
        self._templates: dict[str, Template] = {}
        self._seen: dict[float, int] = {}  # how often an entry was injected
        self._last_failed: Entry | None = None
        self._used = ""
        for name in ("tasks/task-templates", "learning", "context"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def recall(self, command: str, at: float) -> Recalled:
        words = keywords(command)
        template = self._template(command, words)
        self._used = template.name if template else ""
        found = {
            "recent_context": self._recent(at),
            "relevant_knowledge": self._relevant(words, at),
            "task_template": [self._read(f"tasks/task-templates/{template.name}.md")] if template else [],
            "avoid_mistakes": self._mistakes(words),
        }
        parts: list[str] = []
        pieces: dict[bool, list[str]] = {True: [], False: []}
        for slot, texts in found.items():
            kept = _within(texts, 4 * _SLOTS[slot])
            if kept:
                parts.append(f"<{slot}>\n" + "\n".join(kept) + f"\n</{slot}>")
                pieces[slot in _ALWAYS] += kept
        text = "<memory>\n" + "\n\n".join(parts) + "\n</memory>" if parts else ""
        return Recalled(text, tuple(pieces[False]), tuple(pieces[True]), -(-len(text) // 4))

    def record(self, ran: Ran) -> None:
        task = ran.task
        actions = tuple(done.action for attempt in ran.attempts for done in attempt.verdict.done)
        good = ran.outcome == "success"
        entry = Entry(task.at, task.command, _entry_text(ran, actions), float(good), actions, ran.score)
        self._log = [*self._log, entry][-_KEPT:]
        self._write("tasks/task-log.md", [one.text for one in self._log])
        for attempt in ran.attempts:
            if attempt.verdict.reason:
                self._failures.append(Entry(task.at, task.command, _failure_text(ran, attempt.verdict)))
        self._write("learning/failures.md", [one.text for one in self._failures])
        self._note_correction(ran)
        if self._used in self._templates:
            used = self._templates[self._used]
            self._put(used._replace(uses=used.uses + 1, good=used.good + good))
        if good and ran.score >= _GOOD_SCORE:
            self._maybe_template(entry)

    def close(self) -> None: ...

    # Reading

    def _recent(self, at: float) -> list[str]:
        last = [entry for entry in self._log if at - entry.at < _TWO_HOURS][-5:]
        self._write("context/recent-actions.md", [_recent_text(entry) for entry in last])
        return [_recent_text(entry) for entry in last]

    def _relevant(self, words: frozenset[str], at: float) -> list[str]:
        scored = []
        for entry in (*self._log, *self._corrections):
            match = _overlap(words, keywords(entry.command))
            if match:
                frequency = min(1.0, self._seen.get(entry.at, 0) / 10)
                score = 0.4 * match + 0.3 * _recency(at - entry.at) + 0.2 * frequency + 0.1 * entry.success
                scored.append((score, entry.at, entry))
        best = [entry for _, _, entry in sorted(scored, key=lambda one: one[:2], reverse=True)][
            :_MOST_ENTRIES
        ]
        for entry in best:
            self._seen[entry.at] = self._seen.get(entry.at, 0) + 1
        return [entry.text for entry in best]

    def _mistakes(self, words: frozenset[str]) -> list[str]:
        near = [one for one in self._failures if _overlap(words, keywords(one.command)) >= _SIMILAR]
        return list(dict.fromkeys(one.text.split("\n", 1)[1] for one in reversed(near)))

    def _template(self, command: str, words: frozenset[str]) -> Template | None:
        fitting = [
            (bool(one.trigger.search(command)) + _overlap(words, one.words), one.good / max(1, one.uses), one)
            for one in self._templates.values()
        ]
        fitting = [one for one in fitting if one[0] >= 1]
        return max(fitting, key=lambda one: (one[0], one[1], one[2].name))[2] if fitting else None

    # Writing

    def _note_correction(self, ran: Ran) -> None:
        task, last = ran.task, self._last_failed
        if last is not None and task.at - last.at < _RETRIED_S:
            text = f'- Original: "{last.command}"\n- Corrected: "{task.command}"'
            self._corrections.append(Entry(task.at, task.command, text))
            self._write("learning/corrections.md", [one.text for one in self._corrections])
        self._last_failed = Entry(task.at, task.command, "") if ran.outcome != "success" else None

    def _maybe_template(self, entry: Entry) -> None:
        words = keywords(entry.command)
        good = [one for one in self._log if one.success and one.score >= _GOOD_SCORE]
        similar = [one for one in good if _overlap(words, keywords(one.command)) >= _SIMILAR]
        if len(similar) < _LEAST_RUNS:
            return
        similar = similar[-_LEAST_RUNS:]
        steps = common_steps([one.actions for one in similar])
        shared = frozenset.intersection(*(keywords(one.command) for one in similar))
        if len(steps) < 2 or not shared:
            return
        ordered = [word for word in _WORD.findall(entry.command.lower()) if word in shared]
        name = "-".join(re.sub(r"\W+", "", word) for word in ordered)
        before = self._templates.get(name)
        trigger = re.compile(".*".join(map(re.escape, ordered)), re.IGNORECASE)
        self._put(
            Template(shared, trigger, steps, name, before.uses if before else 3, before.good if before else 3)
        )

    def _put(self, template: Template) -> None:
        self._templates[template.name] = template
        steps = [f"{at}. {step}" for at, step in enumerate(template.steps, 1)]
        rate = template.good / max(1, template.uses)
        head = f"---\ntype: task-template\ntrigger: {template.trigger.pattern}\nsuccess_rate: {rate:.2f}\n---"
        self._write(f"tasks/task-templates/{template.name}.md", [head, *steps])

    def _read(self, name: str) -> str:
        path = self._root / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _write(self, name: str, texts: Sequence[str]) -> None:
        (self._root / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


@cache
def keywords(text: str) -> frozenset[str]:
    words = (word.strip(".'") for word in _WORD.findall(text.lower()))
    return frozenset(word for word in words if len(word) > 1 and word not in _STOP)


def common_steps(runs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The longest common sequence of tools; an argument that varies is left open."""
    steps = [(call_of(action)[0], action) for action in runs[0]]
    for run in runs[1:]:
        steps = _common(steps, [(call_of(action)[0], action) for action in run])
    return tuple(action for _, action in steps if action != LOOK)


def _common(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> list[tuple[str, str]]:
    lengths = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            if left[i][0] == right[j][0]:
                lengths[i][j] = 1 + lengths[i + 1][j + 1]
            else:
                lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i][0] == right[j][0]:
            same = left[i][1] == right[j][1]
            found.append((left[i][0], left[i][1] if same else f"{left[i][0]}({{value}})"))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def _recency(age: float) -> float:
    return 1.0 if age < _HOUR else 0.7 if age < _DAY else 0.4 if age < _WEEK else 0.2


def _within(texts: Sequence[str], characters: int) -> list[str]:
    kept = []
    for text in texts:
        characters -= len(text) + 1
        if characters < 0:
            break
        kept.append(text)
    return kept


def _entry_text(ran: Ran, actions: Sequence[str]) -> str:
    outcome = "Success" if ran.outcome == "success" else "Failed"
    shown = ", ".join(action for action in actions if action != LOOK)
    return (
        f'## {_iso(ran.task.at)}\n- **Command:** "{ran.task.command}"\n'
        f"- **Outcome:** {outcome} (score: {ran.score})\n- **Iterations:** {ran.iterations}\n"
        f"- **Key actions:** {shown}"
    )


def _failure_text(ran: Ran, verdict: Verdict) -> str:
    return (
        f'## {_iso(ran.task.at)}\n- **Failed:** "{ran.task.command}"\n- **Score:** {verdict.score}/100\n'
        f"- **Reason:** {verdict.reason}\n- **Lesson:** Review needed"
    )


def _recent_text(entry: Entry) -> str:
    outcome = "success" if entry.success else "failed"
    return f"- [{datetime.fromtimestamp(entry.at, UTC):%H:%M}] {entry.command} ({outcome})"


def _iso(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"
