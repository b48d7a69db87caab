"""AppleScript, on macOS. It can do whatever its owner can, so a person sees the whole script first.

Scripts that start a shell are refused: the shell tool does that, under its rules. A script can hide it; what
protects is the approval, and this only keeps honest scripts on the right road.
"""

from __future__ import annotations

import re
import subprocess

from hindbrain.base.errors import Refused

_TIMEOUT_S = 60
_MOST_CHARS = 20_000
_SHELL = re.compile(r"\bdo\s+shell\s+script\b|\brun\s+script\b|\bosascript\b", re.IGNORECASE)
_CONTINUED = re.compile(r"¬\s*\n\s*")


def check_script(script: str) -> None:
    """Refused for a script that starts a shell or another script."""
    if _SHELL.search(_CONTINUED.sub(" ", script)):
        raise Refused("a script must not start a shell or another script; use run_shell_command for that")


def run_script(script: str) -> tuple[bool, str]:
    """Did it end well, and what did it answer?"""
    check_script(script)
    try:
        done = subprocess.run(
            ["osascript", "-"],
            input=script,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            encoding="utf-8",
        )
    except subprocess.TimeoutExpired:
        return False, f"it was still running after {_TIMEOUT_S} seconds and was ended"
    said = (done.stdout if done.returncode == 0 else done.stderr).strip()
    return done.returncode == 0, said[:_MOST_CHARS]
