"""`hindbrain templates`: ways of doing things that worked; which fits a command, and its steps filled in."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import Ambiguous, NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.commands.lessons import match_data
from hindbrain.edge.learning_text import LEARN_HINT, RUNS_HINT
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, CYAN, DIM, Output, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.app import App
    from hindbrain.learn.templates.template import Slot, Step, Template


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="QUERY",
        help="a command: only templates that fit it, and why | show NAME: one template with its steps",
    )
    parser.add_argument(
        "--for",
        dest="command",
        default="",
        metavar="COMMAND",
        help="show: fill the steps in for this command",
    )


def run(args: Namespace, out: Output) -> int:
    verb, rest = (args.words[0], args.words[1:]) if args.words else ("", [])
    if verb == "show" and not rest:
        raise UsageError("say which template: hindbrain templates show NAME; hindbrain templates lists them")
    if args.command and verb != "show":
        raise UsageError('--for fills in one template: hindbrain templates show NAME --for "COMMAND"')
    with closing(open_app(args)) as app:
        templates = app.learning.templates()
        if verb == "show":
            return _show_one(_find(" ".join(rest), templates), args.command, out)
        if args.words:
            return _show_fitting(app, " ".join(args.words), len(templates), out)
        any_runs = bool(templates) or bool(app.learning.runs.episodes(last=1))
    return _show_all(templates, any_runs, out)


def _show_all(templates: Sequence[Template], any_runs: bool, out: Output) -> int:
    shown = sorted(templates, key=lambda one: (-one.runs, one.title.lower()))
    if out.json:
        out.data({"templates": [template_data(one) for one in shown]})
        return 0
    for one in shown:
        out.line(f"{out.paint(safe(one.title), BOLD)}   {out.paint(safe(one.path), CYAN)}".rstrip())
        out.line(out.paint(f"    {_about(one)}", DIM))
    if shown:
        out.say('hindbrain templates show NAME --for "COMMAND" fills one in')
    else:
        out.say(f"there are no templates yet; {LEARN_HINT if any_runs else RUNS_HINT}")
    return 0


def _show_fitting(app: App, command: str, known: int, out: Output) -> int:
    found = app.learning.matches(command)
    if out.json:
        fitting = [match_data(match) for match in found.templates]
        out.data({"command": command, "fitting": fitting, "problems": list(found.problems)})
        return 0
    for match in found.templates:
        place = out.paint(safe(match.path), CYAN)
        out.line(f"{out.paint(f'{match.score:.2f}', CYAN)}  {out.paint(safe(match.title), BOLD)}   {place}")
        if match.why:
            out.line(out.paint(f"      because: {safe(match.why)}", DIM))
    for problem in found.problems:
        out.warn(safe(problem))
    if not found.templates:
        out.say(f"none of {plural(known, 'template')} fits {command!r}")
    return 0


def _show_one(template: Template, command: str, out: Output) -> int:
    steps: Sequence[Step] = template.steps
    if command:
        from hindbrain.learn.templates.slots import filled

        steps = filled(template, command)
    if out.json:
        out.data(template_data(template) | {"command": command, "filled": [step.shown for step in steps]})
        return 0
    out.line(out.paint(safe(template.title), BOLD))
    out.line(out.paint(_about(template), DIM))
    width = len(str(len(steps)))
    for number, step in enumerate(steps, start=1):
        often = out.paint("   as often as needed", DIM) if step.many else ""
        out.line(f"{number:>{width}}. {safe(step.shown)}{often}")
    for slot in template.slots:
        out.line(f"{out.paint(f'{{{safe(slot.name)}}}', CYAN)}  {_slot(slot)}")
    if template.path:
        out.say(f"in {safe(template.path)}; change the note to change the steps")
    return 0


def _find(name: str, templates: Sequence[Template]) -> Template:
    """By its name or title; a part of one is enough where it is the only one."""
    wanted = name.casefold().removesuffix(".md")
    names = [
        {one.name.casefold(), one.title.casefold(), one.path.casefold().removesuffix(".md")}
        for one in templates
    ]
    found = [one for one, known in zip(templates, names, strict=True) if wanted in known]
    found = found or [
        one for one, known in zip(templates, names, strict=True) if any(wanted in text for text in known)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        titles = tuple(one.name for one in found)
        raise Ambiguous(
            f"{name!r} may be {', '.join(map(repr, titles[:5]))}; give one of them", candidates=titles
        )
    from hindbrain.edge.parser import nearest

    hint = nearest(name, [one.name for one in templates]) or "; hindbrain templates lists them"
    raise NotFound(f"there is no template {name!r}{hint}")


def _about(template: Template) -> str:
    facts = [
        f"{template.successes} of {plural(template.runs, 'run')} went well"
        if template.runs
        else "not used yet",
        f"{template.avg_iterations:.1f} iterations" if template.avg_iterations else "",
        plural(len(template.steps), "step"),
        template.app,
        f"trigger {template.trigger}" if template.trigger else "",
        f"version {template.version}" if template.version > 1 else "",
    ]
    return safe(" · ".join(filter(None, facts)))


def _slot(slot: Slot) -> str:
    where = "from the command" if slot.in_command else "found on the way"
    examples = ", ".join(f"“{example}”" for example in slot.examples[:3])
    return safe(f"{where}: {examples}" if examples else where)


def template_data(template: Template) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "name": template.name,
        "title": template.title,
        "trigger": template.trigger,
        "app": template.app,
        "runs": template.runs,
        "successes": template.successes,
        "success_rate": round(template.success_rate, 4),
        "avg_iterations": round(template.avg_iterations, 2),
        "version": template.version,
        "source": template.source,
        "path": template.path,
        "steps": [{"text": step.shown, "many": step.many} for step in template.steps],
        "slots": [
            {"name": slot.name, "in_command": slot.in_command, "examples": list(slot.examples)}
            for slot in template.slots
        ],
        "commands": list(template.commands),
        "evidence": list(template.evidence),
    }
