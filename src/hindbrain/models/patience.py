"""An embedder that is asked, but not waited for: a prompt can't wait for a service that hangs.

A query is embedded on a thread of its own. Who has waited `patience_s` goes on without (`EmbedderDown`), and
nobody waits again before the service has answered or `rest_s` are over. Documents are passed on as they are:
whoever syncs has time. Knows nothing of services or of searching.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from hindbrain.base.errors import EmbedderDown

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder, Vectors

PATIENCE_S = 1.0
REST_S = 30.0


class PatientEmbedder:
    """For one thread, as a search is."""

    def __init__(
        self,
        inner: Embedder,
        *,
        patience_s: float = PATIENCE_S,
        rest_s: float = REST_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._patience_s = patience_s
        self._rest_s = rest_s
        self._monotonic = monotonic
        self._asked: Future[Vectors] | None = None  # nobody waits for it any more
        self._rests_until = 0.0

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dim(self) -> int:
        return self._inner.dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        if self._asked is not None:
            if not self._asked.done():
                raise self._down("has not answered the last question yet")
            if self._asked.exception() is None:
                self._rests_until = 0.0  # it was slow that time, and is there
            self._asked = None
        if self._monotonic() < self._rests_until:
            raise self._down("was too slow a moment ago")
        return self._ask(text)

    def _ask(self, text: str) -> Vectors:
        future: Future[Vectors] = Future()
        thread = threading.Thread(
            target=self._answer, args=(future, text), name="hindbrain-embed", daemon=True
        )
        thread.start()
        try:
            return future.result(self._patience_s)
        except TimeoutError:
            self._asked, self._rests_until = future, self._monotonic() + self._rest_s
            raise self._down(f"did not answer within {self._patience_s:g} s") from None

    def _answer(self, future: Future[Vectors], text: str) -> None:
        try:
            future.set_result(self._inner.embed_query(text))
        except BaseException as error:  # noqa: BLE001  it belongs to whoever waits for the result
            future.set_exception(error)

    def _down(self, what: str) -> EmbedderDown:
        return EmbedderDown(f"the embedder {self.name!r} {what}; words were searched without it")
