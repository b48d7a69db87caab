"""A template as a note, and back: properties, numbered steps, slots, commands, evidence.

Pure: text in, text out. A person may edit any of it; what can't be understood is read as words. Owns the
shape of the note; which lines may be changed is the book's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hindbrain.learn.templates.template import SHELL, Slot, Step, Template
from hindbrain.vault.inline import mask_code
from hindbrain.vault.items.item_text import escape, unescape
from hindbrain.vault.note import Note, Property
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.splice import Value, set_property

TYPE = "task-template"
FAILING = "failed_in_a_row"  # stands in a note only once it was above 0
SLOTS, WHEN, EVIDENCE, SUGGESTED, EARLIER = "Slots", "When", "Evidence", "Suggested", "Earlier versions"
HIGH, MEDIUM = 0.7, 0.4  # of the success rate's lower bound, for the word of confidence
_Z = 1.96  # 95 %
_KINDS = {
    "email": "an email address", "url": "a web address", "text": "in quotes", "path": "a path",
    "id": "an id", "n": "a number",
}  # fmt: skip
_STEP = re.compile(r" {0,3}\d{1,3}[.)]\s+(\S.*)")
_CALL = re.compile(r"([\w.:/-]+)\((.*)\)", re.DOTALL)
_COMMAND_LINE = re.compile(r"`([^`]+)`")
_NEXT_ARGUMENT = re.compile(r", (?=[\w.-]+: )")
_MANY = "as often as needed"
_SLOT = re.compile(r"\s*[-*+]\s+\{(\w+)\}:\s*(.*)")
_QUOTED_LIST = re.compile(r'(after|before|such as)((?: "[^"]*",?)+)')
_QUOTED = re.compile(r'"([^"]*)"')
_ITEM = re.compile(r"\s*[-*+]\s+(\S.*)")
_RUN = re.compile(r"#\^([A-Za-z0-9-]+)|run `([^`]+)`")
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+")


class Span(NamedTuple):
    """Lines of a note, counted from 1, both included; (0, -1) when there are none."""

    first: int
    last: int


def confidence(template: Template) -> str:
    """high, medium or low: by what the success rate is at least, with 95 % certainty (Wilson)."""
    runs = template.runs
    if not runs:
        return "low"
    rate, square = template.success_rate, _Z * _Z
    centre = rate + square / (2 * runs)
    spread = _Z * ((rate * (1 - rate) + square / (4 * runs)) / runs) ** 0.5
    least = (centre - spread) / (1 + square / runs)
    return "high" if least >= HIGH else "medium" if least >= MEDIUM else "low"


def render(template: Template, *, task_log: str, day: str) -> str:
    """The whole note, for a template that has none; `task_log` is the path of the note with its runs."""
    front = b"---\n---\n"
    for key, value in {"type": TYPE, **figures(template), "updated": day}.items():
        front = set_property(front, key, value)
    parts = [front.decode().rstrip("\n"), f"# {template.title}", "", *step_lines(template.steps)]
    for heading, lines in sections(template, task_log=task_log):
        if lines:
            parts += ["", f"## {heading}", "", *lines]
    return "\n".join(parts) + "\n"


def figures(template: Template) -> dict[str, Value]:
    """What the frontmatter tells, without the day."""
    told: dict[str, Value] = {"trigger": template.trigger}
    if template.app:
        told["app"] = template.app
    told["confidence"] = confidence(template)
    told["avg_iterations"] = template.avg_iterations
    told["success_rate"] = round(template.success_rate, 2)
    if template.recent >= 0:
        told["recent_success"] = template.recent
    if template.failing:
        told[FAILING] = template.failing
    return {**told, "runs": template.runs, "version": template.version, "source": template.source}


def sections(template: Template, *, task_log: str) -> list[tuple[str, list[str]]]:
    return [
        (SLOTS, [slot_line(slot) for slot in template.slots]),
        (WHEN, [f"- {escape(command)}" for command in template.commands]),
        (EVIDENCE, [_run_line(run, task_log) for run in template.evidence]),
    ]


def step_lines(steps: Iterable[Step]) -> list[str]:
    return [f"{number}. {_step_text(step)}" for number, step in enumerate(steps, start=1)]


def in_one_line(steps: Iterable[Step]) -> str:
    """For suggestions and earlier versions."""
    return escape(" → ".join(step.shown for step in steps))


def slot_line(slot: Slot) -> str:
    told = ["in the command" if slot.in_command else "found on the way"]
    if slot.kind in _KINDS:
        told.append(_KINDS[slot.kind])
    for word, values in (("after", slot.before), ("before", slot.after), ("such as", slot.examples)):
        if values:
            told.append(f"{word} " + ", ".join(f'"{_unquoted(value)}"' for value in values))
    return f"- {{{slot.name}}}: {escape('; '.join(told))}"


def parse(data: bytes, path: str) -> Template | None:
    """What a note says; None when it is no template: it has no steps, or says that it is something else."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    note = parse_note(decode_note(data)[0], stem=stem)
    said = {key.lower(): value for key, value in note.frontmatter.items()}
    steps = _steps_in(_lines(note, steps_span(note)))
    if not steps or _text(said, "type") not in ("", TYPE):
        return None
    runs = int(_number(said, "runs"))
    return Template(
        name=stem,
        title=next((heading.text for heading in note.headings if heading.level == 1), stem),
        trigger=_text(said, "trigger"),
        steps=tuple(steps),
        slots=tuple(slot for line in _section(note, SLOTS) if (slot := read_slot(line)) is not None),
        commands=tuple(_plain(match[1]) for line in _section(note, WHEN) if (match := _ITEM.fullmatch(line))),
        app=_text(said, "app"),
        runs=runs,
        successes=min(runs, round(_number(said, "success_rate") * runs)),
        avg_iterations=_number(said, "avg_iterations"),
        version=max(1, int(_number(said, "version"))),
        source=source_of_note(path, note.frontmatter),
        evidence=tuple(
            match[1] or match[2] for line in _section(note, EVIDENCE) if (match := _RUN.search(line))
        ),
        path=path,
        updated=_text(said, "updated"),
        recent=_number(said, "recent_success") if "recent_success" in said else -1.0,
        failing=int(_number(said, FAILING)),
    )


def steps_span(note: Note) -> Span:
    """From the first numbered step to the last, above the first lesser heading."""
    first = next((heading.line + 1 for heading in note.headings if heading.level == 1), note.body_line)
    stop = next((heading.line for heading in note.headings if heading.line >= first), len(note.lines) + 1)
    found = [at for at in range(first, stop) if _STEP.fullmatch(note.lines[at - 1])]
    return Span(found[0], found[-1]) if found else Span(0, -1)


def shown_span(data: bytes) -> Span:
    """The lines that are worth a place in a prompt: the title and the steps."""
    note = parse_note(decode_note(data)[0], stem="")
    steps = steps_span(note)
    title = next((heading.line for heading in note.headings if heading.level == 1), steps.first)
    return Span(min(title, steps.first), steps.last)


def read_steps(text: str) -> list[Step]:
    """The numbered steps of a text."""
    return _steps_in(text.split("\n"))


def read_step(line: str) -> Step:
    match = _STEP.fullmatch(line)
    said, _, comment = (match[1] if match else line).rstrip().partition("  // ")
    text = _plain(said)
    many = _MANY in comment
    if command_line := _COMMAND_LINE.fullmatch(said.strip()):
        return Step(SHELL, (("", command_line[1]),), many)
    call = _CALL.fullmatch(text)
    if call is None:
        return Step(text, (), many)
    arguments: list[tuple[str, str]] = []
    for number, part in enumerate(_NEXT_ARGUMENT.split(call[2]) if call[2] else []):
        key, _, value = part.partition(": ")
        arguments.append(("", part) if number == 0 else (key, value))
    return Step(call[1], tuple(arguments), many)


def read_slot(line: str) -> Slot | None:
    match = _SLOT.fullmatch(line)
    if match is None:
        return None
    text = _plain(match[2])
    lists = {word: tuple(_QUOTED.findall(values)) for word, values in _QUOTED_LIST.findall(text)}
    bare = _QUOTED_LIST.sub("", text)
    return Slot(
        match[1],
        lists.get("such as", ()),
        "found on the way" not in bare,
        next((kind for kind, words in _KINDS.items() if words in bare), ""),
        lists.get("after", ()),
        lists.get("before", ()),
    )


def _steps_in(lines: Iterable[str]) -> list[Step]:
    return [read_step(line) for line in lines if _STEP.fullmatch(line)]


def _step_text(step: Step) -> str:
    text = "`" + step.shown.replace("`", "'") + "`" if step.is_line else escape(step.shown)
    return text + (f"  // {_MANY}" if step.many else "")


def _run_line(run: str, task_log: str) -> str:
    if _BLOCK_ID.fullmatch(run):
        return f"- [[{task_log.removesuffix('.md')}#^{run}]]"
    return f"- run `{run.replace('`', '')}`"


def _plain(text: str) -> str:
    return unescape(text, mask_code(text))


def _unquoted(value: str) -> str:
    return " ".join(value.replace('"', "'").split())


def _section(note: Note, heading: str) -> Sequence[str]:
    for at, found in enumerate(note.headings):
        if found.text.strip().casefold() == heading.casefold():
            below = (other.line for other in note.headings[at + 1 :] if other.level <= found.level)
            return note.lines[found.line : next(below, len(note.lines) + 1) - 1]
    return ()


def _lines(note: Note, span: Span) -> Sequence[str]:
    return note.lines[span.first - 1 : span.last] if span.first else ()


def _text(said: dict[str, Property], key: str) -> str:
    value = said.get(key)
    return value.strip() if isinstance(value, str) else ""


def _number(said: dict[str, Property], key: str) -> float:
    try:
        number = float(_text(said, key) or 0)
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e9 else 0.0
