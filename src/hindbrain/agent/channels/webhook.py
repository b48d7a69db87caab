"""A channel for any program: messages are posted to the owner's address, and dropped into a folder as files.

    send    POST {"text", "to", "key", "at"} as JSON, with a bearer token where one is set
    check   inbox/*.json with {"text", "sender", "at"}, or inbox/*.txt and *.md with the text alone

A file is moved to inbox/taken/ once its message was taken. Who writes one slowly writes it under a name that
begins with a dot, and then renames it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.posting import Post
from hindbrain.base.clock import Clock
from hindbrain.base.errors import ConfigError

_KINDS = (".json", ".txt", ".md")
_MOST_BYTES = 1_000_000
_PATIENCE_S = 60.0  # how long a file that can't be read may still be in the making


class WebhookChannel:
    """One address, one folder; each may be missing."""

    def __init__(self, name: str, post: Post | None, inbox: Path | None, clock: Clock, to: str = "") -> None:
        self._name = name
        self._post = post
        self._inbox = inbox
        self._clock = clock
        self._to = to

    @property
    def name(self) -> str:
        return self._name

    def send(self, message: Outgoing) -> str:
        """Whoever listens there tells a second try by its key. Returns their id, or the key."""
        if self._post is None:
            raise ConfigError(f"the channel {self.name!r} has no address; set `address` to send with it")
        at = datetime.fromtimestamp(message.at, UTC).isoformat(timespec="seconds")
        answer = self._post.send(
            {"text": message.text, "to": message.to or self._to, "key": message.key, "at": at}
        )
        given = answer.get("id") if isinstance(answer, dict) else None
        return str(given) if isinstance(given, str | int) and given != "" else message.key

    def check(self, limit: int) -> list[Incoming]:
        if self._inbox is None:
            return []
        try:
            names = os.listdir(self._inbox)  # noqa: PTH208  a folder that is not there is told apart
        except FileNotFoundError:
            self._make_inbox()
            return []
        except OSError as error:
            raise ConfigError(
                f"the inbox {str(self._inbox)!r} of {self.name!r} can't be read: {error.strerror}"
            ) from error
        files = [self._inbox / name for name in names if name.endswith(_KINDS) and not name.startswith(".")]
        found = [message for file in files if (message := self._message_in(file)) is not None]
        return sorted(found, key=lambda message: (message.at, message.id))[:limit]

    def taken(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            file = self._file_of(message)
            if file is not None:
                self._move(file, "taken")

    def _message_in(self, file: Path) -> Incoming | None:
        """None for what is no message, or not yet; that is set aside after a while."""
        try:
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode):
                return None
            data = file.read_bytes() if status.st_size <= _MOST_BYTES else b""
        except OSError:
            return None  # taken by another, or not readable yet
        said = _said(file.suffix, data)
        if said is None:
            if self._clock.now() - status.st_mtime > _PATIENCE_S:
                self._move(file, "unreadable")
            return None
        # A second file of the same name is another message, whatever it says.
        name = f"{file.name}:{status.st_mtime_ns:x}:{status.st_ino:x}"
        return Incoming(name, self.name, said.sender, said.text, said.at or status.st_mtime)

    def _file_of(self, message: Incoming) -> Path | None:
        name, _, stamp = message.id.partition(":")
        assert self._inbox is not None
        file = self._inbox / name
        try:
            status = file.lstat()
        except OSError:
            return None
        return file if stamp == f"{status.st_mtime_ns:x}:{status.st_ino:x}" else None

    def _move(self, file: Path, folder: str) -> None:
        """A file that can't be moved is left: its message is known as taken all the same."""
        target = file.parent / folder / f"{file.stem}-{os.urandom(3).hex()}{file.suffix}"
        try:
            target.parent.mkdir(exist_ok=True)
            file.replace(target)
        except OSError:
            return

    def _make_inbox(self) -> None:
        assert self._inbox is not None
        try:
            self._inbox.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"the inbox {str(self._inbox)!r} of {self.name!r} can't be made: {error.strerror}"
            ) from error


class _Said(NamedTuple):
    text: str
    sender: str
    at: float


def _said(suffix: str, data: bytes) -> _Said | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if suffix != ".json":
        return _Said(text.strip(), "file", 0.0) if text.strip() else None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str) or not found["text"].strip():
        return None
    sender, at = found.get("sender"), found.get("at")
    return _Said(
        found["text"].strip(),
        sender if isinstance(sender, str) and sender else "file",
        float(at) if isinstance(at, int | float) and 0 < at < 1e11 else 0.0,
    )
