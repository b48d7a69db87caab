"""A template's note says what the template is, in the reference's form, and reads back the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.learn.templates.slots import plain
from hindbrain.learn.templates.template import SHELL, Slot, Step, Template
from hindbrain.learn.templates.template_note import (
    confidence,
    parse,
    read_step,
    render,
    shown_span,
    step_lines,
)

PATH = "Learning/Templates/Send email.md"
MAIL = Template(
    name="Send email",
    title="Send email to {recipient}",
    trigger="send.*email|compose.*email",
    steps=(
        Step("open_application", (("name", "Mail"),)),
        Step("press_key", (("key", "n"), ("command", "true"))),
        Step("type_text", (("text", "{recipient}"),)),
        Step(SHELL, (("command", "mail -s hi {recipient}"),)),
        Step("look_up", (("contact_id", "{contact_id}"),), many=True),
    ),
    slots=(
        Slot("recipient", ("Anna", "bob@example.org"), True, "email", ("to",), ("about",)),
        Slot("contact_id", ("C-1",), False),
    ),
    commands=("send an email to Anna", "- [ ] compose # an email"),
    app="Mail",
    runs=20,
    successes=17,
    avg_iterations=6.5,
    version=2,
    source="tool",
    evidence=("r-20260501-1", "r-20260502-2"),
    path=PATH,
    updated="2026-05-15",
)
REFERENCE = """---
type: task-template
trigger: "send.*email|compose.*email|write.*email"
app: Mail
confidence: high
avg_iterations: 6
success_rate: 0.85
---
# Send Email

1. open_application("Mail")
2. press_key("n", command: true)  // New message
3. Click "To" field, type recipient
7. take_screenshot to verify
"""


def without_first_keys(template: Template) -> Template:
    """A step shows its first argument without its name."""
    steps = tuple(
        step._replace(
            arguments=tuple((key if i else "", value) for i, (key, value) in enumerate(step.arguments))
        )
        for step in template.steps
    )
    return template._replace(steps=steps)


def text_of(template: Template) -> str:
    return render(template, task_log="Learning/Task Log.md", day="2026-05-15")


def test_a_note_reads_back_as_the_template_that_it_was_made_from() -> None:
    assert parse(text_of(MAIL).encode(), PATH) == without_first_keys(MAIL)


def test_failures_in_a_row_stand_in_the_note_only_when_there_are_some() -> None:
    failing = MAIL._replace(recent=0.8, failing=2)
    assert parse(text_of(failing).encode(), PATH) == without_first_keys(failing)
    assert "failed_in_a_row: 2\n" in text_of(failing)
    assert "failed_in_a_row" not in text_of(MAIL)


def test_a_note_has_the_form_of_the_reference() -> None:
    text = text_of(MAIL)
    assert text.startswith("---\ntype: task-template\ntrigger: send.*email|compose.*email\napp: Mail\n")
    assert (
        "\n# Send email to {recipient}\n\n1. open_application(Mail)\n2. press_key(n, command: true)\n" in text
    )
    assert "\n- [[Learning/Task Log#^r-20260501-1]]\n" in text


def test_a_note_that_a_person_wrote_is_a_template_too() -> None:
    template = parse(REFERENCE.encode(), PATH)
    assert template is not None
    assert template.trigger == "send.*email|compose.*email|write.*email"
    assert [step.shown for step in template.steps] == [
        'open_application("Mail")',
        'press_key("n", command: true)',
        'Click "To" field, type recipient',
        "take_screenshot to verify",
    ]
    assert template.source == "user"


@pytest.mark.parametrize(
    "text", ["", "# Index\n\nsome words", "---\ntype: note\n---\n1. one\n", "## Slots\n1. x"]
)
def test_other_notes_are_no_templates(text: str) -> None:
    assert parse(text.encode(), PATH) is None


def test_what_enters_a_prompt_is_the_title_and_the_steps() -> None:
    lines = text_of(MAIL).split("\n")
    first, last = shown_span(text_of(MAIL).encode())
    assert lines[first - 1] == "# Send email to {recipient}"
    assert lines[last - 1].startswith("5. look_up")


def test_a_note_with_other_line_ends_says_the_same() -> None:
    assert parse(text_of(MAIL).replace("\n", "\r\n").encode(), PATH) == without_first_keys(MAIL)


@pytest.mark.parametrize(
    ("successes", "runs", "word"),
    [(0, 0, "low"), (3, 3, "medium"), (2, 3, "low"), (10, 10, "high"), (12, 20, "low"), (34, 40, "high")],
)
def test_confidence_is_what_the_success_rate_is_at_least(successes: int, runs: int, word: str) -> None:
    assert confidence(MAIL._replace(runs=runs, successes=successes)) == word


values = st.text(min_size=1, max_size=80).map(plain).filter(lambda v: v and "{" not in v)
names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
steps = st.builds(
    Step,
    names,
    st.lists(st.tuples(names, values), max_size=3, unique_by=lambda pair: pair[0]).map(tuple),
    st.booleans(),
)


@given(steps)
@settings(max_examples=400)
def test_whatever_a_step_holds_its_line_reads_back(step: Step) -> None:
    [line] = step_lines([step])
    read = read_step(line)
    assert (read.shown, read.many) == (step.shown, step.many)
    assert "\n" not in line
