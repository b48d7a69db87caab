"""Calls of tools as hosts make them: which run a command, which change a file, and what a call says.

Pure. The text of a call is the command where it runs one, else its arguments as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from hindbrain.context.messages import Message

_SHELLS = frozenset((
    "bash", "shell", "local_shell", "shell_command", "exec_command", "exec", "container.exec", "unified_exec",
    "run_shell_command", "run_terminal_cmd", "run_terminal_command", "execute_command", "terminal",
    "powershell", "command",
))  # fmt: skip
_EDITORS = frozenset((
    "edit", "write", "multiedit", "notebookedit", "apply_patch", "write_file", "replace", "edit_file",
    "search_replace", "create_file", "strreplace", "str_replace_editor", "str_replace_based_edit_tool",
    "write_to_file", "replace_in_file", "delete_file", "patch", "update",
))  # fmt: skip
_SLOT_TOOLS = frozenset(("memory_search", "memory_get", "memory_save"))  # as OpenClaw knows its memory
_COMMAND_KEYS = ("command", "cmd", "argv", "script", "input")
_FILE_KEYS = ("file_path", "path", "notebook_path", "target_file", "filename", "filePath", "absolute_path")
_SHELL_PROGRAMS = frozenset(
    ("bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash")
)
_OLD_KEYS = ("old_string", "old_str", "old_text", "oldString", "search")
_NEW_KEYS = ("new_string", "new_str", "new_text", "newString", "replace")
_LEAST_CHANGE, _LONGEST_CHANGE = 4, 80  # characters of a change that are worth telling, and that are told
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)


def runs_command(tool: str) -> bool:
    return tool.casefold() in _SHELLS


def changes_file(tool: str) -> bool:
    return tool.casefold() in _EDITORS


def is_our_tool(tool: str) -> bool:
    """One of this memory's own tools, under whatever name a host gives it (mcp__hindbrain__recall)."""
    name = tool.casefold()
    return "hindbrain" in name or name in _SLOT_TOOLS


def call_text(tool: str, arguments: object) -> str:
    """What a call says. `arguments` as the host has them: a mapping, JSON of one, a list of words, a text."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return str(arguments)
    if isinstance(arguments, Mapping):
        if runs_command(tool):
            for key in _COMMAND_KEYS:
                if arguments.get(key):
                    folder = arguments.get("cwd") if key == "argv" else ""  # of our own shell
                    line = _words(arguments[key])
                    return f"cd {folder} && {line}" if isinstance(folder, str) and folder else line
        return json.dumps(arguments, ensure_ascii=False, default=str)
    return _words(arguments)


def files_changed(call: Message) -> tuple[str, ...]:
    """The files that a call of an editing tool names; also those of a patch that a shell applies."""
    if _PATCHED.search(call.text):
        return tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(call.text)))
    if not changes_file(call.tool):
        return ()
    try:
        arguments = json.loads(call.text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(arguments, dict):
        return ()
    patch = next(
        (value for value in arguments.values() if isinstance(value, str) and _PATCHED.search(value)), ""
    )
    if patch:
        return tuple(dict.fromkeys(path.strip() for path in _PATCHED.findall(patch)))
    named = next((arguments[key] for key in _FILE_KEYS if isinstance(arguments.get(key), str)), "")
    return (named,) if named else ()


def change_made(call: Message, path: str) -> str:
    """What a call changes in a file, in one short line: `old -> new`, or the line that was added.

    "" where the call does not say, or where it changes more than a line.
    """
    if "*** " in call.text:
        return _patched_line(call.text, path)
    try:
        arguments = json.loads(call.text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(arguments, dict):
        return ""
    edits = arguments.get("edits")
    first = edits[0] if isinstance(edits, list) and edits and isinstance(edits[0], dict) else arguments
    old = next((first[key] for key in _OLD_KEYS if isinstance(first.get(key), str)), None)
    new = next((first[key] for key in _NEW_KEYS if isinstance(first.get(key), str)), None)
    return "" if old is None or new is None else _change(old.splitlines(), new.splitlines())


def _patched_line(text: str, path: str) -> str:
    """Of a patch: the part on this file."""
    part = next(
        (part for part in text.split("*** ") if part.partition("File: ")[2].startswith(f"{path}\n")),
        "",
    )
    if not part and text.startswith("{"):
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        given = inner.values() if isinstance(inner, dict) else ()
        return next((_patched_line(one, path) for one in given if isinstance(one, str) and "*** " in one), "")
    lines = part.splitlines()[1:]
    return _change(
        [line[1:] for line in lines if line.startswith("-")],
        [line[1:] for line in lines if line.startswith("+")],
    )


def _change(old: list[str], new: list[str]) -> str:
    gone = [" ".join(line.split()) for line in old if line not in new]
    came = [" ".join(line.split()) for line in new if line not in old]
    gone, came = [line for line in gone if line], [line for line in came if line]
    if len(came) > 1 or len(gone) > 1 or len("".join(came + gone)) < _LEAST_CHANGE:
        return ""
    if came and gone:
        both = f"{gone[0]} -> {came[0]}"
        return both if len(both) <= _LONGEST_CHANGE else _cut(came[0])
    return _cut(came[0]) if came else f"without {_cut(gone[0])}" if gone else ""


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_CHANGE else line[: _LONGEST_CHANGE - 1] + "…"


def _words(value: object) -> str:
    """A command given as text or as a list of words; `bash -lc X` is X."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        words = [str(word) for word in value]
        if len(words) == 3 and words[0] in _SHELL_PROGRAMS and words[1].startswith("-"):
            return words[2]
        import shlex

        return shlex.join(words)
    return "" if value is None else str(value)
