"""Our own settings file, read and written as text: whole or not at all, line ends as they are."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from hindbrain.base.config import Value
from hindbrain.base.errors import ConfigError
from hindbrain.base.files import PRIVATE, make_folder, replace_file


def change_settings(file: Path, changes: Mapping[str, Value | None]) -> bool:
    """Set each setting, or take it out (None); every other byte stays. Was anything changed?"""
    from hindbrain.edge.toml_edit import set_key

    before = text = read_settings(file)
    for name, value in changes.items():
        text = _without(text, name) if value is None else set_key(text, name, value)
    if text != before:
        write_settings(file, text)
    return text != before


def _without(text: str, name: str) -> str:
    """Without the setting; and without its table, when nothing else is in it, not even a comment."""
    from hindbrain.edge.toml_edit import unset_key

    after = unset_key(text, name)
    section = name.partition(".")[0]
    if after == text or tomllib.loads(after).get(section) != {}:
        return after
    head = rf"\[{section}\][ \t]*"
    bare = re.sub(rf"^{head}\r?\n\s*(?=\[)|(?:\A|\r?\n){head}\s*\Z", "", after, count=1, flags=re.M)
    want = {table: values for table, values in tomllib.loads(after).items() if table != section}
    return bare if tomllib.loads(bare) == want else after


def read_settings(file: Path) -> str:
    try:
        with open(file, encoding="utf-8", newline="") as source:  # newline="": line ends stay as they are
            return source.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"the settings {str(file)!r} can't be read: {error.strerror}") from error


def write_settings(file: Path, text: str) -> None:
    """A settings file that is a symlink (into a folder of dot files) stays one."""
    real = Path(os.path.realpath(file))
    try:
        make_folder(real.parent)
        mode = real.stat().st_mode & 0o7777 if real.exists() else PRIVATE
        replace_file(real, text.encode("utf-8"), mode=mode)
    except OSError as error:
        raise ConfigError(
            f"the settings {str(file)!r} can't be written: {error.strerror}; nothing was changed"
        ) from error
