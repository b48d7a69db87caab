"""From old daily notes to facts: events, importance, recurrence, rules and a model."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.learn.consolidating import TODAY, day

from hindbrain.base.errors import ModelDown
from hindbrain.learn.consolidation.daily_facts import Fact, facts_of
from hindbrain.learn.consolidation.day_events import DayEvent, events_of
from hindbrain.learn.consolidation.facts_by_model import ask_for_facts, joined
from hindbrain.learn.consolidation.importance import importance
from hindbrain.learn.consolidation.recurring import matters
from hindbrain.models.chat_fake import ScriptedChat

REFERENCE = b"""\
# Daily Log: 2025-01-16

## Session Start
- **Time**: 08:15:00Z
- **Context**: Morning routine initiated

## Events

### 08:15 - Gmail Check
- **Action**: Checked 23 new emails
- **Summary**: 3 flagged as important
- **Decisions**: Scheduled reply to John for 10:00

### 14:15 - User Query
- **Query**: "What's the status of Project Alpha?"
- **User feedback**: Remember to send the summary by email

## Session End
- **Time**: 18:30:00Z

## Notes for Tomorrow
- Complete Project Alpha documentation
"""


def events(text: str, ago: int = 10, path: str = "") -> list[DayEvent]:
    data = f"# Daily Log: {day(ago)}\n\n## Events\n{text}\n".encode()
    return events_of(data, path=path or f"Daily/{day(ago)}.md", day=day(ago))


def facts(*lines: tuple[int, str]) -> list[Fact]:
    every = [event for ago, text in lines for event in events(text, ago)]
    every.sort(key=lambda event: event.day)
    return facts_of(every, {event.path for event in every}, today=TODAY)


@pytest.mark.parametrize(
    ("given_", "value"),
    [
        ({}, 0.5),
        ({"decision": True}, 0.8),
        ({"feedback": "this is IMPORTANT"}, 0.7),
        ({"feedback": "please remember"}, 0.75),
        ({"recurring": True}, 0.65),
        ({"decision": True, "feedback": "important, remember", "recurring": True}, 1.0),
        ({"decision": True, "days_old": 73}, 0.64),
        ({"decision": True, "days_old": 365}, 0.08),
        ({"decision": True, "days_old": 9_999}, 0.08),
    ],
)
def test_importance_is_the_references_formula(given_: dict[str, object], value: float) -> None:
    assert importance(**given_).value == pytest.approx(value)  # type: ignore[arg-type]


@given(
    st.booleans(), st.sampled_from(["", "important", "remember", "important remember"]), st.booleans(),
    st.integers(0, 2_000),
)  # fmt: skip
def test_importance_stays_between_0_and_1_and_falls_with_age(
    decision: bool, feedback: str, recurring: bool, days: int
) -> None:
    now = importance(decision=decision, feedback=feedback, recurring=recurring, days_old=days)
    later = importance(decision=decision, feedback=feedback, recurring=recurring, days_old=days + 1)
    assert 0.0 < later.value <= now.value <= 1.0


def test_the_references_daily_log_is_read() -> None:
    found = events_of(REFERENCE, path="Daily/2025-01-16.md", day="2025-01-16")
    assert [event.text for event in found] == [
        "Gmail Check, Action: Checked 23 new emails",
        "Gmail Check, Summary: 3 flagged as important",
        "Gmail Check, Decisions: Scheduled reply to John for 10:00",
        'User Query, Query: "What\'s the status of Project Alpha?"',
        "Remember to send the summary by email",
    ]
    assert [event.decision for event in found] == [False, False, True, False, False]
    assert [bool(event.feedback) for event in found] == [False, False, False, False, True]


def test_what_is_decided_becomes_a_fact_and_what_only_happened_does_not() -> None:
    found = facts(
        (10, "- [09:00] We decided to use Caddy instead of nginx\n- [10:00] Fixed the boiler today")
    )
    assert [(fact.text, fact.category) for fact in found] == [
        ("We decided to use Caddy instead of nginx", "decision")
    ]
    assert found[0].importance == pytest.approx(0.8 * (1 - 10 / 365), abs=0.01)


@pytest.mark.parametrize(
    "line",
    [
        "Should we have decided to use Caddy?",
        "We have not decided to use Caddy instead of nginx yet",
        "Decided to use it instead of the other one",
        "Maybe we decided to use Caddy, not sure",
    ],
)
def test_questions_doubts_and_what_cannot_be_understood_alone_are_no_facts(line: str) -> None:
    assert facts((10, f"- [09:00] {line}")) == []


def test_what_is_called_important_is_kept_without_the_mark() -> None:
    found = facts((10, "- [09:00] Important: the boiler key is with Anna Berg"))
    assert [fact.text for fact in found] == ["The boiler key is with Anna Berg"]
    assert facts((10, "- [09:00] 3 mails were flagged as important by Gmail")) == []


def test_a_decision_fades_after_91_days() -> None:
    line = "- We decided to use Caddy instead of nginx"
    assert len(facts((91, line))) == 1
    assert facts((92, line)) == []


def test_what_comes_back_on_three_days_is_one_pattern_whatever_its_numbers() -> None:
    found = facts(
        (12, "- [08:00] Checked 23 new emails"),
        (11, "- [08:10] Checked 7 new emails"),
        (10, "- [08:05] checked 41 new emails"),
    )
    assert [(fact.text, fact.category) for fact in found] == [("Checked … new emails", "pattern")]
    assert facts((12, "- Checked 23 new emails"), (11, "- Checked 7 new emails")) == []


def test_the_same_on_one_day_three_times_is_no_pattern() -> None:
    assert facts((10, "- Checked 23 new emails\n- Checked 24 new emails\n- Checked 25 new emails")) == []


def test_decisions_that_differ_by_a_number_stay_apart() -> None:
    found = facts(
        (12, "- We decided to use port 80 for Caddy"), (11, "- We decided to use port 81 for Caddy")
    )
    assert [fact.text for fact in found] == [
        "We decided to use port 80 for Caddy",
        "We decided to use port 81 for Caddy",
    ]


def test_the_same_notes_give_the_same_ids() -> None:
    lines = [
        (12, "- We decided to use Caddy instead of nginx"),
        (9, "- Important: the key is with Anna Berg"),
    ]
    assert [fact.id for fact in facts(*lines)] == [fact.id for fact in facts(*lines)]


def test_only_fresh_notes_give_facts_but_older_ones_count_for_recurrence() -> None:
    every = [event for ago in (12, 11, 10) for event in events("- Watered the plants in the hall", ago)]
    newest = {f"Daily/{day(10)}.md"}
    assert len(facts_of(every, newest, today=TODAY)) == 1
    assert facts_of(every, set(), today=TODAY) == []


@pytest.mark.promise("P18")
def test_a_fact_is_never_trusted_more_than_its_line_or_an_agent() -> None:
    line = "- We decided to use Caddy instead of nginx"
    assert facts((10, line))[0].source == "agent"
    assert facts((10, f"{line} [source:: web]"))[0].source == "web"
    assert facts((10, f"{line} [source:: user]"))[0].source == "agent"
    note = f"---\nsource: import\n---\n## Events\n{line}\n".encode()
    assert {event.source for event in events_of(note, path="d.md", day=day(10))} == {"import"}


def test_our_own_lines_and_tasks_are_no_events() -> None:
    text = (
        "## Events\n- ours was written here\n- [ ] buy milk and bread\n- Kept from a session: [[Agent/S|S]]\n"
    )
    text += "- [09:00] Done: we decided to use Caddy (score 90) ^r-20260505-090000-7f3k\n"
    assert events_of(text.encode(), path="d.md", day=day(9), is_ours=lambda line: "ours" in line) == []


@given(st.lists(st.text("abcde 12", min_size=3, max_size=30), max_size=20))
def test_every_event_is_in_exactly_one_matter(texts: list[str]) -> None:
    every = [DayEvent(day(n), "d.md", n, text) for n, text in enumerate(texts)]
    found = [event for matter in matters(every) for event in matter.events]
    assert sorted(found) == sorted(every)


def answer(content: str, evidence: str, category: str = "decision", importance: float = 0.9) -> str:
    fact = {
        "content": content, "category": category, "importance": importance, "confidence": 0.9,
        "evidence": evidence,
    }  # fmt: skip
    return json.dumps({"facts": [fact], "summary": "s"})


MOVED = events("- [09:00] Anna moved the boat to Smygehuk harbor in spring")


def test_a_model_may_find_what_the_rules_do_not() -> None:
    chat = ScriptedChat(
        [answer("Anna's boat is in Smygehuk harbor", "Anna moved the boat to Smygehuk harbor")]
    )
    found = ask_for_facts(chat, MOVED, today=TODAY)
    assert [fact.text for fact in found.facts] == ["Anna's boat is in Smygehuk harbor"]
    assert found.facts[0].source == "agent"


@pytest.mark.parametrize(
    ("content", "evidence"),
    [
        ("Anna's boat is in Ystad harbor", "Anna moved the boat to Smygehuk harbor"),
        ("Anna's boat is in Smygehuk harbor", "Anna sails a boat from Smygehuk"),
        ("Anna never moved the boat to Smygehuk harbor", "Anna moved the boat to Smygehuk harbor"),
    ],
)
def test_what_no_line_says_is_dropped(content: str, evidence: str) -> None:
    assert ask_for_facts(ScriptedChat([answer(content, evidence)]), MOVED, today=TODAY).facts == ()


@pytest.mark.promise("P12")
@pytest.mark.parametrize("bad", [ModelDown("no route"), "not json", '{"facts": 7}', RuntimeError("adapter")])
def test_whatever_a_model_does_the_rules_facts_stay(bad: str | Exception) -> None:
    lines = events("- We decided to use Caddy instead of nginx")
    found = ask_for_facts(ScriptedChat([bad]), lines, today=TODAY)
    assert found.failure
    by_rules = facts_of(lines, {lines[0].path}, today=TODAY)
    assert joined(by_rules, found.facts) == by_rules


def test_a_line_with_a_fact_gets_no_second_one_from_the_model() -> None:
    lines = events("- We decided to use Caddy instead of nginx")
    by_rules = facts_of(lines, {lines[0].path}, today=TODAY)
    chat = ScriptedChat([answer("Caddy replaced nginx", "decided to use Caddy instead of nginx")])
    assert joined(by_rules, ask_for_facts(chat, lines, today=TODAY).facts) == by_rules


def test_a_model_is_shown_no_secret() -> None:
    chat = ScriptedChat([answer("x", "y")])
    ask_for_facts(
        chat, events("- The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a today"), today=date(2026, 5, 15)
    )
    assert "ghp_" not in chat.asked[0].messages[1].text
