"""`hindbrain config`: the table of settings, one setting, or a change of one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from hindbrain.base.config import (
    SETTINGS,
    Config,
    Value,
    load_config,
    parse_value,
    setting_named,
    variable_of,
)
from hindbrain.base.errors import UsageError
from hindbrain.edge.output import BOLD, DIM, Output


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "key", nargs="?", default="", metavar="KEY", help="a setting such as search.k; else all are shown"
    )
    parser.add_argument(
        "value", nargs="?", metavar="VALUE", help="write this value to the settings file; lists: a,b,c"
    )
    parser.add_argument("--unset", default="", metavar="KEY", help="take a setting out of the file again")


def run(args: Namespace, out: Output) -> int:
    if args.unset:
        if args.key:
            raise UsageError("--unset takes the key itself: hindbrain config --unset KEY")
        return _change(args.unset, None, out)
    if args.value is not None:
        if args.key == "consolidation.schedule":
            from hindbrain.learn.consolidation.schedule import check_cron

            check_cron(args.value)  # told now, and not in a log at night
        return _change(args.key, args.value, out)
    config = load_config()
    if args.key:
        return _show_one(config, args.key, out)
    return _show_all(config, out)


def _show_all(config: Config, out: Output) -> int:
    if out.json:
        out.data(
            {"file": str(config.file), "settings": [_data(config, setting.name) for setting in SETTINGS]}
        )
        return 0
    width = max(len(setting.name) for setting in SETTINGS)
    for setting in SETTINGS:
        value, source = _shown(config.values[setting.name]), config.sources[setting.name]
        mark = "" if source == "default" else f"  ({source})"
        out.line(f"{out.paint(f'{setting.name:{width}}', BOLD)}  {value}{mark}")
        out.line(out.paint(f"{'':{width}}  {setting.doc}", DIM))
    there = "" if config.file.exists() else " (not there yet)"
    out.say(f"file: {config.file}{there}; a variable such as {variable_of('search.k')} goes before it")
    return 0


def _show_one(config: Config, name: str, out: Output) -> int:
    setting = setting_named(name)
    if out.json:
        out.data(_data(config, setting.name))
    else:
        out.line(_shown(config.values[setting.name]))
        out.say(f"{setting.doc} (from: {config.sources[setting.name]})")
    return 0


def _change(name: str, text: str | None, out: Output) -> int:
    from hindbrain.edge.settings_file import change_settings

    setting = setting_named(name)
    value = None if text is None else parse_value(setting, text, name)
    changed = change_settings(load_config().file, {name: value})
    config = load_config()
    if out.json:
        out.data(_data(config, name))
    else:
        out.line(f"{name} = {_shown(config.values[name])}")
    if config.sources[name] == "environment":
        out.warn(f"{variable_of(name)} is set and goes before the file")
    if name.startswith(("embedding.", "chunk.", "vault.")) and changed:
        out.say("hindbrain sync makes it count for the index")
    return 0


def _data(config: Config, name: str) -> dict[str, Any]:
    setting = setting_named(name)
    return {
        "name": name,
        "value": _plain(config.values[name]),
        "default": _plain(setting.default),
        "source": config.sources[name],
        "variable": variable_of(name),
        "doc": setting.doc,
    }


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
