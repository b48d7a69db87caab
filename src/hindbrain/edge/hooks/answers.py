"""From what we have to say to what a host reads on standard output. Pure.

Always one JSON object in ASCII: a host that finds something else there may take it for text for the model.
Nothing to say is `{}`, which every host takes for "go on".
"""

from __future__ import annotations

from hindbrain.edge.daemon.quick_json import dumps
from hindbrain.edge.hooks.hosts import GUARD, Event, Host


class Answer:
    """What we have to say."""

    __slots__ = ("ask", "text", "told")

    def __init__(self, text: str = "", *, ask: str = "", told: str = "") -> None:
        self.text = text  # for the model
        self.ask = ask  # why a person is asked before this call
        self.told = told  # for the person


def rendered(host: Host, event: Event, answer: Answer) -> str:
    """The host's form of it, as one line."""
    text = answer.text if event.says and len(answer.text) <= host.longest else ""
    found = _shaped(host, event, Answer(text, ask=answer.ask, told=answer.told))
    return dumps(found, ascii_only=True)


def is_too_long(host: Host, event: Event, text: str) -> bool:
    """Would the host cut it, fence and all? Then it is better left out whole."""
    return event.says and len(text) > host.longest


def _shaped(host: Host, event: Event, answer: Answer) -> dict[str, object]:
    if host.form == "cursor":
        return _cursor(event, answer)
    if host.form == "plain":
        return _plain(answer)
    if host.form == "gemini" and answer.ask:
        return _with_message({"decision": "deny", "reason": _refused(answer.ask)}, answer)
    return _claude(host, event, answer)


def _claude(host: Host, event: Event, answer: Answer) -> dict[str, object]:
    said: dict[str, object] = {}
    if event.verb == GUARD and answer.ask:
        said["permissionDecision"] = "ask" if host.asks else "deny"
        said["permissionDecisionReason"] = answer.ask if host.asks else _refused(answer.ask)
    elif answer.text:
        said["additionalContext"] = answer.text
    return _with_message(
        {"hookSpecificOutput": {"hookEventName": event.there, **said}} if said else {}, answer
    )


def _with_message(found: dict[str, object], answer: Answer) -> dict[str, object]:
    return {**found, "systemMessage": answer.told} if answer.told else found


def _cursor(event: Event, answer: Answer) -> dict[str, object]:
    if event.name == "user-prompt-submit":
        return {"continue": True}
    if event.verb == GUARD:
        if not answer.ask:
            return {}
        # It asks a person before shell commands only; before other tools "ask" would pass.
        asks = event.name == "pre-shell"
        reason = answer.ask if asks else _refused(answer.ask)
        return {"permission": "ask" if asks else "deny", "user_message": reason, "agent_message": reason}
    return {"additional_context": answer.text} if answer.text else {}


def _plain(answer: Answer) -> dict[str, object]:
    refused = _refused(answer.ask) if answer.ask else ""
    said = {"context": answer.text, "refused": refused, "message": answer.told}
    return {name: value for name, value in said.items() if value}


def _refused(reason: str) -> str:
    """For a host that can't ask: the agent hands it to the person."""
    return f"{reason} This was not run: tell the person what you wanted to do, and let them do it."
