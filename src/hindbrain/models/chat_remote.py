"""Chat models behind HTTP: a service is an address, a key and a shape over the one client.

Owns the asking: streaming, trying again, and learning what a server does not take. Knows nothing of settings
files, the environment, or what any shape looks like.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hindbrain.base.errors import Cancelled, ModelDown, ModelError
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatRequest, Watch
from hindbrain.models.chat_manner import ROOM, Manner, otherwise, refuses_tools
from hindbrain.models.chat_openai import OPENAI_LACKS, OPENAI_SHAPE
from hindbrain.models.chat_services import OPENAI, Service, chat_url
from hindbrain.models.chat_shape import Fold, ServiceFailed, numbered
from hindbrain.models.http import Credential, HttpClient, Transient, authority, is_nearby, redacted
from hindbrain.models.stream import WHOLE, Call, Interrupted, events

if TYPE_CHECKING:
    from hindbrain.models.chat import ChatSettings
    from hindbrain.models.sse import Event

_PROBE_S = 2.0
_SHAPE_ERRORS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)


class RemoteChat:
    """One model of one service."""

    def __init__(
        self,
        service: Service,
        settings: ChatSettings,
        client: HttpClient,
        credential: Credential | None = None,
    ) -> None:
        self._service = service
        self._settings = settings
        self._client = client
        self._credential = credential
        self._url = chat_url(service, settings.base_url)
        self._is_openai = authority(self._url) == authority(OPENAI.url)
        self._manner = Manner(without=OPENAI_LACKS if self._is_openai else frozenset())
        self._calls_tools: bool | None = None  # None: nobody has asked yet
        place = "" if self._url == service.url else f"({authority(self._url)})"
        self.name = f"{service.name}{place}/{settings.model}"

    @property
    def calls_tools(self) -> bool:
        """False when it refused tools, and for a llama.cpp whose template can't show them to the model."""
        if self._calls_tools is None:
            self._calls_tools = self._shows_tools()
        return self._calls_tools

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        manner = self._manner
        while True:
            listener = _Listener(watch)
            try:
                answer = self._ask(request, manner, listener)
            except ModelError as error:
                self._check_tools(request, error)
                formats = self._service.shape.formats
                asked = None if listener.heard else otherwise(manner, request, error, formats)
                if asked is None:
                    raise
                manner = asked
                continue
            self._manner = manner
            if manner.room or not _only_thought(answer):
                return numbered(answer, request.messages)
            manner = manner._replace(room=ROOM)

    def close(self) -> None:
        self._client.close()

    def _ask(self, request: ChatRequest, manner: Manner, listener: _Listener) -> ChatAnswer:
        settings, shape = self._settings, self._service.shape
        call = Call(
            self._url + shape.path(settings.model),
            shape.payload(settings.model, request, manner),
            settings.timeout_s,
            self._credential,
            self._service.headers,
        )

        def attempt() -> ChatAnswer | Transient:
            cancelled = listener.watch.cancelled
            try:
                with contextlib.closing(events(self._client, call, cancelled)) as coming:
                    return self._read(coming, shape.fold(settings.model), listener)
            except Interrupted as broken:
                if not listener.heard:
                    return broken.failure
                # What was shown can't be unsaid: asked again, the model would say something else.
                reason = broken.failure.reason
                raise ModelDown(
                    f"{self.name!r} broke off in the middle of its answer ({reason}); ask it again"
                ) from None

        return self._client.repeated(attempt, call.url, settings.max_retries, listener.watch.cancelled)

    def _read(self, coming: Iterator[Event], fold: Fold, listener: _Listener) -> ChatAnswer:
        kind = ""
        try:
            for event in coming:
                kind = event.kind
                if event.data.strip() == "[DONE]":
                    fold.ended = fold.done = True
                else:
                    listener.hear("".join(self._taken(fold, event)))
                if fold.done:
                    break
        except Interrupted:
            if not fold.ended:
                raise  # else only the goodbye is missing
        if not fold.ended and kind != WHOLE:
            raise Interrupted(Transient("the answer ended before its end"))
        try:
            return fold.answer()
        except _SHAPE_ERRORS as error:
            raise self._odd() from error

    def _taken(self, fold: Fold, event: Event) -> Iterator[str]:
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError):
            raise ModelError(f"{self.name!r} sent what is not whole JSON; check base_url") from None
        try:
            for one in data if isinstance(data, list) else [data]:
                yield fold.take(one)
        except ServiceFailed as failed:
            said = redacted(failed.said, self._credential)
            if failed.passes:
                raise Interrupted(Transient(said, status=failed.status)) from None
            raise ModelError(
                f"{self.name!r} broke off with an error: {said!r}", status=failed.status, said=said
            ) from None
        except _SHAPE_ERRORS as error:
            raise self._odd() from error

    def _odd(self) -> ModelError:
        return ModelError(
            f"{self.name!r} answered in a shape that {self._service.name} does not use; "
            "check chat.provider and chat.base_url"
        )

    def _check_tools(self, request: ChatRequest, error: ModelError) -> None:
        """An own error for a server that won't take tools, so that the caller can lead it by schemas."""
        compatible = self._service.shape is OPENAI_SHAPE and not self._is_openai
        if not compatible or not refuses_tools(request, error):
            return
        self._calls_tools = False
        raise ModelError(
            f"{self.name!r} takes no tools; lead it by a schema, or use a model that calls tools",
            status=error.status,
            said=error.said,
        ) from error

    def _shows_tools(self) -> bool:
        """llama.cpp takes tools for every model, and leaves out those that its template has no place for."""
        if self._service is not OPENAI or self._is_openai or not is_nearby(self._url):
            return True
        root = self._url.removesuffix("/v1")
        try:
            told = self._client.get_json(root + "/props", timeout_s=_PROBE_S, credential=self._credential)
        except ModelError:
            return True
        template = told.get("chat_template") if isinstance(told, dict) else None
        return not isinstance(template, str) or not template or "tools" in template


class _Listener:
    """Passes on what is said, and knows whether anything was."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.heard = False

    def hear(self, text: str) -> None:
        if self.watch.cancelled():
            raise Cancelled("the answer was cancelled")
        if text:
            self.heard = True
            self.watch.said(text)


def _only_thought(answer: ChatAnswer) -> bool:
    """Its tokens ran out before the first word: it thinks, and the thoughts count."""
    return answer.stop == "length" and not answer.text and not answer.calls
