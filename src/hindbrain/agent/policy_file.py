"""agent.toml: what the owner lets the agent do. Read strictly; nobody but the owner writes it.

It lies beside the settings, never in a vault: what an agent or a sync tool can write must not decide. Without
the file nothing is allowed beforehand, and a person is asked.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.agent.run import LEAST_WINDOW, Limits
from hindbrain.agent.safety.approval import SHELL
from hindbrain.agent.safety.shell_policy import Rule, ShellRules, rule_problem
from hindbrain.base.errors import ConfigError

FILE_NAME = "agent.toml"
_TAKEN = ("terminal", "http")  # where commands come from beside channels
_TABLES = ("limits", "shell", "tools", "workspace", "channels", "events", "prices")
ACTING = (  # tools that a person is asked about; not the shell, which has rules of its own
    "write_file", "vault_write", "vault_append", "task_update", "openclaw_send", "click", "right_click",
    "move_mouse", "drag", "scroll", "type_text", "press_key", "open_application", "run_applescript",
)  # fmt: skip
_LIMITS = ("iterations", "minutes", "tokens", "cost", "window")


class Price(NamedTuple):
    """Of a model, in US dollars for a million tokens."""

    sent: float = 0.0
    made: float = 0.0


class AgentPolicy(NamedTuple):
    """What the file says. The default is what holds without one."""

    limits: Limits = Limits()
    shell: ShellRules = ShellRules()
    tools: tuple[str, ...] = ()  # that need no question, in any run
    workspace: Path | None = None  # None: the current folder
    channels: Mapping[str, Mapping[str, Any]] = {}  # by name; what is in one is its kind's business
    prices: Mapping[str, Price] = {}  # by the model's name
    events: Mapping[str, tuple[str, ...]] = {}  # by the event: channels and addresses that are told


def read_policy(file: Path) -> AgentPolicy:
    """Raises ConfigError that names what is wrong, and where."""
    try:
        data = file.read_bytes()
        mode = file.stat().st_mode
    except FileNotFoundError:
        return AgentPolicy()
    except OSError as error:
        raise ConfigError(f"{str(file)!r} can't be read: {error.strerror}") from error
    if sys.platform != "win32" and mode & stat.S_IWOTH:
        raise ConfigError(f"everybody can write {str(file)!r}; make it yours alone: chmod 600 {file}")
    import tomllib

    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{str(file)!r} is not valid TOML: {error}") from error
    try:
        return parse_policy(tables)
    except ConfigError as error:
        raise ConfigError(f"{error} (in {str(file)!r})") from error


def parse_policy(tables: Mapping[str, Any]) -> AgentPolicy:
    _check_names("", tables, _TABLES)
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise ConfigError(f"{name!r} is a table: write it as [{name}]")
    return AgentPolicy(
        limits=_limits(tables.get("limits", {})),
        shell=_shell(tables.get("shell", {})),
        tools=_tools(tables.get("tools", {})),
        workspace=_workspace(tables.get("workspace", {})),
        channels=_channels(tables.get("channels", {})),
        prices={name: _price(name, table) for name, table in tables.get("prices", {}).items()},
        events=_events(tables.get("events", {}), tables.get("channels", {})),
    )


def _limits(table: Mapping[str, Any]) -> Limits:
    _check_names("limits", table, _LIMITS)
    usual = Limits()
    minutes = _number("limits.minutes", table.get("minutes", usual.seconds / 60))
    return Limits(
        iterations=_whole("limits.iterations", table.get("iterations", usual.iterations)),
        seconds=minutes * 60,
        tokens=_whole("limits.tokens", table.get("tokens", usual.tokens)),
        cost=_number("limits.cost", table.get("cost", usual.cost)),
        window=_window(table.get("window", usual.window)),
    )


def _window(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < LEAST_WINDOW:
        raise ConfigError(f"limits.window is {value!r}; it must be a whole number from {LEAST_WINDOW:,} on")
    return value


def _shell(table: Mapping[str, Any]) -> ShellRules:
    _check_names("shell", table, ("allow", "deny"))
    return ShellRules(
        allow=_rules("shell.allow", table.get("allow", []), allows=True),
        deny=_rules("shell.deny", table.get("deny", []), allows=False),
    )


def _tools(table: Mapping[str, Any]) -> tuple[str, ...]:
    _check_names("tools", table, ("allow",))
    names = table.get("allow", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f'tools.allow is {names!r}; it must be a list of tools such as ["write_file"]')
    if SHELL in names:
        raise ConfigError(
            f"tools.allow has {SHELL!r}, which would allow every program; name programs under [shell] allow"
        )
    if unknown := next((name for name in names if name not in ACTING), ""):
        raise ConfigError(f"tools.allow has {unknown!r}; there are: {', '.join(ACTING)}")
    return tuple(dict.fromkeys(names))


def _rules(name: str, value: object, *, allows: bool) -> tuple[Rule, ...]:
    if not isinstance(value, list):
        raise ConfigError(f'{name} is {value!r}; it must be a list of rules such as [["git", "status"]]')
    return tuple(_rule(name, rule, allows=allows) for rule in value)


def _rule(name: str, rule: object, *, allows: bool) -> Rule:
    if not isinstance(rule, list) or not all(isinstance(word, str) for word in rule):
        raise ConfigError(f'{name} has {rule!r}; a rule is a list of words such as ["git", "status"]')
    if problem := rule_problem(rule, allows=allows):
        raise ConfigError(f"{name} has {rule!r}, which can't be used: {problem}")
    return tuple(rule)


def _workspace(table: Mapping[str, Any]) -> Path | None:
    _check_names("workspace", table, ("path",))
    path = table.get("path", "")
    if not isinstance(path, str):
        raise ConfigError(f"workspace.path is {path!r}; it must be the path of a folder")
    if not path:
        return None
    found = Path(path).expanduser()
    if not found.is_absolute():
        raise ConfigError(f"workspace.path is {path!r}; it must be a whole path, or begin with ~")
    return found


def _channels(table: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    for name, channel in table.items():
        if name in _TAKEN:
            raise ConfigError(
                f"no channel can be called {name!r}: commands that come from there are named so"
            )
        if not isinstance(channel, Mapping) or not isinstance(channel.get("kind"), str):
            raise ConfigError(
                f'channels.{name} must be a table with a kind: [channels.{name}] kind = "webhook"'
            )
    return table


def _events(table: Mapping[str, Any], channels: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    if not table:
        return {}
    from hindbrain.agent.events import EVENTS

    _check_names("events", table, EVENTS)
    return {event: _targets(event, targets, channels) for event, targets in table.items()}


def _targets(event: str, targets: object, channels: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of channels, and addresses. Raises ConfigError for what is neither."""
    from hindbrain.agent.channels.posting import usable_address
    from hindbrain.agent.events import is_address

    where = f"{event!r} of [events]"
    if not isinstance(targets, list) or not all(isinstance(one, str) and one for one in targets):
        raise ConfigError(f'{where} must be a list of channels and addresses, as in ["phone"]')
    for target in targets:
        if is_address(target):
            usable_address(target, where)
        elif target not in channels:
            known = ", ".join(channels) or "none"
            raise ConfigError(f"{where} names the channel {target!r}, which is not there; there are: {known}")
    return tuple(dict.fromkeys(targets))


def _price(name: str, table: object) -> Price:
    if not isinstance(table, Mapping):
        raise ConfigError(f'prices.{name} must be a table: [prices."{name}"]')
    _check_names(f"prices.{name}", table, Price._fields)
    return Price(*(_number(f"prices.{name}.{field}", table.get(field, 0.0)) for field in Price._fields))


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number, 0 for no limit")
    return value


def _number(name: str, value: object) -> float:
    # An infinity and what is no number differ from themselves when they are taken from themselves.
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0 or value - value != 0:
        raise ConfigError(f"{name} is {value!r}; it must be a number that is not below 0")
    return float(value)


def _check_names(where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    from difflib import get_close_matches

    known = list(known)
    for name in table:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, known))}"
            place = f"[{where}]" if where else FILE_NAME
            raise ConfigError(f"{place} has no {name!r}; {hint}")
