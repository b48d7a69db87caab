"""`hindbrain mcp install`: shows what a host's settings need, and changes them only when told to.

The file is changed by line, whole or not at all, with a copy of what it was beside it. A file that can't be
read as what it should be is left alone, and what to paste is shown instead.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from hindbrain.base.errors import Busy, ConfigError
from hindbrain.edge.mcp.hosts import Host, NotEditable, Place, snippet
from hindbrain.edge.output import Output


def install(host: Host, root: Path, tools: str, *, write: bool, out: Output) -> int:
    if tools:
        from hindbrain.memory.tools import tools_of

        tools_of(tools)  # a set that is not there is told now, not by the host
    command = server_command(root, tools)
    file = host.file(Place(Path.home(), sys.platform, os.environ))
    before = read_file(file)
    after = _edited(host, file, before, command)
    backup = write_file(file, before, after) if write and after != before else None
    _show(host, file, before, after, command, backup, write, out)
    return 0


def server_command(root: Path, tools: str = "") -> list[str]:
    """How a host starts this very Hindbrain: hosts know neither our PATH nor our folder."""
    beside = Path(sys.executable).with_name("hindbrain.exe" if sys.platform == "win32" else "hindbrain")
    program = [str(beside)] if beside.is_file() else [sys.executable, "-m", "hindbrain"]
    return [*program, "mcp", "--vault", str(root), *(["--tools", tools] if tools else [])]


def _edited(host: Host, file: Path, before: bytes | None, command: Sequence[str]) -> bytes:
    try:
        text = (before or b"").decode("utf-8")
        return host.edit(text, command).encode("utf-8")
    except (UnicodeDecodeError, *NotEditable) as error:
        raise ConfigError(
            f"{str(file)!r} was left as it is, since it can't be edited safely ({error}). Put this into it "
            f"by hand:\n{snippet(host, command)}"
        ) from error


def _show(
    host: Host, file: Path, before: bytes | None, after: bytes, command: Sequence[str],
    backup: Path | None, write: bool, out: Output,
) -> None:  # fmt: skip
    changed = after != (before or b"")
    diff = difference(file, before or b"", after)
    if out.json:
        out.data(
            {
                "host": host.name,
                "file": str(file),
                "changed": changed,
                "written": changed and write,
                "backup": str(backup) if backup else None,
                "diff": diff,
                "command": list(command),
                "one_line": host.one_line(command),
            }
        )
        return
    if not changed:
        out.line(f"{host.title} knows this server already: {file}")
        return
    out.line(diff.rstrip("\n"))
    if write:
        out.say(
            f"written: {file}" + (f"; as it was before: {backup}" if backup else "") + f"; {host.afterwards}"
        )
        return
    out.say("nothing was changed; add --write to do it")
    if host.one_line(command):
        out.say(f"or let {host.title} do it: {host.one_line(command)}")


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
    temp = real.with_name(f"{real.name}.{os.getpid()}.tmp")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = real.stat().st_mode & 0o7777 if before is not None else 0o600
        backup = _back_up(real, before, mode) if before is not None else None
        _put(temp, after, mode)
        if read_file(real) != before:
            raise Busy(f"{str(file)!r} was changed at the same moment, perhaps by the host; try again")
        os.replace(temp, real)  # noqa: PTH105
    except OSError as error:
        raise ConfigError(f"{str(file)!r} can't be written: {error.strerror}; it is as it was") from error
    finally:
        temp.unlink(missing_ok=True)
    return backup


def _back_up(real: Path, before: bytes, mode: int) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    for number in range(100):
        backup = real.with_name(f"{real.name}.bak-{stamp}" + (f"-{number}" if number else ""))
        try:
            _put(backup, before, mode)
        except FileExistsError:
            continue
        return backup
    raise ConfigError(f"there are 100 backups of {str(real)!r} from this second already")


def _put(file: Path, data: bytes, mode: int) -> None:
    """A new file, never over another one."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with open(fd, "wb") as target:
        target.write(data)
        target.flush()
        os.fsync(target.fileno())
    if os.name != "nt":
        os.chmod(file, mode)  # noqa: PTH101
