"""`hindbrain skills`: ways of doing things that you wrote or approved; which fits a command, and why."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.commands.lessons import match_data
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, CYAN, DIM, Output, safe

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.learn.skills.loading import Loaded
    from hindbrain.learn.skills.skill import Skill


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="QUERY", help="a command: only skills that fit it, and why; else all"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        loaded = app.learning.skills()
        if args.words:
            return _show_fitting(app, " ".join(args.words), loaded, out)
        folder = app.memory.layout.folder_of("skills")
    return _show_all(loaded, folder, out)


def _show_all(loaded: Loaded, folder: str, out: Output) -> int:
    shown = sorted(loaded.skills, key=lambda skill: skill.name.lower())
    if out.json:
        problems = list(loaded.problems)
        out.data({"skills": [skill_data(skill) for skill in shown], "problems": problems})
        return 0
    for skill in shown:
        out.line(f"{out.paint(safe(skill.name), BOLD)}   {out.paint(safe(skill.path), CYAN)}")
        about = [skill.description, f"trigger {skill.trigger}" if skill.trigger else ""]
        out.line(out.paint("    " + safe(" · ".join(filter(None, about))), DIM))
    for problem in loaded.problems:
        out.warn(safe(problem))
    if not shown:
        out.say(
            f"there are no skills in {safe(folder)!r}; write one there (name and description in its "
            "frontmatter), or accept one in the inbox: a template that works proposes itself"
        )
    return 0


def _show_fitting(app: App, command: str, loaded: Loaded, out: Output) -> int:
    found = app.learning.matches(command)
    problems = [*found.problems, *loaded.problems]
    if out.json:
        fitting = [match_data(match) for match in found.skills]
        out.data({"command": command, "fitting": fitting, "problems": list(dict.fromkeys(problems))})
        return 0
    for match in found.skills:
        place = out.paint(safe(match.path), CYAN)
        out.line(f"{out.paint(f'{match.score:.2f}', CYAN)}  {out.paint(safe(match.title), BOLD)}   {place}")
        if match.why:
            out.line(out.paint(f"      because: {safe(match.why)}", DIM))
    for problem in dict.fromkeys(problems):
        out.warn(safe(problem))
    if not found.skills:
        out.say(f"none of {plural(len(loaded.skills), 'skill')} fits {command!r}")
    return 0


def skill_data(skill: Skill) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "name": skill.name,
        "description": skill.description,
        "trigger": skill.trigger,
        "path": skill.path,
        "source": skill.source,
        "updated": skill.updated,
    }
