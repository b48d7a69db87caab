"""`hindbrain openclaw import`: what an OpenClaw remembers, brought into a vault without changing it there.

Plans, shows, and carries out: notes of its curated files, lines of its days, and its owner's conversations,
which go through the same capture as those of every day. Done twice, it changes nothing.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.capture.catching_up import CaughtUp
    from hindbrain.edge.openclaw.old_notes import OldFiles
    from hindbrain.edge.openclaw.place import Workspace
    from hindbrain.edge.openclaw.sessions import Session

_STEP_S = 10.0  # of capturing, between two words about it
_HOST = "openclaw"


class Origin(NamedTuple):
    """Where it comes from."""

    folder: Path  # that of OpenClaw's state, or a workspace alone
    workspaces: tuple[Workspace, ...]
    is_state: bool


class OldSession(NamedTuple):
    session: Session
    new: int  # messages


class Plan(NamedTuple):
    origin: Origin
    files: OldFiles
    sessions: tuple[OldSession, ...]
    problems: tuple[str, ...]

    @property
    def talks(self) -> list[OldSession]:
        return [one for one in self.sessions if not one.session.left]


class Brought(NamedTuple):
    """What was done."""

    notes: int = 0
    lines: int = 0
    held: int = 0
    messages: int = 0
    stored: int = 0
    problems: tuple[str, ...] = ()


def configure_import(parser: ArgumentParser) -> None:
    """Options of `import`."""
    group = parser.add_argument_group("import")
    group.add_argument(
        "--from", dest="origin", metavar="FOLDER", help="OpenClaw's state folder, or one of its workspaces"
    )
    group.add_argument(
        "--groups", action="store_true", help="also what was said in group chats, by others than you"
    )


def check_import(args: Namespace) -> None:
    """UsageError for an option of `import` that another action would ignore."""
    given = "--from" if args.origin is not None else "--groups" if args.groups else ""
    if given and args.action != "import":
        raise UsageError(f"{given} belongs to hindbrain openclaw import")


def run_import(args: Namespace, out: Output) -> int:
    from hindbrain.edge.openclaw.import_text import import_data, show_import
    from hindbrain.edge.opening import open_app

    origin = _origin(args)
    with closing(open_app(args)) as app:
        plan = make_plan(app, origin, groups=args.groups)
        brought = Brought() if args.dry_run else carry_out(app, plan, out)
        problems = (*plan.problems, *brought.problems)
        if out.json:
            out.data(import_data(plan, brought, problems))
        else:
            show_import(plan, brought, out, dry=args.dry_run)
            for problem in problems:
                out.warn(safe(problem))
    return 1 if problems else 0


def make_plan(app: App, origin: Origin, *, groups: bool = False) -> Plan:
    from hindbrain.context.capture.said import count_new
    from hindbrain.context.turn import SessionKey
    from hindbrain.edge.openclaw.old_notes import find_old_files
    from hindbrain.edge.openclaw.sessions import Found, find_sessions

    files = find_old_files(app.memory, origin.workspaces)
    found = find_sessions(origin.folder, groups=groups) if origin.is_state else Found()
    sessions = tuple(
        OldSession(one, 0 if one.left else count_new(app.state, SessionKey(_HOST, one.id), one.messages))
        for one in found.sessions
    )
    unread = tuple(one.problem for one in found.sessions if one.problem)
    return Plan(origin, files, sessions, (*files.problems, *found.problems, *unread))


def carry_out(app: App, plan: Plan, out: Output) -> Brought:
    """Each file and session stands for itself: what fails is told, and the rest is done."""
    from hindbrain.context.turn import SessionKey
    from hindbrain.edge.openclaw.old_notes import write_note

    notes = lines = held = messages = 0
    problems: list[str] = []
    for note in plan.files.notes:
        if note.action in ("create", "update"):
            try:
                write_note(app.memory, note)
                notes += 1
            except (HindbrainError, OSError) as error:
                problems.append(f"{str(note.source)!r} is left out: {error}")
    for day in plan.files.days:
        try:
            taken = app.context.take_flush(SessionKey(_HOST, "import"), str(day.source), day.text)
            lines, held = lines + taken.added, held + taken.held
        except (HindbrainError, OSError) as error:
            problems.append(f"{str(day.source)!r} is left out: {error}")
    for one in plan.talks:
        if one.new:
            try:
                app.context.said(SessionKey(_HOST, one.session.id), one.session.messages, one.session.cwd)
                messages += one.new
            except HindbrainError as error:
                problems.append(str(error))
    caught = _captured(app, out) if messages else None
    stored = caught.stored if caught else 0
    return Brought(notes, lines, held, messages, stored, (*problems, *(caught.problems if caught else ())))


def _captured(app: App, out: Output) -> CaughtUp:
    """Bring what was said into memory, step by step; what another process is at is left to it."""
    total = app.context.catch_up(deadline_s=_STEP_S)
    last = total
    while last.more and last.messages:
        out.say(f"captured {plural(total.messages, 'message')}, stored {plural(total.stored, 'memory')}")
        last = app.context.catch_up(deadline_s=_STEP_S)
        total = total._replace(
            messages=total.messages + last.messages,
            stored=total.stored + last.stored,
            problems=(*total.problems, *last.problems),
        )
    if last.more:
        out.say("what is left is captured by the daemon, or with the next session (hindbrain status)")
    return total


def _origin(args: Namespace) -> Origin:
    from hindbrain.edge.mcp.hosts import Place
    from hindbrain.edge.openclaw.place import Workspace, find_openclaw, this_machine, workspaces

    if args.origin is None:
        found = find_openclaw(this_machine(args.profile))
        return Origin(found.folder, workspaces(found), True)
    if args.profile:
        raise UsageError("--from and --profile both say where OpenClaw is; give one")
    folder = Path(args.origin).expanduser().absolute()
    if not folder.is_dir():
        raise NotFound(f"there is no folder {str(folder)!r}; give OpenClaw's state folder or a workspace")
    if not (folder / "agents").is_dir() and not (folder / "openclaw.json").is_file():
        return Origin(folder, (Workspace("main", folder),), False)
    here = this_machine()
    named = {name: value for name, value in here.environ.items() if not name.startswith("OPENCLAW_")}
    found = find_openclaw(Place(here.home, here.platform, {**named, "OPENCLAW_STATE_DIR": str(folder)}))
    return Origin(folder, workspaces(found), True)
