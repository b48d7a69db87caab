"""A daemon with one verb more: `block` writes a file, to say that it has begun, and waits for ever."""

import sys
import threading
from pathlib import Path
from typing import Any

from hindbrain.edge.daemon import verbs
from hindbrain.edge.daemon.running import run_here


def block(app: Any, given: Any) -> dict[str, object]:
    Path(given["sign"]).write_text("begun", encoding="utf-8")
    threading.Event().wait()
    return {}


verbs.VERBS["block"] = verbs.Verb({"sign": "text"}, {}, block)  # type: ignore[index]
run_here(Path(sys.argv[1]), idle_minutes=5)
