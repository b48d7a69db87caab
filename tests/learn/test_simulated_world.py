"""The simulated desktop is fair: the same for every memory, hard without one, easy for who knows it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.learning.events_of import events_of
from benchmarks.learning.figures import NONE, figures, is_relevant, tastes_kept
from benchmarks.learning.keyword_memory import KeywordMemory, common_steps
from benchmarks.learning.kinds import KINDS, TASTES
from benchmarks.learning.memories import Attempt, NoMemory, Ran, Recalled
from benchmarks.learning.past_runs import LatestRuns, NearestRuns, run_text
from benchmarks.learning.policy import Agent
from benchmarks.learning.reading import fits, liked, read
from benchmarks.learning.simulate import simulate, simulate_oracle
from benchmarks.learning.tasks import Task, make_tasks, understood
from benchmarks.learning.world import NOISE, Way, World, call_of, filled
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.runs.folding import fold

RUNS = 240
SEED = 5
WORLD = World(KINDS, TASTES, SEED)


class Always:
    """A memory that says the same to every prompt."""

    def __init__(self, text: str) -> None:
        self._text = text

    def recall(self, command: str, at: float) -> Recalled:  # noqa: ARG002
        return Recalled(self._text)

    def record(self, ran: Ran) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def world() -> World:
    return World(KINDS, TASTES, SEED)


@pytest.fixture
def tasks(world: World) -> list[Task]:
    return make_tasks(world, RUNS)


def ways() -> Iterator[tuple[str, Way]]:
    return ((kind.name, way) for kind in KINDS for part in kind.parts for way in part.ways)


def test_the_same_seed_gives_the_same_runs(world: World, tasks: list[Task], tmp_path: Path) -> None:
    again = World(KINDS, TASTES, SEED)
    assert make_tasks(again, RUNS) == tasks
    first = list(simulate(world, tasks, KeywordMemory(tmp_path / "one")))
    second = list(simulate(again, tasks, KeywordMemory(tmp_path / "two")))
    assert first == second
    assert make_tasks(World(KINDS, TASTES, SEED + 1), RUNS) != tasks


def test_faults_do_not_depend_on_what_was_done_before(world: World, tasks: list[Task]) -> None:
    silent = [task._replace(chat="") for task in tasks]
    whole = list(simulate(world, silent, NoMemory()))
    assert list(simulate(world, silent[100:], NoMemory())) == whole[100:]


def test_without_memory_failures_are_repeated(world: World, tasks: list[Task]) -> None:
    silent = [task._replace(chat="") for task in tasks]
    found = figures(world, list(simulate(world, silent, NoMemory())))
    assert found["repeats"] > 30
    assert found["success"] < 60
    assert found["taste"] == 0
    assert found["tokens"] == 0
    assert found["relevance"] == NONE


def test_what_the_user_said_in_passing_is_in_every_prompt(world: World, tasks: list[Task]) -> None:
    for memory in (NoMemory(), LatestRuns(), NearestRuns("success")):
        ran = [one for one in simulate(world, tasks, memory) if one.outcome != "cancelled"]
        for taste in TASTES:
            if taste.chat and taste.name != "engine":
                kept = [one for one in ran if taste.name in one.task.told and taste.name not in one.task.said]
                done = [" ".join(step.action for step in one.attempts[-1].verdict.done) for one in kept]
                assert not any(taste.usual in actions for actions in done), taste.name


def test_the_nearest_runs_are_told_in_full(world: World, tasks: list[Task]) -> None:
    memory = NearestRuns("success", "failed")
    ran = list(simulate(world, tasks[:60], memory))
    good = next(one for one in ran if one.outcome == "success" and len(one.attempts) > 1)
    bad = next(one for one in ran if one.outcome == "failed")
    for one in (good, bad):
        found = next(piece for piece in memory.recall(one.task.command, 0).found if one.task.command in piece)
        assert one.outcome in found
    text = run_text(bad)
    for attempt in bad.attempts:
        assert attempt.verdict.reason in text
        assert all(done.action in text for done in attempt.verdict.done)
    assert memory.recall("xylophone", 0) == Recalled()


def test_the_success_of_steps_counts_once_they_were_followed_ten_times(
    world: World, tasks: list[Task]
) -> None:
    verdict = world.attempt(world.kinds["find file"], {}, (), run=0, attempt=0)
    ran = [
        Ran(tasks[0]._replace(kind="find file"), Recalled(), (Attempt("followed", verdict),), outcome)
        for outcome in (*["failed"] * 10, "success", "failed")
    ]
    assert figures(world, ran)["template"] == 50
    assert figures(world, ran[:10])["template"] == NONE


def test_who_knows_the_world_fails_only_by_noise(world: World, tasks: list[Task]) -> None:
    ran = list(simulate_oracle(world, tasks))
    found = figures(world, ran)
    assert 100 * (1 - 2 * NOISE) < found["success"] < 100
    assert all(one.outcome == "success" or one.attempts[0].verdict.part == "noise" for one in ran)
    assert found["taste"] == 100


def test_every_first_idea_is_flawed_somewhere_and_every_kind_can_be_done() -> None:
    for kind in KINDS:
        assert any(part.ways[0].works < 1 for part in kind.parts), kind.name
        assert all(part.best.works == 1 for part in kind.parts), kind.name


def test_what_goes_wrong_is_said_and_each_place_can_be_filled() -> None:
    names = {taste.name for taste in TASTES}
    for kind in KINDS:
        assert kind.places <= {*kind.values, *names}, kind.name
    assert all(way.reason for _, way in ways() if way.works < 1)


def test_every_command_is_understood(world: World, tasks: list[Task]) -> None:
    for task in tasks:
        meant = understood(task.command, world)
        assert meant is not None
        assert (meant[0].name, meant[1]) == (task.kind, dict(task.said))


def test_each_taste_is_told_once(world: World, tasks: list[Task]) -> None:
    told = [task.told for task in tasks]
    assert told[0] == ()
    assert set(told[-1]) == {taste.name for taste in TASTES}
    said = [task.chat for task in tasks if task.chat]
    stopped = [task for task in tasks if task.called_off]
    assert len(said) == len(set(said)) == sum(1 for taste in TASTES if taste.chat)
    assert len(said) + len(stopped) == len(TASTES)
    for task in stopped:
        again = tasks[task.run + 1]
        assert again.command.startswith(task.command) and again.at - task.at < 120


def test_a_wrong_template_is_followed_and_fails(world: World, tasks: list[Task]) -> None:
    wrong = "1. open_application(Calculator)\n2. type_text(2 + 2)\n"
    ran = [one for one in simulate(world, tasks, Always(wrong)) if one.outcome != "cancelled"]
    assert all(one.attempts[0].origin == "followed" for one in ran)
    assert not any(one.attempts[0].verdict.good for one in ran)


def test_advice_against_a_call_is_heeded(world: World, tasks: list[Task]) -> None:
    advice = "- Do not `click(URL bar)`; `press_key(l, command: true)` worked in 5 of 5 runs"
    agent = Agent(world)
    opening = [task for task in tasks if task.kind == "open site"]
    without = [agent.first_plan(task, read("", world)).actions for task in opening]
    heeding = [agent.first_plan(task, read(advice, world)).actions for task in opening]
    assert any("click(URL bar)" in actions for actions in without)
    assert all("press_key(l, command: true)" in actions for actions in heeding)


def test_a_run_that_went_well_is_copied_with_new_values(world: World, tasks: list[Task]) -> None:
    task = next(task for task in tasks if task.kind == "open site" and task.said["site"] != "arxiv.org")
    entry = (
        '- **Command:** "visit arxiv.org"\n- **Outcome:** Success (score: 92)\n'
        "- **Key actions:** open_application(Chrome), press_key(l, command: true), type_text(arxiv.org), "
        "press_key(return)\n"
    )
    plan = Agent(world).first_plan(task, read(entry, world))
    assert plan.origin == "followed"
    assert f"type_text({task.said['site']})" in plan.actions
    failed = entry.replace("Success", "Failed")
    assert Agent(world).first_plan(task, read(failed, world)).origin == "own"


def test_what_the_user_likes_is_read_from_a_sentence() -> None:
    options = ("Chrome", "Safari")
    assert liked("- Prefers Chrome over Safari", options) == "Chrome"
    assert liked("The user wants Safari instead of Chrome.", options) == "Safari"
    assert liked("- Uses Chrome to open websites (5 of 6 runs)", options) == "Chrome"
    assert liked("Key actions: open_application(Safari)", options) == ""


def test_a_prompt_that_says_what_is_liked_is_kept_to(world: World, tasks: list[Task]) -> None:
    told = "\n".join(f"- Prefers {taste.wanted} over {taste.usual}" for taste in TASTES)
    ran = list(simulate(world, tasks, Always(told)))
    kept = [as_liked for one in ran if one.outcome != "cancelled" for as_liked in tastes_kept(world, one)]
    assert kept
    assert all(kept)


def test_relevance_is_judged_by_where_a_memory_came_from(world: World) -> None:
    kind = world.kinds["open site"]
    assert is_relevant(world, kind, '- **Command:** "go to bbc.co.uk"')
    assert not is_relevant(world, kind, '- **Command:** "play Heroes"')
    assert is_relevant(world, kind, "- Prefers Chrome over Safari")
    assert not is_relevant(world, kind, "- Prefers dark mode over light mode")
    assert is_relevant(world, kind, "- do not `click(bookmark bar)`")
    assert not is_relevant(world, kind, "1. open_application(Mail)\n2. press_key(n, command: true)")


def test_a_run_becomes_an_episode_that_tells_the_same(world: World, tasks: list[Task]) -> None:
    for one in simulate(world, tasks[:60], NoMemory()):
        episode = fold(list(events_of("r-1", one)))
        assert episode is not None
        assert (episode.command, episode.outcome) == (one.task.command, one.outcome)
        assert episode.iterations == one.iterations
        assert [(action.shown, action.ok, action.said) for action in episode.actions] == [
            (_as_typed(done.action), done.ok, done.said)
            for attempt in one.attempts
            for done in attempt.verdict.done
        ]
        if one.outcome == "failed":
            assert episode.reason == one.reason


def test_keyword_memory_helps_and_is_no_straw_man(world: World, tasks: list[Task], tmp_path: Path) -> None:
    off = figures(world, list(simulate(world, tasks, NoMemory())))
    found = figures(world, list(simulate(world, tasks, KeywordMemory(tmp_path / "brain"))))
    assert found["repeats"] < off["repeats"] / 2
    assert found["success"] > off["success"]
    assert found["taste"] > 0
    assert (tmp_path / "brain" / "tasks" / "task-log.md").read_text(encoding="utf-8").count("**Command:**")


def test_common_steps_leave_open_what_varies() -> None:
    runs = (
        ("open_application(Mail)", "click(New)", "type_text(Alex)"),
        ("open_application(Mail)", "type_text(Maria)"),
    )
    assert common_steps(runs) == ("open_application(Mail)", "type_text({value})")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    advice = read(text, WORLD)
    assert all(fits(call, call) for passage in advice.passages for call in passage.avoid)
    assert all(one.calls for passage in advice.passages for one in passage.segments)


def test_calls_keep_their_arguments() -> None:
    assert call_of("press_key(d, command: true, shift: true)") == (
        "press_key",
        {"key": "d", "command": "true", "shift": "true"},
    )
    assert call_of("type_text(Cheers, Sam)") == ("type_text", {"text": "Cheers, Sam"})
    assert filled("type_text({site})", {"site": "a.b"}) == "type_text(a.b)"


def _as_typed(action: str) -> str:
    return action.removeprefix("run_shell_command(").removesuffix(")") if "shell" in action else action
