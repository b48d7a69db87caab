"""Receipts: what entered each prompt and why, what was left out and why, what it cost.

One JSON line for each event of a conversation, in `receipts.jsonl` of the state folder. A receipt holds
places, ids and figures, never the text of a note, and the first characters of the prompt with secrets masked.
What is known afterwards is a line of its own: that a host never got it, and which excerpts were used.
The file is derived and bounded, and is not synced to disk. A receipt never stops a turn: one that can't be
written is lost.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import AppendLog, make_folder, replace_file
from hindbrain.base.json_lines import as_object, read_objects
from hindbrain.context.packs.pack import Excerpt, LeftOut, Pack
from hindbrain.context.topic.said import what_was_said
from hindbrain.context.turn import SessionKey
from hindbrain.vault.lock import FileLock

Happening: TypeAlias = Literal["turn", "start", "failure"]
Way: TypeAlias = Literal["quoted", "named", "run"]  # in which something was used, see `context.used`

WAYS: tuple[Way, ...] = ("quoted", "named", "run")

FILE = "receipts.jsonl"  # in the state folder of a vault
LOCK = "receipts.lock"  # beside it, held by who replaces the file
MOST_BYTES = 5_000_000  # then the oldest receipts go
KEPT = 2_000  # receipts that stay then, if they take no more than half of the bytes
MOST_LEFT_OUT = 20  # of a receipt, the best
PROMPT_CHARS = 80
_MOST_PASSAGES = 50  # of an excerpt
_SESSION_CHARS = 200
_TRIES = 3  # to append to a file that keeps its name
_TAKEN_BACK = "taken_back"  # an event: the last receipt of that session reached no prompt
_USED = "used"  # an event: excerpts of a receipt that are known to have been used


class Use(NamedTuple):
    """One excerpt of a receipt that was used."""

    entry: int  # its place in `Receipt.entered`
    ways: tuple[Way, ...]


class Entered(NamedTuple):
    """An excerpt that was put into a prompt."""

    slot: str
    path: str  # vault-relative; "" for what is not in a note yet
    first_line: int = 0  # 0: the whole note, or unknown
    last_line: int = 0
    why: str = ""
    score: float = 0.0
    confidence: float = 0.0
    tokens: int = 0  # of its text alone
    lines: int = 0
    memory: str = ""  # the id of a memory whose line it is
    passages: tuple[str, ...] = ()
    used: tuple[Way, ...] = ()  # as far as is known


class Receipt(NamedTuple):
    id: str
    at: float  # seconds since the epoch
    host: str
    session: str
    event: str  # turn, start, failure
    prompt: str  # its first characters, secrets masked; "" when there was none, or when it was purged
    hash: str  # of the whole prompt, with a key of this vault; "" without a prompt
    preset: str = ""
    entered: tuple[Entered, ...] = ()
    left_out: tuple[LeftOut, ...] = ()  # the best of it
    left_out_in_all: int = 0
    searched: bool = False  # the prompt named something to look for
    confidence: float = 0.0  # as of the pack: what the gate went by
    abstained: bool = False
    tokens: int = 0  # of all that entered, with the frame
    took_ms: float = 0.0
    delivered: bool = True  # False: the host was gone before it got the answer


def receipt_of(
    session: SessionKey,
    event: Happening,
    prompt: str,
    pack: Pack | None,
    *,
    at: float,
    took_s: float,
    key: bytes,
) -> Receipt:
    """Pure but for the id. `key`: of the vault, so that nobody without it can guess a prompt by its hash."""
    pack = pack or Pack("", "", 0, ())
    best = sorted(pack.left_out, key=lambda one: (-one.confidence, -one.score, one.place))
    return Receipt(
        os.urandom(6).hex(), round(at, 3), session.host, session.id[:_SESSION_CHARS], event,
        _beginning(prompt), _hash(prompt, key) if prompt.strip() else "", pack.preset,
        tuple(_entered(slot.name, one) for slot in pack.slots for one in slot.excerpts),
        tuple(one._replace(score=round(one.score, 4), confidence=round(one.confidence, 4)) for one in best)[
            :MOST_LEFT_OUT
        ],
        len(pack.left_out), bool(pack.query.strip()), round(pack.confidence, 4), pack.abstained, pack.tokens,
        round(1_000 * took_s, 1),
    )  # fmt: skip


def _beginning(prompt: str) -> str:
    """Whole words, where there are any: a purge knows no half ones. Masked before it is cut."""
    said = " ".join(what_was_said(prompt).split())
    if len(said) <= PROMPT_CHARS:
        return said
    return said[: PROMPT_CHARS + 1].rpartition(" ")[0] or said[:PROMPT_CHARS]


def _entered(slot: str, one: Excerpt) -> Entered:
    return Entered(
        slot, one.path, one.first_line, one.last_line, one.why, round(one.score, 4), round(one.confidence, 4),
        one.tokens, one.text.count("\n") + 1, one.memory, one.passages[:_MOST_PASSAGES],
    )  # fmt: skip


def _hash(prompt: str, key: bytes) -> str:
    data = prompt.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, key=key[: hashlib.blake2b.MAX_KEY_SIZE]).hexdigest()


class UseFigures(NamedTuple):
    """What answers and tool calls are known to have used, of the excerpts of one slot."""

    slot: str
    excerpts: int = 0
    used: int = 0  # in any way
    quoted: int = 0
    named: int = 0
    run: int = 0


def use_figures(receipts: Iterable[Receipt], *, since: float = 0.0) -> tuple[UseFigures, ...]:
    """Of what reached a prompt since then. Slots in the order in which they first occur."""
    seen = [receipt for receipt in receipts if receipt.delivered and receipt.at >= since]
    entered = [one for receipt in seen for one in receipt.entered]
    found = []
    for slot in dict.fromkeys(one.slot for one in entered):
        mine = [one for one in entered if one.slot == slot]
        by_way = (sum(way in one.used for one in mine) for way in WAYS)
        found.append(UseFigures(slot, len(mine), sum(bool(one.used) for one in mine), *by_way))
    return tuple(found)


class Receipts:
    """The receipts of a vault. Any number of processes add theirs."""

    def __init__(self, state: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._path = state / FILE
        self._most_bytes = most_bytes

    def add(self, receipt: Receipt) -> str:
        """Append it; returns why that could not be done, "" when it was."""
        return self._append(receipt_data(receipt))

    def take_back(self, session: SessionKey, at: float) -> str:
        """The host never got what it was answered last."""
        told = {"event": _TAKEN_BACK, "at": at, "host": session.host, "session": session.id[:_SESSION_CHARS]}
        return self._append(told)

    def note_used(self, receipt: Receipt, uses: Sequence[Use], at: float) -> str:
        """These excerpts of it were used; returns as `add` does."""
        told = {
            "event": _USED, "at": round(at, 3), "host": receipt.host, "session": receipt.session,
            "receipt": receipt.id, "used": [{"entry": use.entry, "ways": list(use.ways)} for use in uses],
        }  # fmt: skip
        return self._append(told)

    def read(self) -> list[Receipt]:
        """All that are kept, oldest first. Raises OSError."""
        return _receipts_in(read_objects(self._path))

    def of_session(self, session: SessionKey) -> list[Receipt]:
        """As `read`, of one session; much faster where there are many."""
        name = session.id[:_SESSION_CHARS]
        mark = json.dumps(name, ensure_ascii=True).encode("ascii")
        try:
            with open(self._path, "rb") as lines:
                told = [found for line in lines if mark in line and (found := as_object(line)) is not None]
        except FileNotFoundError:
            return []
        return _receipts_in(
            one for one in told if one.get("host") == session.host and one.get("session") == name
        )

    def _append(self, told: Mapping[str, object]) -> str:
        line = json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        try:
            make_folder(self._path.parent)
            for _ in range(_TRIES):
                with AppendLog(self._path) as log:
                    log.append(line)
                    size, named = log.size, log.is_named
                if named:
                    break
            if size > self._most_bytes:
                self._drop_oldest()
        except OSError as error:
            return f"no receipt of this turn could be kept ({error.strerror or error}): {str(self._path)!r}"
        return ""

    def _drop_oldest(self) -> None:
        """A receipt that is appended while the file is replaced may be lost: it is not worth a lock."""
        try:
            with FileLock(self._path.with_name(LOCK)).held(0):
                lines = self._path.read_bytes().splitlines(keepends=True)
                if sum(map(len, lines)) > self._most_bytes:  # else another process has done it
                    replace_file(self._path, b"".join(_newest(lines, self._most_bytes // 2)), durable=False)
        except HindbrainError:  # another process does it
            return


def receipt_data(receipt: Receipt) -> dict[str, object]:
    """As it is kept and as `context --last --json` shows it: a promise of docs/json.md."""
    return {
        **receipt._asdict(),
        "entered": [
            {**one._asdict(), "passages": list(one.passages), "used": list(one.used)}
            for one in receipt.entered
        ],
        "left_out": [one._asdict() for one in receipt.left_out],
    }


def _receipts_in(lines: Iterable[Mapping[str, object]]) -> list[Receipt]:
    """With what later lines say of them."""
    found: dict[str, Receipt] = {}  # one that was appended while the file was replaced may be there twice
    last: dict[tuple[str, str], str] = {}
    for told in lines:
        event = told.get("event")
        if event == _TAKEN_BACK:
            id_ = last.get((_text(told.get("host")), _text(told.get("session"))))
            if id_ is not None:
                found[id_] = found[id_]._replace(delivered=False)
        elif event == _USED:
            if (known := found.get(_text(told.get("receipt")))) is not None:
                found[known.id] = _with_uses(known, _objects(told.get("used")))
        elif (receipt := _parsed(told)) is not None:
            found.setdefault(receipt.id, receipt)
            last[receipt.host, receipt.session] = receipt.id
    return list(found.values())


def _with_uses(receipt: Receipt, uses: Iterable[Mapping[str, object]]) -> Receipt:
    entered = list(receipt.entered)
    for use in uses:
        entry, ways = use.get("entry"), use.get("ways")
        if not isinstance(entry, int) or not 0 <= entry < len(entered) or not isinstance(ways, list):
            continue
        known = {*entered[entry].used, *map(_text, ways)}
        entered[entry] = entered[entry]._replace(used=tuple(way for way in WAYS if way in known))
    return receipt._replace(entered=tuple(entered))


def _newest(lines: Sequence[bytes], most_bytes: int) -> list[bytes]:
    kept: list[bytes] = []
    size = 0
    for line in reversed(lines[-KEPT:]):
        size += len(line)
        if size > most_bytes:
            break
        kept.append(line)
    return kept[::-1]


def _parsed(told: Mapping[str, object]) -> Receipt | None:
    """None for a line that is no receipt."""
    if not _text(told.get("id")) or not _text(told.get("event")):
        return None
    return Receipt(
        _text(told.get("id")), _number(told.get("at")), _text(told.get("host")), _text(told.get("session")),
        _text(told.get("event")), _text(told.get("prompt")), _text(told.get("hash")),
        _text(told.get("preset")), tuple(map(_parsed_entered, _objects(told.get("entered")))),
        tuple(map(_parsed_left_out, _objects(told.get("left_out")))),
        int(_number(told.get("left_out_in_all"))), told.get("searched") is True,
        _number(told.get("confidence")), told.get("abstained") is True,
        int(_number(told.get("tokens"))), _number(told.get("took_ms")),
        told.get("delivered") is not False,
    )  # fmt: skip


def _parsed_entered(told: Mapping[str, object]) -> Entered:
    passages = told.get("passages")
    return Entered(
        _text(told.get("slot")), _text(told.get("path")), int(_number(told.get("first_line"))),
        int(_number(told.get("last_line"))), _text(told.get("why")), _number(told.get("score")),
        _number(told.get("confidence")), int(_number(told.get("tokens"))), int(_number(told.get("lines"))),
        _text(told.get("memory")), tuple(map(_text, passages)) if isinstance(passages, list) else (),
    )  # fmt: skip


def _parsed_left_out(told: Mapping[str, object]) -> LeftOut:
    return LeftOut(
        _text(told.get("place")), _text(told.get("reason")), _text(told.get("slot")),
        int(_number(told.get("tokens"))), _number(told.get("score")), _number(told.get("confidence")),
    )  # fmt: skip


def _objects(value: object) -> Iterable[Mapping[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0
