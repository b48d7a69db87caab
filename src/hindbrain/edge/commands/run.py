"""`hindbrain run`: the agent carries out one command, with the vault as its memory; or many, as they come."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import Output

if TYPE_CHECKING:
    from hindbrain.agent.run import Limits, RunRequest
    from hindbrain.app import App

_MOST_MINUTES = 24 * 60
_PRESET = "agent"
_OF_ONE_RUN = ("check", "unattended", "no_wait")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="what is to be done, in your words")
    parser.add_argument(
        "--check", action="append", default=[], metavar="FORM",
        help="what must hold at the end: 'command: make test', 'file: PATH', 'text: PATH: TEXT', "
        "'http: URL 200', 'screen: TEXT'; as often as you like",
    )  # fmt: skip
    parser.add_argument(
        "--allow", action="append", default=[], metavar="TOOL",
        help="do not ask about this tool in this run, or while this listens; as often as you like. For all "
        "runs: agent.toml, [tools] allow; programs: [shell] allow",
    )  # fmt: skip
    parser.add_argument(
        "--workspace", default="", metavar="DIR",
        help="the folder whose files it may read and write (agent.toml, else the current one)",
    )  # fmt: skip
    parser.add_argument("--iterations", type=int, default=None, metavar="N", help="end after so many (30)")
    parser.add_argument("--minutes", type=float, default=None, metavar="M", help="end after that long (30)")
    parser.add_argument(
        "--preset", default="", metavar="NAME",
        help="what of the vault enters the prompt: agent, compact, full, ..., or one of your own (agent)",
    )  # fmt: skip
    parser.add_argument("--no-memory", action="store_true", help="put nothing of the vault into the prompt")
    parser.add_argument(
        "--unattended", action="store_true", help="ask nobody: what needs your word waits (hindbrain approve)"
    )
    parser.add_argument(
        "--judge", action="store_true", help="let the model look at the result again and judge it"
    )
    parser.add_argument("--no-wait", action="store_true", help="fail when another run goes on in this vault")
    parser.add_argument(
        "--listen", action="store_true",
        help="take commands from your channels and over HTTP on this machine, until Ctrl-C (docs/agent.md)",
    )  # fmt: skip
    parser.add_argument("--port", type=int, default=None, metavar="N", help="listen: at this port (8738)")


def run(args: Namespace, out: Output) -> int:
    _check(args)
    with closing(open_app(args, warm=True)) as app:
        app.agent.check()  # before an index is made: without a model there is nothing to do
        if not args.no_memory:
            app.context.preset(args.preset or _PRESET)  # the same holds for a preset that there is not
            prepare_index(app, out)
        request = request_of(app, args, " ".join(args.words))
        if args.allow:
            _check_no_agent()
            _check_tools(args.allow, app.agent.tool_names(request))
        if args.listen:
            from hindbrain.edge.agent_runs.listening import listen

            return listen(app, request, out, port=args.port)
        return _carry_out(app, request, args, out)


def _carry_out(app: App, request: RunRequest, args: Namespace, out: Output) -> int:
    from hindbrain.edge.agent_runs.carrying_out import carry_out
    from hindbrain.edge.agent_runs.person_words import PersonWords

    if request.preset:
        PersonWords(app, request.session, out, workspace=request.workspace).hear(request.command)
    work = partial(app.agent.run, request)
    return carry_out(app, work, out, unattended=args.unattended, wait=not args.no_wait)


def _check(args: Namespace) -> None:
    """Options that belong together; one that would be ignored is a mistake."""
    command = " ".join(args.words).strip()
    if args.listen and command:
        raise UsageError("with --listen commands come from elsewhere; give a command or --listen, not both")
    if not args.listen and not command:
        raise UsageError('say what is to be done: hindbrain run "tidy my inbox folder"')
    given = [name for name in _OF_ONE_RUN if args.listen and getattr(args, name)]
    if given:
        raise UsageError(f"--{given[0].replace('_', '-')} does not go with --listen")
    if args.preset and args.no_memory:
        raise UsageError("--preset does not go with --no-memory, which puts nothing into the prompt")
    if args.allow:
        _check_no_shell(args.allow)
    if args.port is not None and not args.listen:
        raise UsageError("--port belongs to hindbrain run --listen")
    if args.iterations is not None and args.iterations < 1:
        raise UsageError(f"--iterations is {args.iterations}; give at least 1")
    if args.minutes is not None and not 0 < args.minutes <= _MOST_MINUTES:
        raise UsageError(f"--minutes is {args.minutes:g}; give more than 0 and at most {_MOST_MINUTES}")
    if args.workspace and not Path(args.workspace).expanduser().is_dir():
        raise UsageError(f"there is no folder {args.workspace!r} to work in; make it, or name another")


def _check_no_agent() -> None:
    """A script of the owner may allow tools beforehand; an agent may not."""
    from hindbrain.base.errors import NeedsPerson
    from hindbrain.edge.person import started_by

    if agent := started_by():
        raise NeedsPerson(f"this runs inside {agent}, and an agent can't approve; run it without --allow")


def _check_no_shell(named: Sequence[str]) -> None:
    from hindbrain.agent.safety.approval import SHELL

    if SHELL in named:
        raise UsageError(
            f"--allow {SHELL} would allow every program; name those that need no question under "
            "[shell] allow in agent.toml, or answer `a` at the question, which allows the same command again"
        )


def _check_tools(named: Sequence[str], known: Sequence[str]) -> None:
    from hindbrain.edge.parser import nearest

    for name in named:
        if name not in known:
            hint = nearest(name, known) or f"; there are: {', '.join(known)}"
            raise UsageError(f"there is no tool {name!r} to allow here{hint}")


def request_of(app: App, args: Namespace, command: str) -> RunRequest:
    from hindbrain.agent.run import RunRequest
    from hindbrain.agent.verify.check import parse_check

    return RunRequest(
        command,
        checks=tuple(parse_check(text) for text in args.check),
        limits=_limits(app.agent.limits, args),
        preset="" if args.no_memory else args.preset or _PRESET,
        workspace=str(Path(args.workspace).expanduser().absolute()) if args.workspace else "",
        allowed=tuple(args.allow),
        judged=args.judge,
    )


def _limits(usual: Limits, args: Namespace) -> Limits:
    if args.iterations is not None:
        usual = usual._replace(iterations=args.iterations)
    return usual if args.minutes is None else usual._replace(seconds=args.minutes * 60)
