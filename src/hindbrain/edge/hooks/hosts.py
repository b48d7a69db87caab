"""The hosts: which events each one has, what they are called there, and how long it waits. One table.

What differs between hosts and is plain data stands here: files for hosts are made from it (`files`), payloads
are read by it (`payloads`), answers are shaped by it (`answers`). docs/hooks.md says which rows were tried
with the real program. Plain classes and no `typing`: this is imported at every prompt.
"""

from __future__ import annotations

START, TURN, FAILURE, GUARD, KEEP = "start", "turn", "failure", "guard", "keep"
PROGRAM = "hindbrain-hook"


class Event:
    """An event of a host that we answer."""

    __slots__ = ("deadline_s", "matcher", "name", "there", "timeout_s", "verb")

    def __init__(
        self, name: str, there: str, verb: str, matcher: str, timeout_s: int, deadline_s: float
    ) -> None:
        self.name = name  # ours, the same for all hosts: the second argument of hindbrain-hook
        self.there = there  # the host's own name of it
        self.verb = verb  # what is done: a verb of `edge.daemon.verbs`, or KEEP: one event into the spool
        self.matcher = matcher  # which tools, or which beginnings; "": all
        self.timeout_s = timeout_s  # after which the host may end us
        self.deadline_s = deadline_s  # by which we have answered, whatever happens

    @property
    def says(self) -> bool:
        """May text for the model be in the answer?"""
        return self.verb in (START, TURN, FAILURE)


class Host:
    """One host."""

    __slots__ = ("asks", "events", "form", "keeps", "longest", "name", "records", "title")

    def __init__(
        self, name: str, title: str, form: str, events: tuple[Event, ...], *, keeps: bool = True,
        asks: bool = True, longest: int = 10_000, records: bool = True,
    ) -> None:  # fmt: skip
        self.name = name  # the first argument of hindbrain-hook
        self.title = title
        self.form = form  # of its answers: claude, gemini, cursor, plain
        self.events = events
        self.keeps = keeps  # what was injected stays in its window until it compacts
        self.asks = asks  # a person can be asked before a tool call; else it is refused, with the reason
        self.records = records  # its record of a conversation has what commands printed
        self.longest = longest  # characters that may be injected at once

    def event(self, name: str) -> Event | None:
        return next((event for event in self.events if event.name == name), None)


_BEGINNINGS = "startup|resume|clear|compact"
_FILE_TOOLS = "Bash|Write|Edit|MultiEdit|NotebookEdit"

HOSTS: tuple[Host, ...] = (
    Host(
        "claude-code", "Claude Code", "claude",
        (
            Event("session-start", "SessionStart", START, _BEGINNINGS, 15, 8.0),
            Event("user-prompt-submit", "UserPromptSubmit", TURN, "", 10, 5.0),
            Event("pre-tool-use", "PreToolUse", GUARD, _FILE_TOOLS, 5, 2.0),
            Event("post-tool-use", "PostToolUse", FAILURE, "Bash", 10, 4.0),
            Event("post-tool-use-failure", "PostToolUseFailure", FAILURE, "Bash", 10, 4.0),
            Event("pre-compact", "PreCompact", KEEP, "", 5, 2.0),
            Event("stop", "Stop", KEEP, "", 5, 2.0),
            Event("session-end", "SessionEnd", KEEP, "", 5, 1.0),
        ),
    ),
    Host(
        "codex", "Codex", "claude",
        (
            Event("session-start", "SessionStart", START, _BEGINNINGS, 15, 8.0),
            Event("user-prompt-submit", "UserPromptSubmit", TURN, "", 10, 5.0),
            Event("pre-tool-use", "PreToolUse", GUARD, "Bash|apply_patch|Write|Edit", 5, 2.0),
            Event("post-tool-use", "PostToolUse", FAILURE, "Bash", 10, 4.0),
            Event("pre-compact", "PreCompact", KEEP, "", 5, 2.0),
            Event("stop", "Stop", KEEP, "", 5, 2.0),
            Event("session-end", "SessionEnd", KEEP, "", 3, 0.8),  # it waits 3 s at most
        ),
        asks=False,  # it rejects the whole answer when a hook says "ask"
        longest=6_000,  # some 2,500 tokens; what is longer it cuts in the middle, and leaves on the disk
    ),
    Host(
        "gemini", "Gemini CLI", "gemini",
        (
            Event("session-start", "SessionStart", START, "", 15, 8.0),
            Event("user-prompt-submit", "BeforeAgent", TURN, "", 10, 5.0),
            Event("pre-tool-use", "BeforeTool", GUARD, "run_shell_command|write_file|replace", 5, 2.0),
            Event("post-tool-use", "AfterTool", FAILURE, "run_shell_command", 10, 4.0),
            # Its PreCompress comes before every request, whether it compresses or not: the stop does.
            Event("stop", "AfterAgent", KEEP, "", 5, 2.0),
            Event("session-end", "SessionEnd", KEEP, "", 5, 1.0),
        ),
        asks=False,
    ),
    Host(
        "cursor", "Cursor", "cursor",
        (
            Event("session-start", "sessionStart", START, "", 15, 8.0),
            Event("user-prompt-submit", "beforeSubmitPrompt", KEEP, "", 5, 2.0),
            Event("pre-shell", "beforeShellExecution", GUARD, "hindbrain", 5, 2.0),
            Event("pre-tool-use", "preToolUse", GUARD, "Write|Edit|StrReplace|Delete", 5, 2.0),
            Event("post-tool-use", "postToolUse", FAILURE, "Shell", 10, 4.0),
            Event("pre-compact", "preCompact", KEEP, "", 5, 2.0),
            Event("after-response", "afterAgentResponse", KEEP, "", 5, 2.0),
            Event("stop", "stop", KEEP, "", 5, 2.0),
            Event("session-end", "sessionEnd", KEEP, "", 5, 1.0),
        ),
        records=False,
    ),
    Host(
        "opencode", "OpenCode", "plain",
        (
            Event("session-start", "session.created", START, "", 15, 8.0),
            Event("user-prompt-submit", "chat.message", TURN, "", 10, 5.0),
            Event("pre-tool-use", "tool.execute.before", GUARD, "bash|write|edit|patch", 5, 2.0),
            Event("post-tool-use", "tool.execute.after", FAILURE, "bash", 10, 4.0),
            Event("pre-compact", "experimental.session.compacting", KEEP, "", 5, 2.0),
            Event("stop", "session.idle", KEEP, "", 5, 2.0),
            Event("session-end", "session.deleted", KEEP, "", 5, 1.0),
        ),
        keeps=False,  # the shim puts what it is given into the system prompt of each request
        asks=False,
        records=False,
    ),
)  # fmt: skip


def host_named(name: str) -> Host | None:
    return next((host for host in HOSTS if host.name == name), None)
