"""Makes what a real host wrote neutral: no paths, ids, times or prose of the machine, the run or the vendor.

The same input gives the same output, and equal ids stay equal, so that a recording still hangs together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])")
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?")
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d(?=[<\"]|$)")
_DAY_FOLDERS = re.compile(r"/20\d\d/\d\d/\d\d/")
_AGENT = re.compile(r"\ba[0-9a-f]{16}\b")
_START = datetime(2026, 5, 15, 9, 0, tzinfo=UTC)
_LEFT_OUT = "(the host's own text, left out)"
_LONG = 360  # none of our own prompts and answers is longer: what is, was written by the vendor
_SHOWN = 90  # of a vendor's text: enough to know it again by its first words
# Long prose of the vendor, and facts about the machine: their places are kept, their words are not.
_VENDOR_TEXT = {
    "skill_listing": ("content",),
    "agent_listing_delta": ("addedLines",),
    "deferred_tools_delta": ("addedLines",),
    "mcp_instructions_delta": ("addedBlocks",),
}
_OUT_OF_PLACE = {"base_instructions", "user_instructions", "encrypted_content", "slug", "gitBranch"}
_MEASURED = re.compile(r"(_ms|Ms|_time|_at|_at_ms|nanos|process_id)$")


@dataclass
class Neutral:
    """One recording's neutral names; `paths` maps a folder of this run to the one that is written instead."""

    paths: Mapping[str, str]
    _ids: dict[str, str] = field(default_factory=dict)
    _times: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        for old, new in sorted(self.paths.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(old, new)
        text = _DAY.sub(f"{_START:%Y-%m-%d}", text)
        text = _DAY_FOLDERS.sub(f"/{_START:%Y/%m/%d}/", text)
        text = _TIME.sub(lambda found: self._time(found.group()), text)
        text = _AGENT.sub(lambda found: self._agent(found.group()), text)
        return _shortened(_UUID.sub(lambda found: self._id(found.group()), text))

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            hidden = _VENDOR_TEXT.get(str(value.get("type")), ())
            return {name: self._member(name, item, name in hidden) for name, item in value.items()}
        return value

    def _member(self, name: str, item: Any, hidden: bool) -> Any:
        if hidden and item:
            return [_LEFT_OUT] if isinstance(item, list) else _LEFT_OUT
        if name in _OUT_OF_PLACE and item:
            return _LEFT_OUT if name not in ("slug", "gitBranch") else "main"
        if _MEASURED.search(name) and isinstance(item, int | float):
            return 100
        return self.value(item)

    def _id(self, found: str) -> str:
        version = found[
            14
        ]  # Codex names its rollouts by time-ordered ids: the version digit is a fact worth keeping
        made = f"00000000-0000-{version}000-8000-{len(self._ids) + 1:012d}"
        return self._ids.setdefault(found, made)

    def _agent(self, found: str) -> str:
        return self._ids.setdefault(found, f"a{len(self._ids) + 1:016d}")

    def _time(self, found: str) -> str:
        moment = _START + timedelta(seconds=len(self._times))
        shape = "%Y-%m-%dT%H-%M-%S" if "-" in found[11:] else "%Y-%m-%dT%H:%M:%S"
        made = (
            moment.strftime(shape) + (".000" if "." in found else "") + ("Z" if found.endswith("Z") else "")
        )
        return self._times.setdefault(found, made)


def _shortened(text: str) -> str:
    """A vendor's prose by its first words, and by the lines that our own script put into it."""
    if len(text) <= _LONG:
        return text
    ours = [line for line in text.splitlines() if line.startswith("Summary:")]
    return "\n\n".join([text[:_SHOWN], *ours, _LEFT_OUT])
