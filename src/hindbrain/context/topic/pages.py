"""What of our notes is in a conversation's window, told by events: put in, let go, brought back.

Pure: events in, the standing out. An event may come twice, and one that can't be read is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.context.packs.pack import Excerpt, Pack

Why: TypeAlias = Literal["shift", "compacted", "cleared", "expired"]

KEPT_PROMPTS = 5
_KEPT_RELEASED = 2_000  # ids: what was let go longer ago counts as new when it comes back
_KEPT_SEEN = 64


class Page(NamedTuple):
    """An excerpt that was put into the window. Its text is not kept."""

    ids: tuple[str, ...]  # of its passages
    place: str  # "path:first-last"
    slot: str
    tokens: int
    turn: int  # in which it was last wanted


class Said(NamedTuple):
    """A prompt as far as it is needed to know what the conversation is about."""

    text: str  # cut, secrets masked
    at: float
    shifted: bool = False  # another topic begins with it


class LedgerStatus(NamedTuple):
    """A session so far."""

    turns: int
    pages: int  # in the window now
    tokens: int  # that they take
    injected: int  # pages, ever
    released: int
    returned: int
    shifts: int
    cycle: int  # compactions so far
    flushed: bool  # in this cycle
    answered: int = 0  # turns into which something was put
    spent: int = 0  # tokens that were put in, ever


@dataclass(slots=True)
class Standing:
    """The sum of the events. Changed only by `take`."""

    living: dict[str, Page] = field(default_factory=dict)  # passage id -> its page
    gone: dict[str, str] = field(default_factory=dict)  # passage id -> why it was let go
    prompts: list[Said] = field(default_factory=list)
    turns: int = 0
    injected: int = 0
    released: int = 0
    returned: int = 0
    shifts: int = 0
    cycle: int = 0
    flushed: int = -1  # the cycle that was flushed last
    answered: int = 0
    answered_last: int = 0  # the last such turn
    spent: int = 0
    seen: dict[str, None] = field(default_factory=dict)

    def take(self, events: Iterable[Mapping[str, object]]) -> None:
        for event in events:
            id_ = _text(event.get("id"))
            if id_ and id_ in self.seen:
                continue
            if id_:
                self.seen[id_] = None
            handler = _HANDLERS.get(_text(event.get("event")))
            if handler is not None:
                handler(self, event)

    def status(self) -> LedgerStatus:
        pages = {page.ids: page for page in self.living.values()}
        tokens = sum(page.tokens for page in pages.values())
        return LedgerStatus(
            self.turns, len(pages), tokens, self.injected, self.released, self.returned, self.shifts,
            self.cycle, self.flushed == self.cycle, self.answered, self.spent,
        )  # fmt: skip

    def summary(self) -> dict[str, object]:
        """One event that stands for all so far."""
        pages = {page.ids: page for page in self.living.values()}
        return {
            "event": "summary",
            "pages": [page_data(page) for page in pages.values()],
            "living": list(self.living),
            "gone": dict(list(self.gone.items())[-_KEPT_RELEASED:]),
            "prompts": [[said.text, said.at, said.shifted] for said in self.prompts],
            "counts": [getattr(self, name) for name in _COUNTS],
            "seen": list(self.seen)[-_KEPT_SEEN:],
        }

    def _restore(self, event: Mapping[str, object]) -> None:
        living = set(_texts(event.get("living")))
        self.living = {id_: page for page in _pages(event) for id_ in page.ids if id_ in living}
        gone = event.get("gone")
        self.gone = {_text(id_): _text(why) for id_, why in gone.items()} if isinstance(gone, dict) else {}
        self.prompts = [said for said in map(_said, _items(event.get("prompts"))) if said]
        for name, count in zip(_COUNTS, _items(event.get("counts")), strict=False):
            setattr(self, name, _number(count))
        self.seen = dict.fromkeys(_texts(event.get("seen")))

    def _inject(self, event: Mapping[str, object]) -> None:
        for page in _pages(event):
            if page.ids and not all(id_ in self.living for id_ in page.ids):
                self.injected += 1
                self.returned += any(id_ in self.gone for id_ in page.ids)
                self.spent += page.tokens
            if page.turn > self.answered_last:
                self.answered, self.answered_last = self.answered + 1, page.turn
            for id_ in page.ids:
                self.living[id_] = page
                self.gone.pop(id_, None)

    def _want(self, event: Mapping[str, object]) -> None:
        turn = _number(event.get("turn"))
        for id_ in _texts(event.get("ids")):
            page = self.living.get(id_)
            if page is not None:
                self.living[id_] = page._replace(turn=max(turn, page.turn))

    def _release(self, event: Mapping[str, object]) -> None:
        why = _text(event.get("why"))
        ids = [id_ for id_ in dict.fromkeys(_texts(event.get("ids"))) if id_ in self.living]
        self.released += len({self.living[id_].ids for id_ in ids})
        for id_ in ids:
            del self.living[id_]
            self.gone[id_] = why

    def _hear(self, event: Mapping[str, object]) -> None:
        said = _said([event.get("text"), event.get("at"), event.get("shifted")])
        self.turns += 1
        if said is not None:
            self.shifts += said.shifted
            self.prompts = [*self.prompts, said][-KEPT_PROMPTS:]

    def _compact(self, event: Mapping[str, object]) -> None:
        why = "cleared" if event.get("event") == "cleared" else "compacted"
        self._release({"ids": list(self.living), "why": why})
        self.cycle += 1
        if why == "cleared":
            self.prompts = []

    def _start(self, event: Mapping[str, object]) -> None:
        self.spent += _number(event.get("tokens"))
        for page in _pages(event):  # counted as a whole
            self.living.update(dict.fromkeys(page.ids, page))

    def _flush(self, event: Mapping[str, object]) -> None:
        self.flushed = max(self.flushed, _number(event.get("cycle")))


_COUNTS = (
    "turns",
    "injected",
    "released",
    "returned",
    "shifts",
    "cycle",
    "flushed",
    "answered",
    "answered_last",
    "spent",
)
_HANDLERS = {
    "summary": Standing._restore,
    "injected": Standing._inject,
    "returned": Standing._inject,
    "wanted": Standing._want,
    "released": Standing._release,
    "prompt": Standing._hear,
    "compacted": Standing._compact,
    "cleared": Standing._compact,
    "flushed": Standing._flush,
    "started": Standing._start,
}


def ids_of(excerpt: Excerpt) -> tuple[str, ...]:
    """What an excerpt is known by: its passages and lines; what has neither, by a hash of its text."""
    if excerpt.passages or excerpt.keys:
        return (*excerpt.passages, *excerpt.keys)
    return (f"text-{hashlib.sha256(excerpt.text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}",)


def pages_of(pack: Pack, turn: int) -> list[Page]:
    return [
        Page(ids_of(excerpt), _place(excerpt), slot.name, excerpt.tokens, turn)
        for slot in pack.slots
        for excerpt in slot.excerpts
    ]


def page_data(page: Page) -> dict[str, object]:
    return {**page._asdict(), "ids": list(page.ids)}


def _place(excerpt: Excerpt) -> str:
    return f"{excerpt.path}:{excerpt.first_line}-{excerpt.last_line}" if excerpt.path else ""


def _pages(event: Mapping[str, object]) -> Iterator[Page]:
    for data in _items(event.get("pages")):
        if isinstance(data, dict):
            yield Page(
                tuple(_texts(data.get("ids"))), _text(data.get("place")), _text(data.get("slot")),
                _number(data.get("tokens")), _number(data.get("turn")),
            )  # fmt: skip


def _said(data: object) -> Said | None:
    parts = _items(data)
    if len(parts) != 3 or not isinstance(parts[0], str):
        return None
    at = parts[1] if isinstance(parts[1], int | float) else 0.0
    return Said(parts[0], float(at), parts[2] is True)


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [item for item in _items(value) if isinstance(item, str)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
