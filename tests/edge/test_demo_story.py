"""The story of the demo is true: its model errs, is put right, and does better by what was learned."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.agent.run import Limits, RunRequest
from hindbrain.agent.verify.check import Check
from hindbrain.app import App
from hindbrain.edge.commands.demo import _SAMPLE, _open
from hindbrain.edge.demo_model import LAST_YEAR, follows_habit
from hindbrain.edge.demo_story import Story, tell_story


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Story, Path]]:
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(_SAMPLE, folder / "vault")
    app = _open(folder / "vault", folder / "state")
    app.sync()
    yield app, tell_story(app, folder / "work"), folder
    app.close()


def test_three_failures_that_were_put_right_make_the_next_run_right_at_once(
    told: tuple[App, Story, Path],
) -> None:
    _, story, folder = told
    assert [run.end for run in story.runs] == [*["fail", "complete"] * 3, "complete"]
    assert story.runs[-1].iterations < story.runs[0].iterations
    assert story.lesson is not None and f"^{story.lesson.id}" in story.runs[-1].recalled
    assert LAST_YEAR in story.lesson.text
    assert "half past seven" in (folder / "work" / "invitations" / "Ben Okafor.txt").read_text(
        encoding="utf-8"
    )
    learned = [run.learned for run in story.runs]
    assert [bool(one and one.lessons.added) for one in learned] == [False] * 4 + [True] + [False] * 2
    assert sum(one.recorded.corrections for one in learned if one) == 3


def test_without_its_memory_the_same_model_makes_the_same_mistake(told: tuple[App, Story, Path]) -> None:
    app, _, folder = told
    request = RunRequest(
        "write an invitation to our reading group for Jakob",
        checks=(Check("text", "invitations/Jakob.txt", "half past seven"),),
        limits=Limits(iterations=3), workspace=str(folder / "work"), allowed=("write_file",), preset="",
    )  # fmt: skip
    assert app.agent.run(request).end == "fail"


def test_the_model_decides_by_what_it_reads() -> None:
    command = "write an invitation for Ada"
    lesson = f"For tasks like this: do not `read_file({LAST_YEAR})` (in 3 of 3 runs that failed)."
    assert follows_habit(command, "")
    assert follows_habit(command, lesson.replace("do not", "do"))
    assert follows_habit(command, lesson.replace("last year", "other"))
    assert not follows_habit(command, lesson)
    assert not follows_habit(f"{command}, as my vault has it", "")
