"""From what a host sends to what is asked of us: a payload in, a request out. Pure but for one file's end.

A payload is text from outside: any field may be missing or of another kind, and then counts as not said.
Codex tells no exit code; it is read from the end of its record of the session.
"""

from __future__ import annotations

import os

from hindbrain.edge.daemon.quick_json import dumps, loads
from hindbrain.edge.hooks.hosts import FAILURE, GUARD, KEEP, START, TURN, Event, Host

TYPE_CHECKING = False  # typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_ID = 200
_LONGEST_PATH = 32_767  # bytes; Windows allows that many characters, other systems fewer
_LONGEST_PROMPT = 200_000  # characters; of a longer one the beginning and the end say what it is about
_LONGEST_OUTPUT = 8_000  # of a failed command; what went wrong stands at its end
_LONGEST_OK = 1_000  # of one that worked
_RECORD_END = 400_000  # bytes of a session's record in which its last command stands
_SOURCES = ("startup", "resume", "clear", "compact")
# Compiled when a command has been run, not at every prompt.
_EXIT_CODE = r"(?im)^[^\w\n]*(?:process )?exit(?:ed with)? code:?\s*(-?\d+)"
# Ends of runs that failed though the last command of a pipe did not: `pytest | tail`.
_FAILED_RUN = (
    r"(?m)^(?:FAILED \S|ERROR \S+::|=+ .*\b\d+ (?:failed|errors?)\b|\S*Error: |\S*Exception: |npm ERR! |"
    r"error: could not compile|error\[E\d+\]|make: \*\*\*|fatal: |FAIL\s+\S|Traceback \(most recent call)"
)
_SHOWS = r"\s*(?:cat|grep|rg|git|sed|head|tail|less|ls|find|echo|awk|jq)\b"  # and runs nothing


class Malformed(Exception):
    """What came in is not what a host sends."""


class Request:
    """What a host asks of us."""

    __slots__ = ("arguments", "began", "cwd", "heard", "session", "verb")

    def __init__(
        self, verb: str = "", session: str = "", cwd: str = "", arguments: dict[str, object] | None = None,
        began: dict[str, object] | None = None, heard: dict[str, object] | None = None,
    ) -> None:  # fmt: skip
        self.verb = verb  # "" when there is nothing to do
        self.session = session
        self.cwd = cwd  # "" when the host does not say
        self.arguments = arguments or {}  # of the verb; of KEEP: the event for the spool
        self.began = began  # of START: an event for the spool, that this session is there
        self.heard = (
            heard  # of FAILURE: an event for the spool, where nothing else will tell how a command ended
        )


def parse(data: bytes) -> dict[str, object]:
    """The payload. Raises Malformed."""
    try:
        found = loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the host sent no JSON ({type(error).__name__}, {len(data)} bytes)") from error
    if not isinstance(found, dict):
        raise Malformed(f"the host sent {type(found).__name__}, not an object")
    return found


def understand(host: Host, event: Event, payload: Mapping[str, object]) -> Request:
    """What is asked of us at this event."""
    session = _session(payload)
    cwd = _cwd(payload)
    key: dict[str, object] = {"host": host.name, "session": session, "keeps": host.keeps}
    arguments: dict[str, object] | None = None
    if event.verb == START:
        source = _text(payload, "source")
        arguments = {**key, "source": source if source in _SOURCES else "startup"}
    elif event.verb == TURN:
        prompt = _text(payload, "prompt")
        transcript = _path(payload, "transcript_path")
        given = {**key, "prompt": shortened(prompt, _LONGEST_PROMPT), "transcript": transcript}
        told = _event_to_keep(host, event, payload, session, cwd)
        said = {name: value for name, value in (told or {}).items() if name != "prompt"}
        arguments = {**given, "said": said} if prompt.strip() else None
    elif event.verb == FAILURE:
        failed = _failure(payload)
        arguments = {**key, **failed} if failed else None
    elif event.verb == GUARD:
        arguments = {"tool": _tool(payload), "arguments": _tool_input(payload), "cwd": cwd}
    elif event.verb == KEEP:
        arguments = _event_to_keep(host, event, payload, session, cwd)
    # Without it, nobody would look for what was said in a session that ends before its first stop.
    told = _event_to_keep(host, event, payload, session, cwd) if event.verb == START else None
    began = told if told and told["transcript"] else None
    heard = _command_heard(host, payload, session, cwd, arguments) if event.verb == FAILURE else None
    return Request(event.verb if arguments is not None else "", session, cwd, arguments, began, heard)


def shortened(text: str, longest: int) -> str:
    """The beginning and the end of a text that is too long."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}\n[...]\n{text[-half:]}"


def _event_to_keep(
    host: Host, event: Event, payload: Mapping[str, object], session: str, cwd: str
) -> dict[str, object] | None:
    transcript = _path(payload, "transcript_path", "agent_transcript_path")
    kept: dict[str, object] = {
        "event": _KEPT_AS.get(event.name, event.name),
        "host": host.name,
        "session": session,
        "transcript": transcript,
        "cwd": cwd,
    }
    # What a helper agent is told is its caller's word, not the person's.
    prompt = "" if _text(payload, "agent_id") else shortened(_text(payload, "prompt"), _LONGEST_PROMPT)
    if event.name == "user-prompt-submit":
        return {**kept, "prompt": prompt} if prompt.strip() else None
    answer = _text(payload, "last_assistant_message", "prompt_response", "text")
    if event.name == "after-response" and (transcript or not answer):
        return None  # the record of the conversation has it
    kept["last_assistant_message"] = answer
    if not transcript:  # nothing else will tell what was said
        kept["prompt"] = prompt
    return kept


def _command_heard(
    host: Host, payload: Mapping[str, object], session: str, cwd: str, failed: Mapping[str, object] | None
) -> dict[str, object] | None:
    """How a command ended, of a host whose record of the conversation does not say: what solves a failure is
    learned from that."""
    command = _command(payload)
    if host.records or not command or payload.get("is_interrupt") is True:
        return None
    return {
        "event": "tool-failed" if failed else "tool-ok",
        "host": host.name,
        "session": session,
        "cwd": cwd,
        "tool": _tool(payload),
        "command": command,
        "output": failed["error"] if failed else shortened(_output(payload), _LONGEST_OK),
    }


_KEPT_AS = {"user-prompt-submit": "prompt", "after-response": "message"}


def _failure(payload: Mapping[str, object]) -> dict[str, object] | None:
    """What failed, and with which words; None when nothing did, or the person interrupted it."""
    error = _text(payload, "error", "error_message")
    if payload.get("is_interrupt") is True or (not error and not _has_failed(payload)):
        return None
    error = error or _output(payload)
    if not error.strip():
        return None
    return {
        "tool": _tool(payload),
        "command": _command(payload),
        "error": shortened(error, _LONGEST_OUTPUT),
    }


def _command(payload: Mapping[str, object]) -> str:
    given = _tool_input(payload)
    command = given.get("command") or given.get("cmd") or ""
    return shortened(command if isinstance(command, str) else dumps(command), _LONGEST_OUTPUT)


def _has_failed(payload: Mapping[str, object]) -> bool:
    response = _as_object(_response(payload))
    if isinstance(response, dict):
        if any(response.get(name) is True for name in ("is_error", "isError", "timedOut")):
            return True
        for name in ("exit_code", "exitCode", "exit", "returncode", "code"):
            if isinstance(code := response.get(name), int) and not isinstance(code, bool) and code != 0:
                return True
        if isinstance(error := response.get("error"), str | dict) and error:
            return True
    code = _recorded_exit_code(payload)
    if code is not None:
        return code != 0
    import re

    output = _output(payload)
    said = re.search(_EXIT_CODE, output)
    if said:
        return bool(said[1].strip("-0"))
    command = _tool_input(payload).get("command")
    runs = not (isinstance(command, str) and re.match(_SHOWS, command))
    return runs and bool(re.search(_FAILED_RUN, output[-_LONGEST_OUTPUT:]))


def _output(payload: Mapping[str, object]) -> str:
    """What a tool printed, whatever the host wraps it in."""
    response = _as_object(_response(payload))
    if isinstance(response, str):
        return response
    if not isinstance(response, dict):
        return ""
    error = response.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    parts = [error, *(response.get(name) for name in ("output", "stdout", "stderr", "llmContent", "content"))]
    return "\n".join(part for part in parts if isinstance(part, str) and part.strip())


def _response(payload: Mapping[str, object]) -> object:
    return next((payload[name] for name in ("tool_response", "tool_output") if name in payload), None)


def _as_object(value: object) -> object:
    """Some hosts send an object as its JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) < _RECORD_END:
        try:
            return loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _recorded_exit_code(payload: Mapping[str, object]) -> int | None:
    """Of a host that writes it into its record and not into its payload; None when it is not there."""
    call, path = _text(payload, "tool_use_id"), _path(payload, "transcript_path")
    if not call or not path or "rollout" not in path:
        return None
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _RECORD_END))
            lines = file.read(_RECORD_END).split(b"\n")
    except (OSError, ValueError):
        return None
    named = dumps(call, ascii_only=True).encode()
    for line in reversed(lines):
        if named in line and b'"exit_code"' in line:
            try:
                code = loads(line)["payload"]["item"]["exit_code"]
            except (ValueError, RecursionError, KeyError, TypeError):
                continue
            return code if isinstance(code, int) else None
    return None


def _session(payload: Mapping[str, object]) -> str:
    """The conversation. What a helper agent is told is not in its caller's window: it has its own key."""
    found = _text(payload, "session_id", "conversation_id") or f"process-{os.getppid()}"
    agent = _text(payload, "agent_id")
    return f"{found[:_LONGEST_ID]}/{agent[:_LONGEST_ID]}" if agent else found[:_LONGEST_ID]


def _cwd(payload: Mapping[str, object]) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return _path(payload, "cwd") or _path({"root": first}, "root")


def _tool(payload: Mapping[str, object]) -> str:
    return _text(payload, "tool_name") or ("shell" if _text(payload, "command") else "")


def _tool_input(payload: Mapping[str, object]) -> dict[str, object]:
    given = _as_object(payload.get("tool_input"))
    if isinstance(given, dict):
        return given
    command = given if isinstance(given, str) else _text(payload, "command")
    return {"command": command} if command else {}


def _text(payload: Mapping[str, object], *names: str) -> str:
    """The first of these fields that is a text with something in it; halves of characters and NULs, which
    nothing could store, are taken out."""
    found = next((value for name in names if isinstance(value := payload.get(name), str) and value), "")
    if "\0" in found:
        found = found.replace("\0", "")
    try:
        found.encode()
    except UnicodeEncodeError:
        return found.encode("utf-8", "replace").decode()
    return found


def _path(payload: Mapping[str, object], *names: str) -> str:
    """The first of these fields that is a text, if a file could have that name; "" when none could."""
    found = next((value for name in names if isinstance(value := payload.get(name), str) and value), "")
    try:
        return "" if "\0" in found or len(os.fsencode(found)) > _LONGEST_PATH else found
    except UnicodeEncodeError:
        return ""
