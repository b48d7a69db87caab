"""`hindbrain config`: the table of settings, one setting, or a change of one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from hindbrain.base.config import (
    SETTINGS,
    Config,
    Setting,
    Value,
    located,
    parse_value,
    setting_named,
    survey_config,
    variable_of,
)
from hindbrain.base.errors import ConfigError, UsageError
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
        return _unset(args.unset, out)
    if args.value is not None:
        return _set(args.key, args.value, out)
    config = survey_config()
    if args.key:
        return _show_one(config, args.key, out)
    return _show_all(config, out)


def _show_all(config: Config, out: Output) -> int:
    if out.json:
        settings = [_data(config, setting.name) for setting in SETTINGS]
        out.data({"file": str(config.file), "settings": settings, "problems": list(config.problems.values())})
        return 1 if config.problems else 0
    width = max(len(setting.name) for setting in SETTINGS)
    for setting in SETTINGS:
        value, source = _shown(config.values[setting.name]), config.sources[setting.name]
        mark = "" if source == "default" else f"  ({source})"
        if setting.name in config.refused:
            value = str(config.refused[setting.name])
            mark = f"  ({source}; NOT USED: it must be {setting.allowed})"
        out.line(f"{out.paint(f'{setting.name:{width}}', BOLD)}  {value}{mark}")
        out.line(out.paint(f"{'':{width}}  {setting.doc}", DIM))
    there = "" if config.file.exists() else " (not there yet)"
    out.say(f"file: {config.file}{there}; a variable such as {variable_of('search.k')} goes before it")
    return _warn_of(config, out)


def _warn_of(config: Config, out: Output) -> int:
    """Say what is wrong and how to repair it; 1 when anything is."""
    for problem in config.problems.values():
        out.warn(problem)
    if config.problems:
        out.say("no command works until this is repaired: hindbrain config KEY VALUE, or --unset KEY")
    return 1 if config.problems else 0


def _show_one(config: Config, name: str, out: Output) -> int:
    setting = setting_named(name)
    if name in config.problems:
        raise ConfigError(config.problems[name])
    if out.json:
        out.data(_data(config, setting.name))
    else:
        out.line(_shown(config.values[setting.name]))
        out.say(f"{setting.doc} (from: {config.sources[setting.name]}; {setting.allowed})")
    return 0


def _set(name: str, text: str, out: Output) -> int:
    setting = setting_named(name)
    value = located(setting, parse_value(setting, text, name))
    file = survey_config().file
    _check_meaning(name, text, file)
    _change(name, value, file, out)
    _warn_of_missing(setting, value, out)
    return 0


def _warn_of_missing(setting: Setting, value: Value, out: Output) -> None:
    """The state folder is made when it is needed; the others are their owner's."""
    if setting.is_path and value and value not in setting.words and setting.name != "state.folder":
        folder = Path(str(value)).expanduser()
        if not folder.is_dir():
            out.warn(f"there is no folder {str(folder)!r} yet")


def _check_meaning(name: str, text: str, file: Path) -> None:
    """Refuse now what would fail later, where nobody watches."""
    try:
        if name == "consolidation.schedule":
            from hindbrain.learn.consolidation.schedule import check_cron

            check_cron(text)
        elif name == "context.preset":
            from hindbrain.context.packs.preset import load_preset

            load_preset(text, file.parent / "presets")
        elif name == "encoder.path":
            from hindbrain.models.encoder import find_encoder

            find_encoder(text)
    except ConfigError as error:
        if name == "encoder.path":  # its message names the value and the setting
            raise
        raise ConfigError(f"{name} can't be {text!r}: {error}") from error


def _unset(name: str, out: Output) -> int:
    config = survey_config()
    if name not in config.problems:  # else the file has it, and it may be no setting at all
        setting_named(name)
    return _change(name, None, config.file, out)


def _change(name: str, value: Value | None, file: Path, out: Output) -> int:
    from hindbrain.edge.settings_file import change_settings

    changed = change_settings(file, {name: value})
    config = survey_config()
    if name in config.values:
        if out.json:
            out.data(_data(config, name))
        else:
            out.line(f"{name} = {_shown(config.values[name])}")
        if config.sources[name] == "environment":
            out.warn(f"{variable_of(name)} is set and goes before the file")
    for problem in config.problems.values():
        out.warn(problem)
    if changed and any(setting.name == name and setting.of_index for setting in SETTINGS):
        out.say("run hindbrain sync to apply it to the index")
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
        "allowed": setting.allowed,
    }


def _plain(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
