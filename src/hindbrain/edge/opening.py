"""From a command's arguments to an opened vault; and the index that is made at the first need."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.app import App, build_app, locate_vault
from hindbrain.base.config import Config, load_config
from hindbrain.base.errors import NotFound, VaultError
from hindbrain.edge.output import Output

if TYPE_CHECKING:
    from hindbrain.index.sync import SyncReport


def open_app(args: Namespace, *, config: Config | None = None, warm: bool = False) -> App:
    """The vault that the arguments mean. NotFound when there is none, VaultError when it is no folder."""
    if not warm:
        # A pool of threads takes longer to start than a command that runs once has work for it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    config = config or load_config()
    root = locate_vault(config, named=args.vault)
    check_folder(root)
    return build_app(config, root, warm=warm)


def check_folder(root: Path, *, named_by: str = "") -> None:
    """`named_by`: what says that the vault is there."""
    if root.is_dir():
        return
    said = f" ({named_by})" if named_by else ""
    if root.exists():
        raise VaultError(f"{str(root)!r}{said} is not a folder; give the folder that holds the notes")
    raise NotFound(f"no vault at {str(root)!r}{said}; check the path, and that its disk is mounted")


def sync_with_progress(
    app: App, out: Output, *, verify: bool = False, confirm: bool = False, vectors: bool = True
) -> SyncReport:
    from hindbrain.edge.progress import shown_progress

    with shown_progress(out) as listener:
        return app.sync(listener, verify=verify, confirm=confirm, vectors=vectors)


def make_first_index(app: App, out: Output) -> None:
    """For whoever searches before the first sync: make the index, and say what could not be taken in."""
    from hindbrain.edge.report_text import troubles

    out.say(f"indexing {str(app.root)!r} (first time)")
    report = sync_with_progress(app, out)
    out.say(f"{report.indexed} notes indexed")
    for text in troubles(report):
        out.warn(text)
