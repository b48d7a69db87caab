"""Who may talk to a server on loopback: checks of Host, Origin, token, path, method and content type.

Pure but for the thin wrapper at the end. Any web page that its owner opens can send requests to loopback, and
so can every other user of the machine: a request is served only when all checks pass, on every route, before
its body is read.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple, TypeAlias

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


NONCE = "x-hindbrain-nonce"
_NONCE = re.compile(r"[0-9a-f]{32,128}")


class Rules(NamedTuple):
    """What is served. `hosts` are values of the Host header, in lower case, with the port."""

    token: str
    hosts: frozenset[str]
    path: str = "/mcp"
    scheme: str = "http"
    below: bool = False  # names below the path are served, too
    methods: tuple[str, ...] = ("GET", "POST", "DELETE")
    token_from: str = "`hindbrain mcp token` prints it"  # where its owner finds the token


class Refusal(NamedTuple):
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()
    proves: bool = False  # it was asked for, to see who listens here


def hosts_for(address: str, port: int, names: Iterable[str] = ()) -> frozenset[str]:
    """The names by which a server at this address may be called; `names` are given by its owner."""
    own = [f"[{address}]" if ":" in address else address]
    if _is_loopback_name(address):
        own = ["127.0.0.1", "localhost", "[::1]"]
    found = {f"{name}:{port}" for name in own}
    if port == 80:
        found.update(own)
    return frozenset(name.lower() for name in (*found, *names))


def refusal(method: str, path: str, headers: Headers, rules: Rules) -> Refusal | None:
    """Why this request is not served; None when it is. One check after another, the outermost first."""
    given: dict[str, list[str]] = {}
    for name, value in headers:
        given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
    return (
        _wrong_host(given, rules)
        or _wrong_origin(given, rules)
        or _wrong_token(given, rules)
        or _wrong_place(method, path, rules)
        or _wrong_content(method, given)
    )


def _wrong_host(given: dict[str, list[str]], rules: Rules) -> Refusal | None:
    """A page that made its own name point here (DNS rebinding) still sends that name."""
    hosts = given.get("host", [])
    if len(hosts) == 1 and hosts[0].lower() in rules.hosts:
        return None
    return Refusal(421, "this server does not answer to that Host")


def _wrong_origin(given: dict[str, list[str]], rules: Rules) -> Refusal | None:
    """Browsers say which page asks. Agents send none."""
    own = {f"{rules.scheme}://{host}" for host in rules.hosts}
    if all(origin.lower() in own for origin in given.get("origin", [])):
        return None
    return Refusal(403, "requests from web pages are not served")


def _wrong_token(given: dict[str, list[str]], rules: Rules) -> Refusal | None:
    sent = given.get("authorization", [])
    scheme, _, token = (sent[0] if len(sent) == 1 else "").partition(" ")
    if scheme.lower() == "bearer" and hmac.compare_digest(
        token.strip().encode("latin-1"), rules.token.encode("utf-8")
    ):
        return None
    asked = given.get(NONCE, [])
    proves = not sent and len(asked) == 1 and _NONCE.fullmatch(asked[0]) is not None
    proof = f', proof="{proof_for(rules.token, asked[0])}"' if proves else ""
    return Refusal(
        401,
        f"a bearer token is needed; {rules.token_from}",
        (("WWW-Authenticate", f'Bearer realm="hindbrain"{proof}'),),
        proves,
    )


def proof_for(token: str, nonce: str) -> str:
    """Shows that whoever listens knows the token, without telling it.

    While we do not run, any program of this machine can take our port: a client that asks for this first
    gives neither the token nor anybody's words to it.
    """
    return hmac.new(token.encode("utf-8"), f"hindbrain {nonce}".encode("ascii"), "sha256").hexdigest()


def _wrong_place(method: str, path: str, rules: Rules) -> Refusal | None:
    if path != rules.path and not (rules.below and path.startswith(rules.path + "/")):
        return Refusal(404, f"there is only {rules.path} here")
    if method not in rules.methods:
        return Refusal(405, "this method is not served", (("Allow", ", ".join(rules.methods)),))
    return None


def _wrong_content(method: str, given: dict[str, list[str]]) -> Refusal | None:
    if method != "POST":
        return None
    kinds = [kind.partition(";")[0].strip().lower() for kind in given.get("content-type", [])]
    # A form or plain text is what a page may send elsewhere without asking first.
    return None if kinds == ["application/json"] else Refusal(415, "send application/json")


def _is_loopback_name(address: str) -> bool:
    from ipaddress import ip_address

    if address.lower() == "localhost":
        return True
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def is_loopback(address: str) -> bool:
    """Is this an address that only this machine reaches? A name other than localhost is not believed."""
    return _is_loopback_name(address)


def guarded(app: App, rules: Rules) -> App:
    """`app`, behind the checks. Nothing but HTTP is served, and the life of the app itself."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif scope["type"] == "http":
            refused = refusal(scope["method"], scope["path"], scope["headers"], rules)
            if refused is None:
                await app(scope, receive, send)
            else:
                await _send(refused, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    return serve


async def _send(refused: Refusal, send: Send) -> None:
    body = (refused.reason + "\n").encode()
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),  # the body was not read
        ("X-Content-Type-Options", "nosniff"),
        *refused.headers,
    ]
    await send(
        {
            "type": "http.response.start",
            "status": refused.status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        }
    )
    await send({"type": "http.response.body", "body": body})
