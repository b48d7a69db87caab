"""What tests of templates and skills share: runs at a desktop, and a book of templates on a real App."""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.app import App
from hindbrain.learn.pages.desk import Desk, Notes
from hindbrain.learn.runs.episode import Action, Episode, Outcome
from hindbrain.learn.templates.book import TemplateBook
from hindbrain.memory.notes.own_lines import OwnLines


def act(tool: str, /, **arguments: str) -> Action:
    return Action(tool, tuple(arguments.items()))


def run(
    number: int,
    command: str,
    *actions: Action,
    outcome: Outcome = "success",
    score: int | None = 90,
    app: str = "",
    iterations: int = 4,
    injected: tuple[str, ...] = (),
    source: str = "tool",
) -> Episode:
    return Episode(
        f"r-{number:04}", command, outcome, number * 100.0, number * 100.0 + 30, score, iterations, actions,
        app=app, injected=injected, source=source,
    )  # fmt: skip


def mail(number: int, to: str, about: str, *, command: str = "", **other: object) -> Episode:
    """One way to send an email."""
    said = command or f"send an email to {to} about {about}"
    actions = (
        act("open_application", name="Mail"),
        act("press_key", key="n", command="true"),
        act("type_text", text=to),
        act("press_key", key="tab"),
        act("type_text", text=about),
        act("press_key", key="d", command="true", shift="true"),
    )
    return run(number, said, *actions, app="Mail", **other)  # type: ignore[arg-type]


def visit(number: int, site: str, **other: object) -> Episode:
    actions = (
        act("press_key", key="l", command="true"),
        act("type_text", text=site),
        act("press_key", key="return"),
        act("take_screenshot"),
    )
    return run(number, f"go to {site} in the browser", *actions, app="Chrome", **other)  # type: ignore[arg-type]


def mails(count: int, first: int = 1) -> list[Episode]:
    people = ["Anna", "Bob Miller", "carol@example.org", "Dave", "Eve Ng"]
    topics = ["the budget", "Q3 planning", "holiday photos", "the new office"]
    return [mail(first + i, people[i % 5], topics[i % 4]) for i in range(count)]


def visits(count: int, first: int = 500) -> list[Episode]:
    sites = ["github.com", "wikipedia.org", "news.ycombinator.com", "example.net"]
    return [visit(first + i, sites[i % 4]) for i in range(count)]


def desk_of(app: App, notes: Notes | None = None) -> Desk:
    memory = app.memory
    own = OwnLines(app.root, app.writer.append_state_line)
    return Desk(app.root, notes or memory.notebook, memory.layout, own, memory.today)


def book_of(app: App) -> TemplateBook:
    return TemplateBook(desk_of(app), app.writer.append_state_line, app.memory.policy)


def shown(steps: Sequence[object]) -> list[str]:
    return [step.shown for step in steps]  # type: ignore[attr-defined]
