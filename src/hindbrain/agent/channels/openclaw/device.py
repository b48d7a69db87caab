"""The key by which an OpenClaw gateway knows this installation again. Made once, kept beside our state.

Knows what is signed, not how it is sent.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.base.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NAME = "openclaw-device"
_VERSION = "v3"


class Hello(NamedTuple):
    """What a signature binds together: who asks whom for what, and when."""

    client: str
    mode: str
    role: str
    scopes: Sequence[str]
    at_ms: int  # as the gateway said, so that clocks need not agree
    token: str
    nonce: str
    platform: str


class Device:
    """One key pair. Its id is the hash of its public half."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        public = key.public_key().public_bytes_raw()
        self.public_key = _text(public)
        self.id = hashlib.sha256(public).hexdigest()

    def sign(self, hello: Hello) -> str:
        said = [
            _VERSION, self.id, hello.client, hello.mode, hello.role, ",".join(hello.scopes),
            str(hello.at_ms), hello.token, hello.nonce, hello.platform, "",
        ]  # fmt: skip
        return _text(self._key.sign("|".join(said).encode()))


def load_device(state: Path) -> Device:
    """The device of this state folder; made when there is none yet."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise not_installed() from None
    files = KeptFiles(state, "agent")
    try:
        kept = files.read(_NAME)
        if kept is None:
            fresh = _text(Ed25519PrivateKey.generate().private_bytes_raw())
            files.put_new(_NAME, {"private_key": fresh})
            kept = files.read(_NAME) or {}  # of two processes that make one at once, the first one's
        return Device(Ed25519PrivateKey.from_private_bytes(_bytes(str(kept["private_key"]))))
    except (ValueError, KeyError) as error:
        raise ConfigError(
            f"{str(files.path / _NAME)!r} holds no device key any more; move the file away to have a new one "
            "made, which the gateway may want approved"
        ) from error


def not_installed() -> ConfigError:
    return ConfigError(
        "the OpenClaw gateway needs packages that are not installed: pip install websockets cryptography"
    )


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
