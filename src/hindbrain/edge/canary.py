"""The canary: one note and one memory, written, indexed, searched and recalled in a vault made for it.

The vault lies in the state folder and is removed afterwards; no note of the owner's is read or written. All
parts are the real ones: writer, syncer, search, recall. No service is asked: the embedder has its own check.

    {"v": 1, "at": 1794788823.7, "step": "", "code": "", "message": "", "took_ms": {"write": 9.1, ...}}
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from hindbrain.base.errors import HindbrainError, NotFound, WriteFailed
from hindbrain.base.files import replace_file

if TYPE_CHECKING:
    from hindbrain.app import App

Step: TypeAlias = Literal["", "write", "index", "search", "recall"]

RESULT_FILE = "canary.json"  # in the state folder
_PREFIX = "canary-"  # of the folder of one try
_VERSION = 1
_LEFT_S = 3_600.0  # after which a folder belongs to a try that was cut short
_NOTE = "Lighthouse keeping.md"
_NOTE_TEXT = "# Lighthouse keeping\n\nThe lamp of the northern lighthouse is trimmed with sperm oil.\n"
_QUESTION = "what trims the lamp of the northern lighthouse?"
_MEMORY = "The canary keeper prefers cuttlefish bones over millet"
_TOPIC = "cuttlefish bones or millet"


@dataclass(frozen=True, slots=True)
class CanaryResult:
    at: float  # seconds since the epoch
    step: Step  # that failed; "" when all went well
    code: str  # of the error; not_found when what was written was not found again
    message: str
    took_ms: Mapping[str, float]  # of each step that was begun

    @property
    def ok(self) -> bool:
        return not self.step


def try_canary(app: App) -> CanaryResult:
    """Try all steps, and keep the result where the state folder can be written. Never raises."""
    _remove_left(app)
    took: dict[str, float] = {}
    step: Step = "write"
    code = message = ""
    try:
        with tempfile.TemporaryDirectory(
            prefix=_PREFIX, dir=app.state, ignore_cleanup_errors=True
        ) as folder, closing(_opened(app, Path(folder))) as own:  # fmt: skip
            for step, act in _STEPS:
                begun = time.perf_counter()
                try:
                    act(own)
                finally:
                    took[step] = round((time.perf_counter() - begun) * 1000, 1)
            step = ""
    except HindbrainError as error:
        code, message = error.code, str(error)
    except OSError as error:
        code, message = WriteFailed.code, error.strerror or str(error)
    except Exception as error:  # noqa: BLE001  any failure is a result here
        code, message = HindbrainError.code, f"{type(error).__name__}: {error}"
    result = CanaryResult(app.clock.now(), step, code, message, took)
    with suppress(OSError, HindbrainError):  # that the state folder can't be written has its own finding
        told = {"v": _VERSION, **asdict(result)}
        replace_file(app.state / RESULT_FILE, json.dumps(told).encode(), durable=False)
    return result


def last_result(state: Path) -> CanaryResult | None:
    """None: it was never tried, or the file makes no sense."""
    try:
        told = json.loads((state / RESULT_FILE).read_bytes())
        if told["v"] != _VERSION or told["step"] not in ("", *(name for name, _ in _STEPS)):
            return None
        took = {str(name): float(took) for name, took in told["took_ms"].items()}
        return CanaryResult(float(told["at"]), told["step"], str(told["code"]), str(told["message"]), took)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _opened(app: App, folder: Path) -> App:
    from hindbrain.app import build_app

    root = folder / "vault"
    root.mkdir()
    values = {
        **app.config.values,
        "state.folder": str(folder / "state"),
        "embedding.provider": "none" if app.config.text("embedding.provider") == "none" else "builtin",
        "vault.exclude": (),
    }
    return build_app(app.config._replace(values=values), root, clock=app.clock, warm=False)


def _write(own: App) -> None:
    own.writer.create_note(_NOTE, _NOTE_TEXT.encode())
    own.memory.remember(_MEMORY, source="user", strategy="immediate")


def _index(own: App) -> None:
    report = own.sync()
    if report.failed or own.store.note_at(_NOTE) is None:
        raise NotFound("the note that was written is not in the index")


def _search(own: App) -> None:
    from hindbrain.search.query import SearchQuery

    found = own.search(SearchQuery(_QUESTION, k=1, unit="note", profile="default", min_score=0.0)).hits
    if not found or found[0].path != _NOTE:
        raise NotFound("the search does not find the note that was written")


def _recall(own: App) -> None:
    found = own.memory.recall(_TOPIC, k=5, counted=False).memories
    if not found or found[0].item.text != _MEMORY:
        raise NotFound("the recall does not find the memory that was written")


_STEPS: tuple[tuple[Step, Callable[[App], None]], ...] = (
    ("write", _write),
    ("index", _index),
    ("search", _search),
    ("recall", _recall),
)


def _remove_left(app: App) -> None:
    """Folders of tries that were cut short."""
    with suppress(OSError):
        for folder in app.state.glob(f"{_PREFIX}*"):
            if app.clock.now() - folder.stat().st_mtime > _LEFT_S:
                shutil.rmtree(folder, ignore_errors=True)
