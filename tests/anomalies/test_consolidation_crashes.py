"""Consolidation, killed or out of disk at any call that changes a file: the next one makes it good.

The same notes and journals, byte for byte, as of a run that nothing disturbed; and no line of anybody's lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("faults are injected through fork and kill", allow_module_level=True)

from tests.anomalies.killer import CHANGES_FILES, NEVER, Faults, failing, kill, kill_in_the_middle, run_forked
from tests.anomalies.oracle import nothing_is_left_over
from tests.learn.consolidating import consolidator, day, make_own, mark_ours, notes_of, write_day
from tests.learn.test_consolidation_journals import write_run

from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError
from hindbrain.learn.consolidation.consolidator import Consolidated
from hindbrain.learn.consolidation.steps import Parts
from hindbrain.learn.pages.desk import Desk
from workbench import NOW

Strike = Callable[[str, tuple[Any, ...]], None]
NEEDS_SPACE = CHANGES_FILES - {"open", "unlink", "fchmod"}
SAMPLE = 24  # calls that are struck in the short form
MEMORIES = """\
---
type: memory
category: fact
---
# Memory: fact

- I typed this myself
- The office plant is a ficus [importance:: 0.4] [source:: agent] [created:: {old}] ^m-00000001
  - it stands in the hall
- The favourite editor is vim [importance:: 0.6] [source:: agent] [created:: {new}] ^m-00000002
"""


def make_app(folder: Path) -> App:
    environ = {"HINDBRAIN_STATE_FOLDER": str(folder / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
    return build_app(load_config(environ, folder / "none.toml"), folder / "vault", clock=FakeClock(NOW))


def learn(desk: Desk) -> str:
    desk.put_section("Learning/Lessons.md", "Lessons", ["- Save before closing"], first_text="# Lessons\n")
    return ""


def consolidate(folder: Path) -> Consolidated:
    app = make_app(folder)
    try:
        return consolidator(app, Parts(learn=learn)).consolidate()
    finally:
        app.close()


@pytest.fixture
def template(place: Path) -> Path:
    """A vault in which every step has something to do."""
    folder = place / "template"
    root = folder / "vault"
    (root / ".hindbrain").mkdir(parents=True)
    (root / ".hindbrain" / "vault-id").write_text("the-vault", encoding="utf-8")
    make_own(root)
    write_day(root, 40, "- [09:00] We decided to use Caddy instead of nginx", "- typed by hand")
    write_day(root, 33, "- [09:00] Checked 3 new emails", "- Important: the boiler key is with Anna Berg")
    write_day(root, 20, "- Decided: the favourite editor is emacs", "- Checked 4 new emails")
    write_day(root, 9, "- Checked 5 new emails", "- We decided to use Go instead of Rust [source:: web]")
    (root / "Memory").mkdir()
    (root / "Memory" / "fact.md").write_text(MEMORIES.format(old=day(200), new=day(20)), encoding="utf-8")
    (root / "Sessions").mkdir()
    session, text = f"Sessions/{day(120)} harbor b7a39e.md", "---\ntype: session\n---\n# Session\n"
    (root / session).write_text(text, encoding="utf-8")
    mark_ours(root, session, text)
    (root / "Learning").mkdir()
    (root / "Learning" / "Lessons.md").write_text(
        "# Lessons\n\n## Lessons\n\n- a line of mine\n", encoding="utf-8"
    )
    write_run(root, "r-a", 100)
    write_run(root, "r-b", 400)
    return folder


def end_of(folder: Path) -> dict[str, bytes]:
    """What must be the same: notes, and journals, wherever they lie."""
    runs = folder / "vault" / ".hindbrain" / "runs"
    journals = {
        f"runs/{file.relative_to(runs).as_posix()}": file.read_bytes()
        for file in sorted(runs.rglob("*"))
        if file.is_file()
    }
    return {**notes_of(folder / "vault"), **journals}


def undisturbed(place: Path, template: Path) -> dict[str, bytes]:
    shutil.copytree(template, place / "calm")
    done = consolidate(place / "calm")
    assert done.proof.holds
    assert done.problems == ()
    # Each step did something, or the test would prove less than it says.
    assert (done.facts, done.held, done.archived, done.stale, done.compressed) == (4, 1, 3, 1, 2)
    return end_of(place / "calm")


def calls_of(place: Path, template: Path) -> list[int]:
    """The numbers of the calls that change a file."""
    shutil.copytree(template, place / "counted")
    faults = Faults(NEVER, kill)
    with faults.active():
        consolidate(place / "counted")
    return [number for number, name in enumerate(faults.calls, start=1) if name in CHANGES_FILES]


def sampled(numbers: Sequence[int], most: int) -> list[int]:
    return list(numbers[:: max(1, -(-len(numbers) // most))])


@contextlib.contextmanager
def fresh(place: Path, template: Path) -> Iterator[Path]:
    folder = place / "run"
    shutil.copytree(template, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def strike_and_go_on(place: Path, template: Path, at: int | frozenset[int], strike: Strike) -> None:
    """Disturb one consolidation, then do another; it must end as if nothing had happened."""
    expected = end_of(place / "calm")
    with fresh(place, template) as folder:

        def disturbed() -> None:
            with Faults(at, strike).active(), contextlib.suppress(HindbrainError):
                consolidate(folder)

        run_forked(disturbed)
        done = consolidate(folder)
        assert done.proof.holds
        assert done.problems == ()
        assert end_of(folder) == expected
        nothing_is_left_over(folder / "vault", folder / "state" / "the-vault")
        app = make_app(folder)
        assert app.memory.settle(idle=True).deleted == ()
        assert len(app.memory.inbox.pending()) == 1
        app.close()


def disk_full(name: str, args: tuple[Any, ...]) -> None:
    """Nothing new can be written; what is there can be read and removed."""
    makes = name in NEEDS_SPACE or (name == "open" and args[1] & os.O_CREAT)
    if makes:
        failing(errno.ENOSPC)(name, args)


@pytest.mark.promise("P1")
@pytest.mark.promise("P2")
@pytest.mark.promise("P12")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle])
def test_a_kill_at_any_call_is_made_good_by_the_next_consolidation(
    place: Path, template: Path, strike: Strike
) -> None:
    undisturbed(place, template)
    for at in sampled(calls_of(place, template), SAMPLE):
        strike_and_go_on(place, template, at, strike)


@pytest.mark.promise("P2")
@pytest.mark.promise("P12")
def test_a_full_disk_at_any_call_is_made_good_by_the_next_consolidation(place: Path, template: Path) -> None:
    undisturbed(place, template)
    numbers = calls_of(place, template)
    for at in sampled(numbers, SAMPLE // 2):
        strike_and_go_on(place, template, at, disk_full)
        strike_and_go_on(place, template, frozenset(range(at, at + 20 * len(numbers))), disk_full)


@pytest.mark.slow
@pytest.mark.promise("P1")
@pytest.mark.promise("P2")
@pytest.mark.promise("P12")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle, disk_full])
def test_a_fault_at_each_call_is_made_good(place: Path, template: Path, strike: Strike) -> None:
    undisturbed(place, template)
    for at in calls_of(place, template):
        strike_and_go_on(place, template, at, strike)


@pytest.mark.slow
@pytest.mark.promise("P2")
def test_a_disk_that_is_full_from_each_call_on_is_made_good(place: Path, template: Path) -> None:
    undisturbed(place, template)
    numbers = calls_of(place, template)
    for at in numbers:
        strike_and_go_on(place, template, frozenset(range(at, at + 20 * len(numbers))), disk_full)


@pytest.mark.promise("P1")
def test_a_kill_of_the_one_that_follows_a_kill_is_made_good_too(place: Path, template: Path) -> None:
    undisturbed(place, template)
    numbers = calls_of(place, template)
    for at in sampled(numbers, 5):
        with fresh(place, template) as folder:
            for number in (at, at + 30, at // 2):

                def dying(number: int = number, folder: Path = folder) -> None:
                    with Faults(number, kill).active():
                        consolidate(folder)

                run_forked(dying)
            assert consolidate(folder).proof.holds
            assert end_of(folder) == end_of(place / "calm")
