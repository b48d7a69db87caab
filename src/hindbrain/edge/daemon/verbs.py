"""What can be asked of an opened vault, by the daemon's callers and by a hook that does the job itself.

One table: a verb, its arguments, and the method of `App` that answers. Arguments are checked here, once;
results are plain values that go into JSON as they are. Knows neither sockets nor hosts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.base.errors import Refused, UsageError
from hindbrain.edge.arguments import Arguments, checked_fields, parse_message
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.turn import SessionKey, Turn

Result: TypeAlias = dict[str, object]

PASSAGES = "passages"  # of a result: what it puts into the window of a host, if it gets there
UNKEPT = "unkept"  # of a turn's result: what the person said could not be kept; the caller tries it itself
PIECE_S = 0.5  # of catching up, before it is looked whether the process is to end
_MOST_HITS = 100


class Verb(NamedTuple):
    """What it takes (name to kind; those in `needs` must be there) and what it does."""

    needs: Mapping[str, str]
    may: Mapping[str, str]
    do: Callable[[App, Arguments], Result]


def answer(app: App, verb: str, arguments: Mapping[str, object]) -> Result:
    """Do one verb. UsageError names what is unknown, missing, or not what it must be."""
    known, given = known_verb(verb), checked(verb, arguments)
    note_session(app, given.get("event", given))
    with action("") if verb == "settle" else action(verb, via="hook"):
        return known.do(app, given)


def note_session(app: App, event: Mapping[str, object]) -> None:
    """Note that an agent is at work: what is ticked in the inbox meanwhile may be its doing."""
    host, session = event.get("host"), event.get("session")
    if isinstance(host, str) and isinstance(session, str) and session:
        app.agent_sessions.note(f"{host} {session}", ended=event.get("event") == "session-end")


def known_verb(verb: str) -> Verb:
    known = VERBS.get(verb)
    if known is None:
        raise UsageError(f"there is no verb {verb!r}; the verbs are: {', '.join(VERBS)}")
    return known


def take_back(app: App, arguments: Mapping[str, object], result: Mapping[str, object]) -> None:
    """Whoever asked never got this answer: what it injected is in nobody's window."""
    passages = result.get(PASSAGES)
    if not isinstance(passages, list) or not passages:
        return
    from hindbrain.context.receipts import Receipts
    from hindbrain.context.topic.ledger import FOLDER, PageLedger

    session = _session(arguments)
    PageLedger(app.state / FOLDER, session, app.clock).release(passages, "expired")
    Receipts(app.state).take_back(session, app.clock.now())


def _start(app: App, given: Arguments) -> Result:
    return turn_data(app.context.start(_session(given), source=given.get("source", "startup")))


def _turn(app: App, given: Arguments) -> Result:
    unkept = not _keep_prompt(app, given)
    recent = tuple(parse_message(item) for item in given.get("recent", ()))
    transcript = _path(given.get("transcript", ""))
    turn = app.context.turn(
        _session(given), given["prompt"], recent=recent, transcript=transcript, tool=given.get("tool", "")
    )
    return {**turn_data(turn), UNKEPT: unkept}


def _keep_prompt(app: App, given: Arguments) -> bool:
    """Keep what the person said, before anything is done with it. False when the disk does not take it."""
    from hindbrain.context.capture.spool import keep_event

    try:
        if said := given.get("said"):
            keep_event(app.state, {**said, "prompt": given["prompt"]})
    except OSError:
        return False
    return True


def _failure(app: App, given: Arguments) -> Result:
    turn = app.context.failure(
        _session(given), tool=given.get("tool", ""), command=given.get("command", ""), error=given["error"]
    )
    return turn_data(turn)


def _guard(app: App, given: Arguments) -> Result:
    guarded = app.context.guard(
        tool=given["tool"], arguments=given.get("arguments", {}), cwd=given.get("cwd", "")
    )
    return dict(guarded._asdict())


def _pack(app: App, given: Arguments) -> Result:
    pack = app.context.pack(
        given["query"],
        preset=given.get("preset", "turn"),
        budget=int(given.get("budget", 0)),
        exclude=frozenset(given.get("exclude", ())),
    )
    return {
        "text": app.context.rendered(pack),
        "preset": pack.preset,
        "query": pack.query,
        "budget": pack.budget,
        "tokens": pack.tokens,
        "confidence": pack.confidence,
        "abstained": pack.abstained,
        "notices": list(pack.notices),
        "excerpts": [{"slot": slot.name, **one._asdict()} for slot in pack.slots for one in slot.excerpts],
    }


def _search(app: App, given: Arguments) -> Result:
    from hindbrain.edge.hit_data import result_data
    from hindbrain.search.query import SearchQuery

    k = int(given.get("k", app.search_settings.k))
    if not 1 <= k <= _MOST_HITS:
        raise UsageError(f"search: 'k' is {k}; it must be from 1 to {_MOST_HITS}")
    began = time.perf_counter()
    query = SearchQuery(
        given["query"],
        k=k,
        mode="hybrid" if app.warm else "keyword",
        unit="passage" if given.get("passages") else "note",
    )
    result = app.search(query)
    return result_data(query, result, now=app.clock.now(), took_ms=1e3 * (time.perf_counter() - began))


def _find(app: App, given: Arguments) -> Result:
    """A search for a command, which answers itself when its settings are others than ours."""
    from hindbrain.edge.daemon.search_call import found_data, parse_query, settings_key

    if given["settings"] != settings_key(app.config):
        raise Refused("the daemon has other settings")
    return found_data(app.search(parse_query(given["query"])))


def _settle(app: App, given: Arguments) -> Result:
    """Catch up with what conversations left, for about that long."""
    done = app.context.catch_up(deadline_s=float(given.get("deadline_s", PIECE_S)))
    return dict(done._asdict())


def _keep(app: App, given: Arguments) -> Result:
    """One event of a host, durable when this answers; what it means is looked at later."""
    from hindbrain.context.capture.spool import keep_event

    keep_event(app.state, given["event"])
    return {}


def _status(app: App, _: Arguments) -> Result:
    return {"text": app.context.status_line(), "vault": str(app.root), "index": app.index_path.exists()}


def _ping(app: App, _: Arguments) -> Result:
    return {"vault": str(app.root)}


_SESSION = {"host": "text", "session": "text"}
VERBS: Mapping[str, Verb] = {
    "start": Verb(_SESSION, {"keeps": "flag", "source": "text"}, _start),
    "turn": Verb(
        {**_SESSION, "prompt": "text"},
        {"keeps": "flag", "recent": "messages", "transcript": "text", "tool": "text", "said": "object"},
        _turn,
    ),
    "failure": Verb(
        {**_SESSION, "error": "text"}, {"keeps": "flag", "tool": "text", "command": "text"}, _failure
    ),
    "guard": Verb(
        {"tool": "text"}, {**_SESSION, "keeps": "flag", "arguments": "object", "cwd": "text"}, _guard
    ),
    "pack": Verb({"query": "text"}, {"preset": "text", "budget": "number", "exclude": "texts"}, _pack),
    "search": Verb({"query": "text"}, {"k": "number", "passages": "flag"}, _search),
    "find": Verb({"query": "object", "settings": "text"}, {}, _find),
    "keep": Verb({"event": "object"}, {}, _keep),
    "settle": Verb({}, {"deadline_s": "number"}, _settle),
    "status": Verb({}, {}, _status),
    "ping": Verb({}, {}, _ping),
}


def checked(verb: str, given: Mapping[str, object]) -> Arguments:
    """The arguments, as the verb declares them. Raises UsageError."""
    known = known_verb(verb)
    return checked_fields(verb, known.needs, known.may, given)


def _session(given: Arguments) -> SessionKey:
    from hindbrain.context.turn import SessionKey

    return SessionKey(given["host"], given["session"], given.get("keeps", True))


def _path(text: str) -> Path | None:
    return Path(text) if text and "\0" not in text else None


def turn_data(turn: Turn) -> Result:
    return {
        "text": turn.text,
        "shift": turn.shift,
        "released": turn.released,
        "notices": list(turn.notices),
        "tokens": turn.pack.tokens if turn.pack is not None else 0,
        PASSAGES: _passages(turn),
    }


def _passages(turn: Turn) -> list[str]:
    """As the session's ledger knows them."""
    if turn.pack is None or not turn.text:
        return []
    from hindbrain.context.topic.pages import ids_of

    return [id_ for excerpt in turn.pack.excerpts for id_ in ids_of(excerpt)]
