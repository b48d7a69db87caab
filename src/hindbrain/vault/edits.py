"""What a note should become, given what is there now. Pure: decides or refuses, touches no file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hindbrain.base.errors import NoteChanged, NotFound, VaultError
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.merge import merge
from hindbrain.vault.take_back import take_back


@dataclass(frozen=True, slots=True)
class Edit:
    after: bytes | None  # None: the note goes away
    merged: bool = False


# None stands for a note that is not there.
Decide = Callable[[bytes | None], Edit]
# What a note shall hold, given what it holds; None leaves it as it is.
BytesChange = Callable[[bytes | None], bytes | None]


def creating(path: str, data: bytes) -> Decide:
    def decide(current: bytes | None) -> Edit:
        if current is not None:
            raise NoteChanged(
                f"{path!r} exists already; read it and replace it, or choose another name",
                current_hash=content_hash(current),
            )
        return Edit(data)

    return decide


def replacing(path: str, data: bytes, expected_hash: str, base: bytes | None) -> Decide:
    """`base` is what the caller read; with it, edits that others made elsewhere in the note are merged."""

    def decide(current: bytes | None) -> Edit:
        current_hash = _hash(current)
        if current_hash == expected_hash:
            return Edit(data)
        if current is not None and base is not None and content_hash(base) == expected_hash:
            merged = merge(base, data, current)
            if merged is not None:
                return Edit(merged, merged=merged != data)
        raise _changed(path, current_hash)

    return decide


def appending(path: str, data: bytes, expected_hash: str | None) -> Decide:
    def decide(current: bytes | None) -> Edit:
        if expected_hash is not None and _hash(current) != expected_hash:
            raise _changed(path, _hash(current))
        if not current:
            return Edit(data)
        if current.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise VaultError(f"{path!r} is UTF-16; convert it to UTF-8 before anything is appended to it")
        return Edit(current + (b"" if current.endswith(b"\n") else _line_end(current)) + data)

    return decide


def changing(change: BytesChange) -> Decide:
    def decide(current: bytes | None) -> Edit:
        after = change(current)
        return Edit(current if after is None else after)

    return decide


def deleting(path: str, expected_hash: str) -> Decide:
    def decide(current: bytes | None) -> Edit:
        if current is None:
            raise NotFound(f"no note {path!r}; nothing was deleted")
        if content_hash(current) != expected_hash:
            raise _changed(path, content_hash(current))
        return Edit(None)

    return decide


def restoring(
    path: str,
    data: bytes | None,
    after_hash: str,
    versions: Callable[[], tuple[Sequence[bytes], Sequence[int]]],
    *,
    force: bool,
) -> Decide:
    """Bring `data` back. When the note changed since, only the changes that are undone are taken out of it.

    `versions`: what the note held over time, and where in it each of these changes begins. `force` brings
    `data` back whatever is there.
    """

    def decide(current: bytes | None) -> Edit:
        if force or _hash(current) in (after_hash, _hash(data)):
            return Edit(data)
        if current is not None and data is not None:
            known, at = versions()
            taken = take_back([*known, current], *at) if known else None
            if taken is not None:
                return Edit(taken, merged=True)
        if current is None:
            raise NoteChanged(f"{path!r} is gone since")
        raise NoteChanged(f"the same lines of {path!r} were changed since", current_hash=_hash(current))

    return decide


def adjusted(decide: Decide, adjust: Callable[[bytes, bytes], bytes]) -> Decide:
    """As `decide`, with `adjust(present, new)` in the place of the new bytes."""

    def decide_and_adjust(current: bytes | None) -> Edit:
        edit = decide(current)
        return edit if edit.after is None else Edit(adjust(current or b"", edit.after), edit.merged)

    return decide_and_adjust


def _hash(current: bytes | None) -> str:
    return ABSENT if current is None else content_hash(current)


def _changed(path: str, current_hash: str) -> NoteChanged:
    state = "changed" if current_hash else "is gone"
    return NoteChanged(
        f"{path!r} {state} since you read it; read it again and retry", current_hash=current_hash
    )


def _line_end(data: bytes) -> bytes:
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf and crlf * 2 >= data.count(b"\n") else b"\n"
