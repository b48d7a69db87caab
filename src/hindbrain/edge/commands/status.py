"""`hindbrain status`: the vault, its index, what the last sync left out."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from hindbrain.base.plural import plural
from hindbrain.edge.conversation_state import waiting_text, why_silent
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, Output, safe
from hindbrain.edge.service.telling import service_standing
from hindbrain.edge.vault_state import encoder_text, vault_state
from hindbrain.edge.when import age_text, moment_text, span_text

_SHOWN = 20
_WHY = {
    "templates_folder": "in templates folders (setting vault.templates)",
    "excluded": "by the settings",
    "ignore_rule": "by .gitignore",
    "conflict_copy": "as conflict copies",
    "temporary": "as temporary files",
    "placeholder": "not on this disk",
    "unreadable": "unreadable",
}
_ON_PURPOSE = frozenset(_WHY) - {"unreadable"}
_NOT_EMBEDDED = {
    "document": "notes could not be embedded",
    "query": "a question could not be embedded",
    "any": "it could not be used",
}
_LACKS = {
    "index_outdated": "made by another version or with other settings",
    "index_incomplete": "its first making was cut short",
}
_ATTACHMENTS = {
    "pdf": "PDF",
    "image": "image",
    "audio": "audio file",
    "video": "video",
    "other": "other file",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help="list every note that was left out or has a problem"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        state, now = vault_state(app), app.clock.now()
        plugins = service_standing(app.config, state["daemon"])
    if out.json:
        out.data(state)
        return 0
    for name, text in _lines(state, now, plugins.text if plugins else ""):
        out.line(f"{out.paint(f'{name:9}', BOLD)} {safe(text)}")
    index = state["index"]
    _list(
        out,
        "needs attention (hindbrain doctor looks closer)",
        [f"{found['name']}: {found['detail']}" for found in state["findings"]],
        everything=True,
    )
    if index is not None:
        title = "left out, or failed in the last sync" if args.all else "failed in the last sync"
        _list(out, title, _left_out_rows(index, everything=args.all), args.all)
        _list(
            out,
            "indexed, and perhaps not what you want",
            [f"{row['path']}  {row['code']}: {row['detail']}" for row in index["noticed"]],
            args.all,
        )
        _list(
            out,
            "notes with something to mend",
            [f"{row['path']}:{row['line']}  {row['message']}" for row in index["problems"]],
            args.all,
        )
    return 0


def _lines(state: dict[str, Any], now: float, plugins: str) -> Iterator[tuple[str, str]]:
    vault, index, embedder, watch = state["vault"], state["index"], state["embedder"], state["watch"]
    yield (
        "vault",
        vault["path"]
        if vault["id"]
        else f"{vault['path']} (no id yet: hindbrain init keeps its index across moves)",
    )
    if layout := state["layout"]:
        yield (
            "layout",
            f"{layout['name']}, in {layout['folder'] + '/' if layout['folder'] else 'the whole vault'}",
        )
    else:
        yield "layout", "its file can't be used: hindbrain doctor says why"
    if told := _memory_text(state["memory"]):
        yield "memory", told
    if index is None:
        yield "index", "none yet: hindbrain sync"
    else:
        lacks = f"; {_LACKS[index['lacks']]}: hindbrain sync  ({index['lacks']})" if index["lacks"] else ""
        age = age_text(index["synced_at"], now)
        yield "index", f"{index['path']} ({index['bytes'] / 1e6:.1f} MB, {age}){lacks}"
        yield "notes", f"{index['notes']:,} in {plural(index['passages'], 'passage')}"
        pending = f", {index['pending']:,} pending: hindbrain sync" if index["pending"] else ""
        yield "vectors", f"{index['vectors']:,} of {index['embedder'] or 'no embedder'}{pending}"
        if index["gate"] in ("unmeasured", "damaged"):
            yield "gate", f"{index['gate']}: prompts get fewer notes until hindbrain sync has run"
        if left_out := _left_out_text(index):
            yield "left out", f"{left_out}; hindbrain status --all lists them"
    yield "embedder", f"{embedder['provider']} ({embedder['reason']}){_failure_text(embedder['failure'])}"
    yield "encoder", encoder_text(state["encoder"])
    yield "watch", _watch_text(watch)
    yield "daemon", _daemon_text(state["daemon"])
    if plugins:
        yield "plugins", plugins
    hooks = state["hooks"]
    if hooks["calls_today"]:
        yield (
            "hooks",
            f"{plural(hooks['calls_today'], 'call')} in the last day, {hooks['failures_today']} failed",
        )
    if told := waiting_text(state["conversations"]):
        yield "capture", told
    if (inbox := state["inbox"]) and inbox["waiting"]:
        ticked = f", {inbox['ticked']} ticked while an agent was running" if inbox["ticked"] else ""
        yield "inbox", f"{plural(inbox['waiting'], 'proposal')}{ticked}: hindbrain inbox"


def _failure_text(failure: dict[str, Any] | None) -> str:
    if failure is None:
        return ""
    what = _NOT_EMBEDDED.get(failure["role"], _NOT_EMBEDDED["any"])
    when, why = moment_text(failure["at"]), failure["message"]
    return f"; {what} at {when}: {why}; keyword search works  ({failure['code']})"


def _memory_text(memory: dict[str, Any]) -> str:
    """What waits; "" when nothing does."""
    told = []
    if count := memory["waiting"]:
        told.append(
            f"{plural(count, 'memory')} on the way into notes, the oldest for {span_text(memory['oldest_s'])}"
        )
    if count := memory["unreadable"]:
        told.append(f"{plural(count, 'damaged line')} in the queue: hindbrain doctor")
    return "; ".join(told)


def _left_out_text(index: dict[str, Any]) -> str:
    """What the vault holds and the index does not, by kind."""
    parts = [f"{plural(n, 'note')} {_WHY.get(code, code)}" for code, n in index["left_out_by_code"].items()]
    parts += [plural(n, _ATTACHMENTS.get(kind, kind)) for kind, n in index["attachments"].items() if n]
    return ", ".join(parts)


def _left_out_rows(index: dict[str, Any], *, everything: bool) -> list[str]:
    """Grouped by kind, the kind with most notes first; only failures, unless everything is wanted."""
    order = list(index["left_out_by_code"])
    rows = [row for row in index["left_out"] if everything or row["code"] not in _ON_PURPOSE]
    rows.sort(key=lambda row: order.index(row["code"]))
    return [f"{row['path']}  {row['code']}: {row['detail'] or plural(row['notes'], 'note')}" for row in rows]


def _daemon_text(daemon: dict[str, Any]) -> str:
    if daemon.get("died"):
        return f"not running: process {daemon['died']} ended without notice; start it again: hindbrain up"
    if not daemon["running"]:
        return "not running"
    if not daemon["answers"]:
        return f"running (process {daemon.get('pid', 'unknown')}); {why_silent(daemon)}"
    return f"running since {moment_text(daemon['since'])} (process {daemon['pid']})"


def _watch_text(watch: dict[str, Any] | None) -> str:
    if watch is None:
        return "not running"
    if not watch["alive"]:
        return f"stopped without notice ({watch['why_stale']})"
    trouble = "".join(f"; {watch[name]}" for name in ("events_fault", "last_error") if watch[name])
    return f"running since {moment_text(watch['since'])} ({watch['mode']}, process {watch['pid']}){trouble}"


def _list(out: Output, title: str, rows: list[str], everything: bool) -> None:
    if not rows:
        return
    shown = rows if everything else rows[:_SHOWN]
    out.line()
    out.line(out.paint(f"{title}: {len(rows)}", BOLD))
    for row in shown:
        out.line(f"  {safe(row)}")
    if len(shown) < len(rows):
        out.say(f"{len(rows) - len(shown)} more: hindbrain status --all")
