"""The checks of `hindbrain doctor`, one function each: look, and say what is right, doubtful or wrong.

Nothing here mends anything; `mend` names what would.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from hindbrain.base.errors import (
    EmbedderError,
    HindbrainError,
    IndexDamaged,
    IndexMissing,
    IndexTooNew,
    VaultAway,
)
from hindbrain.base.files import why_unwritable
from hindbrain.base.plural import plural

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.edge.canary import CanaryResult
    from hindbrain.vault.moved_notes import Trouble

State: TypeAlias = Literal["ok", "doubtful", "wrong"]
Check: TypeAlias = "Callable[[App], Finding]"
Mend: TypeAlias = Literal["", "sync", "rebuild", "recover"]

# Parts of a path that tell of a folder which a tool copies while we write: that damages a live index.
_SYNCED = (
    "dropbox",
    "onedrive",
    "icloud",
    "mobile documents",
    "google drive",
    "googledrive",
    "nextcloud",
    "syncthing",
    "pclouddrive",
)
_LONGEST_NOTE = 80  # characters of what a hook said when it failed; its log has all of it
_RESTED_S = 3_600.0  # after which somebody should have dealt with an event


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    detail: str  # what was seen, and what to do when it is not "ok"
    mend: Mend = ""  # what `doctor --fix` does about it; "": nothing, it is for the owner


def examine(app: App, checks: Sequence[Check] | None = None) -> Iterator[Finding]:
    """Run every check, or these. One that fails is a finding; a damaged index is asked nothing more."""
    sound = there = True
    for check in _CHECKS if checks is None else checks:
        if (not sound and check in _OF_THE_INDEX) or (not there and check not in _WITHOUT_A_VAULT):
            continue
        try:
            finding = check(app)
            sound = sound and not (check is _index and finding.state == "wrong")
            there = there and not (check is _vault and finding.state == "wrong")
            yield finding
        except VaultAway as error:
            there = False
            yield Finding(_name(check), "wrong", f"{error}  ({error.code})")
        except EmbedderError as error:
            yield Finding(_name(check), "doubtful", f"{error}; keyword search works  ({error.code})")
        except HindbrainError as error:
            yield Finding(_name(check), "wrong", f"{error}  ({error.code})")
        except OSError as error:
            yield Finding(_name(check), "wrong", f"could not be checked: {error.strerror or error}")


def _name(check: Check) -> str:
    return check.__name__.strip("_").replace("_", " ")


def _vault(app: App) -> Finding:
    app.check_there()
    with os.scandir(app.root) as entries:
        empty = next(entries, None) is None
    if empty:
        return Finding("vault", "doubtful", f"{str(app.root)!r} is empty; is its disk mounted?")
    if not os.access(app.root, os.W_OK):
        return Finding(
            "vault", "doubtful", f"{str(app.root)!r} can be read, not written; search works, changes do not"
        )
    return Finding("vault", "ok", f"{str(app.root)!r} can be read and written")


def _state_folder(app: App) -> Finding:
    parts = [part.casefold() for part in Path(os.path.realpath(app.state)).parts]
    tool = next((name for name in _SYNCED if any(part.startswith(name) for part in parts)), "")
    if tool:
        return Finding(
            "state folder",
            "doubtful",
            f"{str(app.state)!r} seems to lie in a synced folder ({tool}), which can damage the index; "
            "set state.folder",
        )
    if why := why_unwritable(app.state):
        return Finding(
            "state folder",
            "wrong",
            f"{str(app.state)!r} can't be written ({why}); nothing new is indexed or kept: make room, or set "
            "state.folder",
        )
    return Finding("state folder", "ok", str(app.state))


def _sqlite(_: App) -> Finding:
    import apsw

    from hindbrain.index.schema import _SAFE_SQLITE

    version = apsw.sqlite_lib_version()
    if apsw.SQLITE_VERSION_NUMBER < _SAFE_SQLITE:
        return Finding(
            "sqlite",
            "wrong",
            f"SQLite {version} can lose commits; install apsw 3.51.3 or newer: pip install -U apsw",
        )
    return Finding("sqlite", "ok", f"SQLite {version}")


def _index(app: App) -> Finding:
    try:
        wrong = app.store.check()
    except IndexMissing as error:
        # A file that is there and is no index may be held open by others: only a new one is sure to work.
        return Finding("index", "doubtful", str(error), "rebuild" if app.index_path.exists() else "sync")
    except (IndexDamaged, IndexTooNew) as error:
        return Finding("index", "wrong", str(error), "rebuild")
    if wrong:
        return Finding("index", "wrong", f"the index is damaged: {wrong[0]}", "rebuild")
    if not app.has_whole_index():
        if app.store.meta("synced_at"):
            told = "it was made by another version or with other settings  (index_outdated)"
        else:
            told = "its first making was cut short  (index_incomplete)"
        return Finding("index", "doubtful", told, "sync")
    return Finding("index", "ok", f"{app.index_path} is sound")


def _rows(app: App) -> Finding:
    from hindbrain.index.health import count_rows

    try:
        rows = count_rows(app.index_path)
    except IndexMissing:
        return Finding("rows", "doubtful", "there is no index to count in", "sync")
    except (IndexDamaged, IndexTooNew) as error:
        return Finding("rows", "wrong", str(error), "rebuild")
    detail = ", ".join(
        (plural(rows.notes, "note"), plural(rows.passages, "passage"), plural(rows.vectors, "vector"))
    )
    if not rows.agree:
        return Finding(
            "rows",
            "wrong",
            f"{detail} do not agree with {rows.note_texts} and {rows.passage_texts} rows of full text "
            f"({plural(rows.lost_vectors, 'lost vector')})",
            "rebuild",
        )
    if rows.passages > rows.vectors and app.embedder_choice().provider != "none":
        waiting = plural(rows.passages - rows.vectors, "passage waits", "passages wait")
        return Finding("rows", "doubtful", f"{detail}; {waiting} for a vector", "sync")
    return Finding("rows", "ok", detail)


def _drift(app: App) -> Finding:
    try:
        drift = app.drift()
    except (IndexMissing, IndexDamaged, IndexTooNew):
        return Finding("drift", "doubtful", "there is no sound index to compare with")
    if drift.suspicious:
        return Finding(
            "drift", "wrong", f"the vault is not believed ({drift.suspicious}); is its disk mounted?"
        )
    if drift.any:
        counts = f"{len(drift.new)} new, {len(drift.changed)} changed, {len(drift.gone)} gone"
        return Finding("drift", "doubtful", f"the index lags behind the vault: {counts}", "sync")
    if drift.unseen:
        return Finding(
            "drift",
            "doubtful",
            f"{plural(len(drift.unseen), 'note')} can't be looked at, as {drift.unseen[0]!r}",
        )
    return Finding("drift", "ok", "the index says what the vault says")


def _embedder(app: App) -> Finding:
    from hindbrain.edge.when import moment_text

    choice = app.embedder_choice()
    said = f"{choice.provider} ({choice.reason})"
    if choice.fell_back:
        return Finding("embedder", "doubtful", f"{said}; the one in the settings can't be used now")
    embedder = app.embedder
    if embedder is None:
        return Finding("embedder", "ok", "none: keyword search only, as the settings say")
    embedder.embed_query("hindbrain doctor")  # a few words of ours, never of a note
    if noted := app.embedder_failure(choice):
        return Finding(
            "embedder",
            "doubtful",
            f"{said} answers, and could not embed notes the last time, at {moment_text(noted.at)}: "
            f"{noted.message}  ({noted.code})",
            "sync",
        )
    if app.index_path.exists():
        try:
            held = app.store.meta("embedder")
        except HindbrainError:
            held = None  # the index has its own finding
        if held and held != embedder.name:
            return Finding(
                "embedder", "doubtful", f"{said} answers, and the index holds vectors of {held}", "sync"
            )
    return Finding("embedder", "ok", f"{said} answers")


def _encoder(app: App) -> Finding:
    """That none is installed is no trouble: search and memories do without."""
    from hindbrain.edge.vault_state import encoder_state, encoder_text

    state = encoder_state(app)
    encoder = app.encoder if state["state"] == "used" else None
    if encoder is not None:
        try:
            encoder.embed_query("hindbrain doctor")
        except EmbedderError as error:
            state |= {"state": "unusable", "problem": str(error)}
    if state["state"] == "unusable":
        return Finding("encoder", "wrong", f"{encoder_text(state)}  (encoder_unusable)")
    return Finding("encoder", "ok", encoder_text(state))


def _watch(app: App) -> Finding:
    from hindbrain.edge.vault_state import watch_state

    watch = watch_state(app)
    if watch is None:
        return Finding("watch", "ok", "not running")
    if not watch["alive"]:
        return Finding(
            "watch",
            "doubtful",
            f"it ended without notice ({watch['why_stale']}); start it again: hindbrain watch",
        )
    if watch["last_error"]:
        return Finding("watch", "doubtful", f"running, with trouble: {watch['last_error']}")
    if watch["events_fault"]:
        return Finding(
            "watch",
            "doubtful",
            f"running; it looks for changes again and again, since {watch['events_fault']}",
        )
    return Finding("watch", "ok", f"running ({watch['mode']}, process {watch['pid']})")


def _memory(app: App) -> Finding:
    from hindbrain.memory.forgetting.purge import unfinished

    status = app.memory.status()
    if begun := unfinished(app.state):
        again = f"hindbrain forget {begun[0]} --purge"
        return Finding(
            "memory", "wrong", f"a purge was cut short and has not removed everything; run: {again}"
        )
    if status.problems or status.unreadable:
        what = [
            *status.problems,
            *([f"{plural(status.unreadable, 'damaged line')} in the queue"] * bool(status.unreadable)),
        ]
        return Finding("memory", "doubtful", "; ".join(what))
    waits = [f"{status.pending} on their way into notes{_waited(app)}"] * bool(status.pending)
    waits += [f"{status.inbox} in the inbox for you"] * bool(status.inbox)
    return Finding("memory", "ok", ", ".join([plural(status.total, "memory"), *waits]))


def _waited(app: App) -> str:
    from hindbrain.edge.when import span_text

    oldest = min((entry.at for entry in app.memory.queue.pending()), default=0.0)
    return f", the oldest for {span_text(max(0.0, app.clock.now() - oldest))}" if oldest else ""


def _roles(app: App) -> Finding:
    """Notes of the layout that are not where they should be."""
    layout = app.layout
    moved = layout.moved
    if moved is None:
        return Finding("roles", "ok", f"layout {layout.name}")
    troubles = [
        _trouble_text(trouble)
        for trouble in moved.troubles(layout)
        if trouble.claims or not _removed_by_us(app, trouble.usual)
    ]
    if troubles:
        return Finding("roles", "doubtful", "; ".join(troubles))
    elsewhere = [f"{role} is {path!r}" for role, path in moved.elsewhere(layout).items()]
    return Finding("roles", "ok", ", ".join(elsewhere) or "every note of the layout is in its place")


def _shortened(text: str) -> str:
    """The beginning of a text, cut after a word."""
    import textwrap

    return textwrap.shorten(text, _LONGEST_NOTE, placeholder=" …")


def _removed_by_us(app: App, path: str) -> bool:
    """Return whether our last change of the note removed it, as an undo does."""
    changes = app.writer.history(path, 1)
    return bool(changes) and not changes[0].after_hash


def _trouble_text(trouble: Trouble) -> str:
    if not trouble.claims:
        return (
            f"the note of {trouble.role!r} ({trouble.usual!r}) is gone; bring it back (hindbrain history "
            "lists what Hindbrain changed), or go on: a new one is made when it is needed"
        )
    notes = ", ".join(map(repr, trouble.claims))
    return (
        f"{len(trouble.claims)} notes say that they are {trouble.role!r}: {notes}; {trouble.claims[0]!r} is "
        f"used. Move the right one to {trouble.usual!r}, or take `type` out of the others"
    )


def _guards(app: App) -> Finding:
    known = app.learning.guards()
    if known.unusable:
        told = "; ".join(f"{one.text!r} of {one.id!r}: {one.problem}" for one in known.unusable)
        return Finding("guards", "doubtful", f"not checked before tool calls: {told}; correct it there")
    waiting = [guard.id for guard in known.usable if guard not in known.in_force]
    if waiting:
        told = ", ".join(map(repr, dict.fromkeys(waiting)))
        return Finding("guards", "doubtful", f"the guard of {told} is not in force yet; run: hindbrain learn")
    return Finding("guards", "ok", plural(len(known.usable), "guard") + " before tool calls")


def _daemon(app: App) -> Finding:
    from hindbrain.edge.conversation_state import daemon_state, why_silent, without_daemon

    state = daemon_state(app.config)
    if state.get("died"):
        return Finding(
            "daemon",
            "doubtful",
            f"not running: process {state['died']} ended without notice; start it again: hindbrain up",
        )
    if not state["running"]:
        return Finding("daemon", "ok", f"not running; {without_daemon(app.config)}")
    process = f"process {state.get('pid', 'unknown')}"
    if not state["answers"]:
        return Finding("daemon", "doubtful", f"running ({process}); {why_silent(state)}")
    return Finding("daemon", "ok", f"running ({process})")


def _plugins(app: App) -> Finding:
    """What the daemon serves to plugins of agent hosts over HTTP."""
    from hindbrain.edge.conversation_state import daemon_state
    from hindbrain.edge.service.telling import service_standing

    standing = service_standing(app.config, daemon_state(app.config))
    if standing is None:
        return Finding("plugins", "ok", "none is served (setting service.port)")
    state: State = "doubtful" if standing.trouble else "ok"
    return Finding("plugins", state if standing.served else "wrong", standing.text)


def _hooks(app: App) -> Finding:
    from hindbrain.edge.conversation_state import hooks_state

    state = hooks_state(app.config)
    detail = f"{plural(state['calls_today'], 'call')} in the last day"
    if state["failures_today"]:
        last = state["last_failure"]
        what = f"{last['host']} {last['event']}: {_shortened(last['note'] or last['outcome'])}"
        return Finding(
            "hooks", "doubtful", f"{detail}, {state['failures_today']} failed, the last one {what}; "
            "hindbrain hook log shows them",
        )  # fmt: skip
    return Finding("hooks", "ok", detail if state["calls_today"] else "none was called in the last day")


def _capture(app: App) -> Finding:
    """What conversations have left to be kept. That something waits is usual; that it stays is not."""
    from hindbrain.edge.conversation_state import waiting_state, waiting_text

    state = waiting_state(app.state)
    told = waiting_text(state)
    rested = bool(state["waiting"]) and app.clock.now() - state["waiting_since"] > _RESTED_S
    if rested:
        told += "; nobody has come for it: hindbrain hook settle"
    if rested or state["aside"] or state["unreadable"] or state["troubles"]:
        return Finding("capture", "doubtful", told)
    return Finding("capture", "ok", told or "nothing of a conversation waits to be kept")


def _events(app: App) -> Finding:
    """Who could not be told what the owner asked to be told of."""
    announcing = app.announcing()
    if announcing is None:
        return Finding("events", "ok", "nobody asked to be told of them")
    problems = announcing.problems()
    if problems:
        return Finding("events", "doubtful", "; ".join(problems))
    waiting = announcing.waiting()
    return Finding("events", "ok", f"{waiting} on their way" if waiting else "everybody was told")


def _canary(app: App) -> Finding:
    """Can a note and a memory be written, indexed and found again? Tried in a vault of its own."""
    from hindbrain.edge.canary import try_canary

    if not app.state.is_dir():
        return Finding("canary", "ok", "not tried before the first sync")
    return _canary_finding(try_canary(app))


def _last_canary(app: App) -> Finding:
    """How the last try ended."""
    from hindbrain.edge.canary import last_result

    result = last_result(app.state)
    return Finding("canary", "ok", "never tried") if result is None else _canary_finding(result)


def _canary_finding(result: CanaryResult) -> Finding:
    from hindbrain.edge.when import moment_text, span_text

    if result.ok:
        took = ", ".join(f"{step} {span_text(ms / 1000)}" for step, ms in result.took_ms.items())
        return Finding("canary", "ok", f"a note and a memory of a try were found again: {took}")
    return Finding(
        "canary",
        "wrong",
        f"at {moment_text(result.at)} a try to store and find a memory failed at the step {result.step!r}: "
        f"{result.message}  ({result.code})",
    )


def _leftovers(app: App) -> Finding:
    """Temp files of ours that a crash left beside notes."""
    from hindbrain.vault.path_rules import PRIVATE_FOLDERS, TEMP_PREFIX

    found = []
    for folder, folders, files in os.walk(app.root):
        folders[:] = [name for name in folders if name not in PRIVATE_FOLDERS or name == ".hindbrain"]
        found += [
            str((Path(folder) / name).relative_to(app.root)) for name in files if name.startswith(TEMP_PREFIX)
        ]
    if found:
        return Finding(
            "leftovers",
            "doubtful",
            f"{plural(len(found), 'temp file')} of an interrupted write, as {found[0]!r}",
            "recover",
        )
    return Finding("leftovers", "ok", "no temp file of ours in the vault")


def _notes(app: App) -> Finding:
    """What the last sync could not take in as it is, and notes that can't be fully understood.

    What is left out on purpose, as a folder of templates, is no trouble.
    """
    from hindbrain.vault.scan_result import NOTICES, ON_PURPOSE

    try:
        report = [row for row in app.store.report() if row[1] not in ON_PURPOSE]
        problems = app.store.problems()
    except HindbrainError:
        return Finding("notes", "ok", "not known before the first sync")
    noticed = [row for row in report if row[1] in NOTICES]
    remarked = {path for path, _, _ in noticed}
    malformed = [path for path, _ in problems if path not in remarked]
    found = [*(row[0] for row in report if row[1] not in NOTICES), *sorted(remarked), *malformed]
    if not found:
        return Finding("notes", "ok", "every note was taken in, but what the settings leave out")
    left_out = len(found) - len(remarked) - len(malformed)
    counts = f"{left_out} left out, {len(malformed)} with something to mend"
    if remarked:
        counts += f", {len(remarked)} with a remark"
    return Finding("notes", "doubtful", f"{counts}, as {found[0]!r}; hindbrain status lists them")


_CHECKS: tuple[Check, ...] = (
    _vault,
    _state_folder,
    _sqlite,
    _index,
    _rows,
    _drift,
    _notes,
    _embedder,
    _encoder,
    _watch,
    _memory,
    _roles,
    _guards,
    _daemon,
    _plugins,
    _hooks,
    _capture,
    _events,
    _leftovers,
    _canary,
)
_WITHOUT_A_VAULT = (_vault, _state_folder, _sqlite, _index, _watch, _daemon, _plugins, _hooks, _capture)
_OF_THE_INDEX = (_rows, _drift, _notes)
# What `status` asks, too: cheap, and not said by its own lines.
QUICK: tuple[Check, ...] = (_vault, _state_folder, _sqlite, _memory, _roles, _guards, _events, _last_canary)
