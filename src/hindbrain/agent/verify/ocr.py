"""The text of a picture, by the program tesseract where it is installed. Nothing leaves the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_PROGRAM = "tesseract"
_TIMEOUT_S = 30.0
_SPARSE = "11"  # as much text as there is, in no order of columns: a screen is no page


def text_of_png(data: bytes, *, timeout_s: float = _TIMEOUT_S) -> str | None:
    """What can be read in it, "" for nothing; None when it could not be looked at."""
    program = shutil.which(_PROGRAM)
    if program is None:
        return None
    # By a file: not every build reads a picture from its standard input.
    with tempfile.TemporaryDirectory(prefix="hindbrain-ocr-") as folder:
        picture = Path(folder) / "screen.png"
        picture.write_bytes(data)
        try:
            done = subprocess.run(
                [program, str(picture), "stdout", "--psm", _SPARSE],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
                # One thread: the machine belongs to whoever works on it.
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def screen_reader(screenshot: Callable[[], bytes]) -> Callable[[], str | None] | None:
    """Reads the screen by `screenshot`, which gives a PNG; None where no program can read one."""
    if shutil.which(_PROGRAM) is None:
        return None
    return lambda: text_of_png(screenshot())
