"""`hindbrain init`: give a vault an id, so that it is known again after it was moved or synced elsewhere."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.edge.opening import open_app, sync_with_progress
from hindbrain.edge.output import Output
from hindbrain.edge.report_text import summary, troubles

if TYPE_CHECKING:
    from hindbrain.app import App

_README = """\
# .hindbrain

This folder belongs to Hindbrain, which searches the notes around it. Keep it with the notes.

- `vault-id` tells this vault from others, wherever it is moved or synced to.
- `usage.jsonl` (when it is there) lists which notes were opened through Hindbrain; it helps to rank them.

No note is changed by anything in here, and the search index is kept elsewhere. If you delete this folder,
your notes are as they were; only these memories of use are gone.
"""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", default="", metavar="PATH", help="the folder; else --vault, else the current one"
    )
    parser.add_argument("--sync", action="store_true", help="make the search index, too")


def run(args: Namespace, out: Output) -> int:
    from hindbrain.vault.discover import read_vault_id

    args.vault = args.path or args.vault or "."
    with closing(open_app(args)) as app:
        made = not read_vault_id(app.root)
        if made:
            _make(app, out)
    # Opened again, since the id names the folder in which the index is kept.
    with closing(open_app(args)) as app:
        if out.json:
            out.data({"vault": str(app.root), "id": read_vault_id(app.root), "made": made})
        else:
            out.line(f"{str(app.root)!r} is {'now' if made else 'already'} a vault")
        if args.sync:
            report = sync_with_progress(app, out)
            out.say(summary(report, "done"))
            for text in (wrong := troubles(report)):
                out.warn(text)
            return 1 if wrong else 0
    if made and not out.json:
        out.say("next: hindbrain sync, then hindbrain search WORDS")
    return 0


def _make(app: App, out: Output) -> None:
    import uuid

    from hindbrain.vault.discover import find_vault

    around = find_vault(app.root.parent)
    if around is not None:
        out.warn(f"{str(app.root)!r} lies inside the vault {str(around)!r}; its notes belong to both")
    if not (app.root / ".hindbrain" / "README.md").exists():
        app.writer.put_state_file("README.md", _README.encode())
    # The id comes last: with it the vault is made.
    app.writer.put_state_file("vault-id", f"{uuid.uuid4().hex}\n".encode())
