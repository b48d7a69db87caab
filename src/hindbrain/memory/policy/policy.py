"""May this text become a memory? Every text that is offered passes here, in the same order of steps.

Owns the order and the verdict; the steps are pure functions with modules of their own. Knows nothing of
files: what was forgotten and what the vault holds are asked through what is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from hindbrain.base.errors import UsageError
from hindbrain.memory.items.typed_text import as_fact
from hindbrain.memory.policy.hidden_text import strip_hidden
from hindbrain.memory.policy.own_output import strip_own_output
from hindbrain.memory.policy.provenance import THIRD_PARTY, Heard, inherited
from hindbrain.memory.policy.tripwire import reads_like_instruction
from hindbrain.vault.origin import SOURCES

if TYPE_CHECKING:
    from hindbrain.memory.policy.cues import ChosenCues

MAX_CHARS = 4_000  # beyond that it is a note, not a memory


_LABEL = re.compile(r"\[secret removed: [^\]\n]*\]")
_WORD = re.compile(r"[^\W_]+")
_ANNOUNCING = """
    access api apikey auth bearer client code credential credentials key keys login passcode passphrase
    password passwords passwd pin private pwd secret secrets token tokens use using value
"""
_SECRET_WORDS = frozenset(_ANNOUNCING.split())


class Verdict(NamedTuple):
    """What to do with a text. `text` is what may be stored; the text that was offered may hold more."""

    action: Literal["accept", "hold", "refuse"]
    text: str
    source: str  # the trust it is stored with; never above what was claimed
    reasons: tuple[str, ...]  # why it is held or refused; () when it is accepted
    removed: tuple[str, ...]  # kinds of secret that were taken out


class Forgotten(Protocol):
    """What a person does not want remembered."""

    def why(self, text: str) -> str: ...

    def lift(self, text: str) -> bool: ...


def _nothing_heard(text: str) -> Iterable[Heard]:
    del text
    return ()


class Policy:
    def __init__(
        self,
        tombstones: Forgotten | None = None,
        heard: Callable[[str], Iterable[Heard]] = _nothing_heard,
    ) -> None:
        """`heard` finds what the vault holds that `text` may repeat: memories and clipped notes."""
        self.tombstones = tombstones
        self._heard = heard

    def judge(self, text: str, *, source: str) -> Verdict:
        """Decide on one text. A person's word (source user) is held back by nothing but emptiness.

        Remembering again what they had forgotten lifts the tombstone. Raises UsageError for a text that is
        too long or a source that does not exist.
        """
        _check(text, source)
        cleaned = strip_hidden(text)
        # What a person pastes from a note of ours they mean; an agent that does so only repeats us.
        own = strip_own_output(as_fact(cleaned.text) if source == "user" else cleaned.text)
        kept, removed = _redact(own.text)
        kept = as_fact(kept)
        if not kept:
            reason = "it repeats what this memory said; give the fact in your own words"
            reason = reason if own.found else "no text is left of it"
            return Verdict("refuse", "", source, (reason,), removed)
        if removed and not _says_more(kept):
            reason = f"it is a secret ({', '.join(removed)}) and nothing else; memory keeps no secrets"
            return Verdict("refuse", "", source, (reason,), removed)
        if source == "user":
            if self.tombstones is not None:
                self.tombstones.lift(kept)
            return Verdict("accept", kept, source, (), removed)
        if self.tombstones is not None and (why := self.tombstones.why(kept)):
            reason = "its owner refused it in the inbox" if why == "refused" else "forgotten by its owner"
            return Verdict("refuse", kept, source, (reason,), removed)
        trust = self.trust_of(kept, source=source)
        reasons = _doubts(kept, trust, hidden=cleaned.suspicious)
        return Verdict("hold" if reasons else "accept", kept, trust, reasons, removed)

    def cues(self, offered: Sequence[str], *, source: str) -> tuple[str, ...]:
        """Those of the cues that may be stored; the others are left out."""
        return self.choose_cues(offered, source=source).kept

    def choose_cues(self, offered: Sequence[str], *, source: str) -> ChosenCues:
        """As `cues`, with those that are left out and why."""
        from hindbrain.memory.policy.cues import choose_cues

        stones = self.tombstones
        return choose_cues(
            offered, source=source, is_forgotten=lambda cue: stones is not None and bool(stones.why(cue))
        )

    def trust_of(self, text: str, *, source: str) -> str:
        """Return whose word `text` is: that of `source`, or of a less trusted one whose words it repeats."""
        return source if source == "user" else inherited(text, source, self._heard(text))


def _check(text: str, source: str) -> None:
    if source not in SOURCES:
        raise UsageError(f"no source {source!r}; it is one of {', '.join(SOURCES)}")
    if len(text) > MAX_CHARS:
        raise UsageError(
            f"a memory of {len(text)} characters is a note (at most {MAX_CHARS}); write it into a note and "
            "remember one sentence about it"
        )


def _redact(text: str) -> tuple[str, tuple[str, ...]]:
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    return redact(text)


def _says_more(text: str) -> bool:
    """Is there anything of use beside the labels of removed secrets and the words that announce one?"""
    from hindbrain.search.terms import STOP_WORDS

    labels = " ".join(_LABEL.findall(text))
    words = set(_WORD.findall(_LABEL.sub(" ", text).lower()))
    return bool(words - STOP_WORDS - _SECRET_WORDS - set(_WORD.findall(labels.lower())))


def _doubts(text: str, trust: str, *, hidden: bool) -> tuple[str, ...]:
    """Why a person should see this first; () when there is no reason."""
    reasons = []
    if trust in THIRD_PARTY:
        reasons.append("third-party text")
    if hidden:
        reasons.append("hidden characters")
    if alarm := reads_like_instruction(text):
        reasons.append(alarm)
    return tuple(reasons)
