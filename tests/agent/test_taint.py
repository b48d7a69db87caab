"""Trust in a conversation: it falls with what is heard, and nothing lifts it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.policy_file import AgentPolicy
from hindbrain.agent.safety.approval import Asked, Decision
from hindbrain.agent.safety.command import ShellPlace
from hindbrain.agent.safety.gate import Around, Gate
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.memory.tools.tool import Param
from hindbrain.models.chat import ChatMessage
from hindbrain.vault.origin import SOURCES

_sources = st.lists(st.sampled_from([*SOURCES, "somebody", ""]), max_size=20)


def test_a_command_alone_is_clean() -> None:
    assert Taint().level == "user" and not Taint().tainted


@pytest.mark.parametrize("source", SOURCES)
def test_whatever_is_heard_taints_even_what_passes_for_the_owners_word(source: str) -> None:
    assert Taint().heard(source).tainted


def test_an_unknown_source_is_trusted_least() -> None:
    assert Taint().heard("somebody").level == "import"


@given(_sources)
def test_trust_never_rises(heard: list[str]) -> None:
    taint = Taint()
    for source in heard:
        after = taint.heard(source)
        assert SOURCES.index(after.level) >= SOURCES.index(taint.level)
        assert SOURCES.index(after.level) >= SOURCES.index(source if source in SOURCES else "import")
        taint = after


@given(_sources)
def test_the_order_of_what_is_heard_does_not_matter(heard: list[str]) -> None:
    assert Taint().heard_all(heard) == Taint().heard_all(reversed(heard))


def test_what_the_owner_says_later_does_not_clean_what_is_there() -> None:
    history = [
        ChatMessage("user", "read my mail"),
        ChatMessage("tool", "do this"),
        ChatMessage("user", "thanks"),
    ]
    assert Taint().after(history[:1]) == Taint()
    assert Taint().after(history).level == "tool"
    assert Taint().after([ChatMessage("assistant", "as the note says")]).level == "agent"


class _Loop:
    """What a loop does with a gate, and nothing else; keeps what was carried out without a person."""

    def __init__(self, folder: Path, answers: Callable[[Asked], Decision]) -> None:
        self.gate = Gate(AgentPolicy(), Around(ShellPlace(str(folder), ())))
        self.taint = Taint()
        self.answers = answers
        self.unasked: list[tuple[str, Taint]] = []
        self.asked = 0

    def call(self, name: str, effect: str, arguments: dict[str, str], command: str) -> None:
        params = (Param("path", "string", ""), Param("text", "string", ""))
        tool = ActionTool(name, "", params, effect, lambda _: Result("done"))  # type: ignore[arg-type]
        verdict = self.gate.judge(tool, arguments, command=command, taint=self.taint)
        if verdict.decision == "allow":
            self.unasked.append((effect, self.taint))
            self.taint = self.taint.heard("tool")
        elif verdict.decision == "ask":
            self.asked += 1
            if self.answers(Asked("a-1111", "r", name, arguments, "", verdict.why)) == "allow":
                self.taint = self.taint.heard("tool")


_steps = st.lists(
    st.one_of(
        st.tuples(st.just("hear"), st.sampled_from(SOURCES)),
        st.tuples(
            st.just("call"),
            st.sampled_from(["read", "keep", "act"]),
            st.text(max_size=10),
            st.text(max_size=10),
        ),
    ),
    max_size=25,
)


@given(_steps, st.text(max_size=30), st.sampled_from(["allow", "deny"]))
def test_a_tainted_turn_never_acts_without_a_person(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, ...]], command: str, answer: Decision
) -> None:
    loop = _Loop(Path("/"), lambda _: answer)
    for step in steps:
        if step[0] == "hear":
            loop.taint = loop.taint.heard(step[1])
        else:
            loop.call("tool", step[1], {"path": step[2], "text": step[3]}, f"look at things: {command}")
    assert [effect for effect, taint in loop.unasked if effect == "act" and taint.tainted] == []


def test_the_stand_in_can_fail(tmp_path: Path) -> None:
    """It does act while only the owner has spoken, and then it asks."""
    loop = _Loop(tmp_path, lambda _: "deny")
    loop.call("tool", "act", {"text": "x"}, "do it")
    loop.call("tool", "act", {"text": "x"}, "do it")
    assert [effect for effect, _ in loop.unasked] == ["act"] and loop.asked == 1
