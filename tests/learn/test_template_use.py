"""Slots are filled from the command; the runs that followed a template count, and others do not."""

from __future__ import annotations

import pytest
from template_runs import act, mail, mails, run, shown, visits

from hindbrain.learn.runs.episode import Episode, Rejection
from hindbrain.learn.templates.finding import find_templates
from hindbrain.learn.templates.promoting import proposals
from hindbrain.learn.templates.slots import filled
from hindbrain.learn.templates.template import Step
from hindbrain.learn.templates.using import coverage, with_use, works
from hindbrain.models.embedder import Embedder
from hindbrain.models.static import load_static

EMBEDDER = load_static()
TEMPLATES = find_templates([*mails(8), *visits(6)], EMBEDDER)
MAIL = next(template for template in TEMPLATES if template.app == "Mail")


def test_a_path_is_filled_in_whole() -> None:
    runs = [
        run(i, f"deploy {path} to staging", act("run_shell_command", command=f"cd {path}"), act("make"))
        for i, path in enumerate(("~/code/site", "~/code/app", "~/work/billing"))
    ]
    [template] = find_templates(runs, None)
    assert shown(filled(template, "deploy ~/code/notes-app to staging"))[0] == "cd ~/code/notes-app"


def test_an_attempt_that_was_rejected_is_a_failure_of_what_it_followed() -> None:
    tried = mail(80, "Zoe", "lunch")
    tried = tried._replace(
        actions=(*tried.actions, act("click", element="Send")),
        rejections=(Rejection("still a draft", 40, 6),),
    )
    assert with_use(MAIL, [tried]).successes == 0
    assert with_use(MAIL, [tried]).runs == 1


def test_slots_are_filled_from_the_command_and_the_others_stay() -> None:
    steps = filled(MAIL, "send an email to Zoe Ng about the summer party")
    assert shown(steps)[2] == "type_text(Zoe Ng)"
    assert shown(steps)[4] == "type_text(the summer party)"
    assert shown(filled(MAIL, "email somebody"))[2] == "type_text({recipient})"


def test_runs_that_followed_count_and_others_do_not() -> None:
    failed = mail(70, "Zoe", "lunch", outcome="failed", score=10)
    other_way = run(71, "send an email to Zoe about lunch", act("run_shell_command", command="mail zoe"))
    cancelled = mail(72, "Zoe", "lunch", outcome="cancelled")
    used = with_use(MAIL, [*mails(8), failed, other_way, cancelled, *visits(3)])
    assert (used.runs, used.successes, used.avg_iterations) == (9, 8, 4.0)


def test_a_run_that_had_it_in_its_prompt_counts_whatever_it_did() -> None:
    template = MAIL._replace(path="Learning/Templates/Mail.md")
    ignored = run(71, "mail Zoe", act("give_up"), outcome="failed", injected=(template.path,))
    assert with_use(template, [*mails(8), ignored]).successes == 8
    assert with_use(template, [*mails(8), ignored]).runs == 9


def test_coverage_counts_steps_in_their_order_with_their_values() -> None:
    actions = list(mails(1)[0].actions)
    assert coverage(MAIL, actions) == 1.0
    assert coverage(MAIL, [act("press_key", key="x"), *actions]) == 1.0
    assert coverage(MAIL, actions[::-1]) < 0.8
    assert coverage(MAIL, [act("open_application", name="Safari"), *actions[1:]]) < 1.0


def test_nine_of_ten_runs_propose_a_skill_and_less_does_not() -> None:
    proven = MAIL._replace(path="T/Mail.md", runs=10, successes=9)
    [proposal] = proposals([proven])
    assert (proposal.kind, proposal.template, proposal.success, proposal.runs) == (
        "skill",
        "T/Mail.md",
        0.9,
        10,
    )
    assert proposals([proven._replace(runs=9, successes=9)]) == []
    assert proposals([proven._replace(successes=8)]) == []
    assert proposals([proven._replace(path="")]) == []
    assert proposals([proven._replace(path="T/Renamed.md")])[0].id == proposal.id


def _calendar(number: int, command: str, *keys: str, typed: str) -> Episode:
    pressed = [act("press_key", key=key) for key in keys]
    steps = [act("open_application", name="Calendar"), pressed[0], act("type_text", text=typed), *pressed[1:]]
    return run(number, command, *steps, app="Calendar")


def _adding_and_cancelling() -> list[Episode]:
    events = ["piano lesson", "yoga class", "board meeting", "dentist"]
    added = [
        _calendar(i, f"add {what} on May {i + 3} to my calendar", "n", "return", typed=f"{what} May {i + 3}")
        for i, what in enumerate(events)
    ]
    cancelled = [
        _calendar(10 + i, f"take the {what} off the calendar", "f", "return", "delete", "return", typed=what)
        for i, what in enumerate(events)
    ]
    return [episode for pair in zip(added, cancelled, strict=True) for episode in pair]


@pytest.mark.parametrize("embedder", [EMBEDDER, None])
def test_two_kinds_of_task_in_one_application_are_two_templates(embedder: Embedder | None) -> None:
    templates = find_templates(_adding_and_cancelling(), embedder)
    assert [len(template.steps) for template in templates] == [4, 6]


def test_what_the_command_says_of_the_deed_is_no_value() -> None:
    commits = [
        run(i, f"git commit {path} saying {text}", act("open_application", name="Terminal"),
            act("run_shell_command", command=f"cd {path}"), act("run_shell_command", command="git add -A"),
            act("run_shell_command", command=f"git commit -m {text}"), app="Terminal")
        for i, (path, text) in enumerate((("~/a", "fix typo"), ("~/b", "add tests"), ("~/c", "bump it")))
    ]  # fmt: skip
    [template] = find_templates(commits, EMBEDDER)
    assert template.steps[-1].arguments[0][1].startswith("git commit -m {")


def test_two_failures_in_a_row_with_all_its_steps_withhold_it_until_one_goes_well() -> None:
    failed = [mail(70 + i, "Zoe", "lunch", outcome="failed", score=10) for i in range(2)]
    good = mails(20)
    once = with_use(MAIL, [*good, failed[0]])
    twice = with_use(MAIL, [*good, *failed])
    again = with_use(MAIL, [*good, *failed, mail(80, "Zoe", "lunch")])
    assert [template.failing for template in (once, twice, again)] == [1, 2, 0]
    assert [works(template) for template in (once, twice, again)] == [True, False, True]
    changed = twice._replace(steps=(*twice.steps[:-1], Step("click", (("element", "Send"),))))
    assert with_use(changed, [*good, *failed]).failing == 0


def test_a_slot_is_filled_from_where_other_commands_have_it() -> None:
    topics = ["solar panels", "tax forms", "sourdough", "train fares"]
    ways = ["find out about {} on the internet", "do a web search on {}", "search the web for {}"]
    runs = [
        run(
            i,
            ways[i % 3].format(topic),
            act("press_key", key="l"),
            act("type_text", text=topic),
            app="Safari",
        )
        for i, topic in enumerate(topics * 3)
    ]
    [template] = find_templates(runs, EMBEDDER)
    for way in ways:
        command = way.format("the budget for March")
        assert shown(filled(template, command))[1] == "type_text(the budget for March)"


def test_the_application_that_a_command_ends_with_fills_no_slot() -> None:
    songs = ["Heroes", "Hallelujah", "Paper Planes"]
    runs = [
        run(
            i,
            f"play {song}",
            act("open_application", name="Spotify"),
            act("type_text", text=song),
            app="Spotify",
        )
        for i, song in enumerate(songs)
    ]
    [template] = find_templates(runs, EMBEDDER)
    assert shown(filled(template, "play Nightswimming with Spotify"))[1] == "type_text(Nightswimming)"
