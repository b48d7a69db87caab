"""What a run showed, in words that a reader of the docs understands."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path

from hindbrain import __version__

_ORDER = ("Set-up", "Memory", "Messages", "Forms", "Bad days", "Going back")


@dataclass
class Record:
    """`shown(...)` in a test, once what it says was seen; `text()` at the end of the run."""

    openclaw: str = ""
    node: str = ""
    starts: list[float] = field(default_factory=list)  # seconds that gateways took to be ready
    _parts: dict[str, list[str]] = field(default_factory=dict)

    def shown(self, part: str, what: str) -> None:
        self._parts.setdefault(part, []).append(what)

    def text(self) -> str:
        system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        lines = [f"Hindbrain {__version__} · OpenClaw {self.openclaw} · Node {self.node} · {system}"]
        if self.starts:
            lines.append(
                f"the gateway was ready after {min(self.starts):.0f} to {max(self.starts):.0f} s "
                f"({len(self.starts)} starts)"
            )
        for part in sorted(self._parts, key=_ORDER.index):
            shown = self._parts[part]
            lines += ["", part, *(f"  {what}" for what in shown)]
        return "\n".join(lines) + "\n"

    def write(self, file: Path) -> None:
        file.write_text(self.text(), encoding="utf-8")

    def __bool__(self) -> bool:
        return bool(self._parts)
