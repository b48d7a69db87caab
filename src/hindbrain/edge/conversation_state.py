"""How it goes with what agent hosts tell us: hooks, what waits to be kept, the daemon.

For `status`, `doctor` and `hook`: all of this happens where nobody looks on. Looks, and changes nothing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.config import Config, state_folder
from hindbrain.base.plural import plural

if TYPE_CHECKING:
    from hindbrain.edge.hooks.journal import Call

_DAY_S = 86_400
_FAILED = ("failed", "late")
_STATUS_S = 2.0


def hooks_state(config: Config) -> dict[str, Any]:
    """What hooks did in the last day, and the last of them that failed, however long ago."""
    from hindbrain.edge.hooks.journal import LOG_FILE, read_calls

    state = state_folder(config)
    calls = read_calls(state)
    today = [call for call in calls if call.at > time.time() - _DAY_S]
    failed = [call for call in calls if call.outcome in _FAILED]
    return {
        "log": str(state / LOG_FILE),
        "calls_today": len(today),
        "failures_today": sum(call.outcome in _FAILED for call in today),
        "last_failure": call_data(failed[-1]) if failed else None,
    }


def call_data(call: Call) -> dict[str, Any]:
    return dict(call._asdict())


def waiting_state(state: Path | None) -> dict[str, Any]:
    """What of conversations is not kept yet, and what can't be. `state`: the vault's; None: no vault."""
    from hindbrain.context.capture.places import ASIDE
    from hindbrain.context.capture.spool import FOLDER, count_unreadable, count_waiting, oldest_waiting
    from hindbrain.context.capture.troubles import read_troubles

    if state is None:
        return {"waiting": 0, "waiting_since": 0.0, "unreadable": 0, "unreadable_folder": "", "aside": 0,
                "aside_folder": "", "troubles": []}  # fmt: skip
    aside = state / ASIDE
    troubles = read_troubles(state)
    return {
        "waiting": count_waiting(state),
        "waiting_since": oldest_waiting(state),
        "unreadable": count_unreadable(state),
        "unreadable_folder": str(state / FOLDER),
        "aside": sum(1 for _ in aside.glob("*.json")),
        "aside_folder": str(aside),
        "troubles": list(troubles.problems) if troubles else [],
    }


def waiting_text(waiting: dict[str, Any]) -> str:
    """The same in words; "" when nothing waits and nothing is wrong."""
    told = []
    if count := waiting["waiting"]:
        told.append(
            f"{plural(count, 'event')} of conversations {'wait' if count > 1 else 'waits'} to be kept"
        )
    if count := waiting["aside"]:
        told.append(f"{plural(count, 'piece')} could not be kept ({waiting['aside_folder']})")
    if count := waiting["unreadable"]:
        told.append(f"{plural(count, 'event')} can't be read ({waiting['unreadable_folder']}/*.bad)")
    if troubles := waiting["troubles"]:
        more = f", and {len(troubles) - 1} more" if len(troubles) > 1 else ""
        told.append(f"the last catching up had trouble: {troubles[0]}{more}")
    return "; ".join(told)


def without_daemon(config: Config) -> str:
    """What it means that no daemon answers."""
    starts = ", and a session starts it" if config.flag("hooks.daemon") else " (setting hooks.daemon)"
    return f"hooks do without{starts}"


def why_silent(daemon: dict[str, Any]) -> str:
    """Why a daemon that runs does not answer, as far as it can be seen; and what to do."""
    from hindbrain import __version__

    again = "end it, and start it again: hindbrain up stop, then hindbrain up"
    version = daemon.get("version", __version__)
    if version != __version__:
        return f"it is of version {version}, this program of {__version__}; {again}"
    return f"it does not answer; {again}"


def daemon_state(config: Config) -> dict[str, Any]:
    """Whether a daemon runs and answers, and what it says of itself (docs/json.md)."""
    from hindbrain.edge.daemon import starting
    from hindbrain.edge.daemon.address import LOG_FILE, read_address
    from hindbrain.edge.daemon.client import request

    folder = starting.folder_of(config)
    state: dict[str, Any] = {"running": not starting.is_free(folder, 0), "answers": False}
    address = read_address(str(folder))
    # One that ends takes its address away. Looked at twice: it may be starting just now.
    if address is not None and not state["running"] and starting.is_free(folder, 0):
        state["died"] = address.pid
    elif address is not None and state["running"]:
        state |= {"pid": address.pid, "version": address.version, "address": address.place}
    reply = request(folder, "status", "", {}, timeout_s=_STATUS_S) if state["running"] else None
    if reply is not None and isinstance(reply.get("result"), dict):
        state |= {"answers": True, **reply["result"]}  # type: ignore[dict-item]
    return {**state, "log": str(folder / LOG_FILE)}
