"""How a find is worded as a memory: one sentence that says whose matter it is. Pure."""

from __future__ import annotations

import re

from hindbrain.context.flush.about_user import about_user
from hindbrain.context.flush.cues.cue import Cue
from hindbrain.context.flush.doubts import HOME

_AS_WELL = re.compile(
    r",? (?:too|as well|though|to be honest|tbh|btw|by the way|actually|you know|thanks)$", re.IGNORECASE
)
_POLITE = re.compile(r"^(?:please|and|just)\s+", re.IGNORECASE)


def worded(cue: Cue, text: str, rest: str, *, project: str = "") -> str:
    """The memory for a sentence that the cue fits; `rest` is what follows the cue."""
    return finished(_by_shape(cue, text, rest.strip()), project=project)


def finished(text: str, *, project: str = "") -> str:
    """With a capital and without an end; "this repo" by the name it has, where that is known."""
    bare = _AS_WELL.sub("", text.strip().rstrip(".!;,: 。！；，：、"))
    if project:
        bare = HOME.sub(lambda match: f"the {match['kind']} {project}", bare)
    return bare[:1].upper() + bare[1:]


def _by_shape(cue: Cue, text: str, rest: str) -> str:
    match cue.shape:
        case "wants":
            return about_user(f"User wants: {_lowered(_wish(text, rest))}")
        case "named":
            return f"User wants to be called {rest}"
        case "decided":
            return f"Decided: {rest}"
        case "against":
            return f"Decided not to {rest}"
        case "quoted":
            return f'User said: "{text.strip()}"'
        case "rest":
            return rest
        case "plain":
            return text
        case "user":
            return about_user(text)


def _wish(text: str, rest: str) -> str:
    """The wish with its occasion ("when you ..."); without "from now on", which goes without saying."""
    whole = _POLITE.sub("", text)
    has_occasion = re.match(
        r"(?:when(?:ever)?|every|always|never|do not|don't|stop|in|for|within|on) ", whole, re.IGNORECASE
    )
    return whole if has_occasion else _POLITE.sub("", rest)


def _lowered(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text if first.isupper() and len(first) > 1 else text[:1].lower() + text[1:]
