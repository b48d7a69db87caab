"""A chat model that says what it was told to say, for tests and for trying things without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.base.errors import ModelDown

if TYPE_CHECKING:
    from hindbrain.models.chat import ChatMessage


class ScriptedChat:
    """Gives its answers in order; an error among them is raised. Without a line left, it is down."""

    name = "scripted"

    def __init__(self, answers: Iterable[str | Exception] = ()) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[ChatMessage, ...]] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, object] | None = None,
        max_tokens: int = 1024,
    ) -> str:
        del schema, max_tokens
        self.asked.append(tuple(messages))
        if not self.answers:
            raise ModelDown("the scripted model has no answer left")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer
