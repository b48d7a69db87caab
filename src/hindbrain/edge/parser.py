"""Arguments in, a namespace out; mistakes become UsageError with the nearest thing that would be right.

Builds the parser of one command only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Container, Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

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

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """argparse's own, with a hint: a choice that is not there is most often one that was mistyped."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        near = nearest(str(value), choices) if " " not in str(value) else ""  # "Buy rope" is not 'reopen'
        hint = near or f"; choose one of: {', '.join(choices)}"
        if action.option_strings:
            raise UsageError(f"{self.prog} {action.option_strings[-1]} can't be {value!r}{hint}")
        raise UsageError(f"{self.prog} can't {value!r}{hint}")


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
    for action in parser._actions:
        _spell_out(action)
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


def _spell_out(action: argparse.Action) -> None:
    """What argparse leaves to each of its own texts, said once for help, errors and docs/cli.md."""
    if action.nargs == "*":
        action.required = False  # argparse would name it among those that are missing
    if action.metavar is None and action.nargs != 0:
        action.metavar = "|".join(map(str, action.choices or [action.dest.upper()]))


def parse(name: str, module: CommandModule, argv: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(name, module)
    args, rest = parser.parse_known_args(_options_first(parser, argv))
    wrong = next((word for word in rest if word != "--"), None)
    if wrong is not None:
        raise UsageError(_unknown(wrong, parser))
    return args


def _options_first(parser: argparse.ArgumentParser, argv: Sequence[str]) -> list[str]:
    """The same arguments, options before words, so that words may stand on both sides of an option.

    argparse takes words from one place only (`search tea --keyword ceremony`), and takes text that begins as
    an option does for that option (`remember "-have tea at five"`).
    """
    known = parser._option_string_actions
    options: list[str] = []
    words: list[str] = []
    i = 0
    while i < len(argv):
        word = argv[i]
        i += 1
        if word == "--":
            words += argv[i:]
            break
        if not _is_option(word, known):
            words.append(word)
            continue
        if word in known and i < len(argv) and _is_value(argv[i], known[word], known):
            word = f"{word}={argv[i]}"
            i += 1
        options.append(word)
    return [*options, "--", *words] if words else options


def _is_value(word: str, of: argparse.Action, known: Container[str]) -> bool:
    """Is it the value of that option? Where a value may be left out (`--last`), only a number is one."""
    is_number = word.removeprefix("-").isdecimal()
    return (of.nargs is None and not _is_option(word, known)) or (of.nargs == "?" and is_number)


def _is_option(word: str, known: Container[str]) -> bool:
    """Text may begin with a dash, as a list item does: what has a space in it or is a number is text."""
    if len(word) < 2 or word[0] != "-" or word[1].isdecimal():
        return False
    return word.partition("=")[0] in known or not any(map(str.isspace, word))


def nearest(word: str, known: Sequence[str]) -> str:
    """A did-you-mean clause, or ""."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def _unknown(word: str, parser: argparse.ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"{parser.prog} takes no argument {word!r} here; see {parser.prog} --help"
    options = [option for action in parser._actions for option in action.option_strings]
    hint = nearest(word.partition("=")[0], options) or f"; see {parser.prog} --help"
    return f"{parser.prog} has no option {word!r}{hint}"
