"""What is known of a vault and its index without a look at the notes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import IndexMissing

if TYPE_CHECKING:
    from hindbrain.app import App


def vault_state(app: App) -> dict[str, Any]:
    """The shape of `hindbrain status --json`. Raises IndexFault when the index is there and can't be used."""
    from hindbrain.edge.conversation_state import daemon_state, hooks_state, waiting_state
    from hindbrain.vault.discover import read_vault_id

    return {
        "vault": {"path": str(app.root), "id": read_vault_id(app.root), "state": str(app.state)},
        "index": index_state(app),
        "embedder": embedder_state(app),
        "watch": watch_state(app),
        "daemon": daemon_state(app.config),
        "hooks": hooks_state(app.config),
        "conversations": waiting_state(app.state),
    }


def index_state(app: App) -> dict[str, Any] | None:
    """None: not made yet."""
    try:
        store = app.store
    except IndexMissing:
        return None
    meta = store.all_meta()
    passages, notes = store.sizes()
    vectors = store.vector_count()
    synced_at = float(meta.get("synced_at") or 0.0)
    left_out = store.report()
    return {
        "path": str(app.index_path),
        "bytes": app.index_path.stat().st_size,
        "synced_at": synced_at,
        "age_s": round(app.clock.now() - synced_at, 1) if synced_at else None,
        "notes": notes,
        "passages": passages,
        "vectors": vectors,
        "pending": max(0, passages - vectors),
        "embedder": str(meta.get("embedder") or ""),
        "sqlite": str(meta.get("sqlite") or ""),
        "left_out": [{"path": path, "code": code, "detail": detail} for path, code, detail in left_out],
        "left_out_by_code": dict(Counter(code for _, code, _ in left_out).most_common()),
        "problems": [_problem(path, line) for path, lines in store.problems() for line in lines.split("\n")],
    }


def embedder_state(app: App) -> dict[str, Any]:
    choice = app.embedder_choice()
    return {"provider": choice.provider, "reason": choice.reason, "fell_back": choice.fell_back}


def watch_state(app: App) -> dict[str, Any] | None:
    """None: no watcher runs."""
    from hindbrain.index.heartbeat import read_heartbeat

    found = read_heartbeat(app.state, app.clock.now())
    if found is None:
        return None
    beat = found.heartbeat
    return {
        "alive": found.alive,
        "why_stale": found.why_stale,
        "pid": beat.pid,
        "since": beat.since,
        "mode": beat.mode,
        "last_sync_at": beat.last_sync_at,
        "last_error": beat.last_error,
    }


def _problem(path: str, line: str) -> dict[str, Any]:
    code, _, rest = line.partition("\t")
    number, _, message = rest.partition("\t")
    return {"path": path, "line": int(number) if number.isdecimal() else 0, "code": code, "message": message}
