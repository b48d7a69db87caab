"""`hindbrain mcp install` and `uninstall`: put our server into a host's settings, and take it out again.

The file is changed by line, whole or not at all, with a copy of what it was beside it. A file that can't be
edited safely is left alone, and what to do by hand is shown instead.
"""

from __future__ import annotations

import difflib
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.base.errors import Busy, ConfigError
from hindbrain.base.files import create_file, replace_file
from hindbrain.edge.mcp.hosts import SERVER, Host, NotEditable, Place, snippet
from hindbrain.edge.output import Output


def install(host: Host, root: Path, options: Sequence[str], *, dry: bool, out: Output) -> int:
    """Make the host know our server on the vault at `root`, started with these options."""
    command = server_command(root, options)
    by_hand = f"Put this into it by hand:\n{snippet(host, command)}"
    change = _planned(host, lambda text: host.edit(text, command), by_hand)
    if not dry:
        change = _carried_out(change)
    if out.json:
        more = {"command": command, "one_line": host.one_line(command)}
        out.data({**_data(host, change, dry=dry), **more})
        return 0
    _show(change, f"{host.title} knows this server already", host.afterwards, dry=dry, out=out)
    if dry and change.is_needed and host.one_line(command):
        out.say(f"or let {host.title} do it: {host.one_line(command)}")
    return 0


def uninstall(host: Host, *, dry: bool, out: Output) -> int:
    """Take our server out of the host's settings; everything else in them stays."""
    change = _planned(host, host.remove, f"Take {SERVER!r} out of its MCP servers by hand")
    if not dry:
        change = _carried_out(change)
    if out.json:
        out.data(_data(host, change, dry=dry))
        return 0
    _show(change, f"{host.title} does not know this server", host.afterwards_gone, dry=dry, out=out)
    return 0


def server_command(root: Path, options: Sequence[str] = ()) -> list[str]:
    """How a host starts this very Hindbrain: hosts know neither our PATH nor our folder."""
    beside = Path(sys.executable).with_name("hindbrain.exe" if sys.platform == "win32" else "hindbrain")
    program = [str(beside)] if beside.is_file() else [sys.executable, "-m", "hindbrain"]
    return [*program, "mcp", "--vault", str(root), *options]


class Change(NamedTuple):
    """What was, or would be, done to one file."""

    file: Path
    before: bytes | None  # None: there was no file
    after: bytes | None  # None: there is none any more
    backup: Path | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        return difference(self.file, self.before or b"", self.after or b"")


def _planned(host: Host, edit: Callable[[str], str], by_hand: str) -> Change:
    file = host.file(Place(Path.home(), sys.platform, os.environ))
    before = read_file(file)
    try:
        text = (before or b"").decode("utf-8")
        after = edit(text)
    except (UnicodeDecodeError, *NotEditable) as error:
        raise ConfigError(
            f"{str(file)!r} was left as it is, since it can't be edited safely ({error}). {by_hand}"
        ) from error
    if after == text:
        return Change(file, before, before)
    return Change(file, before, after.encode("utf-8"))


def _carried_out(change: Change) -> Change:
    if not change.is_needed or change.after is None:
        return change
    return change._replace(backup=write_file(change.file, change.before, change.after))


def _data(host: Host, change: Change, *, dry: bool) -> dict[str, Any]:
    return {
        "host": host.name,
        "file": str(change.file),
        "changed": change.is_needed,
        "written": change.is_needed and not dry,
        "backup": str(change.backup) if change.backup else None,
        "diff": change.diff(),
    }


def _show(change: Change, unchanged: str, afterwards: str, *, dry: bool, out: Output) -> None:
    if not change.is_needed:
        out.line(f"{unchanged}: {change.file}")
        return
    out.line(change.diff().rstrip("\n"))
    if dry:
        out.say("nothing was changed (--dry-run)")
        return
    kept = f"; as it was before: {change.backup}" if change.backup else ""
    out.say(f"written: {change.file}{kept}; {afterwards}")


def difference(file: Path, before: bytes, after: bytes) -> str:
    """Few lines around the change: what stands there may be somebody's key."""
    old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (before, after))
    shown = difflib.unified_diff(old, new, str(file), str(file), n=1)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in shown)


def read_file(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{str(file)!r} can't be read: {error.strerror}") from error


def write_file(file: Path, before: bytes | None, after: bytes) -> Path | None:
    """Whole or not at all; a file that is a symlink (into a folder of dot files) stays one."""
    real = Path(os.path.realpath(file))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = real.stat().st_mode & 0o7777 if before is not None else 0o600
        backup = _back_up(real, before, mode) if before is not None else None
        replace_file(real, after, mode=mode, check=lambda: _check_unchanged(file, real, before))
    except OSError as error:
        raise ConfigError(f"{str(file)!r} can't be written: {error.strerror}; it is as it was") from error
    return backup


def _check_unchanged(file: Path, real: Path, before: bytes | None) -> None:
    if read_file(real) != before:
        raise Busy(f"{str(file)!r} was changed at the same moment, perhaps by the host; try again")


def _back_up(real: Path, before: bytes, mode: int) -> Path:
    stamp = f"{local_time(time.time()):%Y%m%d-%H%M%S}"
    for number in range(100):
        backup = real.with_name(f"{real.name}.bak-{stamp}" + (f"-{number}" if number else ""))
        try:
            create_file(backup, before, mode=mode)
        except FileExistsError:
            continue
        return backup
    raise ConfigError(f"there are 100 backups of {str(real)!r} from this second already")
