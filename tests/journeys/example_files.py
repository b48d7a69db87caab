"""The example files of the reference documents, word for word, read when a test needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

# The line before the fence of each example, in its document.
_EXAMPLES: Mapping[str, tuple[str, str]] = {
    "memory": ("002_*", "### 3.1 MEMORY.md Schema"),
    "daily": ("002_*", "### 3.2 Daily Log Schema"),
    "soul": ("002_*", "### 3.3 SOUL.md Schema"),
    "profile": ("002_*", "### 3.4 USER.md Schema"),
    "core": ("003_*", "- **After:** Small, curated"),
    "task_log": ("001_*", "Stored in `tasks/task-log.md`"),
    "app": ("001_*", "Stored in `knowledge/` as structured Markdown"),
    "template": ("001_*", "Stored in `tasks/task-templates/`"),
    "recent": ("001_*", "Stored in `context/recent-actions.md`"),
}
_FENCE = re.compile(r"^( *)```markdown\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_REJECTION = re.compile(r'func recordVerificationRejection.*?let entry = """\n(.*?)\n *"""', re.DOTALL)
# The failures that the document gives for an example, in its own words.
_FAILURE = re.compile(r'^\d\. "(.+?)" - score (\d+) - "(.+?)"$', re.MULTILINE)


def example_files(data: Path) -> dict[str, str]:
    """The text of each example, by the names above and "failures"; skips without the documents.

    `data`: the folder of test data, beside which the documents lie.
    """
    folder = data.parent / "reference"
    if not folder.is_dir():
        pytest.skip(f"no reference documents in {str(folder)!r}")
    found = {name: _example(folder, *place) for name, place in _EXAMPLES.items()}
    return {**found, "failures": _failures(_text(folder, "001_*"))}


def _text(folder: Path, name: str) -> str:
    (file,) = folder.glob(name)
    return file.read_text(encoding="utf-8")


def _example(folder: Path, name: str, before: str) -> str:
    text = _text(folder, name)
    fence = _FENCE.search(text, text.index(before))
    assert fence is not None, before
    return re.sub(f"^{fence[1]}", "", fence[2], flags=re.MULTILINE)


def _failures(text: str) -> str:
    """learning/failures.md as `bootstrap` begins it and `recordVerificationRejection` goes on."""
    form = _REJECTION.search(text, text.index("### 4.1"))
    assert form is not None
    entry = re.sub(r"^ +", "", form[1], flags=re.MULTILINE)
    told = ["# Failure Log\n"]
    for at, (command, score, reason) in enumerate(_FAILURE.findall(text), start=1):
        filled = re.sub(r"\\\(ISO8601.*\)$", f"2026-02-{17 + at}T09:12:00Z", entry, flags=re.MULTILINE)
        for name, value in (("command", command), ("score", score), ("reason", reason)):
            filled = filled.replace(f"\\({name})", value)
        told.append(filled + "\n")
    assert len(told) == 4
    return "\n".join(told)
