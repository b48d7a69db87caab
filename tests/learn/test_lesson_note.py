"""The lines of the lessons note: what is written is read again, and a person may write as they like."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lesson_runs import in_order, missed, worked

from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.lesson_note import below_of, head_of, parse_lessons

(LESSON,) = find_lessons(in_order(missed(0, 2, 4), worked(1, 3, 5)), None)
LOG = "Learning/Task Log"


def note(*lines: str) -> bytes:
    return "\n".join(("# Lessons", "", "## Lessons", "", *lines, "")).encode()


def written(lesson: Lesson) -> bytes:
    return note(head_of(lesson), *below_of(lesson, LOG))


def test_a_lesson_is_one_list_item_with_its_evidence_below() -> None:
    head, when, why, failed, good = (head_of(LESSON), *below_of(LESSON, LOG))
    assert head == (
        f"- {LESSON.text} [confidence:: {LESSON.confidence:g}] [seen:: 3] [heeded:: 1] [app:: Chrome] "
        f"[source:: tool] [updated:: 2026-05-14] ^{LESSON.id}"
    )
    assert (
        when
        == "  - when: “open github.com in Chrome” · “open python.org in Chrome” · “open arxiv.org in Chrome”"
    )
    assert why == "  - why: typed into the page, the URL bar was not focused"
    assert failed.startswith(f"  - failed: [[{LOG}#^r-20260514-000000-aaaa|2026-05-14]], ")
    assert good.startswith(f"  - worked: [[{LOG}#^r-20260514-000001-aaaa|2026-05-14]], ")


def test_what_is_written_is_read_again() -> None:
    (noted,) = parse_lessons(written(LESSON), "L.md")
    # What the lines do not say: how many went well, and the seconds of the first and the last failure.
    assert noted.lesson == LESSON._replace(successes=0, first=0.0, last=0.0)
    assert (noted.first_line, noted.last_line) == (5, 9)
    assert "when:" in noted.text and "failed:" not in noted.text


def test_what_was_tried_in_vain_is_nothing_to_do_instead() -> None:
    for said in (
        "what solves it is not known yet; already tried: `a(1)`, `b()`",
        "the last step before that: `a(1)`",
    ):
        (noted,) = parse_lessons(
            note(f"- For tasks like “x”: failed 3 times with “y”; {said}. ^l-abc"), "L.md"
        )
        assert noted.lesson.prefer == ""


def test_a_person_types_lessons_as_plain_list_items() -> None:
    first, second = parse_lessons(note("- Never push to main", "* Use metric units  [app:: Word]"), "L.md")
    assert (first.lesson.text, first.lesson.source, first.lesson.confidence) == (
        "Never push to main", "user", 1.0,
    )  # fmt: skip
    assert first.lesson.id.startswith("l-") and second.lesson.app == "Word"


def test_a_person_says_when_and_guards_a_tool() -> None:
    lines = ("- Ask before you deploy [guard:: Bash: make deploy] ^l-abc", "  - when: ship it · go live")
    (noted,) = parse_lessons(note(*lines), "L.md")
    assert noted.lesson.guard == "Bash: make deploy" and noted.lesson.commands == ("ship it", "go live")


def test_headings_say_what_counts() -> None:
    data = note(
        "- one", "", "## Retired", "", "- two", "", "## Failures", "", "- three", "## Lessons", "- ~~four~~"
    )
    noted = parse_lessons(data, "L.md")
    assert [(one.lesson.text, one.lesson.state, one.struck) for one in noted] == [
        ("one", "active", False),
        ("two", "retired", False),
        ("four", "active", True),
    ]


def test_values_that_make_no_sense_cost_nothing_but_themselves() -> None:
    (noted,) = parse_lessons(
        note("- Look first [confidence:: much] [seen:: often] [source:: me] ^l-x"), "L.md"
    )
    assert (noted.lesson.confidence, noted.lesson.failures, noted.lesson.source) == (0.5, 0, "import")


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3), TEXT)
def test_whatever_runs_say_it_stays_one_lesson_with_its_own_fields(
    reason: str, commands: list[str], app: str
) -> None:
    quoted = f"“{commands[0]}”: “{reason}”".replace("`", "'")
    text = f"Do not `click(URL bar)` for {quoted}"
    lesson = LESSON._replace(text=text, commands=tuple(commands), reason=reason, app=app)
    (noted,) = parse_lessons(written(lesson), "L.md")
    assert (noted.lesson.id, noted.lesson.source, noted.lesson.guard) == (LESSON.id, "tool", "")
    assert (noted.lesson.failures, noted.lesson.confidence) == (LESSON.failures, LESSON.confidence)
    assert noted.lesson.avoid == "click(URL bar)" and noted.lesson.evidence == LESSON.evidence
    assert not noted.struck
