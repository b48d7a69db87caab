"""The one HTTP client: JSON out, JSON in, with retries, limits and keys that stay where they belong.

Owns addresses, keys and failures on the wire. Knows nothing of embeddings or of any provider's shapes.
Redirects are never followed, so an answer can't send a request, a note or a key to another address.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from hindbrain.base.errors import Cancelled, ConfigError, ModelDown, ModelError
from hindbrain.models.addresses import guarded_backend, is_inner, refusal

if TYPE_CHECKING:
    import httpx

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_WAIT_S = 30.0  # a server that asks for more is answered by giving up after the last try
_FIRST_WAIT_S = 0.5
_CONNECT_S = 5.0  # a machine that is there accepts at once; the long time-out is for its thinking
_MAX_ANSWER_BYTES = 64 * 1024 * 1024  # 2,048 vectors of 1,536 numbers as text take about 60 MB
_EXCERPT_CHARS = 300
_PAUSE_S = 0.25  # how long a wait goes on before whoever waits is asked whether it still wants to
RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 529})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Secret:
    """A key and the one place it may go. `host` is "name" (https) or "name:port"."""

    value: str = field(repr=False)
    host: str

    def __post_init__(self) -> None:
        # A stray newline or space would come back, key included, in the HTTP library's own error.
        if not self.value or not re.fullmatch(r"[\x21-\x7e]+", self.value):
            raise ConfigError(
                f"the key for {self.host!r} is empty or holds spaces or other odd characters; set it again"
            )


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret and the header that carries it."""

    secret: Secret
    header: str = "Authorization"
    prefix: str = "Bearer "


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and chance as values, so that tests choose them."""

    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time  # seconds since the epoch, to read a Retry-After date
    chance: Callable[[], float] = random.random  # 0..1


class HttpClient:
    """Posts JSON. Safe to share between threads."""

    def __init__(self, *, transport: httpx.BaseTransport | None = None, timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        self._transport = transport
        # By: may the environment name a proxy? Are connections used again?
        self._clients: dict[tuple[bool, bool], httpx.Client] = {}

    def post_json(
        self,
        url: str,
        payload: object,
        *,
        timeout_s: float,
        retries: int,
        credential: Credential | None = None,
    ) -> Any:
        """Return the parsed answer. `timeout_s` bounds each wait of a try, and an answer that dribbles in.

        ModelDown: not reachable, too slow, overloaded. ModelError: it answered, and won't do it.
        """
        headers = headers_for(url, credential)
        body = json.dumps(payload).encode("ascii")
        content = self.repeated(
            lambda: self._try("POST", url, headers, body, timeout_s, credential), url, retries
        )
        return parsed(content, url)

    def get_json(self, url: str, *, timeout_s: float, credential: Credential | None = None) -> Any:
        """Tried once; raises as `post_json` does."""
        headers = headers_for(url, credential)
        content = self.repeated(lambda: self._try("GET", url, headers, b"", timeout_s, credential), url, 0)
        return parsed(content, url)

    def look(self, url: str, *, timeout_s: float) -> tuple[int, str]:
        """The status that a GET is answered with, and where a redirect leads; nothing of a body is read.

        Tried once. ModelDown: no answer. ModelError: no address to ask, whoever named it.
        """
        import httpx

        host = urlsplit(url).hostname or ""
        if reason := refusal(host):
            raise ModelError(f"the host {host!r} {reason}; nothing was sent")

        def attempt() -> tuple[int, str] | Transient:
            try:
                limits = time_limits(timeout_s)
                headers = {"User-Agent": "hindbrain"}
                with self.client_for(url).stream("GET", url, headers=headers, timeout=limits) as response:
                    target = response.headers.get("Location", "") if response.is_redirect else ""
                    return response.status_code, target
            except httpx.TimeoutException:
                return Transient(f"no answer within {timeout_s:g} s")
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                return failure_of(error, url, None)

        return self.repeated(attempt, url, 0)

    def repeated(
        self,
        attempt: Callable[[], T | Transient],
        url: str,
        retries: int,
        cancelled: Callable[[], bool] | None = None,
    ) -> T:
        """What `attempt` gives, tried again while its failure may pass; ModelDown after the last try."""
        tried = 0
        while True:
            found = attempt()
            tried += 1
            if not isinstance(found, Transient):
                return found
            if tried > retries:
                raise ModelDown(
                    f"{authority(url)!r} did not answer as it should ({found.reason}; {tried} tries); "
                    "check that it runs and is reachable, then try again",
                    status=found.status,
                    said=found.reason,
                )
            self._pause(self._wait_s(tried - 1, found.retry_after), cancelled)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _try(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes,
        timeout_s: float,
        credential: Credential | None,
    ) -> bytes | Transient:
        import httpx

        deadline = self.timing.monotonic() + timeout_s
        try:
            client = self.client_for(url)
            with client.stream(
                method, url, content=body, headers=headers, timeout=time_limits(timeout_s)
            ) as response:
                content = self._read(response, deadline)
                return judged(response, content, url, credential)
        except httpx.TimeoutException:
            return Transient(f"no answer within {timeout_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return failure_of(error, url, credential)

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """The body within the size limit and the deadline (the library's own time-out is per read)."""
        import httpx

        chunks: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > _MAX_ANSWER_BYTES:
                raise ModelError(
                    f"{response.url.host!r} sent more than {_MAX_ANSWER_BYTES} bytes; lower the batch size"
                )
            if self.timing.monotonic() > deadline:
                raise httpx.ReadTimeout("the answer came too slowly")
            chunks.append(chunk)
        return b"".join(chunks)

    def client_for(self, url: str, *, keeps: bool = True) -> httpx.Client:
        """`keeps`: a connection is used again. One that is not can be cut while somebody waits for it."""
        import httpx

        # A proxy from the environment is for the outside world; what runs on this machine is asked directly.
        outside = not is_nearby(url)
        if (outside, keeps) not in self._clients:
            limits = httpx.Limits(max_keepalive_connections=20 if keeps else 0)
            made = httpx.Client(
                transport=self._transport, trust_env=outside, follow_redirects=False, limits=limits
            )
            if self._transport is None:
                # The library has no public way to this; giving it a transport would switch proxies off.
                made._transport._pool._network_backend = guarded_backend()  # type: ignore[attr-defined]
            self._clients[outside, keeps] = made
        return self._clients[outside, keeps]

    def _pause(self, seconds: float, cancelled: Callable[[], bool] | None) -> None:
        if cancelled is None:
            self.timing.sleep(seconds)
            return
        while seconds > 0:
            if cancelled():
                raise Cancelled("cancelled while waiting for a service that is busy")
            self.timing.sleep(min(seconds, _PAUSE_S))
            seconds -= _PAUSE_S

    def _wait_s(self, attempt: int, retry_after: str) -> float:
        asked = _retry_after_s(retry_after, self.timing.now())
        backoff = _FIRST_WAIT_S * 2.0**attempt * (0.5 + self.timing.chance())  # many clients, not one wave
        return min(_LONGEST_WAIT_S, max(asked, backoff))


@dataclass(frozen=True, slots=True)
class Transient:
    """A failure that may pass."""

    reason: str  # redacted
    retry_after: str = ""
    status: int = 0


def checked_url(url: str) -> str:
    """`url` without a trailing slash, or ConfigError: http(s), a host, no user name, no query."""
    try:
        parts = urlsplit(url)
        port_ok = parts.port is None or parts.port > 0
    except ValueError:
        raise ConfigError("base_url is not a valid address; write it as https://host/path") from None
    if parts.username is not None or parts.password is not None:
        # Not shown: it holds a password.
        raise ConfigError("base_url holds a user name or password; give the key apart from the address")
    odd = parts.query or parts.fragment or re.search(r"[\s\\\x00-\x1f]", url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not port_ok or odd:
        raise ConfigError(f"base_url {url.partition('?')[0]!r} is not usable; write it as https://host/path")
    if reason := refusal(parts.hostname):
        raise ConfigError(
            f"the host {parts.hostname!r} of base_url {reason}; write the address of the service"
        )
    return url.rstrip("/")


def authority(url: str) -> str:
    """ "host" for https on its usual port, else "host:port": what a key belongs to."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    return host if port == _DEFAULT_PORTS["https"] else f"{host}:{port}"


def is_nearby(url: str) -> bool:
    """Is `url` on this machine or, by its spelling, on a private network? No name is looked up."""
    return is_inner(urlsplit(url).hostname or "")


def redacted(text: str, credential: Credential | None) -> str:
    """`text` without the key, in any spelling that could appear in an error, and cut to a line's length."""
    if credential is not None:
        key = credential.secret.value
        for spelling in {key, quote(key, safe=""), json.dumps(key)[1:-1]}:
            text = text.replace(spelling, "[key]")
    text = re.sub(r"(?i)(bearer\s+)[^\s\"',;]+", r"\1[key]", text)
    return " ".join(text.split())[:_EXCERPT_CHARS]


def time_limits(timeout_s: float) -> httpx.Timeout:
    """Each wait of a request; a machine that is there accepts a connection sooner."""
    import httpx

    return httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))


def failure_of(error: Exception, url: str, credential: Credential | None) -> Transient:
    """An error of the HTTP library that may pass; another one is raised as ModelError."""
    import httpx

    text = redacted(f"{type(error).__name__}: {error}", credential)
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ProxyError):
        return Transient(text)
    # No cause is chained: its text may hold what was just taken out.
    raise ModelError(f"the request to {authority(url)!r} failed ({text}); check base_url") from None


def headers_for(url: str, credential: Credential | None) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "hindbrain"}
    if credential is None:
        return headers
    secret = credential.secret
    if secret.host != authority(url):
        raise ConfigError(
            f"the key for {secret.host!r} is not sent to {authority(url)!r}; set a key for that address"
        )
    if urlsplit(url).scheme != "https" and not is_nearby(url):
        raise ConfigError(f"a key is not sent to {authority(url)!r} unencrypted; use https in base_url")
    headers[credential.header] = credential.prefix + secret.value
    return headers


def judged(
    response: httpx.Response, content: bytes, url: str, credential: Credential | None
) -> bytes | Transient:
    """The body of a good answer, a failure that may pass, or an error that says what to do."""
    status = response.status_code
    if 200 <= status < 300:
        return content
    said = redacted(content.decode("utf-8", "replace"), credential)
    if status in RETRY_STATUS:
        return Transient(f"HTTP {status}: {said}", response.headers.get("Retry-After", ""), status)
    where = authority(url)
    if 300 <= status < 400:
        raise ModelError(
            f"{where!r} redirects (HTTP {status}), which is not followed; set base_url to the final address"
        )
    advice = {
        401: "the key is missing or wrong; set the key for this address",
        403: "the key may not use this model or service; check the account",
        404: "no such model or address; check model and base_url (with Ollama: `ollama pull <model>`)",
        413: "the request is too large; lower the batch size",
    }.get(status, "the request was refused; check model, dimension and base_url")
    raise ModelError(
        f"{where!r} answered HTTP {status}: {advice}. It said: {said!r}", status=status, said=said
    )


def parsed(content: bytes, url: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ModelError(
            f"{authority(url)!r} sent {len(content)} bytes that are not whole JSON; check base_url"
        ) from None


def _retry_after_s(value: str, now: float) -> float:
    """Seconds from a Retry-After header in either of its forms; 0 when there is none to read."""
    if re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*", value, re.ASCII):
        return float(value)
    if not value:
        return 0.0
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
