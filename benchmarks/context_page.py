"""The examples of docs/context.md, made by the program itself: `python -m benchmarks.context_page`.

Each stands below a comment with its command and is shown as the command prints it, on the sample vault.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "context.md"
_SAMPLE = Path(__file__).parents[1] / "src" / "hindbrain" / "edge" / "demo_vault"
_EXAMPLE = re.compile(r"(<!-- made by: hindbrain (.*?) -->\n```\n).*?(\n```\n)", re.DOTALL)
_TALK = "session.jsonl"
_SAID = (
    ("user", "Which book does the reading group read next?"),
    ("assistant", "Stoner, by John Williams."),
    ("user", "And where does the reading group meet in April?"),
    ("assistant", "In Ilse's kitchen, on the 14th."),
    ("user", "When do I feed the sourdough starter before baking?"),
    ("assistant", "The evening before."),
    ("user", "Explain lattice quantum chromodynamics"),
)
_SHOWN_LEFT_OUT = 3


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-page-") as folder:
        place = Path(folder)
        shutil.copytree(_SAMPLE, place / "sample")
        _write_talk(place / "sample" / _TALK)
        _run(place, ["init"])
        _run(place, ["sync"])
        for state in (place / "state").iterdir():
            (state / "fence-key").write_bytes(bytes(32))  # so that the page does not change with each run
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            _EXAMPLE.sub(lambda found: found[1] + _shown(place, found[2]) + found[3], text), encoding="utf-8"
        )


def _write_talk(file: Path) -> None:
    import json

    lines = [json.dumps({"role": role, "content": text}) for role, text in _SAID]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shown(place: Path, command: str) -> str:
    text = _run(place, shlex.split(command)).rstrip("\n")
    if "--explain" not in command:
        return text
    lines = text[text.index("looked for: ") :].split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith("left out")), len(lines))
    end = lines.index("", at) if at < len(lines) else at
    kept = at + 1 + _SHOWN_LEFT_OUT
    return "\n".join(lines[:kept] + (["  ..."] if end > kept else []) + lines[end:])


def _run(place: Path, words: list[str]) -> str:
    own = {"HINDBRAIN_STATE_FOLDER": str(place / "state"), "HINDBRAIN_CONFIG": str(place / "none.toml")}
    command = [sys.executable, "-m", "hindbrain", *words]
    ran = subprocess.run(
        command,
        cwd=place / "sample",
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return ran.stdout


if __name__ == "__main__":
    main()
