"""Remembers that an embedder failed, until it works again: vectors are made where nobody looks on.

Owns one small file in a vault's state folder, read by `status` and written by whoever embeds. It holds no
text of a note. Knows nothing of providers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import EmbedderError

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder, Role, Vectors

_Failed: TypeAlias = Literal["document", "query", "any"]
FILE = "embedder-failure.json"
_LONGEST = 300  # characters of a message
_MOST_BYTES = 65_536


class EmbedderFailure(NamedTuple):
    """The last failure of an embedder that has not worked since. Times are in seconds since the epoch."""

    provider: str
    role: str  # what could not be embedded: "document", "query", or "any": it could not even be asked
    code: str  # of the error
    message: str
    since: float  # the first failure in a row
    at: float  # the last


def read_failure(state: Path) -> EmbedderFailure | None:
    """None: it worked the last time, or was never asked."""
    try:
        with open(state / FILE, "rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
        return EmbedderFailure(
            provider=str(found["provider"]),
            role=str(found["role"]),
            code=str(found["code"]),
            message=str(found["message"]),
            since=float(found["since"]),
            at=float(found["at"]),
        )
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


class FailureNotes:
    """Writes the file of one vault. `tell` hears of the first failure in a row, once a process."""

    def __init__(
        self, state: Path, provider: str, now: Callable[[], float], tell: Callable[[str], None]
    ) -> None:
        self._state = state
        self._provider = provider
        self._now = now
        self._tell = tell
        self._told = ""

    def failed(self, error: EmbedderError, role: _Failed) -> None:
        """A disk that can't keep it stops nothing: whoever asked hears of the error itself."""
        from hindbrain.base.files import make_folder, replace_file
        from hindbrain.base.secrets import redact

        message = redact(str(error))[0][:_LONGEST]
        if error.code != self._told:
            self._tell(f"{message}  ({error.code})")
        self._told = error.code
        now, before = self._now(), read_failure(self._state)
        failure = EmbedderFailure(self._provider, role, error.code, message, now, now)
        if before is not None and before.provider == self._provider:
            failure = failure._replace(since=before.since)
            if before.role == "document":  # that a question failed, too, says nothing of the notes
                failure = failure._replace(role="document")
            if before.code == error.code:  # the first reason, not "was down a moment ago"
                failure = failure._replace(message=before.message)
        with suppress(OSError):
            make_folder(self._state)
            data = json.dumps(failure._asdict()).encode("ascii")
            replace_file(self._state / FILE, data, durable=False)

    def worked(self, role: Role) -> None:
        """An answer to a question does not prove that notes can be embedded; the other way round it does."""
        before = read_failure(self._state)
        if before is None or (role == "query" and before.role == "document"):
            return
        self._told = ""
        with suppress(OSError):
            (self._state / FILE).unlink(missing_ok=True)


class NotedEmbedder:
    """An embedder whose failures are remembered."""

    def __init__(self, inner: Embedder, notes: FailureNotes) -> None:
        self.inner = inner
        self._notes = notes

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dim(self) -> int:
        with self._failures_noted("any"):
            dim = self.inner.dim
        self._notes.worked("query")
        return dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        with self._failures_noted("document"):
            vectors = self.inner.embed_documents(texts)
        if texts:
            self._notes.worked("document")
        return vectors

    def embed_query(self, text: str) -> Vectors:
        with self._failures_noted("query"):
            vector = self.inner.embed_query(text)
        self._notes.worked("query")
        return vector

    @contextmanager
    def _failures_noted(self, role: _Failed) -> Iterator[None]:
        try:
            yield
        except EmbedderError as error:
            self._notes.failed(error, role)
            raise
