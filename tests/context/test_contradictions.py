"""Which calls are the same, and which side of a contradiction stays: the rules without notes."""

from __future__ import annotations

import pytest

from hindbrain.context.packs.contradictions import is_same_call, settle
from hindbrain.context.packs.learned import Match, Matches


@pytest.mark.parametrize(
    ("pattern", "call", "same"),
    [
        ("Bash(npm test)", "Bash(npm test)", True),
        ("Bash(npm test)", "Bash(npm test -- --watch)", False),
        ("Bash(npm test)", "Shell(npm test)", False),
        ("npm test", "Bash(npm test)", True),
        ("npm test", "Bash(npm test, timeout: 60)", True),
        ("Bash(npm test)", "npm test", True),
        ("npm test", "npm run test", False),
        ("press_key(l, command: true)", "press_key(l, command: true)", True),
        ("press_key(l, command: true)", "press_key(l)", False),
        ("type_text({text}, enter: true)", "type_text(hello, enter: true)", True),
        ("press_key(return)", "press_key({key})", False),
        ("book(JFK, to: SEA, date: may)", "book(JFK, to: SEA, da…", True),
        ("book(JFK, to: SEA, date: may)", "book(JFK, to: LAX, da…", False),
        ("open_notes()", "open_notes()", True),
        ("", "", False),
    ],
)
def test_calls_are_compared_by_what_they_do(pattern: str, call: str, same: bool) -> None:
    assert is_same_call(pattern, call) is same


def _match(name: str, **more: object) -> Match:
    return Match(name, f"{name}.md", name, name, 1, 1, 0.9)._replace(**more)  # type: ignore[arg-type]


def _shown(matches: Matches, slot: str) -> tuple[Match, ...]:
    return {"lessons": matches.lessons, "template": matches.templates[:1]}[slot]


def test_the_next_template_takes_the_place_of_one_that_is_left_out_and_is_judged_too() -> None:
    lesson = _match("lesson", avoid=("a()",), evidence=9)
    templates = (
        _match("first", do=("a()", "b()"), evidence=3),
        _match("second", do=("c()", "a()"), evidence=3),
        _match("third", do=("c()",), evidence=3),
    )
    settled = settle(Matches((lesson,), templates), ("template", "lessons"), _shown)
    assert [one.id for one in settled.matches.templates] == ["third"]
    assert [one.id for _, one in settled.left_out] == ["first", "second"]


def test_trust_counts_before_the_number_of_runs() -> None:
    lesson = _match("lesson", avoid=("a()",), evidence=90, source="import")
    template = _match("template", do=("a()",), evidence=3, source="tool")
    settled = settle(Matches((lesson,), (template,)), ("template", "lessons"), _shown)
    assert settled.matches == Matches((), (template,))


def test_a_lesson_that_is_not_shown_takes_nothing_out() -> None:
    matches = Matches((_match("lesson", avoid=("a()",), evidence=9),), (_match("template", do=("a()",)),))
    assert settle(matches, ("template",), _shown).matches == matches


def test_a_failed_way_denies_the_same_way_alone() -> None:
    failure = _match("failure", failed=("a(1)", "b()"), evidence=1)
    for do, stays in (
        (("a({n})", "b()"), False),
        (("a(1)",), True),
        (("b()", "a(1)"), True),
        (("a(1)", "b()", "c()"), True),
        ((), True),
    ):
        matches = Matches((failure,), (_match("template", do=do),))
        settled = settle(matches, ("template", "lessons"), _shown)
        assert bool(settled.matches.templates) is stays, do
