"""What each route answers: one function each, from checked fields to the method of `App` that does it.

Names in OpenClaw's spelling go in and out here; times are milliseconds outside, seconds inside.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from hindbrain.base.errors import Refused, UsageError
from hindbrain.edge.arguments import Arguments, parse_message
from hindbrain.edge.daemon.verbs import PASSAGES, turn_data

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.messages import Message
    from hindbrain.context.turn import SessionKey

API = 1
HOST = "openclaw"
Result: TypeAlias = dict[str, Any]

_MESSAGE_FIELDS = frozenset(("id", "role", "text", "at", "tool", "call", "failed"))
_ROLES = ("user", "assistant", "tool")
_LONGEST_ID = 200
# A model takes what it is given for an answer. Of 72 questions to two vaults whose note was among the first
# six hits none lost it by this; what is below has a few common words at best.
_SURE_ENOUGH = 0.05
_LONGEST_MESSAGE = 200_000  # characters; of a longer one the beginning and the end say what it is about


def _session(given: Arguments) -> SessionKey:
    """What is put into an OpenClaw prompt is not kept in its history."""
    from hindbrain.context.turn import SessionKey

    return SessionKey(HOST, given["session"][:_LONGEST_ID], keeps=False)


def status(app: App, _: Arguments) -> Result:
    import os
    from contextlib import closing

    from hindbrain import __version__
    from hindbrain.app import build_app
    from hindbrain.context.capture.spool import count_waiting
    from hindbrain.context.capture.troubles import read_troubles

    # Opened anew each time: an index that was made anew meanwhile is another file.
    with closing(build_app(app.config, app.root, warm=False)) as fresh:
        fresh.making = app.making
        standing, making = fresh.memory.index_standing(), fresh.making()
        line = fresh.context.status_line()
    troubles = read_troubles(app.state)
    index: Result = {"state": "indexing" if making else standing.state, "notes": standing.notes}
    if making is not None:
        index["progress"] = {"done": making.done, "total": making.total}
    problems = [f"the search index can't be used ({standing.state}); see: hindbrain doctor"]
    return {
        "api": API,
        "version": __version__,
        "pid": os.getpid(),
        "vault": str(app.root),
        "index": index,
        "status_line": line,
        "embedder": standing.embedder,
        "waiting": count_waiting(app.state),
        "problems": [
            *(problems if standing.state != "ready" and making is None else ()),
            *([standing.embedder_problem] if standing.embedder_problem else ()),
            *(troubles.problems if troubles else ()),
        ],
    }


def search(app: App, given: Arguments) -> Result:
    from hindbrain.memory.tools import tool_named

    began = time.perf_counter()
    # Here the whole vault is the host's memory, which it calls by that name.
    asked = {name: value for name, value in given.items() if (name, value) != ("corpus", "memory")}
    asked.setdefault("min_score", max(_SURE_ENOUGH, app.search_settings.min_score))
    found = dict(tool_named("memory_search").handler(app.memory, asked).data)
    # Hosts withhold what comes from "sessions" of others: only who asks for them by that name gets that name.
    source = "sessions" if given.get("corpus") == "sessions" else "memory"
    results = [{**one, "source": source, "corpus": "memory"} for one in found.pop("results")]
    return {
        "results": results,
        "provider": "hindbrain",
        "model": app.memory.index_standing().embedder or "keyword",
        "citations": "on",
        "debug": {
            "backend": "hindbrain",
            "searchMs": round(1e3 * (time.perf_counter() - began)),
            "hits": len(results),
        },
        **found,
    }


def read(app: App, given: Arguments) -> Result:
    from hindbrain.memory.tools import tool_named

    return dict(tool_named("memory_get").handler(app.memory, given).data)


def save(app: App, given: Arguments) -> Result:
    """Never the user's own word: a model says what the user is to have said."""
    try:
        done = app.memory.remember(
            given["text"], category=given.get("category", "fact"), importance=given.get("importance", 0.5),
            source="agent", tags=given.get("tags", ()), cues=given.get("cues", ()),
            replaces=given.get("replaces", ""), importance_given="importance" in given,
        )  # fmt: skip
    except Refused as error:
        return {
            "action": "refused", "id": "", "text": "", "path": "", "citation": "", "reasons": [str(error)],
        }  # fmt: skip
    removed = [f"left out, since memory keeps no secrets: {', '.join(done.removed)}"] * bool(done.removed)
    left_out = [f"cue {one.cue!r} left out: {one.why}" for one in done.cues_left_out]
    return {
        "action": {"merge": "merged", "held": "held", "dropped": "refused"}.get(done.action, "stored"),
        "id": done.id,
        "text": done.text,
        "path": done.path,
        "citation": done.citation,
        "reasons": [*done.reasons, *removed, *left_out],
    }


def context(app: App, given: Arguments) -> Result:
    from hindbrain.edge.hooks.payloads import shortened

    session = _session(given)
    recent = tuple(message_of(item) for item in given.get("recent", ()))
    message = shortened(given["message"], _LONGEST_MESSAGE)
    told = turn_data(app.context.turn(session, message, recent=recent, tool=given.get("tool", "")))
    return {
        "context": told["text"],
        "tokens": told["tokens"],
        "notices": told["notices"],
        "keptUntil": _kept_until(app, session),
        PASSAGES: told[PASSAGES],
    }


def card(app: App, _: Arguments) -> Result:
    return {"text": app.context.card()}


def said(app: App, given: Arguments) -> Result:
    messages = [message_of(item) for item in given["messages"]]
    kept = app.context.said(_session(given), messages, cwd=given.get("workspace", ""))
    return {"keptUntil": _ms(kept)}


def event(app: App, given: Arguments) -> Result:
    """What it means for the window is noted at once. What was said is told by `said`, whatever happens."""
    from hindbrain.context.topic.ledger import FOLDER, PageLedger

    session = _session(given)
    if given["event"] == "compacted":
        app.context.compacted(session)
    elif given["event"] == "reset":  # the host goes on under the same name, with an empty window
        PageLedger(app.state / FOLDER, session, app.clock).on_cleared()
    return {"keptUntil": _kept_until(app, session)}


def flush_plan(app: App, given: Arguments) -> Result:
    plan = app.context.flush_plan(given.get("workspace", ""), given.get("preserveLocal", True))
    return {
        "softThresholdTokens": plan.soft_threshold_tokens,
        "forceFlushTranscriptBytes": plan.force_flush_transcript_bytes,
        "reserveTokensFloor": plan.reserve_tokens_floor,
        "prompt": plan.prompt,
        "systemPrompt": plan.system_prompt,
        "folder": plan.folder,
        "byDate": True,
        "taken": plan.taken,
    }


def flushed(app: App, given: Arguments) -> Result:
    taken = app.context.take_flush(_session(given), given["path"], given["text"])
    app.memory.notebook.touched.clear()  # whoever keeps the index sees that the note changed
    return {"note": taken.note, "added": taken.added}


def _kept_until(app: App, session: SessionKey) -> int:
    return _ms(app.context.kept_until(session))


def _ms(seconds: float) -> int:
    return round(1e3 * seconds)


def message_of(item: Mapping[str, Any]) -> Message:
    if unknown := sorted(set(item) - _MESSAGE_FIELDS):
        raise UsageError(f"a message has no field {unknown[0]!r}")
    if item.get("role") not in _ROLES or not isinstance(item.get("text"), str):
        raise UsageError(f"a message has a text, and a role that is one of {', '.join(_ROLES)}")
    message = parse_message({name: value for name, value in item.items() if value is not None})
    return message._replace(at=message.at / 1e3)
