"""A call of a tool as people write it: `press_key(l, command: true)`; of a shell, the command line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.context.capture.tool_calls import runs_command

_LINES = ("command", "cmd", "argv", "script", "input")
_FOLDERS = ("cwd", "workdir", "working_directory", "directory")


def shown_call(name: str, arguments: Sequence[tuple[str, str]]) -> str:
    """For people and models; the first argument stands without its name."""
    if line := command_line(name, arguments):
        return line
    told = [value if i == 0 else f"{key}: {value}" for i, (key, value) in enumerate(arguments)]
    return f"{name}({', '.join(told)})"


def command_line(name: str, arguments: Sequence[tuple[str, str]]) -> str:
    """What a call gives to a shell, with the folder that it names; "" when it runs no command."""
    if not runs_command(name):
        return ""
    given = dict(arguments)
    line = next((given[key] for key in _LINES if given.get(key)), "")
    if not line and len(arguments) == 1:
        line = arguments[0][1]
    folder = next((given[key] for key in _FOLDERS if given.get(key)), "")
    return f"cd {folder} && {line}" if line and folder and not line.startswith("cd ") else line
