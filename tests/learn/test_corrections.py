"""User corrections: the same thing said otherwise right after it failed, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recording_runs import Book, do, run

from hindbrain.app import App
from hindbrain.learn.recording.corrections import corrections
from hindbrain.learn.runs.episode import Episode, Rejection
from workbench import Vault

# What a person says when an agent did not do what they meant; written by hand.
REPHRASED = [
    ("open github", "open github.com in Chrome"),
    ("open the report", "open the quarterly report in Excel"),
    ("send an email to Bob", "send an email to Robert Miller"),
    ("play some jazz", "play jazz on Spotify"),
    ("delete the old screenshots", "delete the screenshots older than a month"),
    ("rename the file to draft", "rename report.docx to draft.docx"),
    ("set the thermostat to 20", "set the thermostat to 22"),
    ("email ada@example.org the notes", "email ada.king@example.org the notes"),
    ("turn on dark mode", "turn on dark mode in VS Code, not in the system"),
    ("search for flights to Rome", "search for direct flights to Rome on Friday"),
    ("open github.com in Safari", "open github.com in Chrome"),
    ("Type 'hello' into the box", "Type 'hello world' into the box"),
    ("run the tests", "run the tests with pytest"),
    ("Go to github", "Navigate to github.com in Chrome"),
    ("close all windows", "close all Finder windows"),
    (
        "find a mug, cool it with fridge, put it in coffeemachine",
        "find a mug, cool it, put it in the cabinet",
    ),
]
# What they say when they go on with something else, or only try again.
OTHER = [
    ("open github", "what is the weather in Oslo?"),
    ("send an email to Bob", "play some jazz"),
    ("delete the old screenshots", "book a table for two at eight"),
    ("run the tests", "thanks"),
    ("set the thermostat to 20", "read me the news"),
    ("rename the file to draft", "open Spotify"),
    ("open the report", "turn off the lights in the kitchen"),
    ("search for flights to Rome", "commit my changes"),
    ("play some jazz", "play some jazz"),
    ("Open github.com", "open github.com!"),
    ("close all windows", "please close all windows"),
    ("turn on dark mode", "Turn on  dark mode."),
]


def pair(
    first: str, second: str, outcome: str = "failed", *, after: float = 30, **more: Any
) -> list[Episode]:
    one = run(1, first, outcome, ago=1000)
    return [one, run(2, second, started=one.ended + after, **more)]


@pytest.mark.parametrize(("first", "second"), REPHRASED)
def test_a_rephrased_command_is_a_correction(first: str, second: str) -> None:
    for outcome in ("failed", "stuck", "cancelled"):
        (found,) = corrections(pair(first, second, outcome))
        assert (found.original.command, found.corrected.command) == (first, second)


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_another_matter_or_the_same_words_are_none(first: str, second: str) -> None:
    assert corrections(pair(first, second)) == []


def test_the_next_items_of_a_list_are_none() -> None:
    runs = [
        run(at, f"run the tests of {name}", "failed", started=1_778_000_000 + 60 * at)
        for at, name in enumerate(("alpha", "beta", "gamma", "delta"))
    ]
    assert corrections(runs) == []
    put_right = run(9, "run the tests of delta with pytest", started=runs[-1].ended + 20)
    assert [one.corrected.run for one in corrections([*runs, put_right])] == [put_right.run]
    elsewhere = [one._replace(session=str(at)) for at, one in enumerate(runs[2:])]
    assert len(corrections([*runs[:2], *elsewhere])) == 1  # two alone may be a correction


def test_what_changed_is_told_in_words() -> None:
    (found,) = corrections(pair("open github.com in Safari", 'open "github.com" in Chrome now'))
    assert found.added == ("Chrome", "now") and found.removed == ("Safari",)


@pytest.mark.parametrize(
    ("outcome", "after", "more"),
    [
        ("success", 30, {}),
        ("unknown", 30, {}),
        ("failed", 121, {}),
        ("failed", -60, {}),
        ("failed", 30, {"session": "another"}),
        ("failed", 30, {"host": "another"}),
    ],
)
def test_late_elsewhere_or_after_a_success_is_none(outcome: str, after: float, more: dict[str, str]) -> None:
    assert corrections(pair("open github", "open github.com in Chrome", outcome, after=after, **more)) == []


def test_each_of_several_corrections_in_a_row_counts_once() -> None:
    first, second = pair("open github", "open github.com in Safari")
    second = second._replace(outcome="failed")
    third = run(3, "open github.com in Chrome", started=second.ended + 119)
    found = corrections([first, second, third])
    assert [(one.original.run, one.corrected.run) for one in found] == [
        ("r-0001", "r-0002"),
        ("r-0002", "r-0003"),
    ]
    assert len({one.id for one in found}) == 2


def test_the_note_tells_what_was_meant(vault: Vault, make_app: Callable[..., App]) -> None:
    book = Book(vault, make_app(vault.root))
    runs = pair("open github", "open github.com in Chrome")
    path = book.desk().path("corrections")
    vault.write(path, "# Corrections\n\nMine.\n")
    assert book.record(*runs).corrections == 1
    assert book.text("corrections") == (
        "# Corrections\n\nMine.\n\n"
        "## 2026-05-15T11:44:35Z\n"
        f'- **Original:** "open github" [source:: tool] ^{corrections(runs)[0].id}\n'
        '- **Corrected:** "open github.com in Chrome" [source:: tool]\n'
        "- **Changed:** added github.com, in, Chrome; removed github [source:: tool]\n"
        "- **Outcome:** Failed, then Success\n"
    )
    vault.write(path, "# Corrections\n")
    more = run(3, "water the plants", ago=5)
    assert book.record(*runs, more).corrections == 0
    assert book.text("corrections") == "# Corrections\n"


def test_a_rejection_that_its_run_mended_is_told_before_corrections_and_failures_of_the_same_command(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    app = make_app(vault.root)
    book = Book(vault, app)
    command = "Open Chrome and go to github"
    clicked = (do("open_application", "Chrome"), do("take_screenshot"), do("click", "URL bar"))
    pressed = (do("press_key", "cmd+l"), do("type_text", "github.com"))
    rejected = Rejection("Wrong element clicked, ended up on bookmark bar", 45, 3)
    mended = run(7, command, ago=2000, actions=(*clicked, *pressed), rejections=(rejected,), score=92)
    later = pair(command, "Open Safari and go to github.com")
    failed = run(5, command, "failed", ago=300, reason="no network", actions=clicked)
    book.record(mended, *later, failed)
    found = app.learning.matches(command).lessons
    kinds = [
        "mended" if "**Solved:**" in one.text else "correction" if one.taken_back else "failure"
        for one in found
    ]
    assert kinds == ["mended", "correction", "failure"]
    assert "by `press_key(cmd+l), type_text({target})`" in found[0].text
