"""`hindbrain learn`: take finished runs in, and bring lessons, templates and records up to date with them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.learning_text import RUNS_HINT, in_words, working
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.learn.service import Learned

_RECORDED = ("runs", "corrections", "issues", "preferences", "apps", "archived")
_LESSONS = ("added", "changed", "retired", "kept", "dropped", "held")
_TEMPLATES = ("added", "changed", "updated", "kept", "dropped")
_WORDS = (("added", "new"), ("changed", "changed"), ("retired", "retired"), ("updated", "with new figures"))
_MOST_NAMED = 5  # of what is new


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would change in notes, and change nothing"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        with working(out, "learning from runs"):
            learned = app.learning.learn(dry_run=args.dry_run)
        since = _last_time(app)
        any_runs = bool(app.learning.runs.episodes(last=1))
        known = {} if out.json or args.dry_run else {one.id: one.text for one in app.learning.lessons()}
    if out.json:
        out.data(learned_data(learned, dry_run=args.dry_run))
    elif args.dry_run:
        _show_diff(learned.diff, out)
    else:
        _show(learned, known, any_runs, since, out)
    for problem in learned.problems:
        out.warn(safe(problem))
    return 1 if learned.problems else 0


def _last_time(app: App) -> str:
    """When something was learned before, and by what."""
    from hindbrain.edge.when import moment_text

    last = next((done for done in app.writer.actions() if done.by in ("learn", "consolidate")), None)
    if last is None:
        return "the last time"
    who = "in the background" if last.via == "background" else f"by hindbrain {last.by}"
    return f"{moment_text(last.entries[-1].revision.when)}, when it was last done {who}"


def _show(learned: Learned, known: Mapping[str, str], any_runs: bool, since: str, out: Output) -> None:
    lines = list(learned_lines(learned, known))
    for line in lines:
        out.line(safe(line))
    for text, why in learned.recorded.not_stored:
        out.say(safe(f"not stored ({why}): {text}"))
    held = len(learned.lessons.held) + len(learned.templates.left_out)
    if held:
        out.say(f"{held} left out: the text of their runs reads like an order to an agent")
    if learned.proposals:
        out.say(f"{plural(learned.proposals, 'skill')} for your decision: hindbrain inbox")
    if not any_runs:
        out.say(f"there are no finished runs; {RUNS_HINT}")
    elif not lines:
        out.say(f"nothing new since {since}")


def learned_lines(learned: Learned, known: Mapping[str, str]) -> Iterator[str]:
    """What is new, a line each; nothing where there is nothing new. `known`: what lessons say, by id."""
    recorded, lessons, templates = learned.recorded, learned.lessons, learned.templates
    told = in_words(
        [
            (recorded.runs, "run", "runs"),
            (recorded.corrections, "correction", "corrections"),
            (recorded.issues, "new issue", "new issues"),
            (recorded.preferences, "preference", "preferences"),
            (recorded.apps, "note of an application", "notes of applications"),
            (recorded.archived, "older entry archived", "older entries archived"),
        ]
    )
    if told:
        yield f"recorded: {told}"
    for title in recorded.tasks:
        yield f"task done: {title}"
    told = in_words([(len(getattr(lessons, name)), word) for name, word in _WORDS[:3]])
    if told:
        yield f"lessons: {told}"
        yield from _named([f"{known.get(one, '')} ({one})".strip() for one in lessons.added])
    told = in_words([(len(getattr(templates, name)), word) for name, word in (*_WORDS[:2], _WORDS[3])])
    if told:
        yield f"templates: {told}"
        yield from _named(list(templates.added))


def _named(new: Sequence[str]) -> Iterator[str]:
    for one in new[:_MOST_NAMED]:
        yield f"  + {one}"
    if len(new) > _MOST_NAMED:
        yield f"  and {len(new) - _MOST_NAMED} more"


def learned_data(learned: Learned, *, dry_run: bool) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    return {
        "dry_run": dry_run,
        "recorded": {
            **{name: getattr(learned.recorded, name) for name in _RECORDED},
            "tasks": list(learned.recorded.tasks),
            "not_stored": [{"text": text, "why": why} for text, why in learned.recorded.not_stored],
        },
        "lessons": {name: list(getattr(learned.lessons, name)) for name in _LESSONS},
        "templates": {
            **{name: list(getattr(learned.templates, name)) for name in _TEMPLATES},
            "left_out": [{"title": title, "why": why} for title, why in learned.templates.left_out],
        },
        "proposals": learned.proposals,
        "diff": learned.diff,
        "problems": list(learned.problems),
    }


def _show_diff(diff: str, out: Output) -> None:
    from hindbrain.edge.diff_text import diff_lines

    for line in diff_lines(diff, out):
        out.line(line)
    out.stdout.flush()
    out.say("nothing was written: --dry-run" if diff else "nothing would change")
