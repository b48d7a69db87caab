"""The words of a memory that shall be forgotten: does a text hold them, and a note without them. Pure.

Words count, not bytes: a memory stands in notes with escapes, struck through, or over several lines. One of
a word or two is looked for as a whole line only, since the same words stand in many a sentence. A word that
no note has besides the memory gives it away by itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from hindbrain.base.errors import VaultError
from hindbrain.base.segment import segment
from hindbrain.search.terms import STOP_WORDS
from hindbrain.vault.items.item import parse_entries, wordings_below
from hindbrain.vault.items.item_line import read_line
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.parse import decode_note

_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")  # shown by its alias
_WORD = re.compile(r"[^\W_]+")
_FEWEST = 3  # words that are looked for inside other text
_RETOLD = 0.75  # of the words that make the difference
_LONG_WORD = 5  # letters from which on a word is also looked for with an ending
_OURS = frozenset({"user", "users"})  # where somebody said "I"


class Traces:
    def __init__(self, memory_id: str, texts: Iterable[str], own_words: Iterable[str] = ()) -> None:
        """`own_words`: words of the memory that no note has besides, from `find_own_words`."""
        self.memory_id = memory_id
        self.texts = frozenset(texts)
        self._own = _any_of(own_words)
        said = {_said(text) for text in self.texts} - {""}
        self._whole: Collection[str] = said
        self._within: Collection[str] = {words for words in said if words.count(" ") >= _FEWEST - 1}
        self._telling = [told for told in map(_telling, said) if len(told) > 1]

    def in_text(self, text: str) -> bool:
        """Does it say the same, or hold it?"""
        said = _said(text)
        return said in self._whole or self._is_within(said)

    def retold_in(self, text: str) -> bool:
        """Does it say so in nearly these words, or with a word that only the memory has?"""
        words = set(_said(text).split(" "))
        return (
            self.in_text(text)
            or self._has_own_word(text)
            or any(len(told & words) >= _RETOLD * len(told) for told in self._telling)
        )

    def hinted_at(self, query: str) -> bool:
        """Does a question share a word with it? One word is enough to tell what was asked for."""
        words = self._hints()
        return self._has_own_word(query) or any(word in words for word in segment(_said(query)).split())

    def find_own_words(self, notes: Iterable[bytes]) -> frozenset[str]:
        """Return the words of the memory that these notes, without it, do not have."""
        own = set(self._hints())
        for data in notes:
            folded = decode_note(data)[0].casefold()
            if any(word in folded for word in own):
                rest = self.taken_from(data)
                told = segment(_said(decode_note(data if rest is None else rest)[0]))
                own -= {word for word in own if _any_of([word]).search(told)}
            if not own:
                break
        return frozenset(own)

    def _hints(self) -> frozenset[str]:
        words = {word for said in self._whole for word in segment(said).split()}
        return frozenset(word for word in words - STOP_WORDS - _OURS if len(word) > 3 or not word.isascii())

    def _has_own_word(self, text: str) -> bool:
        return bool(self._own.search(segment(_said(text))))

    def in_note(self, data: bytes) -> bool:
        return self.taken_from(data) != data

    def taken_from(self, data: bytes) -> bytes | None:
        """A note's bytes without the memory and the lines that say the same; None when that can't be done."""
        text = decode_note(data)[0]
        if not self._may_be_in(text):
            return data
        try:
            lines = NoteLines(data, "these bytes")
        except VaultError:  # UTF-16: lines can't be taken out
            return None
        self._take_entries(lines)
        for at in reversed(range(len(lines.texts))):
            if self._is_in_line(lines.texts[at]):
                lines.remove(at, at + 1)
        # What still holds it does so over several lines of prose.
        return None if self._is_within(_said("\n".join(lines.texts))) else lines.data()

    def _take_entries(self, lines: NoteLines) -> None:
        for entry in reversed(parse_entries(lines.texts, path="", category="fact")):
            if entry.item.id == self.memory_id or self.in_text(entry.item.text):
                lines.remove(entry.start, min(entry.stop, len(lines.texts)))

    def _is_in_line(self, line: str) -> bool:
        if not self._may_be_in(line):
            return False
        return (
            f"^{self.memory_id}" in line.split() or self.in_text(line) or self.in_text(read_line(line).text)
        )

    def _may_be_in(self, text: str) -> bool:
        """A quick look, since there are many texts and few that hold it."""
        folded = text.casefold()
        return f"^{self.memory_id}" in text or any(
            all(word in folded for word in said.split(" ")) for said in self._whole
        )

    def _is_within(self, said: str) -> bool:
        return any(f" {words} " in f" {said} " for words in self._within)


def _telling(said: str) -> frozenset[str]:
    """The words that make the difference."""
    words = (word for word in said.split(" ") if len(word) > 1 or not word.isascii())
    return frozenset(word for word in words if word not in STOP_WORDS and word not in _OURS)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Match a text of folded words that has one of these, a long one also with an ending."""
    parts = sorted(re.escape(word) + ("" if len(word) >= _LONG_WORD else r"(?!\S)") for word in words)
    return re.compile(rf"(?<!\S)(?:{'|'.join(parts)})" if parts else r"(?!)")


def texts_of(memory_id: str, data: bytes) -> set[str]:
    """What the memory says in these bytes of a note, in all its wordings."""
    if f"^{memory_id}".encode() not in data:
        return set()
    try:
        texts = NoteLines(data, "these bytes").texts
    except VaultError:
        return set()
    entries = parse_entries(texts, path="", category="fact")
    own = [entry for entry in entries if entry.item.id == memory_id]
    return {text for entry in own for text in (entry.item.text, *wordings_below(texts, entry))}


def _said(text: str) -> str:
    """The words that a reader sees, folded; of a text without any, the text."""
    text = _LINK.sub(r"\1", text)
    return " ".join(_WORD.findall(text.casefold())) or " ".join(text.split())
