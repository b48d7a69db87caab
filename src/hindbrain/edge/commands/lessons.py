"""`hindbrain lessons`: what runs taught to avoid; which of it fits a command, and why."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.learning_text import LEARN_HINT, RUNS_HINT, day_text
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, CYAN, DIM, RED, Output, safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindbrain.app import App
    from hindbrain.context.packs.learned import Match
    from hindbrain.learn.lessons.guards import Heeded, KnownGuards
    from hindbrain.learn.lessons.lesson import Lesson

_ORDER = ("escalated", "active", "retired")
_MOST_RUNS = 5  # of the evidence that are named


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="QUERY",
        help="a command: only lessons that fit it, and why | show ID: one lesson with its evidence",
    )
    parser.add_argument("--all", action="store_true", help="those that no longer apply, too")


def run(args: Namespace, out: Output) -> int:
    verb = args.words[0] if args.words else ""
    if verb == "show" and len(args.words) != 2:
        raise UsageError("say which lesson: hindbrain lessons show ID; hindbrain lessons lists them")
    if args.all and args.words:
        raise UsageError("--all goes with the list of lessons; one that no longer applies fits no command")
    with closing(open_app(args)) as app:
        lessons = app.learning.lessons()
        if verb == "show":
            lesson = _find(args.words[1], lessons)
            heeded = app.learning.heeded().get(f"^{lesson.id}") if lesson.guard else None
            return _show_one(lesson, heeded, out)
        if args.words:
            return _show_fitting(app, " ".join(args.words), lessons, out)
        any_runs = bool(lessons) or bool(app.learning.runs.episodes(last=1))
        guards = guard_data(app.learning.guards(), app.learning.heeded())
    return _show_all(lessons, guards, any_runs, out, every=args.all)


def _show_all(
    lessons: Sequence[Lesson], guards: Sequence[dict[str, Any]], any_runs: bool, out: Output, *, every: bool
) -> int:
    shown = [lesson for lesson in lessons if every or lesson.state != "retired"]
    shown.sort(key=lambda lesson: (_ORDER.index(lesson.state), -lesson.confidence, lesson.id))
    if out.json:
        out.data({"lessons": [lesson_data(lesson) for lesson in shown], "guards": list(guards)})
        return 0
    for lesson in shown:
        out.line(_head(lesson, out))
        out.line(out.paint(f"    {_about(lesson)}", DIM))
    for guard in guards:
        _show_guard(guard, out)
    hidden = len(lessons) - len(shown)
    if hidden:
        out.say(f"{plural(hidden, 'lesson')} no longer applied: --all shows them")
    elif not shown and not guards:
        out.say(f"there are no lessons yet; {LEARN_HINT if any_runs else RUNS_HINT}")
    return 0


def _show_guard(guard: dict[str, Any], out: Output) -> None:
    mark = out.paint("! ", RED) if guard["problem"] else "  "
    out.line(f"{mark}{out.paint(safe(guard['id']), CYAN)}  guard {out.paint(safe(guard['guard']), BOLD)}")
    if guard["problem"]:
        told = f"not checked: {guard['problem']}"
    elif not guard["in_force"]:
        told = "not in force yet: hindbrain learn"
    else:
        told = f"in force · asked {plural(guard['asked'], 'time')}, heeded {plural(guard['heeded'], 'time')}"
    out.line(out.paint(f"    {safe(told)}", DIM))


def guard_data(known: KnownGuards, heeded: Mapping[str, Heeded]) -> list[dict[str, Any]]:
    """The shape is a promise: docs/json.md."""
    rows = [(one.id, f"{one.tool}: {one.pattern}", one in known.in_force, "") for one in known.usable]
    rows += [(one.id, one.text, False, one.problem) for one in known.unusable]
    return [
        {
            "id": id_,
            "guard": text,
            "in_force": in_force,
            "problem": problem,
            "asked": heeded[id_].asked if id_ in heeded else 0,
            "heeded": heeded[id_].heeded if id_ in heeded else 0,
        }
        for id_, text, in_force, problem in rows
    ]


def _show_fitting(app: App, command: str, lessons: Sequence[Lesson], out: Output) -> int:
    found = app.learning.matches(command)
    by_id = {lesson.id: lesson for lesson in lessons}
    if out.json:
        fitting = [match_data(match) for match in found.lessons]
        out.data({"command": command, "fitting": fitting, "problems": list(found.problems)})
        return 0
    for match in found.lessons:
        lesson = by_id.get(match.id.removeprefix("^"))
        out.line(f"{_score(match, out)}  {safe(lesson.text if lesson else _first_words(match))}")
        facts = [match.id.removeprefix("^"), f"because: {match.why}" if match.why else ""]
        facts += [_about(lesson)] if lesson else []
        out.line(out.paint("      " + safe(" · ".join(filter(None, facts))), DIM))
    for problem in found.problems:
        out.warn(safe(problem))
    if not found.lessons:
        out.say(f"none of {plural(len(lessons), 'lesson')} fits {command!r}")
    return 0


def _show_one(lesson: Lesson, heeded: Heeded | None, out: Output) -> int:
    if out.json:
        out.data(lesson_data(lesson))
        return 0
    out.line(_head(lesson, out))
    rows = [
        ("state", _about(lesson)),
        ("reason", lesson.reason),
        ("avoid", lesson.avoid),
        ("instead", f"{lesson.prefer} before {lesson.before}" if lesson.before else lesson.prefer),
        ("guard", lesson.guard),
        (
            "",
            f"asked {plural(heeded.asked, 'time')}, heeded {plural(heeded.heeded, 'time')}" if heeded else "",
        ),
        ("for", "; ".join(f"“{command}”" for command in lesson.commands)),
        ("failed", _runs(lesson.evidence)),
        ("worked", _runs(lesson.worked)),
    ]
    for name, value in rows:
        if value:
            out.line(f"  {out.paint(f'{name:<8}', DIM)} {safe(value)}")
    if lesson.evidence:
        out.say(f"hindbrain runs show {lesson.evidence[-1]} tells the last of these failures")
    return 0


def _find(name: str, lessons: Sequence[Lesson]) -> Lesson:
    """By its id, with or without "^"; the beginning of one is enough where it is the only one."""
    wanted = name.removeprefix("^").lower()
    exact = [lesson for lesson in lessons if lesson.id.lower() == wanted]
    near = exact or [lesson for lesson in lessons if wanted and lesson.id.lower().startswith(wanted)]
    if len(near) == 1:
        return near[0]
    from hindbrain.edge.parser import nearest

    hint = nearest(wanted, [lesson.id for lesson in lessons]) or "; hindbrain lessons --all lists them"
    raise NotFound(f"there is no lesson {name!r}{hint}")


def _head(lesson: Lesson, out: Output) -> str:
    mark = out.paint("! ", RED) if lesson.state == "escalated" else "  "
    return f"{mark}{out.paint(safe(lesson.id), CYAN)}  {out.paint(safe(lesson.text), BOLD)}"


def _about(lesson: Lesson) -> str:
    counts = [f"{lesson.failures} failed", f"{lesson.successes} went well" if lesson.successes else ""]
    kept = [
        f"heeded {lesson.heeded}" if lesson.heeded else "",
        f"in vain {lesson.in_vain}" if lesson.in_vain else "",
    ]
    facts = [
        lesson.state,
        f"confidence {lesson.confidence:.2f}",
        ", ".join(filter(None, counts)) if lesson.failures else "",
        ", ".join(filter(None, kept)),
        lesson.app,
        f"from {lesson.source}" if lesson.source != "tool" else "",
        f"last {day_text(lesson.last)}" if lesson.last else "",
    ]
    return safe(" · ".join(filter(None, facts)))


def _runs(runs: Sequence[str]) -> str:
    more = len(runs) - _MOST_RUNS
    return ", ".join(runs[-_MOST_RUNS:]) + (f" and {more} before" if more > 0 else "")


def _first_words(match: Match) -> str:
    """Of what fits and is no lesson: a known issue, a correction."""
    lines = (line.replace("**", "").strip(" \t#-") for line in match.text.split("\n"))
    return match.title or next((line for line in lines if line), match.path)


def _score(match: Match, out: Output) -> str:
    return out.paint(f"{match.score:.2f}", CYAN)


def lesson_data(lesson: Lesson) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "id": lesson.id,
        "text": lesson.text,
        "state": lesson.state,
        "confidence": round(lesson.confidence, 4),
        "commands": list(lesson.commands),
        "avoid": lesson.avoid,
        "prefer": lesson.prefer,
        "before": lesson.before,
        "reason": lesson.reason,
        "app": lesson.app,
        "failures": lesson.failures,
        "successes": lesson.successes,
        "heeded": lesson.heeded,
        "in_vain": lesson.in_vain,
        "evidence": list(lesson.evidence),
        "worked": list(lesson.worked),
        "source": lesson.source,
        "first": lesson.first,
        "last": lesson.last,
        "guard": lesson.guard,
    }


def match_data(match: Match) -> dict[str, Any]:
    """What fits a command, of any kind. The shape is a promise: docs/json.md."""
    return {
        "id": match.id,
        "path": match.path,
        "title": match.title,
        "text": match.text,
        "first_line": match.first_line,
        "last_line": match.last_line,
        "score": round(match.score, 4),
        "why": match.why,
        "source": match.source,
        "date": match.date,
    }
