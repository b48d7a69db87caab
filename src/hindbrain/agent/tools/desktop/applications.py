"""Applications that are installed here, by name: found among those that the system itself would offer.

Never a program by its path, and never with arguments: that is what the shell tool and its rules are for.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import NotFound, UsageError

_PLAIN = re.compile(r"[^/\\:\x00-\x1f-][^/\\:\x00-\x1f]{0,99}")
_FIELD = re.compile(r"%[A-Za-z]")  # files, icons and the like that a launcher would fill in
_SECRET = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
_MOST_NAMED = 8


class Application(NamedTuple):
    name: str  # for people
    also: str  # what it is called as a file, without its ending
    argv: tuple[str, ...] = ()
    shortcut: Path | None = None  # Windows: what is opened instead


def open_application(name: str, environ: Mapping[str, str], folders: Sequence[Path] | None = None) -> str:
    """Start it, or bring it to the front where the system does so; returns its name.

    NotFound names some that there are. `folders`: where to look, instead of where this system has them.
    """
    if not _PLAIN.fullmatch(name.strip()):
        raise UsageError(f"{name!r} is no application's name; give a name such as 'Firefox'")
    if sys.platform == "darwin":
        return _open_on_macos(name.strip())
    found = _find(name.strip(), list(installed(folders if folders is not None else _folders(environ))))
    if found.shortcut is not None:
        getattr(os, "startfile")(found.shortcut)  # noqa: B009  only there on Windows
    else:
        _start(found.argv, environ)
    return found.name


def installed(folders: Iterable[Path]) -> Iterator[Application]:
    """What the system's own menus are made of; the folders named first win."""
    ending = ".lnk" if sys.platform == "win32" else ".desktop"
    for folder in folders:
        for file in sorted(folder.rglob(f"*{ending}")):
            if ending == ".lnk":
                yield Application(file.stem, file.stem, shortcut=file)
            elif (entry := read_entry(file)) is not None:
                yield entry


def read_entry(file: Path) -> Application | None:
    """A .desktop file; None when it is hidden, needs a terminal, or is no application."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    values: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip()
        elif section == "[Desktop Entry]" and "=" in line:
            key, _, value = line.partition("=")
            values.setdefault(key.strip(), value.strip())
    if any(values.get(key, "").lower() == "true" for key in ("NoDisplay", "Hidden", "Terminal")):
        return None
    argv = _argv(values.get("Exec", ""))
    if values.get("Type") != "Application" or not values.get("Name") or not argv:
        return None
    return Application(values["Name"], file.stem, argv)


def _argv(line: str) -> tuple[str, ...]:
    try:
        words = shlex.split(line)
    except ValueError:
        return ()
    return tuple(word.replace("%%", "%") for word in words if not _FIELD.fullmatch(word))


def _find(name: str, applications: Sequence[Application]) -> Application:
    wanted = name.casefold()
    for app in applications:
        # "org.mozilla.firefox" is also called "firefox".
        if wanted in (app.name.casefold(), app.also.casefold(), app.also.rpartition(".")[2].casefold()):
            return app
    near = [app.name for app in applications if wanted in app.name.casefold()] or [
        app.name for app in applications
    ]
    some = ", ".join(dict.fromkeys(near[:_MOST_NAMED])) or "none that can be found"
    raise NotFound(f"no application is called {name!r} here; there are: {some}")


def _folders(environ: Mapping[str, str]) -> list[Path]:
    if sys.platform == "win32":
        menu = Path("Microsoft", "Windows", "Start Menu", "Programs")
        return [Path(environ[key]) / menu for key in ("APPDATA", "PROGRAMDATA") if environ.get(key)]
    own = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    shared = environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [Path(folder) / "applications" for folder in (own, *shared.split(":")) if folder]


def _start(argv: Sequence[str], environ: Mapping[str, str]) -> None:
    """On its own, so that it outlives us; without our keys."""
    clean = {name: value for name, value in environ.items() if not _SECRET.search(name)}
    try:
        subprocess.Popen(
            argv,
            env=clean,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NotFound(f"{argv[0]!r} can't be started: {error.strerror or error}") from error


def _open_on_macos(name: str) -> str:
    done = subprocess.run(
        ["open", "-a", name], capture_output=True, text=True, timeout=30, check=False, encoding="utf-8"
    )
    if done.returncode:
        raise NotFound(f"no application is called {name!r} here: {done.stderr.strip()[:200]}")
    return name
