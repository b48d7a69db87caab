"""Arguments in, a namespace out; mistakes become UsageError with the nearest thing that would be right.

Builds the parser of one command only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from hindbrain.base.errors import UsageError
from hindbrain.edge.commands import help_of
from hindbrain.edge.output import Output, terminal_width


class CommandModule(Protocol):
    """What a module in `commands` has."""

    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Output], int]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


class _HelpFormatter(argparse.HelpFormatter):
    """argparse makes one for every option that is added, and imports `shutil` to ask for the width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=terminal_width(sys.stdout))


def command_module(name: str) -> CommandModule:
    return cast(CommandModule, import_module(f"hindbrain.edge.commands.{name}"))


def make_parser(name: str, module: CommandModule) -> Parser:
    parser = Parser(
        prog=f"hindbrain {name}",
        description=help_of(name),
        allow_abbrev=False,
        formatter_class=_HelpFormatter,
    )
    module.configure(parser)
    everywhere = parser.add_argument_group("everywhere")
    everywhere.add_argument(
        "--vault",
        metavar="PATH",
        default="",
        help="the vault; else the nearest one upwards, else the setting vault.path",
    )
    everywhere.add_argument("--json", action="store_true", help="print one JSON value (docs/json.md)")
    everywhere.add_argument("--debug", action="store_true", help="show where an internal error happened")
    return parser


def parse(name: str, module: CommandModule, argv: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(name, module)
    args, rest = parser.parse_known_args(argv)
    # argparse takes the words before an option or after it, not both: `search tea --keyword ceremony`.
    if (
        rest
        and isinstance(getattr(args, "words", None), list)
        and not any(word.startswith("-") for word in rest)
    ):
        args.words += rest
        rest = []
    if rest:
        raise UsageError(_unknown(rest[0], parser))
    return args


def nearest(word: str, known: Sequence[str]) -> str:
    """A did-you-mean clause, or ""."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _unknown(word: str, parser: argparse.ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"{parser.prog} takes no argument {word!r} here; see {parser.prog} --help"
    options = [option for action in parser._actions for option in action.option_strings]
    hint = nearest(word.partition("=")[0], options) or f"; see {parser.prog} --help"
    return f"{parser.prog} has no option {word!r}{hint}"
