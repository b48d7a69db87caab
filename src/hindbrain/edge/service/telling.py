"""How the service stands, in words: for `up status`, `status` and `doctor`. The daemon says it of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.edge.when import span_text

if TYPE_CHECKING:
    from hindbrain.base.config import Config

_RECENT_S = 86_400.0  # in which a failure is still news


class Standing(NamedTuple):
    """`trouble`: plugins are not served, or were not at some time in the last day."""

    text: str
    served: bool
    trouble: bool


def service_standing(config: Config, daemon: dict[str, Any]) -> Standing | None:
    """`daemon`: as `conversation_state.daemon_state` has it. None: the settings name no port."""
    port = config.number("service.port")
    if not port:
        return None
    service = daemon.get("service")
    if service is None:
        again = "start it: hindbrain up" if not daemon["running"] else "see: hindbrain up status"
        why = "no daemon runs" if not daemon["running"] else "the daemon does not answer"
        return Standing(f"not served on port {port}, since {why}; {again}", served=False, trouble=True)
    if not service["url"]:
        return Standing(f"not served: {service['problem'] or 'not begun yet'}", served=False, trouble=True)
    told = [f"served at {service['url']}", *_problem(service), *_history(service)]
    trouble = bool(service["problem"]) or _had_trouble(service)
    return Standing("; ".join(told), served=True, trouble=trouble)


def service_lines(service: dict[str, Any]) -> Iterator[str]:
    """For `up status`, of a daemon that serves plugins or should."""
    if not service["port"]:
        return
    yield service["url"] or f"not served on port {service['port']}"
    yield from _problem(service)
    yield from _history(service)


def _problem(service: dict[str, Any]) -> Iterator[str]:
    if service["problem"]:
        yield service["problem"]


def _history(service: dict[str, Any]) -> Iterator[str]:
    now = time.time()
    if service["asked"]:
        by = f" by {service['last_agent']}" if service["last_agent"] else ""
        last = span_text(now - service["last_asked"])
        yield f"asked {plural(service['asked'], 'time')} since it began, last {last} ago{by}"
    else:
        yield "nobody has asked yet"
    if refused := service["refused"]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(refused.items()))
        yield f"{plural(sum(refused.values()), 'request')} refused ({reasons})"
    if last_failure := service["last_failure"]:
        at = span_text(now - last_failure["at"])
        yield (
            f"{plural(service['failures'], 'failure')}, the last one {at} ago: {last_failure['route']}: "
            f"{last_failure['message']}  ({last_failure['code']})"
        )


def _had_trouble(service: dict[str, Any]) -> bool:
    """A failure that is still news; or a token that is not ours, and nobody with the right one since."""
    failure, refused = service["last_failure"], service["last_refused"]
    failed = failure is not None and time.time() - failure["at"] < _RECENT_S
    return failed or (
        refused is not None and refused["reason"] == "token" and refused["at"] > service["last_asked"]
    )
