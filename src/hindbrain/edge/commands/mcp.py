"""`hindbrain mcp`: serve the memory to agents, put the server into a host's settings, show its token."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.memory.tools.tool import Tool

_ACTIONS = ("serve", "install", "uninstall", "token")
_INSTALLING = ("install", "uninstall")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="serve",
        metavar="ACTION",
        help="serve (default), install, uninstall, token",
    )
    parser.add_argument(
        "host_name", nargs="?", default="", metavar="HOST",
        help="install, uninstall: claude-code, claude-desktop, cursor, codex, openclaw, opencode",
    )  # fmt: skip
    parser.add_argument(
        "--tools", default="", metavar="SET", help="core (default), vault, openclaw, all (docs/tools.md)"
    )
    parser.add_argument(
        "--messages", action="store_true",
        help="offer openclaw_send and openclaw_check too, for the channels in agent.toml",
    )  # fmt: skip
    parser.add_argument("--structured", action="store_true", help="send results as data too (docs/mcp.md)")
    parser.add_argument("--no-watch", action="store_true", help="do not keep the index up to date meanwhile")
    parser.add_argument(
        "--dry-run", action="store_true", help="install, uninstall: show the change, make none"
    )
    parser.add_argument("--write", action="store_true", help="install: no longer needed; it writes anyway")
    over_http = parser.add_argument_group("over HTTP")
    over_http.add_argument("--http", action="store_true", help="serve streamable HTTP instead of stdio")
    over_http.add_argument("--host", default="", help="address to listen on (127.0.0.1)")
    over_http.add_argument("--port", type=int, default=None, help="port to listen on (8737; 0: any free one)")
    over_http.add_argument("--token-file", default="", metavar="FILE", help="where the token is kept")
    over_http.add_argument(
        "--allow-remote", action="append", default=[], metavar="NAME:PORT",
        help="listen for other machines too, which reach it under this name",
    )  # fmt: skip
    parser.add_argument("--plain-import", action="store_true", help="import the SDK in its usual, slower way")


def run(args: Namespace, out: Output) -> int:
    _check(args)
    if args.action in _INSTALLING:
        return _install(args, out)
    if args.action == "token":
        return _show_token(args, out)
    return _serve_http(args, out) if args.http else _serve_stdio(args, out)


def _check(args: Namespace) -> None:
    """Options that belong together; one that would be ignored is a mistake."""
    if args.action not in _ACTIONS:
        raise UsageError(f"hindbrain mcp can't {args.action!r}; it can: {', '.join(_ACTIONS)}")
    if args.host_name and args.action not in _INSTALLING:
        raise UsageError(f"hindbrain mcp {args.action} takes no argument {args.host_name!r}")
    if args.write and args.action != "install":
        raise UsageError("--write belongs to hindbrain mcp install")
    if args.dry_run and args.action not in _INSTALLING:
        raise UsageError("--dry-run belongs to hindbrain mcp install and uninstall")
    if args.dry_run and args.write:
        raise UsageError("--dry-run and --write exclude each other")
    over_http = {"--host": args.host, "--port": args.port, "--allow-remote": args.allow_remote}
    if args.action != "token":
        over_http["--token-file"] = args.token_file
    given = [name for name, value in over_http.items() if value not in (None, "", [])]
    if given and not args.http:
        raise UsageError(f"{given[0]} belongs to hindbrain mcp --http")


def _serve_stdio(args: Namespace, out: Output) -> int:
    from hindbrain.edge.mcp.sdk import import_for_stdio

    # Before anything is imported: a wrong vault is told at once. One that is away may come back meanwhile.
    app = open_app(args, warm=True, away_ok=True)
    if sys.stdin.isatty():
        out.say(
            "waiting for an MCP client on stdin. Hosts start this by themselves: hindbrain mcp install HOST"
        )
    import_for_stdio(plain=args.plain_import)
    from hindbrain.edge.mcp.server import Protocol
    from hindbrain.edge.mcp.stdio import serve_stdio
    from hindbrain.edge.serving.serving import Serving

    tools = _tools(args, app)
    serving = Serving(lambda: open_app(args, config=app.config, warm=True), keep=not args.no_watch)
    serving.expect_index(app)
    serve_stdio(Protocol(serving, tools, structured=args.structured), serving)
    return 0


def _serve_http(args: Namespace, out: Output) -> int:
    from hindbrain.edge.http.address import LOOPBACK, Address, check_address
    from hindbrain.edge.http.token import read_or_make_token
    from hindbrain.edge.mcp.http import DEFAULT_PORT, serve_http, token_file
    from hindbrain.edge.mcp.sdk import check_installed

    app = open_app(args, warm=True, away_ok=True)
    address = Address(
        args.host or LOOPBACK, DEFAULT_PORT if args.port is None else args.port, tuple(args.allow_remote)
    )
    check_address(address)
    tools = _tools(args, app)
    check_installed()
    from hindbrain.edge.mcp.server import Protocol
    from hindbrain.edge.serving.serving import Serving

    file = token_file(app.state, args.token_file)
    token = read_or_make_token(file)

    def announce(url: str) -> None:
        if out.json:
            out.data({"url": url, "token_file": str(file), "vault": str(app.root)})
        else:
            out.line(url)
        out.stdout.flush()
        out.say(f"serving {str(app.root)!r}; Ctrl-C ends it. Clients need the token: hindbrain mcp token")

    serving = Serving(lambda: open_app(args, config=app.config, warm=True), keep=not args.no_watch)
    serving.expect_index(app)
    serve_http(Protocol(serving, tools, structured=args.structured), serving, address, token, announce)
    return 0


def _tools(args: Namespace, app: App) -> tuple[Tool, ...]:
    from hindbrain.memory.tools import DEFAULT_SET, tools_of

    tools = tools_of(args.tools or DEFAULT_SET)
    if not args.messages:
        return tools
    from hindbrain.edge.mcp.messages import message_tools

    return (*tools, *message_tools(app))


def _show_token(args: Namespace, out: Output) -> int:
    from hindbrain.edge.http.token import read_or_make_token
    from hindbrain.edge.mcp.http import token_file

    file = token_file(open_app(args).state, args.token_file)
    token = read_or_make_token(file)
    if out.json:
        out.data({"token": token, "file": str(file)})
    else:
        out.line(token)
        out.say(f"kept in {str(file)!r}; delete the file and start the server again to have a new one")
    return 0


def _install(args: Namespace, out: Output) -> int:
    from hindbrain.edge.mcp.hosts import host_named
    from hindbrain.edge.mcp.install import install, uninstall

    host = host_named(args.host_name)
    if args.action == "uninstall":
        return uninstall(host, dry=args.dry_run, out=out)
    app = open_app(args)
    _tools(args, app)  # a set or a channel that is not there is told now, not by the host
    options = [*(["--tools", args.tools] if args.tools else []), *(["--messages"] if args.messages else [])]
    return install(host, app.root, options, dry=args.dry_run, out=out)
