"""Ids of imported runs: a hash of what names a run in its log, so that a run is imported once. Pure."""

from __future__ import annotations

import base64
import hashlib
import re

_FIT = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")  # small letters: some systems know no others in file names


def run_id(*parts: str) -> str:
    """`r-` and 13 letters or digits; the same for the same parts."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()
    return "r-" + base64.b32encode(digest[:8]).decode("ascii").rstrip("=").lower()


def safe_id(given: str) -> str:
    """An id from somebody else's journal: as it is when it is fit for a file's name, else a hash of it."""
    return given if _FIT.fullmatch(given) else run_id("journal", given)
