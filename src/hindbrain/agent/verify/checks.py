"""Checks, carried out: what each finds is a verdict, whatever happens on the way.

"It is not so" and "it could not be looked at" are different verdicts. What the owner asks for is done. A
skill's note is a text in the vault, and what it asks for is bounded: commands that the owner's rules allow,
files of the workspace, addresses of this machine.
"""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urljoin, urlsplit

from hindbrain.agent.safety.argv import split_command
from hindbrain.agent.verify.check import Check, Verdict, shown
from hindbrain.base.errors import Cancelled, HindbrainError, ModelDown
from hindbrain.context.packs.fence import fence_line

Run: TypeAlias = Callable[[Sequence[str]], tuple[int, str]]  # argv in; exit code and output out

_TIMEOUT_S = 10.0
_MOST_REDIRECTS = 3
_MOST_BYTES = 20 * 1024 * 1024  # of a file that is searched
_LONGEST_REASON = 400
_NO_SCREEN = "the screen can't be read here: it needs the desktop tools and the program tesseract"


def _nobody(_: Sequence[str]) -> bool:
    return False


class Senses(NamedTuple):
    """With what checks are carried out."""

    workspace: Path
    run: Run | None = None  # as the shell tool runs a command; None: there is no shell
    read_screen: Callable[[], str | None] | None = None
    allowed: Callable[[Sequence[str]], bool] = _nobody  # do the owner's rules allow this command unasked?
    vault: Path | None = None  # whose notes the default verification looks for


class _Unknown(Exception):
    """It could not be looked at; the text says why."""


def carry_out(check: Check, senses: Senses) -> Verdict:
    """What the check finds, whatever happens while it looks. Cancelled when no more is wanted."""
    name = shown(check)
    try:
        found = _LOOKS[check.kind](check, senses)
    except Cancelled:
        raise
    except (_Unknown, HindbrainError) as error:
        return Verdict(name, 0, _short(str(error)), known=False)
    except Exception as error:  # noqa: BLE001  what failed is the look, not the run
        return Verdict(name, 0, f"the check failed with {type(error).__name__}", known=False)
    if isinstance(found, Verdict):
        return found
    return Verdict(name, 0, _short(found)) if found else Verdict(name, 100)


def _command(check: Check, senses: Senses) -> str:
    argv = split_command(check.what)
    if senses.run is None:
        raise _Unknown("commands can't be run here")
    if check.skill and not senses.allowed(argv):
        raise _Unknown(f"{check.skill!r} asks for this command, and no rule of the owner allows it")
    try:
        code, output = senses.run(argv)
    except OSError as error:
        raise _Unknown(f"{argv[0]!r} could not be run: {error.strerror or error}") from error
    if code == 0:
        return ""
    # The end of an output says what went wrong; it is cut before it is fenced, which costs per character.
    end = output[-2 * _LONGEST_REASON :]
    said = fence_line(end, limit=10 * len(end) + 1)[-_LONGEST_REASON:]
    return f"the exit code is {code}, not 0" + (f"; its output ends with: {said}" if said else "; no output")


def _file(check: Check, senses: Senses) -> str:
    size = _size(_place(check, senses))
    if size is None:
        return "there is no such file"
    return "" if size else "the file is empty"


def _text(check: Check, senses: Senses) -> str:
    place = _place(check, senses)
    size = _size(place)
    if size is None:
        return "there is no such file"
    if size > _MOST_BYTES:
        raise _Unknown(f"the file has {size:,} bytes; at most {_MOST_BYTES:,} are searched")
    with place.open("rb") as file:
        data = file.read(_MOST_BYTES)
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return "" if check.expected in text else "the file does not hold that text"


def _place(check: Check, senses: Senses) -> Path:
    place = senses.workspace / Path(check.what).expanduser()
    if check.skill and not place.resolve().is_relative_to(senses.workspace.resolve()):
        raise _Unknown(f"{check.skill!r} asks for a file outside of the workspace")
    return place


def _size(place: Path) -> int | None:
    """Bytes; None when there is no file. What is no plain file is not opened: a pipe would never end."""
    try:
        found = os.stat(place)  # noqa: PTH116  as short as its other form
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise _Unknown(f"the file can't be looked at: {error}") from error
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _http(check: Check, senses: Senses) -> str:
    del senses
    if check.skill and not _is_this_machine(check.what):
        raise _Unknown(f"{check.skill!r} asks for an address that is not on this machine")
    found = _status_of(check.what, follow=not check.skill and not check.expected.startswith("3"))
    if isinstance(found, str):
        return found
    return "" if str(found) == check.expected else f"the status is {found}, not {check.expected}"


def _status_of(url: str, *, follow: bool) -> int | str:
    """The status at the end of its redirects; else why there is none, which is a finding.

    The guard of the one client holds: an owner's own machine is asked where the check plainly names it.
    Raises ModelError where an address is disguised, a cloud's, or an inner one behind a public name.
    """
    from hindbrain.models.http import HttpClient, is_nearby

    outside = not is_nearby(url)
    client = HttpClient()
    try:
        for _ in range(_MOST_REDIRECTS + 1):
            status, target = client.look(url, timeout_s=_TIMEOUT_S)
            if not follow or not target:
                return status
            url = urljoin(url, target)
            if urlsplit(url).scheme not in ("http", "https") or (outside and is_nearby(url)):
                return "it redirects to where a page of the outside world has no business"
    except ModelDown as error:
        return f"no answer: {error.said}"
    finally:
        client.close()
    return f"it redirects more than {_MOST_REDIRECTS} times"


def _is_this_machine(url: str) -> bool:
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _screen(check: Check, senses: Senses) -> str:
    text = senses.read_screen() if senses.read_screen is not None else None
    if text is None:
        raise _Unknown(_NO_SCREEN)
    wanted, seen = (" ".join(told.split()).casefold() for told in (check.what, text))
    return "" if wanted in seen else "that text is not on the screen"


def _custom(check: Check, senses: Senses) -> Verdict:
    del senses
    if check.custom is None:
        raise _Unknown("the check has no function to call")
    found = check.custom()
    score = min(100, max(0, int(found.score))) if found.known else 0
    return found._replace(score=score, name=found.name or shown(check), reason=_short(found.reason))


_LOOKS: Mapping[str, Callable[[Check, Senses], str | Verdict]] = {
    "command": _command,
    "file": _file,
    "text": _text,
    "http": _http,
    "screen": _screen,
    "custom": _custom,
}


def _short(reason: str) -> str:
    """On one line, and with nothing in it that could be taken for a tag or a role."""
    return fence_line(reason, limit=_LONGEST_REASON + 100)
