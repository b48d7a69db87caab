"""One iteration: the model is asked, and what it calls is carried out. Nothing else.

Every step is noted before the next one, so that an iteration that was cut off goes on where it stopped: an
answer is not asked for twice, a call with a result is not repeated, and one of which it is not known whether
it was done is left to the model to look at. Whether there is a next iteration is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.agent.carrying_out import Hands, carry_out
from hindbrain.agent.entries import Answered
from hindbrain.agent.run import Said, says_done
from hindbrain.base.errors import ModelError
from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatModel, ChatRequest, ToolCall, Usage, Watch

if TYPE_CHECKING:
    from hindbrain.agent.progress import Progress
    from hindbrain.agent.record import RunRecord
    from hindbrain.agent.room import Room

# done: it says that it has finished · more: it goes on · cut: its words have no end · silent: it said nothing
# and called nothing · waiting: a person has to allow a call
Outcome: TypeAlias = Literal["done", "more", "cut", "silent", "waiting"]


class Means(NamedTuple):
    """What an iteration works with."""

    chat: ChatModel  # one that calls tools, by itself or led
    room: Room
    hands: Hands
    priced: Callable[[Usage], Usage] = lambda usage: usage


def iterate(record: RunRecord, means: Means) -> Outcome:
    """Raises ModelError when there is no answer, Cancelled when no more is wanted."""
    if record.progress.answer is None:
        record.note(Answered(_answer(record.progress, means)))
    answer = record.progress.answer
    assert answer is not None
    if answer.stop == "refused":
        said = f": {answer.text}" if answer.text else "; put the command differently, or use another model"
        raise ModelError(f"{means.chat.name!r} refused to go on{said}")
    if not carry_out(record, means.hands):
        return "waiting"
    if answer.calls:
        failed = any(record.progress.results[call.id].result.failed for call in answer.calls)
        return "done" if says_done(answer.text) and not failed else "more"
    if answer.stop == "length":
        return "cut"
    return "done" if answer.text.strip() else "silent"


def _answer(now: Progress, means: Means) -> ChatAnswer:
    said, command = _conversation(now)
    hands = means.hands
    fit = means.room.fit(said, command, now.request.session or now.run)
    watch = Watch(lambda piece: hands.listener(Said("text", piece)), hands.cancelled)
    asked = ChatRequest(fit.messages, hands.toolbox.specs(), max_tokens=fit.max_tokens)
    answer = means.chat.answer(asked, watch)
    known = {call.id for message in said for call in message.calls}
    usage = means.priced(answer.usage).plus(fit.usage)
    return answer._replace(calls=_named_once(answer.calls, known), usage=usage)


def _conversation(now: Progress) -> tuple[list[ChatMessage], int]:
    """All of it, and the place of the command in it."""
    assert now.prepared is not None
    system = [
        ChatMessage("system", now.prepared.stable, stable=True),
        ChatMessage("system", now.prepared.changing),
    ]
    lead = [*(message for message in system if message.text), *now.request.history]
    command = ChatMessage("user", now.request.command, now.prepared.screen)
    return [*lead, command, *now.messages], len(lead)


def _named_once(calls: Sequence[ToolCall], known: set[str]) -> tuple[ToolCall, ...]:
    """Some servers count their calls anew in each answer; a result must belong to one call alone."""
    named = []
    for call in calls:
        given = call.id or "call"
        name, number = given, 1
        while name in known:
            number += 1
            name = f"{given}-{number}"
        known.add(name)
        named.append(call._replace(id=name))
    return tuple(named)
