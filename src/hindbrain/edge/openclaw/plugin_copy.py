"""The plugin's files, copied out of this program to a place that stays when the program is upgraded.

The copy appears whole under its name, or not at all: a gateway may look at any moment.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from hindbrain.base.errors import ConfigError, WriteFailed
from hindbrain.base.files import make_folder, replace_file
from hindbrain.edge.openclaw.edits import PLUGIN, Form
from hindbrain.edge.openclaw.record import FOLDER

MANIFEST = "openclaw.plugin.json"
_SOURCES = {"slot": "plugin", "beside": "beside"}
_SHARED = (
    "chats.js",
    "service.js",
    "talking.js",
)  # of the plugin for the slot, that the one beside it has, too


def copy_folder(state: Path, form: Form) -> Path:
    return state.absolute() / FOLDER / _SOURCES[form]


def source_files(form: Form) -> dict[str, bytes]:
    """Path below the folder -> content, of the plugin that comes with this program."""
    source = Path(__file__).with_name(_SOURCES[form])
    files = files_in(source)
    if form == "beside":
        slot = files_in(Path(__file__).with_name(_SOURCES["slot"]))
        files |= {name: slot[name] for name in _SHARED if name in slot}
    if MANIFEST not in files:
        raise ConfigError(f"the plugin {PLUGIN[form]!r} is missing in this program ({str(source)!r})")
    return files


def files_in(folder: Path) -> dict[str, bytes]:
    """{} when there is no such folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def manifest_of(files: dict[str, bytes]) -> dict[str, Any]:
    """{} when there is none that can be read."""
    try:
        said = json.loads(files.get(MANIFEST, b"{}"))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def known_words(form: Form) -> set[str]:
    """The settings that this plugin takes; OpenClaw refuses a file that has others."""
    schema = manifest_of(source_files(form)).get("configSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return set(properties) if isinstance(properties, dict) else set()


def version_of(files: dict[str, bytes]) -> str:
    try:
        said = json.loads(files.get("package.json", b"{}"))
    except ValueError:
        return ""
    return str(said.get("version", "")) if isinstance(said, dict) else ""


def put_copy(state: Path, form: Form) -> bool:
    """Make the copy what this program has. Was it anything else?"""
    folder, files = copy_folder(state, form), source_files(form)
    if files_in(folder) == files:
        return False
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    old = folder.with_name(f"{folder.name}.{os.getpid()}.old")
    try:
        for name, data in files.items():
            make_folder((fresh / name).parent)
            replace_file(fresh / name, data)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except OSError as error:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise WriteFailed(f"the plugin can't be copied to {str(folder)!r}: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return True


def remove_copy(state: Path, form: Form) -> bool:
    folder = copy_folder(state, form)
    if not folder.exists():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True
