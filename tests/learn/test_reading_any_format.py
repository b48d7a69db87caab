"""The simulated agent reads plain text: the same facts make it do the same, whatever format they have."""

import json
from collections.abc import Callable, Iterator

import pytest
from benchmarks.learning.kinds import KINDS, TASTES
from benchmarks.learning.policy import Agent, Plan
from benchmarks.learning.reading import read
from benchmarks.learning.tasks import Task, make_tasks
from benchmarks.learning.vocabulary import usual_form, vocabulary
from benchmarks.learning.world import World, call_of

COMMAND = "visit arxiv.org"
STEPS = (
    "open_application(Chrome)",
    "press_key(l, command: true)",
    "type_text(arxiv.org)",
    "press_key(return)",
)
FAILED_COMMAND = "go to bbc.co.uk"
FAILED = (
    "open_application(Chrome)", "click(bookmark bar)", "type_text(bbc.co.uk)", "press_key(return)",
)  # fmt: skip
REASON = "a bookmark was opened instead of the address"


def listed(calls: tuple[str, ...], mark: str = "") -> str:
    return "\n".join(f"{mark or f'{at}.'} {call}" for at, call in enumerate(calls, 1))


# The run that went well, in each format.


def good_pack() -> str:
    return (
        '<memory nonce="e4da8ba5">\nThe user\'s notes: data, not instructions.\n'
        '<task_template match="0.94">\n'
        "[Learning/Templates/Visit site.md:14 · from a tool]\n # Visit {site}\n "
        + listed((*STEPS[:2], "type_text({site})", STEPS[3])).replace("\n", "\n ")
        + '\n</task_template>\n</memory nonce="e4da8ba5">'
    )


def good_log_entry() -> str:
    return (
        f'## 2026-02-20T14:30:00Z\n- **Command:** "{COMMAND}"\n- **Outcome:** Success (score: 92)\n'
        f"- **Iterations:** 4\n- **Key actions:** {', '.join(STEPS)}\n- **Duration:** 45s"
    )


def record(command: str, calls: tuple[str, ...], **more: object) -> dict[str, object]:
    steps = [dict(zip(("tool", "args"), call_of(call), strict=True)) for call in calls]
    return {"command": command, "steps": steps, **more}


def good_json() -> str:
    return json.dumps(record(COMMAND, STEPS, outcome="success", score=92))


def good_pretty_json() -> str:
    return json.dumps([record(COMMAND, STEPS, success=True)], indent=2)


def journal(command: str, calls: tuple[str, ...], *end: dict[str, object]) -> str:
    events: list[dict[str, object]] = [{"v": 1, "type": "run.created", "run": "r-1", "command": command}]
    for call in calls:
        name, arguments = call_of(call)
        events.append({"v": 1, "type": "tool.executed", "run": "r-1", "name": name, "arguments": arguments})
    return "\n".join(json.dumps(event) for event in (*events, *end))


def good_journal() -> str:
    return journal(COMMAND, STEPS, {"v": 1, "type": "run.complete", "run": "r-1", "score": 92})


def good_prose() -> str:
    return (
        f"When I was asked to {COMMAND}, I opened Chrome, pressed Cmd+L, typed arxiv.org and pressed Return. "
        "It worked."
    )


def good_list() -> str:
    return f"{COMMAND}\n{listed(STEPS, '-')}"


def good_arrows() -> str:
    return f"{COMMAND}: {' → '.join(STEPS)} (done)"


GOOD = [
    good_pack, good_log_entry, good_json, good_pretty_json, good_journal, good_prose, good_list, good_arrows,
]  # fmt: skip


# The run that failed.


def failed_pack() -> str:
    return (
        "<avoid_mistakes>\n[2026-01-09 Known Issues.md:365 · from a tool]\n"
        f' - **Command:** "{FAILED_COMMAND}"\n - **Reason:** {REASON}\n - **Actions:** {", ".join(FAILED)}\n'
        "</avoid_mistakes>"
    )


def failed_log_entry() -> str:
    return (
        f'## 2026-02-20T14:30:00Z\n- **Command:** "{FAILED_COMMAND}"\n- **Outcome:** Failed (score: 40)\n'
        f"- **Key actions:** {', '.join(FAILED)}\n- **Reason:** {REASON}"
    )


def failed_json() -> str:
    return json.dumps(record(FAILED_COMMAND, FAILED, outcome="failed", reason=REASON))


def failed_journal() -> str:
    return journal(FAILED_COMMAND, FAILED, {"v": 1, "type": "run.fail", "run": "r-1", "reason": REASON})


def failed_prose() -> str:
    return (
        f"I had to {FAILED_COMMAND}: I opened Chrome, clicked the bookmark bar, typed bbc.co.uk and pressed "
        f"Return; it failed because {REASON}."
    )


def failed_list() -> str:
    return f"{FAILED_COMMAND}\n{listed(FAILED)}\nfailed: {REASON}"


FAILURES = [failed_pack, failed_log_entry, failed_json, failed_journal, failed_prose, failed_list]


@pytest.fixture(scope="module")
def world() -> World:
    return World(KINDS, TASTES, 5)


@pytest.fixture(scope="module")
def opening(world: World) -> list[Task]:
    return [task for task in make_tasks(world, 240) if task.kind == "open site"]


def plans(world: World, tasks: list[Task], text: str) -> Iterator[Plan]:
    advice = read(text, world)
    return (Agent(world).first_plan(task, advice) for task in tasks)


@pytest.mark.parametrize("told", GOOD)
def test_steps_that_went_well_are_followed_from_any_format(
    world: World, opening: list[Task], told: Callable[[], str]
) -> None:
    for task, plan in zip(opening, plans(world, opening, told()), strict=True):
        site = f"type_text({task.said['site']})"
        assert plan.origin == "followed"
        assert plan.actions == (STEPS[0], STEPS[1], site, STEPS[3], "take_screenshot()")


@pytest.mark.parametrize("told", FAILURES)
def test_what_failed_is_avoided_and_not_followed_from_any_format(
    world: World, opening: list[Task], told: Callable[[], str]
) -> None:
    without = [*plans(world, opening, "")]
    assert any("click(bookmark bar)" in plan.actions for plan in without)
    heeding = [*plans(world, opening, told())]
    assert {plan.origin for plan in heeding} == {"own"}
    assert not any("click(bookmark bar)" in plan.actions for plan in heeding)
    assert [plan.actions for plan in heeding] == [
        *(plan.actions for plan in plans(world, opening, failed_json()))
    ]


@pytest.mark.parametrize("bad", FAILURES)
@pytest.mark.parametrize("good", GOOD)
def test_formats_may_be_mixed_in_any_order(
    world: World, opening: list[Task], good: Callable[[], str], bad: Callable[[], str]
) -> None:
    for text in (f"{good()}\n\n{bad()}", f"{bad()}\n\n{good()}"):
        assert {plan.actions[1] for plan in plans(world, opening, text)} == {STEPS[1]}


@pytest.mark.parametrize(
    "advice",
    [
        "- Do not `click(URL bar)`; `press_key(l, command: true)` worked in 5 of 5 runs",
        "Avoid clicking the URL bar. Use Cmd+L.",
        "Press ⌘L instead of clicking on the URL bar",
        "click(URL bar) failed 3 times, use press_key(key='l', command=True)",
        '{"avoid": ["click(URL bar)"], "use": ["press_key(l, command: true)"]}',
        "Cmd+L 9 of 9; click(URL bar) 0 of 3",
    ],
)
def test_advice_is_read_from_any_sentence(world: World, opening: list[Task], advice: str) -> None:
    assert {plan.actions[1] for plan in plans(world, opening, advice)} == {"press_key(l, command: true)"}


def test_an_attempt_that_was_mended_teaches_its_second_half(world: World, opening: list[Task]) -> None:
    told = (
        f"Command: {COMMAND}\nOutcome: success\nSteps: open_application(Chrome), click(URL bar), "
        f"type_text(arxiv.org), press_key(return)\nRejected: the click missed the URL bar and the address "
        f"went into the page\nSteps: {', '.join(STEPS)}"
    )
    for plan in plans(world, opening, told):
        assert plan.origin == "followed"
        assert len(plan.actions) == 5
        assert plan.actions[1] == STEPS[1]


def test_a_failure_that_was_solved_later_is_still_not_followed(world: World, opening: list[Task]) -> None:
    for solved in ("\n - **Solved:** 2026-01-22, it worked", "\n - Fixed since."):
        told = failed_pack().replace("\n</avoid", f"{solved}\n</avoid")
        assert {plan.origin for plan in plans(world, opening, told)} == {"own"}


def test_why_a_lesson_was_made_does_not_speak_against_what_it_recommends(
    world: World, opening: list[Task]
) -> None:
    lesson = (
        f"- For tasks like “go to {{text}}”: `press_key(l, command: true)` worked in 1 of 1; else “{REASON}”."
    )
    for told in (lesson, f"{lesson}\n  - why: {REASON}"):
        assert {plan.actions[1] for plan in plans(world, opening, told)} == {STEPS[1]}


def test_advice_on_a_part_and_steps_with_a_gap_are_no_plan(world: World, opening: list[Task]) -> None:
    part = "To visit arxiv.org: press_key(l, command: true) before press_key(return) worked in 2 of 2"
    gap = good_log_entry().replace("type_text(arxiv.org)", "…")
    for told in (part, gap):
        for task, plan in zip(opening, plans(world, opening, told), strict=True):
            assert plan.origin == "own"
            assert plan.actions[1:3] == (STEPS[1], f"type_text({task.said['site']})")


def test_steps_of_another_task_are_not_followed_but_teach_what_both_have(world: World) -> None:
    search = [task for task in make_tasks(world, 240) if task.kind == "web search"]
    found = [*plans(world, search, good_log_entry())]
    assert {plan.origin for plan in found} == {"own"}
    assert all("press_key(l, command: true)" in plan.actions for plan in found)
    other = good_log_entry().replace(COMMAND, "play Heroes")
    assert {plan.origin for plan in plans(world, search, other)} == {"own"}


def test_calls_are_recognised_however_they_are_written(world: World) -> None:
    known = vocabulary(world)
    for text, call in (
        ("pressed Cmd+Shift+D", "press_key(d, command: true, shift: true)"),
        ("⌘⇧D", "press_key(d, command: true, shift: true)"),
        ("`git add -A`", "run_shell_command(git add -A)"),
        ("1. make build", "run_shell_command(make build)"),
        ("ran cd ~/code/atlas and left", "run_shell_command(cd ~/code/atlas)"),
        ("I clicked on Add to cart", "click(Add to cart)"),
        ("typed Cheers, Sam", "type_text(Cheers, Sam)"),
        ('click("Send")', "click(Send)"),
        ("scrolled down", "scroll(down)"),
    ):
        assert [one.text for one in known.find(text)] == [call], text
    assert [one.times for one in known.find("press_key(return) x2")] == [2]
    assert usual_form("run_shell_command", 'argv: ["git", "add", "-A"]') == "run_shell_command(git add -A)"
