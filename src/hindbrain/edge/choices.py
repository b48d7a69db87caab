"""What may stand where in a command line: made from the commands' own parsers, for completion scripts.

Knows no shell. Values that a parser does not list itself come from the module that owns them, so that no name
is written down twice.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from hindbrain.edge.parser import command_module, make_parser

SHELLS = ("bash", "zsh", "fish")
Kind = Literal[
    "text", "choice", "folder", "file"
]  # a choice may be another text, too, unless argparse forbids


@dataclass(frozen=True, slots=True)
class Value:
    """What an option or a place for a word takes."""

    kind: Kind
    choices: tuple[str, ...] = ()  # to offer; a file may have some beside the files


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]  # "-k", "--keyword"
    help: str
    value: Value | None  # None: it takes none


@dataclass(frozen=True, slots=True)
class Word:
    """The place of the n-th word (from 1) of a command."""

    place: int
    name: str
    value: Value
    after: str = ""  # only after this first word; "" after any


def options_of(command: str) -> list[Option]:
    parser = make_parser(command, command_module(command))
    return [_option(command, action) for action in parser._actions if action.option_strings]


def words_of(command: str) -> list[Word]:
    """The places at which there is something to offer."""
    parser = make_parser(command, command_module(command))
    places = [action for action in parser._actions if not action.option_strings]
    words = [
        Word(place, action.dest, _value(command, action), _AFTER.get((command, action.dest), ""))
        for place, action in enumerate(places, start=1)
    ]
    return [word for word in words if word.value.kind != "text"]


def _option(command: str, action: Action) -> Option:
    value = None if action.nargs == 0 else _value(command, action)
    return Option(tuple(action.option_strings), action.help or "", value)


def _value(command: str, action: Action) -> Value:
    key = (command, action.dest)
    choices = action.choices if action.choices is not None else _CHOICES.get(key, tuple)()
    offered = tuple(str(choice) for choice in choices)
    if action.dest == "vault" or key in _FOLDERS:
        return Value("folder", offered)
    if key in _FILES:
        return Value("file", offered)
    return Value("choice" if offered else "text", offered)


def _layouts() -> Iterable[str]:
    from hindbrain.vault.layout import LAYOUTS

    return LAYOUTS


def _categories() -> Iterable[str]:
    from hindbrain.vault.items.category import CATEGORIES

    return CATEGORIES


def _sources() -> Iterable[str]:
    from hindbrain.vault.origin import SOURCES

    return SOURCES


def _inbox_verbs() -> Iterable[str]:
    from hindbrain.edge.commands.inbox import _VERBS

    return _VERBS


def _mcp_actions() -> Iterable[str]:
    from hindbrain.edge.commands.mcp import _ACTIONS

    return _ACTIONS


def _hosts() -> Iterable[str]:
    from hindbrain.edge.mcp.hosts import HOSTS

    return (host.name for host in HOSTS)


def _hook_hosts() -> Iterable[str]:
    from hindbrain.edge.hooks.hosts import HOSTS

    return (host.name for host in HOSTS)


def _presets() -> Iterable[str]:
    from hindbrain.context.packs.preset import BUILT_IN

    return BUILT_IN


def _tool_sets() -> Iterable[str]:
    from hindbrain.memory.tools import TOOL_SETS

    return TOOL_SETS


def _profiles() -> Iterable[str]:
    from hindbrain.search.profiles import PROFILES

    return PROFILES


def _settings() -> Iterable[str]:
    from hindbrain.base.config import SETTINGS

    return (setting.name for setting in SETTINGS)


# By command and the name of the argument in its namespace.
_CHOICES: Mapping[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("chat", "preset"): _presets,
    ("completion", "shell"): lambda: SHELLS,
    ("config", "key"): _settings,
    ("config", "unset"): _settings,
    ("context", "preset"): _presets,
    ("daily", "day"): lambda: ("today", "yesterday"),
    ("hook", "host_name"): _hook_hosts,
    ("inbox", "words"): _inbox_verbs,
    ("init", "layout"): _layouts,
    ("mcp", "action"): _mcp_actions,
    ("mcp", "host_name"): _hosts,
    ("mcp", "tools"): _tool_sets,
    ("remember", "category"): _categories,
    ("remember", "source"): _sources,
    ("run", "preset"): _presets,
    ("search", "para"): lambda: ("project", "area", "resource", "archive"),
    ("search", "profile"): _profiles,
}
_FOLDERS = frozenset((("demo", "keep"), ("init", "path"), ("run", "workspace")))
_FILES = frozenset((("context", "replay"), ("init", "layout"), ("mcp", "token_file")))
_AFTER = {("mcp", "host_name"): "install", ("hook", "host_name"): "install"}
