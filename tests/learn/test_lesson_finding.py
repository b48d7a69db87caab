"""Three failures that are alike make a lesson, which says what differed from the runs that went well."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from lesson_runs import CLICK, DAY, KEYS, act, browsing, in_order, missed, run, worked

from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.runs.episode import Action, Episode, Rejection
from hindbrain.learn.runs.events import RunCreated, RunEnded, ToolExecuted
from hindbrain.learn.runs.folding import fold
from workbench import NOW


def only(episodes: list[Episode]) -> Lesson:
    (lesson,) = find_lessons(episodes, None)
    return lesson


def test_the_third_failure_is_the_moment() -> None:
    assert find_lessons(in_order(missed(0, 1), worked(3, 4)), None) == []
    lesson = only(in_order(missed(0, 1, 2), worked(3, 4)))
    assert lesson.failures == 3 and lesson.evidence == tuple(one.run for one in missed(0, 1, 2))
    assert lesson.app == "Chrome" and lesson.reason.startswith("typed into the page")


def test_failures_of_different_kinds_do_not_add_up() -> None:
    mail = run(1, "send Anna a mail about lunch", "failed", act("click", "Send"), reason="no network")
    note = run(2, "write the minutes into my notes", "failed", act("save"), reason="the disk is full")
    assert find_lessons([*missed(0), mail, note], None) == []


def test_failures_in_different_applications_do_not_add_up() -> None:
    safari = [browsing(2)._replace(app="Safari")]
    assert find_lessons(in_order(missed(0, 1), safari, worked(3, 4)), None) == []
    unknown = [browsing(2)._replace(app="")]
    assert find_lessons(in_order(missed(0, 1), unknown, worked(3, 4)), None) != []


def test_it_says_what_differed_and_what_worked() -> None:
    lesson = only(in_order(missed(0, 2, 4, 6), worked(1, 3, 5, 7, 8)))
    assert (lesson.avoid, lesson.prefer) == ("click(URL bar)", "press_key(l, command: true)")
    assert lesson.before == "type_text({text})"
    assert lesson.text == (
        "For tasks like “open github.com in Chrome”: do not `click(URL bar)` (in 4 of 4 runs that failed, "
        "0 of 5 that worked); `press_key(l, command: true)` before `type_text({text})` worked in 5 of 5; "
        "else “typed into the page, the URL bar was not focused”."
    )
    assert (lesson.failures, lesson.successes) == (4, 5)


def test_what_both_did_is_no_lesson() -> None:
    same = [browsing(number, ok=True) for number in (1, 3, 5)]
    assert find_lessons(in_order(missed(0, 2, 4), same), None) == []


OLD, NEW, DRAFT = act("read", "site/index.html"), act("read", "style/layout.html"), act("read", "draft.md")


def publishing(number: int, topic: str, way: Action = OLD, *, times: int = 1, **more: Any) -> Episode:
    """A page that is rejected for its layout, and written again until nobody likes to go on."""
    write = [act("write", f"{topic}.html", again=str(time)) for time in range(times)]
    said = "it has the old layout"
    if way is NEW:
        return run(number, f"publish the page about the {topic}", "success", way, DRAFT, *write, **more)
    rejections = tuple(Rejection(said, 50, 3 + time) for time in range(times))
    command = f"publish the page about the {topic}"
    return run(number, command, "failed", way, DRAFT, *write, reason=said, rejections=rejections)


def test_who_mends_in_vain_has_failed_for_what_was_done_first() -> None:
    """Rejected again and again for one reason: the mending is not the cause."""
    failed = [publishing(number, "harbour", times=3) for number in (0, 2, 4)]
    assert only(in_order(failed, [publishing(5, "harbour", NEW)])).avoid == "read(site/index.html)"


def test_a_run_in_which_a_person_put_it_right_tells_what_worked_however_it_is_worded() -> None:
    """Within two minutes of the failure it is the same task, though its words have changed."""
    failed = [publishing(0, "harbour"), publishing(2, "ferry"), publishing(4, "lighthouse")]
    good = publishing(1, "harbour", NEW)._replace(
        command="publish the page about the harbour with the new layout, which the style folder has"
    )
    assert find_lessons(in_order(failed, [good]), None) == []
    soon = good._replace(started=failed[0].ended + 60, ended=failed[0].ended + 90)
    assert only(in_order(failed, [soon])).avoid == "read(site/index.html)"


def corrected(number: int, command: str, failed: tuple[Action, ...], good: tuple[Action, ...]) -> Episode:
    """A run that was rejected for what it did first, and went well with what it did then."""
    rejected = (Rejection("that was not it", 40, len(failed)),)
    return run(number, command, "success", *failed, *good, rejections=rejected)


def test_one_run_that_went_well_is_enough_and_is_told_as_one() -> None:
    lesson = only(in_order(missed(0, 2, 4), worked(3)))
    assert lesson.prefer == "press_key(l, command: true)" and "worked in 1 of 1" in lesson.text
    assert lesson.confidence < only(in_order(missed(0, 2, 4), worked(1, 3, 5))).confidence


def test_one_good_run_tells_nothing_of_failures_that_do_not_say_why() -> None:
    silent = [one._replace(reason="") for one in missed(0, 2, 4)]
    assert find_lessons(in_order(silent, worked(3)), None) == []
    assert only(in_order(silent, worked(1, 3))).prefer == "press_key(l, command: true)"


def test_failures_without_reason_or_difference_make_no_lesson_until_something_tells_them_apart() -> None:
    silent = [one._replace(reason="") for one in missed(0, 2, 4)]
    same = [browsing(number, ok=True) for number in (1, 3)]
    assert find_lessons(in_order(silent, same), None) == []
    later = only(in_order(silent, worked(5, 6, 7)))
    assert later.failures == 3 and later.avoid == "click(URL bar)"


def test_a_second_attempt_that_worked_tells_more_than_other_runs() -> None:
    look, grep = act("look_around"), act("search_all")
    tries = [corrected(n, f"find file {n}", (look, act("take")), (grep, act("take"))) for n in (0, 2, 4)]
    others = [run(n, f"find file {n}", "success", look, act("take")) for n in (1, 3, 5, 6)]
    lesson = only(in_order(tries, others))
    assert (lesson.avoid, lesson.prefer) == ("", "search_all()")
    alone = [run(n, f"find file {n}", "success", grep, act("take")) for n in (10, 12, 14)]
    failed = [run(n, f"find file {n}", "failed", look, act("take"), reason="no") for n in (0, 2, 4)]
    assert find_lessons(in_order(failed, alone, others), None) == []  # 3 of 7: other runs do not tell


def test_what_a_second_attempt_only_goes_on_from_is_not_to_be_avoided() -> None:
    def going_on(number: int) -> Episode:
        first = (act("open_application", "Notes"), act("click", "New"), act("type_text", f"text {number}"))
        return corrected(number, f"note down text {number}", first, (act("press_key", "return"),))

    lesson = only([going_on(0), going_on(1), going_on(2)])
    assert (lesson.avoid, lesson.prefer) == ("", "press_key(return)")


def test_failures_that_give_the_same_reason_are_alike_however_the_task_is_put() -> None:
    def listening(number: int, words: str, way: str = "album cover", outcome: str = "failed") -> Episode:
        steps = (act("open_application", "Player"), act("click", way))
        reason = "nothing plays at all" if outcome == "failed" else ""
        return run(number, words, outcome, *steps, app="Player", reason=reason)

    puts = ("I want to hear jazz music", "play blues music now", "put on waltz music")
    failed = [listening(number, puts[number // 2]) for number in range(6)]
    good = [listening(10 + number, put, "play button", "success") for number, put in enumerate(puts)]
    lesson = only([*failed, *good])
    assert lesson.failures == 6 and set(lesson.commands) == set(puts)
    assert lesson.avoid == "click(album cover)"


def test_what_goes_wrong_twice_in_one_run_counts_once() -> None:
    def twice(number: int) -> Episode:
        rejected = (Rejection("not focused", 20, 1), Rejection("not focused at all", 20, 2))
        steps = (CLICK, CLICK, KEYS)
        return run(number, "open the site", "success", *steps, rejections=rejected)

    assert find_lessons([twice(0), twice(1)], None) == []


def test_the_same_call_for_another_thing_is_the_same_call() -> None:
    def shell(number: int, outcome: str, *lines: str) -> Episode:
        reason = "this is not the repository" if outcome == "failed" else ""
        steps = [act("shell", line.format(f"~/code/p{number}")) for line in lines]
        return run(number, f"test ~/code/p{number}", outcome, *steps, reason=reason)

    failed = [shell(n, "failed", "pwd", "pytest") for n in (0, 2, 4)]
    good = [shell(n, "success", "cd {}", "pytest") for n in (1, 3, 5)]
    lesson = only(in_order(failed, good))
    assert (lesson.avoid, lesson.prefer, lesson.before) == ("pwd", "cd {path}", "pytest")


def test_a_call_whose_arguments_all_vary_is_never_forbidden() -> None:
    failed = [run(n, f"tidy up, part {n}", "failed", act("click", f"place {n}")) for n in range(4)]
    good = [run(n, f"tidy up, part {n}", "success", act("sweep")) for n in (4, 5, 6)]
    lesson = only([*failed, *good])
    assert (lesson.avoid, lesson.prefer) == ("", "sweep()") and "do not" not in lesson.text


def test_a_tool_that_good_runs_need_is_not_forbidden_as_such() -> None:
    def shell(number: int, outcome: str, *lines: str) -> Episode:
        return run(number, f"commit my work, part {number}", outcome, *(act("shell", line) for line in lines))

    failed = [shell(n, "failed", f"cd ~/p{n}", f"git commit -m {n}") for n in range(8)]
    good = [shell(n, "success", f"cd ~/p{n}", "git add -A", f"git commit -m {n}") for n in (8, 9, 10)]
    lesson = only([*failed, *good])
    assert (lesson.avoid, lesson.prefer) == ("", "git add -A")


def test_clicks_on_this_and_that_are_not_forbidden_where_good_runs_click_too() -> None:
    failed = [run(n, f"tidy up, part {n}", "failed", act("click", f"place number {n}")) for n in range(4)]
    good = [run(n, f"tidy up, part {n}", "success", act("click", "the bin")) for n in (4, 5, 6)]
    lesson = only([*failed, *good])
    assert (lesson.avoid, lesson.prefer) == ("", "click(the bin)")


def test_a_missing_step_is_told_with_what_it_belongs_before() -> None:
    push, pull = act("run", "git push"), act("run", "git pull")
    failed = [run(n, "publish my branch", "failed", act("run", "git commit"), push) for n in (0, 2, 4)]
    good = [run(n, "publish my branch", "success", act("run", "git commit"), pull, push) for n in (1, 3, 5)]
    lesson = only(in_order(failed, good))
    assert (lesson.avoid, lesson.prefer, lesson.before) == ("", "run(git pull)", "run(git push)")


def test_an_order_is_told_where_both_did_the_same_things() -> None:
    save, close = act("save_file"), act("close_window")
    failed = [run(n, "finish the report", "failed", close, save) for n in (0, 2, 4)]
    good = [run(n, "finish the report", "success", save, close) for n in (1, 3, 5)]
    lesson = only(in_order(failed, good))
    assert (lesson.prefer, lesson.before) == ("save_file()", "close_window()")


def test_a_call_that_failed_is_not_forbidden_where_runs_that_went_well_made_it_too() -> None:
    test = act("Bash", "npm test")
    broken = test._replace(ok=False, said="sh: jest: not found")
    failed = [run(n, "run the tests", "failed", broken, reason="sh: jest: not found") for n in (0, 2, 4)]
    good = [run(n, "run the tests", "success", act("Bash", "npm ci"), test) for n in (1, 3, 5)]
    lesson = only(in_order(failed, good))
    assert (lesson.avoid, lesson.prefer, lesson.before) == ("", "npm ci", "npm test")


def test_what_a_tool_answered_is_quoted() -> None:
    wrong = act("pay", "cash", ok=False, said="Error: amounts do not add up")
    failed = [run(n, "pay the bill", "failed", wrong) for n in (0, 2, 4)]
    good = [run(n, "pay the bill", "success", act("pay", "card")) for n in (1, 3, 5)]
    lesson = only(in_order(failed, good))
    assert lesson.avoid == "pay(cash)" and "Error: amounts do not add up" in lesson.text


def test_while_nothing_worked_the_failures_speak_for_themselves() -> None:
    assert find_lessons(missed(0, 1, 2, 3, 4), None) == []


def test_a_rejection_counts_as_a_failure_of_what_was_done_before_it() -> None:
    def saved(number: int) -> Episode:
        good = browsing(number, ok=True)
        steps = (*good.actions, act("open_application", "Chrome"), KEYS, *good.actions[2:])
        return good._replace(actions=steps, rejections=(Rejection("not focused", 40, len(good.actions)),))

    lesson = only([saved(0), saved(1), saved(2)])
    assert lesson.failures == 3 and lesson.prefer == "press_key(l, command: true)"
    assert lesson.avoid != "open_application(Chrome)"  # it was done again, and worked


def test_two_commands_are_not_alike_because_they_speak_of_the_same_thing() -> None:
    def speaking(number: int, command: str, tool: str) -> Episode:
        return run(number, command, "failed", act(tool, "piano lesson"), reason="")

    episodes = [
        speaking(0, "schedule the piano lesson", "add_event"),
        speaking(1, "cancel the piano lesson", "remove_event"),
        speaking(2, "play a video of the piano lesson", "play"),
    ]
    assert find_lessons(episodes, None) == []


def test_confidence_grows_with_failures_and_contrast() -> None:
    few, more = (only(in_order(missed(*range(count)), worked(20, 21))) for count in (3, 5))
    told_apart = only(in_order(missed(0, 1, 2), worked(20, 21, 22, 23)))
    assert 0.3 < few.confidence < more.confidence < 1
    assert told_apart.confidence > few.confidence


def test_a_lesson_that_is_followed_and_fails_all_the_same_loses_confidence_until_it_is_retired() -> None:
    known = in_order(missed(0, 2, 4), worked(1, 3, 5))
    firsts = [
        find_lessons(in_order(known, [browsing(10 + n, way=KEYS) for n in range(count)]), None)[0]
        for count in range(9)
    ]
    assert [lesson.in_vain for lesson in firsts] == list(range(9))
    assert all(later.confidence < earlier.confidence for earlier, later in pairwise(firsts))
    assert [lesson.state for lesson in firsts][-1] == "retired" and firsts[1].state == "active"
    assert {lesson.avoid for lesson in firsts} == {"click(URL bar)"}


def test_it_is_escalated_when_the_failure_recurs_three_times() -> None:
    assert only(in_order(missed(0, 2, 4, 6, 8), worked(1, 3, 5))).state == "active"
    assert only(in_order(missed(0, 2, 4, 6, 8, 9), worked(1, 3, 5))).state == "escalated"


def test_it_is_retired_when_what_it_forbids_goes_well_again() -> None:
    old = in_order(missed(*range(12)), worked(*range(12, 30)))
    assert only(old).avoid == "click(URL bar)"
    fine = [browsing(40 + n, ok=True) for n in range(5)]
    assert only(in_order(old, fine[:4])).state != "retired"
    assert only(in_order(old, fine)).state == "retired"


def test_it_is_retired_when_nothing_like_it_was_asked_for_in_180_days() -> None:
    def after(days: float) -> Episode:
        return run(99, "water the plants", "success", started=worked(4)[0].ended + days * DAY)

    known = in_order(missed(0, 1, 2), worked(3, 4))
    assert only([*known, after(179)]).state == "active"
    assert only([*known, after(181)]).state == "retired"


def test_the_same_runs_give_the_same_lessons_and_later_ones_keep_the_id() -> None:
    episodes = in_order(missed(0, 2, 4), worked(1, 3, 5))
    assert find_lessons(episodes, None) == find_lessons(list(episodes), None)
    assert only(in_order(episodes, missed(8))).id == only(episodes).id


def test_trust_is_the_lowest_of_the_evidence() -> None:
    good = worked(3, 4)
    assert only(in_order(missed(0, 1, 2), good)).source == "tool"
    imported = [episode._replace(source="import") for episode in missed(2)]
    assert only(in_order(missed(0, 1), imported, good)).source == "import"


@pytest.mark.parametrize("way", [CLICK, KEYS])
def test_the_value_that_a_command_names_is_no_part_of_the_rule(way: object) -> None:
    lesson = only(in_order(missed(0, 2, 4), worked(1, 3, 5)))
    assert "type_text(github.com)" not in lesson.text, way


@pytest.mark.parametrize("way", ["as a list", "as a text"])
def test_a_command_line_teaches_the_same_however_a_tool_takes_it(way: str) -> None:
    """Our own shell tool is given words; others are given one text."""

    def shell(run: str, at: float, line: str, *, ok: bool) -> ToolExecuted:
        given = {"argv": line.split()} if way == "as a list" else {"command": line}
        said = "" if ok else "npm error: no package.json in this folder"
        return ToolExecuted(run, at, "run_shell_command", given, ok, said=said)

    episodes = []
    for number in range(7):
        run, at, good = f"r-{number}", NOW - 86_400 + 3_600 * number, number >= 3
        lines = ["cd frontend", "npm test"] if good else ["npm test"]
        end = RunEnded(run, at + 9, "complete" if good else "fail", reason="" if good else "no package.json")
        calls = [shell(run, at + step, line, ok=good) for step, line in enumerate(lines, 1)]
        episodes += [fold([RunCreated(run, at, "run the tests of the web client"), *calls, end])]
    (lesson,) = find_lessons([one for one in episodes if one is not None], None)
    assert (lesson.prefer, lesson.before) == ("cd frontend", "npm test") and "{" not in lesson.text


REFERENCE = (  # word for word
    ("Open Chrome and go to github", 45, "Wrong element clicked, ended up on bookmark bar"),
    ("Navigate to github.com in Chrome", 38, "URL bar not focused, typed into page"),
    ("Go to github", 52, "Clicked address bar but missed, hit tab bar"),
)


@pytest.mark.parametrize("clicked", ["places", "names", "one name"])
@pytest.mark.parametrize("mended", [True, False], ids=["mended in the run", "failed runs"])
def test_the_failures_of_the_reference_teach_the_shortcut(clicked: str, mended: bool) -> None:
    app = "Google Chrome"  # which a journal tells by the application that was opened
    places = {
        "places": [act("click", x=str(600 + 13 * n), y=str(50 + n)) for n in range(3)],
        "names": [act("click", name) for name in ("bookmark bar", "page", "tab bar")],
        "one name": [act("click", "address bar")] * 3,
    }[clicked]
    keys, site = act("press_key", "cmd+l"), act("type_text", "github.com")
    episodes = []
    for number, ((command, score, reason), click) in enumerate(zip(REFERENCE, places, strict=True)):
        steps = (act("open_application", "Google Chrome"), click, site)
        if mended:
            more = {"rejections": (Rejection(reason, score, 3),), "score": 92}
            episodes.append(run(number, command, "success", *steps, keys, site, app=app, **more))
        else:
            episodes.append(run(number, command, "failed", *steps, reason=reason, score=score, app=app))
    if not mended:
        steps = (act("open_application", "Google Chrome"), keys, site)
        episodes += [run(10 + n, "Go to github in Chrome", "success", *steps, app=app) for n in range(2)]
    lesson = only(episodes)
    assert lesson.prefer == "press_key(cmd+l)" and "`press_key(cmd+l)`" in lesson.text
    assert lesson.failures == 3 and "click(" in lesson.text
