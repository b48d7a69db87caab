"""What can be checked when a run says that it is done: values, and how a person writes one down.

    command: make test          the exit code is 0
    file: out/report.pdf        the file is there (in the workspace), and not empty
    text: out/a.txt: hello      the file holds the text
    http: http://127.0.0.1:8000/ 200
    screen: Saved               the text can be read on the screen (needs the desktop tools and OCR)

Pure. Carries nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from hindbrain.agent.safety.argv import split_command
from hindbrain.base.errors import UsageError
from hindbrain.models.chat import Usage

Kind: TypeAlias = Literal["command", "file", "text", "http", "screen", "custom"]

FORMS = (
    "command: make test",
    "file: out/report.pdf",
    "text: out/a.txt: hello",
    "http: http://127.0.0.1:8000/ 200",
    "screen: Saved",
)
_USUAL_STATUS = "200"
_STATUS = re.compile(r"[1-5][0-9]{2}", re.ASCII)


class Verdict(NamedTuple):
    """What one check, or the judge, found."""

    name: str  # for people: `command: make test`
    score: int  # 0..100; 0 when it is not known
    reason: str = ""  # why it is not 100; becomes feedback and memory
    known: bool = True  # False: it could not be looked at, which is not the same as "it is not so"
    usage: Usage = Usage()  # that it took, where a model was asked


class Check(NamedTuple):
    """One thing that must hold. `custom` is for programs: a callable instead of words."""

    kind: Kind
    what: str  # the argv as one line, the path, the address, the text
    expected: str = ""  # text: what it must hold; http: the status
    custom: Callable[[], Verdict] | None = None
    skill: str = ""  # the note that asks for it, which is no order; "" is the owner's word for this run


def parse_check(text: str) -> Check:
    """What a person wrote, as a check. UsageError that shows the five forms for anything else."""
    told = text.strip()
    kind, _, rest = told.partition(":")
    rest = rest.strip()
    parse = _PARSERS.get(kind.strip().lower())
    if parse is None or not rest or not told.isprintable():
        raise _no_check(text, "it has none of the five forms" if parse is None or rest else "nothing follows")
    return parse(rest)


def shown(check: Check) -> str:
    """A check as it is written down; what `parse_check` reads as the same check."""
    told = {"text": f"{check.what}: {check.expected}", "http": f"{check.what} {check.expected}"}
    return f"{check.kind}: {told.get(check.kind, check.what)}"


def _command(rest: str) -> Check:
    try:
        split_command(rest)
    except UsageError:
        raise _no_check(
            f"command: {rest}",
            "it must be one program with its words, which no shell reads",
        ) from None
    return Check("command", rest)


def _text(rest: str) -> Check:
    # A blank belongs to the sign between them: "C:\a.txt" has a colon, too.
    path, _, expected = rest.partition(": ")
    if not path.strip() or not expected.strip():
        raise _no_check(f"text: {rest}", "it needs a file, a colon with a blank, and what the file must hold")
    return Check("text", path.strip(), expected.strip())


def _http(rest: str) -> Check:
    url, _, status = rest.partition(" ")
    status = status.strip() or _USUAL_STATUS
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not _STATUS.fullmatch(status):
        raise _no_check(f"http: {rest}", "it needs an http(s) address, then perhaps a status")
    if parts.username is not None or parts.password is not None:
        # Not shown: it holds a password.
        raise UsageError("the address of an http check holds a user name or password; leave them out")
    return Check("http", url, status)


_PARSERS: dict[str, Callable[[str], Check]] = {
    "command": _command,
    "file": lambda rest: Check("file", rest),
    "text": _text,
    "http": _http,
    "screen": lambda rest: Check("screen", " ".join(rest.split())),
}


def _no_check(text: str, why: str) -> UsageError:
    forms = "".join(f"\n  {form}" for form in FORMS)
    return UsageError(f"{text[:200]!r} is no check: {why}; write one of these forms:{forms}")
