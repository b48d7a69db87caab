"""What a person does not want remembered, kept as hashes: it is not learned again.

`.hindbrain/tombstones.jsonl` holds one event per line: a stone, or its lifting. It is part of the vault, so
it survives the index and reaches every machine. Knows nothing of notes; `ledger` notices deletions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.clock import Clock
from hindbrain.memory.forgetting.event_log import EventLog, Mark
from hindbrain.memory.forgetting.fingerprint import Fingerprint, alike, fingerprint, new_salt, run_prints

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

TOMBSTONES = "tombstones.jsonl"
Why: TypeAlias = Literal["forgotten", "deleted", "refused"]  # by a call, by hand in a note, in the inbox


class _Stone(NamedTuple):
    words: str  # hash of the set of words; "" for a short text
    runs: frozenset[str]  # hashes of its runs of words; none for what was its owner's own
    why: str = ""  # `Why`; "" where the log does not say


class Tombstones:
    def __init__(self, root: Path, writer: Callable[[], VaultWriter], clock: Clock) -> None:
        self._log = EventLog(root, TOMBSTONES, writer)
        self._clock = clock
        self._read_to = Mark()
        self._salts: list[str] = []
        self._stones: dict[str, _Stone] = {}  # by exact hash, while it stands

    def add(self, text: str, *, why: Why, reworded: bool = False) -> None:
        """Do not learn this again. Durable when it returns; twice is once.

        `reworded`: nor what shares most of its runs of words. For the text of strangers only, since more of
        it can be guessed from the log.
        """
        if not self.covers(text):
            runs = run_prints(text, self.salt) if reworded else frozenset()
            self._append(fingerprint(text, self.salt), why, runs)

    def add_known(self, print_: Fingerprint, *, why: Why) -> None:
        """As `add`, for a text of which only the fingerprint (made with `salt`) is known."""
        self._look()
        if print_.exact not in self._stones:
            self._append(print_, why, frozenset())

    def covers(self, text: str) -> bool:
        """Was this, in these words or the same ones in another order, forgotten by a person?"""
        self._look()
        return bool(self._matches(text))

    def why(self, text: str) -> str:
        """Why this is not learned again, as `Why` or "forgotten"; "" when it may be."""
        self._look()
        found = self._matches(text)
        return (self._stones[found[-1]].why or "forgotten") if found else ""

    def lift(self, text: str) -> bool:
        """A person wants it after all. True when there was something to lift."""
        self._look()
        return self._lift(self._matches(text))

    def lift_known(self, print_: Fingerprint) -> bool:
        self._look()
        return self._lift([print_.exact] if print_.exact in self._stones else [])

    @property
    def salt(self) -> str:
        """The vault's own; made with the first stone, and found in the log ever after."""
        self._look()
        if not self._salts:
            self._log.append({"at": round(self._clock.now()), "salt": new_salt()})
            self._look()
        return self._salts[0]

    def __len__(self) -> int:
        self._look()
        return len(self._stones)

    @property
    def damaged(self) -> int:
        """Lines of the log that can't be understood."""
        self._look()
        return self._log.damaged

    def _append(self, print_: Fingerprint, why: Why, runs: frozenset[str]) -> None:
        event = {"at": round(self._clock.now()), "salt": self.salt, "exact": print_.exact}
        told = {"words": print_.words, "why": why}
        self._log.append({**event, **told, **({"runs": sorted(runs)} if runs else {})})

    def _matches(self, text: str) -> list[str]:
        found: list[str] = []
        if not self._stones:
            return found
        some_runs = any(stone.runs for stone in self._stones.values())
        for salt in self._salts:  # more than one only when two machines began at the same time
            print_ = fingerprint(text, salt)
            runs = run_prints(text, salt) if some_runs else frozenset()
            found += [
                exact
                for exact, stone in self._stones.items()
                if exact == print_.exact
                or (print_.words and stone.words == print_.words)
                or alike(runs, stone.runs)
            ]
        return found

    def _lift(self, stones: list[str]) -> bool:
        for exact in stones:
            self._log.append({"at": round(self._clock.now()), "lift": exact})
        return bool(stones)

    def _look(self) -> None:
        news = self._log.since(self._read_to)
        self._read_to = news.mark
        if news.anew:
            self._salts, self._stones = [], {}
        for event in news.events:
            salt, exact = event.get("salt"), event.get("exact")
            if isinstance(salt, str) and salt and salt not in self._salts:
                self._salts.append(salt)
            if isinstance(exact, str) and exact:
                runs = event.get("runs")
                known = frozenset(map(str, runs)) if isinstance(runs, list) else frozenset()
                self._stones[exact] = _Stone(
                    str(event.get("words") or ""), known, str(event.get("why") or "")
                )
            elif isinstance(lifted := event.get("lift"), str):
                self._stones.pop(lifted, None)
