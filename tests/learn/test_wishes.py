"""What a run filled in is no part of what it was asked for."""

from __future__ import annotations

import pytest
from lesson_runs import act, run

from hindbrain.learn.wishes import wish_of


@pytest.mark.parametrize(
    ("command", "values", "wish"),
    [
        ("schedule the piano lesson for Friday", ("piano lesson",), "schedule the {text} for Friday"),
        ("write Piano Lesson, then print piano lesson", ("piano lesson",), "write {text}, then print {text}"),
        ("delete the old file", ("delete", "old file"), "delete the {text}"),
        ("open github.com in Chrome", ("github.com", "Chrome"), "open github.com in Chrome"),
        ("rename the lessons", ("lesson",), "rename the lessons"),
        ("play Heroes", ("play Heroes",), "play Heroes"),
        ("publish the page about the harbour.", ("site/harbour.html",), "publish the page about the {text}."),
        ("run the tests of ~/code/harbour", ("docs/harbour.md",), "run the tests of ~/code/harbour"),
        ("mend harbour.html and harbour-old", ("site/harbour.html",), "mend harbour.html and harbour-old"),
    ],
)
def test_values_of_tools_are_masked_in_the_command(command: str, values: tuple[str, ...], wish: str) -> None:
    steps = [act("do", value)._replace(app="Chrome") for value in values]
    assert wish_of(run(0, command, "failed", *steps)) == wish
