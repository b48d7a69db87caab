"""`hindbrain init`: give a vault an id and a layout, so that it is known again after it was moved or synced
elsewhere, and every machine that shares it keeps the agent's notes in the same places."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.config import load_config, state_folder
from hindbrain.base.errors import UsageError, WriteFailed
from hindbrain.edge.opening import open_app, sync_with_progress
from hindbrain.edge.output import Output
from hindbrain.edge.report_text import summary, troubles
from hindbrain.edge.vault_making import arrange, make_vault
from hindbrain.vault.discover import read_vault_id

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.edge.layout_choice import LayoutChoice
    from hindbrain.vault.first_notes import FirstNotes


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", default="", metavar="PATH", help="the folder; else --vault, else the current one"
    )
    parser.add_argument(
        "--layout",
        default="",
        metavar="NAME|FILE",
        help="obsidian, brain, openclaw, para or a TOML file: where the agents' notes are kept; makes the "
        "first ones (of openclaw, PATH is $OPENCLAW_HOME or ~/.openclaw unless given; inside a vault it must "
        "be given)",
    )
    parser.add_argument(
        "--folder", default=None, metavar="FOLDER", help="the folder in the vault for these notes"
    )
    parser.add_argument(
        "--switch",
        action="store_true",
        help="take another layout than the vault has; the notes of the old one stay where they are",
    )
    parser.add_argument(
        "--new",
        action="store_true",
        help="make a new vault in a folder whose vault is away (its disk is not mounted, perhaps)",
    )
    parser.add_argument("--sync", action="store_true", help="make the search index, too")


def run(args: Namespace, out: Output) -> int:
    whole = _is_openclaw_home(args)
    if whole:
        _tell_openclaw_home(out)
    args.vault = args.path or args.vault or (str(_openclaw_home()) if whole else ".")
    if args.layout:
        _make_folder(Path(args.vault).expanduser(), args, out)
    former = _let_go(args)
    with closing(open_app(args)) as app:
        choice = _choose(app, args, whole=whole)  # before anything is written: it may be refused
        made = not read_vault_id(app.root)
        if made and (around := make_vault(app, former)):
            out.warn(f"{str(app.root)!r} lies inside the vault {str(around)!r}; its notes belong to both")
    # Opened again, since the id names the folder in which the index is kept.
    with closing(open_app(args)) as app:
        notes = arrange(app, choice)
        _tell(app, out, choice, notes, made=made)
        wrong = [f"{path!r} was not made: {why}" for path, why in notes.failed]
        if args.sync:
            report = sync_with_progress(app, out)
            out.say(summary(report, "done"))
            wrong += troubles(report)
        for text in wrong:
            out.warn(text)
    if made and not wrong and not args.sync and not out.json:
        out.say("next: hindbrain sync, then hindbrain search WORDS")
    return 1 if wrong else 0


def _let_go(args: Namespace) -> str:
    """Free the folder of a vault that is away. Returns its id where it only lost `.hindbrain`, else ""."""
    from hindbrain.vault.binding import bind, is_same_folder, release

    state, root = state_folder(load_config()), Path(args.vault).expanduser().absolute()
    bound = bind(state, root)
    if not bound.away or not root.is_dir():
        return ""
    found = read_vault_id(root)
    only_lost_id = not found and is_same_folder(bound.state, root) and any(root.iterdir())
    if not args.new and not only_lost_id:
        bound.check(root)
    release(state, root)
    return bound.state.name if only_lost_id and not args.new else ""


def _is_openclaw_home(args: Namespace) -> bool:
    return args.layout == "openclaw" and not args.path and not args.vault


def _tell_openclaw_home(out: Output) -> None:
    """OpenClaw's own folder is meant, unless somebody stands in another vault: that one may be meant."""
    from hindbrain.vault.discover import find_vault

    home, around = _openclaw_home(), find_vault(Path.cwd())
    if around is not None and not around.resolve().is_relative_to(home.resolve()):
        raise UsageError(
            f"you are in the vault {str(around)!r}, and without a path this layout is for OpenClaw's own "
            f"folder, {str(home)!r}; name the one that you mean: hindbrain init PATH --layout openclaw"
        )
    out.say(f"using OpenClaw's folder {str(home)!r}")


def _openclaw_home() -> Path:
    return Path(os.environ.get("OPENCLAW_HOME") or "~/.openclaw").expanduser()


def _make_folder(folder: Path, args: Namespace, out: Output) -> None:
    """Make a new vault's folder, but not the folders above: a path that is mistyped stays an error."""
    from hindbrain.edge.layout_choice import check_wanted

    if folder.exists() or not folder.parent.is_dir():
        return
    check_wanted(args.layout, args.folder)
    try:
        folder.mkdir()
    except OSError as error:
        raise WriteFailed(f"the folder {str(folder)!r} can't be made: {error.strerror}") from error
    out.say(f"made the folder {str(folder)!r}")


def _choose(app: App, args: Namespace, *, whole: bool) -> LayoutChoice:
    from hindbrain.edge.layout_choice import choose_layout

    choice = choose_layout(app.root, args.layout, args.folder, whole=whole)
    if choice.left_behind and not args.switch:
        raise UsageError(
            f"{str(app.root)!r} has another layout, and notes in it: {'; '.join(choice.left_behind)}. No "
            "note is moved, and those at the old places would no longer be used; if you mean it, add --switch"
        )
    return choice


def _tell(app: App, out: Output, choice: LayoutChoice, notes: FirstNotes, *, made: bool) -> None:
    layout = choice.layout
    if out.json:
        out.data(
            {
                "vault": str(app.root),
                "id": read_vault_id(app.root),
                "made": made,
                "layout": {"name": layout.name, "folder": layout.folder},
                "created": list(notes.created),
                "kept": list(notes.kept),
                "moved": list(choice.differs),
                "failed": [{"path": path, "message": why} for path, why in notes.failed],
            }
        )
        return
    out.line(f"{str(app.root)!r} is {'now' if made else 'already'} a vault")
    place = f"in the folder {layout.folder!r}" if layout.folder else "in the whole vault"
    out.line(f"layout {layout.name}, {place}")
    for path in notes.created:
        out.line(f"  made {path}")
    if notes.kept and notes.created:
        out.line(f"  kept {len(notes.kept)} that were there")
    if choice.differs:
        out.say("other places than before; notes that are there stay where they are:")
        for text in choice.differs:
            out.say(f"  {text}")
    if choice.as_is:
        out.say("its notes are used as they are; others are made when first needed")
    elif made and not choice.make_notes:
        out.say(
            "the notes for agents (profile, tasks, memories) are made when they are first written to; "
            f"to make them now: hindbrain init --layout {layout.name}"
        )
