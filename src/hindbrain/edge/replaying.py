"""A recorded conversation, turn by turn: what each prompt would get, where the topic changes, what is let go.

Asks the same verb that hooks ask. The session is one of its own, and what is written down for it is removed
in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.base.secrets import mask
from hindbrain.edge.output import BOLD, CYAN, DIM, YELLOW, Output, safe
from hindbrain.edge.pack_text import place_of, why_empty

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.messages import Message
    from hindbrain.context.packs.pack import Excerpt, Pack
    from hindbrain.context.topic.drift import Drift, Topic
    from hindbrain.context.topic.ledger import PageLedger
    from hindbrain.context.topic.pages import LedgerStatus
    from hindbrain.context.turn import Turn

# Hosts in whose window stays what was injected; others put in one block a turn, in place of the last one.
_KEEPING = frozenset(("claude-code", "codex", "gemini", "cursor", "opencode"))
_RECENT = 20  # messages before a prompt; a topic is made of fewer
_LONGEST_PROMPT = 100


class Replayed(NamedTuple):
    """One turn."""

    prompt: str
    turn: Turn
    drift: Drift | None  # None where there is no talk before that it could depart from
    tokens: int  # that it injected
    window: LedgerStatus  # after it

    @property
    def entered(self) -> tuple[Excerpt, ...]:
        return self.turn.pack.excerpts if self.turn.pack is not None else ()


def show_replay(app: App, file: str, out: Output) -> int:
    from hindbrain.context.capture.transcripts.reading import read_transcript, sniff

    path = Path(file)
    if not path.is_file():
        raise NotFound(f"no recorded conversation at {file!r}")
    read = read_transcript(path)
    if not any(_is_prompt(message) for message in read.messages):
        told = f" ({'; '.join(read.problems)})" if read.problems else ""
        raise UsageError(f"{file!r} holds no prompt of a user{told}; give the record of a conversation")
    host = sniff(path) or "own"
    turns: list[Replayed] = []
    notices = list(read.problems)
    # Everything shown of a turn is made of these texts: its prompt, its query, the name of its topic.
    messages = [message._replace(text=mask(message.text)) for message in read.messages]
    for replayed in replay(app, messages, host=host):
        turns.append(replayed)
        notices += replayed.turn.notices
        if not out.json:
            for line in _lines(len(turns), replayed, out):
                out.line(line)
    if out.json:
        out.data(_data(file, host, turns, notices))
        return 0
    out.line(_summary(turns, keeps=host in _KEEPING))
    out.stdout.flush()
    for notice in dict.fromkeys(notices):
        out.warn(notice)
    return 0


def replay(app: App, messages: Sequence[Message], *, host: str) -> Iterator[Replayed]:
    """What each prompt gets, in a session that holds nothing before the first."""
    from hindbrain.context.tokens import count_tokens
    from hindbrain.context.topic.drift import TopicReader

    context = app.context
    reader = TopicReader(lambda: app.embedder if context.settings.mode == "hybrid" else None)
    with _scratch_session(app, host) as ledger:
        for at, message in enumerate(messages):
            if not _is_prompt(message):
                continue
            before = tuple(messages[max(0, at - _RECENT) : at])
            limit = context.settings.topic_threshold
            drift = _drift(reader.talk(before), reader.prompt(message.text), limit)
            turn = context.turn(ledger.session, message.text, recent=before, keep_receipt=False)
            yield Replayed(message.text, turn, drift, count_tokens(turn.text), ledger.status())


def _drift(before: Topic, now: Topic, threshold: float) -> Drift | None:
    """None where there is nothing to compare with: before the first prompt, or after talk about nothing."""
    from hindbrain.context.topic.drift import judge_drift

    return judge_drift(before, now, threshold=threshold) if before.words else None


@contextmanager
def _scratch_session(app: App, host: str) -> Iterator[PageLedger]:
    import secrets

    from hindbrain.context.topic.ledger import FOLDER, PageLedger
    from hindbrain.context.topic.ledger_file import ledger_name
    from hindbrain.context.turn import SessionKey

    session = SessionKey(host, f"replay-{secrets.token_hex(6)}", keeps=host in _KEEPING)
    folder = app.state / FOLDER
    try:
        yield PageLedger(folder, session, app.clock)
    finally:
        (folder / ledger_name(session.host, session.id)).unlink(missing_ok=True)


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and bool(message.text.strip())


def _lines(number: int, replayed: Replayed, out: Output) -> Iterator[str]:
    turn = replayed.turn
    prompt = " ".join(safe(replayed.prompt).split())
    yield f"{number:>3}  {out.paint(_cut(prompt), BOLD)}"
    if turn.pack is not None and turn.pack.query:
        yield f"     {out.paint('looked for: ' + _cut(safe(turn.pack.query)), DIM)}"
    if replayed.drift is not None:
        yield f"     {_topic_line(replayed, out)}"
    for excerpt in replayed.entered:
        sure = f"   {excerpt.confidence:.2f}" if excerpt.confidence else ""
        yield f"     + {out.paint(place_of(excerpt), CYAN)}{sure}"
    if turn.pack is not None and not replayed.entered:
        yield f"     {out.paint(why_empty(turn.pack), DIM)}"
    if replayed.tokens or replayed.window.pages:
        yield f"     {out.paint(_window_line(replayed), DIM)}"
    yield ""


def _topic_line(replayed: Replayed, out: Output) -> str:
    drift, turn = replayed.drift, replayed.turn
    assert drift is not None
    if not turn.shift:
        is_short = drift.similarity < drift.threshold
        told = "too short to change the topic" if is_short else "the same topic"
        return out.paint(f"{told}, similarity {drift.similarity:.2f}", DIM)
    told = f"topic: {safe(turn.shift)} (similarity {drift.similarity:.2f}, below {drift.threshold:.2f})"
    if turn.released:
        told += f", {plural(turn.released, 'passage')} let go"
    return out.paint(told, YELLOW)


def _window_line(replayed: Replayed) -> str:
    entered = f"{plural(replayed.tokens, 'token')} entered" if replayed.tokens else "nothing entered"
    window = replayed.window
    return (
        f"{entered}; the window holds {plural(window.pages, 'excerpt')} of {plural(window.tokens, 'token')}"
    )


def _summary(turns: Sequence[Replayed], *, keeps: bool) -> str:
    last = turns[-1].window
    most = max(replayed.window.tokens for replayed in turns)
    parts = [
        plural(len(turns), "turn"),
        plural(sum(bool(replayed.turn.shift) for replayed in turns), "change") + " of topic",
    ]
    if not last.injected:
        return " · ".join([*parts, "nothing was injected"])
    parts += [
        f"{plural(last.injected, 'excerpt')} entered, {last.returned:,} of them again",
        f"{last.released:,} let go" if not keeps else "none let go: the host keeps what was injected",
        f"{sum(replayed.tokens for replayed in turns):,} tokens in all, at most {most:,} in the window",
        f"{plural(sum(not replayed.entered for replayed in turns), 'turn')} without any",
    ]
    return " · ".join(parts)


def _data(file: str, host: str, turns: Sequence[Replayed], notices: Sequence[str]) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    last = turns[-1].window
    return {
        "file": file,
        "host": host,
        "turns": [_turn_data(replayed) for replayed in turns],
        "shifts": sum(bool(replayed.turn.shift) for replayed in turns),
        "injected": last.injected,
        "returned": last.returned,
        "released": last.released,
        "tokens": sum(replayed.tokens for replayed in turns),
        "notices": list(dict.fromkeys(notices)),
    }


def _turn_data(replayed: Replayed) -> dict[str, Any]:
    from hindbrain.context.packs.rendering import excerpt_data

    pack: Pack | None = replayed.turn.pack
    return {
        "prompt": replayed.prompt,
        "query": pack.query if pack is not None else "",
        "similarity": round(replayed.drift.similarity, 4) if replayed.drift is not None else None,
        "shift": replayed.turn.shift,
        "released": replayed.turn.released,
        "excerpts": [excerpt_data(excerpt) for excerpt in replayed.entered],
        "abstained": pack.abstained if pack is not None else False,
        "tokens": replayed.tokens,
        "window_tokens": replayed.window.tokens,
    }


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_PROMPT else text[: _LONGEST_PROMPT - 1] + "…"
