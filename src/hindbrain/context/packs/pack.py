"""What is put into a prompt: excerpts of notes in slots, their cost, and what was left out. Values only."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Grade: TypeAlias = Literal["line", "passage", "section", "note"]  # how much of its note an excerpt shows

LINE_KEY = "="  # begins the key of a line; ids of passages do not


class Excerpt(NamedTuple):
    """A run of whole lines of one note, with where it comes from."""

    path: str  # vault-relative; "" for what is not in a note yet
    title: str
    text: str  # as the note has it; rendering escapes it
    date: str = ""  # YYYY-MM-DD, or ""
    heading: str = ""  # path joined by " > "; "" before the first heading
    first_line: int = 0
    last_line: int = 0
    source: str = "user"  # whose word it is: user, agent, tool, web, import
    grade: Grade = "passage"
    score: float = 0.0  # 0..1 within its slot
    confidence: float = 0.0  # 0..1, comparable between queries
    passages: tuple[str, ...] = ()  # lasting ids of all passages that it covers: what the ledger counts by
    tokens: int = 0  # of the text alone
    why: str = ""  # in a few words, for --explain: "words 0.31, meaning 0.22", "pinned", "open task"
    above: tuple[tuple[int, str], ...] = ()  # headings and items over its first line, with their numbers
    after: tuple[tuple[int, str], ...] = ()  # those that its last line leaves in force
    keys: tuple[str, ...] = ()  # of its lines: what is known by them is not shown twice
    memory: str = ""  # the id of the memory whose line it is; "" for other text


class LeftOut(NamedTuple):
    """What was considered and is not in the pack."""

    place: str  # "path:line"
    # budget, notes or characters (the preset's), repeats, in_window, unlikely, dropped, no_text, changed,
    # contradicts (what is shown, on weaker evidence)
    reason: str
    slot: str
    tokens: int = 0  # about
    score: float = 0.0
    confidence: float = 0.0


class FilledSlot(NamedTuple):
    """One slot of a preset as it was filled."""

    name: str  # core, profile, relevant, ...
    budget: int  # tokens that it could spend: its share and what others left over
    tokens: int  # tokens of its rendered text, with tags and the lines that say where things come from
    excerpts: tuple[Excerpt, ...]
    stable: bool = False  # does not depend on the query: rendered first, so that prompt caches hold
    match: float = 0.0  # of a template: how well it fits, 0..1; else 0


class Pack(NamedTuple):
    """A context pack. No excerpt in any slot: nothing was relevant, which is a good answer."""

    preset: str
    query: str  # the words that were looked for; "" when nothing was asked
    budget: int  # tokens
    slots: tuple[FilledSlot, ...]  # in the order of rendering: stable ones first
    left_out: tuple[LeftOut, ...] = ()
    confidence: float = 0.0  # 0..1: the share of generic prompts to which the vault has less to say
    abstained: bool = False  # something was found, and it was too unlikely to be worth its tokens
    notices: tuple[str, ...] = ()  # why it is less than was asked for
    frame: int = 0  # tokens of the rendered text outside the slots; 0 without excerpts

    @property
    def tokens(self) -> int:
        """Of the whole rendered text, in the preset's form."""
        return self.frame + sum(slot.tokens for slot in self.slots)

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        return tuple(excerpt for slot in self.slots for excerpt in slot.excerpts)
