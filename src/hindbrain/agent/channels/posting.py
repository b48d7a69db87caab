"""JSON posted to one address with one token, with a channel's failures instead of a model's.

The rules of the one HTTP client hold: a token goes to its host alone, nothing is sent unencrypted but nearby,
and no redirect is followed.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from hindbrain.base.errors import ChannelDown, ConfigError, HindbrainError, ModelError, Refused
from hindbrain.models.http import (
    Credential,
    HttpClient,
    Secret,
    Transient,
    authority,
    checked_url,
    failure_of,
    headers_for,
    is_nearby,
    judged,
    time_limits,
)

_MOST_BYTES = 16_000_000  # of an answer; a long history of a session is less
_WRONG_TOKEN = frozenset({401, 403})
_NOT_THERE = frozenset({404, 405})


def usable_address(address: str, who: str) -> str:
    """`address` as it is asked. ConfigError, which says whose it is, for one that nothing may be sent to."""
    try:
        url = checked_url(address)
    except ConfigError:
        raise ConfigError(
            f"the address of {who} is not usable; write it as https://host/path; a token has no place in it"
        ) from None
    if urlsplit(url).scheme != "https" and not is_nearby(url):
        raise ConfigError(f"{who} would send messages to {authority(url)!r} unencrypted; use https")
    return url


class Post:
    """One address of the channel `name`, or of `who`. Safe to share between threads."""

    def __init__(
        self, name: str, address: str, token: str = "", *, timeout_s: float = 20.0, who: str = ""
    ) -> None:
        who = who or f"the channel {name!r}"
        self.url = usable_address(address, who)
        self._where = f"{authority(self.url)!r} ({who})"
        self._timeout_s = timeout_s
        self._credential = Credential(Secret(token, authority(self.url))) if token else None
        self._client = HttpClient()

    def send(self, payload: object, path: str = "") -> Any:
        """The answer; None when it is no JSON: some who take a message say only "ok"."""
        try:
            outcome = self._try(self.url + path, json.dumps(payload).encode("ascii"))
        except ModelError as error:
            raise self._failure(error) from error
        if isinstance(outcome, Transient):
            raise ChannelDown(
                f"{self._where} did not answer as it should ({outcome.reason}); check that it runs"
            )
        try:
            return json.loads(outcome)
        except (ValueError, RecursionError):
            return None

    def _try(self, url: str, body: bytes) -> bytes | Transient:
        import httpx

        headers = headers_for(url, self._credential)
        limits = time_limits(self._timeout_s)
        # Seldom used: a connection that is kept open would mostly be closed by the time it is used again.
        client = self._client.client_for(url, keeps=False)
        try:
            with client.stream("POST", url, content=body, headers=headers, timeout=limits) as response:
                content = b""
                for piece in response.iter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES:
                        return Transient(f"an answer of more than {_MOST_BYTES:,} bytes")
                return judged(response, content, url, self._credential)
        except httpx.TimeoutException:
            return Transient(f"no answer within {self._timeout_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return failure_of(error, url, self._credential)

    def _failure(self, error: ModelError) -> HindbrainError:
        if error.status in _WRONG_TOKEN:
            return ConfigError(
                f"{self._where} does not let us in (HTTP {error.status}); set `token` of the channel in "
                "agent.toml to the one that is set there"
            )
        if error.status in _NOT_THERE:
            return ConfigError(
                f"{self._where} has nothing for us at that address (HTTP {error.status}: {error.said!r}); "
                "check the address in agent.toml"
            )
        if not error.status:
            return ConfigError(f"{self._where} can't be used at that address: {error}")
        return Refused(f"{self._where} refused the message (HTTP {error.status}): {error.said!r}")
