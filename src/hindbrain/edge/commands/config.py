"""`hindbrain config`: the table of settings, one setting, or a change of one."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
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
    from hindbrain.edge.toml_edit import set_key, unset_key

    setting = setting_named(name)
    config = load_config()
    before = _read(config.file)
    after = (
        unset_key(before, name) if text is None else set_key(before, name, parse_value(setting, text, name))
    )
    if after != before:
        _write(config.file, after)
    config = load_config()
    if out.json:
        out.data(_data(config, name))
    else:
        out.line(f"{name} = {_shown(config.values[name])}")
    if config.sources[name] == "environment":
        out.warn(f"{variable_of(name)} is set and goes before the file")
    if name.startswith(("embedding.", "chunk.", "vault.")) and after != before:
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


def _read(file: Path) -> str:
    try:
        with open(file, encoding="utf-8", newline="") as source:  # newline="": line ends stay as they are
            return source.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"the settings {str(file)!r} can't be read: {error.strerror}") from error


def _write(file: Path, text: str) -> None:
    """Whole or not at all. A settings file that is a symlink (into a folder of dot files) stays one."""
    real = Path(os.path.realpath(file))
    temp = real.with_name(f"{real.name}.{os.getpid()}.tmp")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        with open(temp, "w", encoding="utf-8", newline="") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
        if real.exists():
            os.chmod(temp, real.stat().st_mode & 0o7777)  # noqa: PTH101
        os.replace(temp, real)  # noqa: PTH105
    except OSError as error:
        temp.unlink(missing_ok=True)
        raise ConfigError(
            f"the settings {str(file)!r} can't be written: {error.strerror}; nothing was changed"
        ) from error
