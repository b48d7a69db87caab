"""The identity of a note's bytes. Cheap to import; knows nothing of files."""

import hashlib

ABSENT = ""  # the hash of a note that is not there


def content_hash(data: bytes) -> str:
    """The sha256 of the raw bytes, as 64 lowercase hex digits."""
    return hashlib.sha256(data).hexdigest()
