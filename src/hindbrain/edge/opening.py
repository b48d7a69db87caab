"""From a command's arguments to an opened vault; and the index that is made at the first need."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.app import App, build_app, locate_vault
from hindbrain.base.config import Config, load_config, state_folder
from hindbrain.base.errors import Busy, IndexMissing, NotFound, VaultError
from hindbrain.base.plural import plural
from hindbrain.edge.output import Output
from hindbrain.vault.binding import bind

if TYPE_CHECKING:
    from hindbrain.index.sync import SyncReport


def open_app(
    args: Namespace, *, config: Config | None = None, warm: bool = False, away_ok: bool = False
) -> App:
    """The vault that the arguments mean. NotFound when there is none, VaultError when it is no folder.

    VaultAway when the vault of that folder is not there; not with `away_ok`, for what needs its state only.
    """
    if not warm:
        # A pool of threads takes longer to start than a command that runs once has work for it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    config = config or load_config()
    root = locate_vault(config, named=args.vault)
    if not root.is_dir():
        check_vault(config, root, away_ok=away_ok)
    app = build_app(config, root, warm=warm, away_ok=away_ok)
    if app.copy_of:
        app = _with_own_id(app)
    if not warm:
        from hindbrain.edge.daemon.search_call import daemon_search

        app.ask_elsewhere = daemon_search(config, root)
        app.started_by = _started_by
    return app


def _started_by() -> str:
    from hindbrain.edge.person import started_by

    return started_by()


def _with_own_id(copy: App) -> App:
    """A copied vault, opened as a vault of its own. Its owner is told, once."""
    left = copy.leave_original()
    copy.close()
    if left:
        sys.stderr.write(
            f"hindbrain: {str(copy.root)!r} is a copy of {copy.copy_of!r} and has an id of its own now; "
            "its index and its history begin here, the original keeps its own\n"
        )
    return build_app(copy.config, copy.root, warm=copy.warm)


def check_vault(config: Config, root: Path, *, named_by: str = "", away_ok: bool = False) -> None:
    """Raises VaultAway when the vault of this folder is not there, else as `check_folder`."""
    bound = bind(state_folder(config), root)
    if bound.away and away_ok:
        return
    bound.check(root)
    check_folder(root, named_by=named_by)


def check_folder(root: Path, *, named_by: str = "") -> None:
    """`named_by`: what says that the vault is there."""
    if root.is_dir():
        return
    said = f" ({named_by})" if named_by else ""
    if root.exists():
        raise VaultError(f"{str(root)!r}{said} is not a folder; give the folder that holds the notes")
    import shlex

    raise NotFound(
        f"no vault at {str(root)!r}{said}: the folder does not exist; check the path and that its disk is "
        f"mounted, or make a new folder: mkdir -p {shlex.quote(str(root))}"
    )


def sync_with_progress(
    app: App, out: Output, *, verify: bool = False, confirm: bool = False, vectors: bool = True
) -> SyncReport:
    from hindbrain.edge.progress import shown_progress

    with shown_progress(out) as listener:
        report = app.sync(listener, verify=verify, confirm=confirm, vectors=vectors)
    if vectors and report.clean and not app.lacks_vectors():
        app.measure_null()
    return report


def prepare_index(app: App, out: Output, *, no_sync: bool = False, vectors: bool = True) -> None:
    """Before an answer: make the index, or finish one that was cut short. `no_sync`: take it as it is.

    `vectors`: the answer needs them. Only the built-in embedder is worth waiting for.
    """
    app.takes_in = not no_sync
    if no_sync:
        return
    if app.has_whole_index() and not (vectors and app.lacks_vectors()):
        return
    if app.index_path.exists() and _is_being_written(app):
        return  # another process is at it; the answer says how far that is
    _make_index(app, out)


def _is_being_written(app: App) -> bool:
    from hindbrain.vault.lock import FileLock

    try:
        with FileLock(app.state / "index.lock").held(0):
            return False
    except Busy:
        return True


def _make_index(app: App, out: Output) -> None:
    """Make the index, and say what could not be taken in."""
    from hindbrain.edge.report_text import troubles

    out.say(f"indexing {str(app.root)!r} ({_why_index(app)})")
    report = sync_with_progress(app, out)
    out.say(f"{plural(report.indexed, 'note')} indexed")
    for text in troubles(report):
        out.warn(text)


def _why_index(app: App) -> str:
    if not app.index_path.exists():
        return "first time"
    try:
        synced = app.store.meta("synced_at")
    except IndexMissing:
        return "it was emptied, or is of an older version"
    if synced and not app.has_whole_index():
        return "the version or its settings have changed"
    return "going on where it stopped"
