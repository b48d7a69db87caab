"""A command finds the cases that are nearest to it, and none that are about something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from lesson_runs import act as step
from lesson_runs import in_order, missed, run, worked
from template_runs import act, book_of, mails, visits
from template_runs import run as good_run

from hindbrain.app import App
from hindbrain.context.packs.learned import Match
from hindbrain.learn.fitting import Fitting, Known
from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.lesson_note import NotedLesson
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.templates.finding import find_templates
from hindbrain.learn.templates.template import Template
from hindbrain.learn.told import Told
from workbench import Vault

MAIL = [
    *(run(n, f"send {who} a mail about lunch", "failed", step("click", "Send"), reason="a draft", app="Mail")
      for n, who in enumerate(("Anna", "Bo", "Eve"), 20)),
    *(run(n, f"send {who} a mail about lunch", "success", step("press_key", "d"), app="Mail")
      for n, who in enumerate(("Anna", "Bo"), 30)),
]  # fmt: skip
BROWSE, SEND = find_lessons(in_order(missed(0, 2, 4), worked(1, 3, 5), MAIL), None)
TYPED = Lesson("l-own", "Never push to main without asking", (), confidence=1.0, source="user")


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    return make_app(vault.root)


@pytest.fixture
def fitting(app: App) -> Iterator[Callable[..., Fitting]]:
    """What fits, of what notes are said to hold."""

    def made(*lessons: Lesson, issues: list[Told] | None = None, runs: list[Told] | None = None) -> Fitting:
        noted = [NotedLesson(lesson, "Lessons.md", 1, 1, lesson.text) for lesson in lessons]
        known = Known(noted, app.learning.templates(), [], issues or [], runs or [], ())
        learning = app.learning
        return Fitting(
            learning._desk,
            lambda: app.embedder,
            lambda: known,
            lambda: learning._around.relevance(),
        )

    yield made


def learned(app: App, episodes: list[Episode]) -> list[Template]:
    book_of(app).bring_up_to(find_templates(episodes, app.embedder), episodes)
    return app.learning.templates()


def entry(
    number: int, command: str, *, reason: str = "", actions: str = "", lesson: str = "", day: str = ""
) -> Told:
    lines = [f'- **Command:** "{command}"', f"- **Reason:** {reason}" if reason else "- **Outcome:** Success"]
    lines += [f"- **Key actions:** {actions}"] if actions else []
    return Told(
        f"^r-{number}", "Log.md", (command,), "\n".join(lines), number, number, day or "2026-05-01",
        went_well=not reason, lesson=lesson,
    )  # fmt: skip


def ids(matches: tuple[Match, ...]) -> list[str]:
    return [match.id for match in matches]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("open lwn.net in Chrome", [BROWSE]),
        ("please open https://news.example/today in Chrome", [BROWSE]),
        ("send Carl a mail about the budget", [SEND]),
        ("push my branch to main", [TYPED]),
        ("push the door", []),
        ("water the plants", []),
        ("open the garage", []),
        ("", []),
    ],
)
def test_a_lesson_is_found_for_a_command_that_asks_for_the_same(
    fitting: Callable[..., Fitting], command: str, found: list[Lesson]
) -> None:
    matches = fitting(BROWSE, SEND, TYPED).matches(command)
    assert ids(matches.lessons) == [f"^{lesson.id}" for lesson in found]


def test_a_lesson_of_another_application_or_that_is_retired_is_told_to_nobody(
    fitting: Callable[..., Fitting],
) -> None:
    command = "open lwn.net in Chrome"
    assert fitting(BROWSE).matches(command, ("chrome",)).lessons
    assert not fitting(BROWSE).matches(command, ("Safari",)).lessons
    assert not fitting(BROWSE._replace(state="retired")).matches(command).lessons


def test_a_lesson_stands_for_the_failures_that_it_was_learned_from(fitting: Callable[..., Fitting]) -> None:
    told = [entry(n, "open lwn.net in Chrome", reason=f"reason {n}", lesson=BROWSE.id) for n in range(2)]
    other = entry(9, "open lwn.net in Chrome", reason="the disk is full")
    found = fitting(BROWSE, issues=[*told, other]).matches("open lwn.net in Chrome").lessons
    assert sorted(ids(found)) == [f"^{BROWSE.id}", "^r-9"]
    retired = BROWSE._replace(state="retired")
    assert ids(fitting(retired, issues=told).matches("open lwn.net in Chrome").lessons) == ["^r-1", "^r-0"]


def test_at_most_three_failures_are_told_and_none_twice(fitting: Callable[..., Fitting]) -> None:
    told = [entry(n, "deploy the shop", reason=f"reason {n % 5}") for n in range(12)]
    found = fitting(issues=told).matches("deploy the shop").lessons
    assert len({match.text for match in found}) == len(found) == 3


def test_a_failure_is_found_by_its_reason_too(fitting: Callable[..., Fitting]) -> None:
    reason = "payment amount does not add up, total price is 305, but paid 255"
    told = [entry(1, "book a flight to Seattle", reason=reason), entry(2, "water it", reason="no water")]
    assert ids(fitting(issues=told).matches("the payment amount does not add up").lessons) == ["^r-1"]


def test_the_nearest_run_that_went_well_is_told_where_there_is_no_template(
    fitting: Callable[..., Fitting],
) -> None:
    runs = [
        entry(1, "deploy the shop to staging", actions="`make build`, `make push`"),
        entry(2, "deploy the blog to production", actions="`hugo`, `rsync -a public web:`"),
        entry(3, "water the plants", actions="open_valve(garden)"),
    ]
    found = fitting(runs=runs).matches("deploy the shop to production").runs
    assert ids(found)[0] == "^r-1" and "^r-3" not in ids(found)
    assert found[0].do == ("make build", "make push")


def test_what_was_filled_in_makes_no_two_commands_alike(fitting: Callable[..., Fitting]) -> None:
    runs = [entry(1, "schedule the piano lesson", actions="new_event(), type_text(piano lesson)")]
    assert fitting(runs=runs).matches("schedule the yoga class").runs
    assert not fitting(runs=runs).matches("cancel the piano lesson").runs


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("send an email to Zoe Ng about the party", "Mail"),
        ("please send an email to zoe@example.com about lunch", "Mail"),
        ("write Zoe an email about a new roof", "Mail"),
        ("go to example.com in the browser", "Chrome"),
        *((other, "") for other in ("", "what is the weather", "delete all my emails", "read my latest email",
                                    "write a poem about rain", "fix the failing test in parser.py",
                                    "book a flight to Paris")),
    ],
)  # fmt: skip
def test_a_command_finds_its_template(app: App, command: str, found: str) -> None:
    by_path = {one.path: one.app for one in learned(app, [*mails(8), *visits(6)])}
    assert [by_path[match.path] for match in app.learning.matches(command).templates] == [found] * bool(found)


def test_a_single_run_that_is_nearer_than_all_commands_of_a_template_is_told_instead(
    app: App, fitting: Callable[..., Fitting]
) -> None:
    learned(app, mails(8))
    other = entry(7, "send an email to Zoe about lunch from the shared inbox", actions="`mail -r shared zoe`")
    matches = fitting(runs=[other]).matches("send an email to Eve about lunch from the shared inbox")
    assert ids(matches.runs) == ["^r-7"] and not matches.templates
    own = entry(1, mails(1)[0].command, actions="open_application(Mail)")._replace(id="^r-0001")
    assert fitting(runs=[own]).matches(own.commands[0]).templates  # it was made into the template


def test_a_template_that_fails_now_is_not_offered(app: App) -> None:
    episodes = mails(8)
    learned(app, episodes)
    command = "send an email to Zoe about lunch"
    assert app.learning.matches(command).templates
    failed = [one._replace(run=f"r-9{n}", outcome="failed", score=10) for n, one in enumerate(episodes[:2])]
    learned(app, [*episodes, *failed])
    assert not app.learning.matches(command).templates


def test_a_template_that_a_person_wrote_is_found_by_title_and_trigger(app: App) -> None:
    note = app.root / "Agent/Learning/Templates/Plants.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    text = (
        '---\ntype: task-template\ntrigger: "water.*plants"\n---\n# Garden round\n\n1. open_valve(garden)\n'
    )
    note.write_text(text, encoding="utf-8")
    assert app.learning.matches("please water the plants in the garden").templates
    assert not app.learning.matches("throw the plants away").templates


def test_two_kinds_of_task_in_one_application_keep_their_templates(app: App) -> None:
    def calendar(number: int, command: str, *keys: str, typed: str) -> Episode:
        pressed = [act("press_key", key=key) for key in keys]
        steps = [act("open_application", name="Calendar"), pressed[0], act("type_text", text=typed)]
        return good_run(number, command, *steps, *pressed[1:], app="Calendar")

    events = ["piano lesson", "yoga class", "board meeting", "dentist"]
    episodes = [
        calendar(i, f"add {what} on May {i + 3} to my calendar", "n", "return", typed=f"{what} May {i + 3}")
        for i, what in enumerate(events)
    ] + [
        calendar(10 + i, f"take the {what} off the calendar", "f", "return", "delete", "return", typed=what)
        for i, what in enumerate(events)
    ]
    assert sorted(len(template.steps) for template in learned(app, episodes)) == [4, 6]
    for command, steps in (
        ("take the team lunch off the calendar", 6),
        ("add lunch on May 9 to my calendar", 4),
    ):
        [match] = app.learning.matches(command).templates
        assert len(match.do) == steps
