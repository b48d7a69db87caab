"""How well a vault's memory works on questions of its own: asked, ranked and counted.

Reads the vault as any search does: writes nothing into it, and counts nothing as used.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from hindbrain.base.errors import ConfigError
from hindbrain.index.progress import Progress
from hindbrain.search.generic_prompts import (
    GenericPrompt,
    generic_prompts,
    prompts_in,
    unseen_prompts,
)
from hindbrain.search.own_questions import (
    Kind,
    NoteNames,
    Question,
    alias_questions,
    heading_questions,
    hidden_links,
    link_names,
    memory_questions,
    one_a_note,
    share_out,
)
from hindbrain.search.profiles import profile_named
from hindbrain.search.query import SearchQuery

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.packs.pack import Excerpt, Pack
    from hindbrain.index.progress import Listener
    from hindbrain.search.hit import SearchResult
    from hindbrain.vault.note import Note

AS_SET = "as set"
DEPTH = 10  # hits that are looked at
GENERIC_KINDS = ("coding", "agent", "general", "talk", "greeting")
_GENERIC = 60  # prompts, as many of each kind
_MOST_READ = 500  # notes that are read for their links
_ENCODE_S = 20.0  # for memories that the encoder has not seen
Tell = Callable[[], None]  # one more question was asked


@dataclass(frozen=True, slots=True)
class Generic:
    """What generic prompts of one kind would get."""

    kind: str
    prompts: int
    notes: int  # prompts that would get notes
    memories: int  # prompts that would get memories


@dataclass(frozen=True, slots=True)
class Kept:
    """Of the questions of one kind that the vault answers, how many get their answer as prompts, too."""

    kind: Kind
    answered: int  # notes: their pack holds it without the gate; memories: recall shows it
    passed: int  # the pack holds it


@dataclass(frozen=True, slots=True)
class VaultEval:
    questions: tuple[Question, ...]
    ranks: Mapping[str, tuple[int, ...]]  # by the way of searching: each answer's place from 1, 0: not found
    generic: tuple[Generic, ...]
    kept: tuple[Kept, ...]
    notes: int  # of the vault
    gate: str  # as `App.null_state` says
    notices: tuple[str, ...]  # why searches answered with less than they could

    def asked(self, kind: Kind) -> int:
        return sum(question.kind == kind for question in self.questions)

    def found_at(self, way: str, kind: Kind, depth: int) -> int:
        ranks = zip(self.questions, self.ranks[way], strict=True)
        return sum(question.kind == kind and 0 < rank <= depth for question, rank in ranks)


def evaluate(
    app: App, open_other: Callable[[], App], *, most: int, seed: int, profile: str, listener: Listener
) -> VaultEval:
    """Ask at most `most` questions in each way: as the settings are, with an encoder where there is one, and
    with another scoring profile where one is named. `open_other`: the same vault, opened again.

    Raises UsageError when there is no such profile, and as a search does.
    """
    if profile:
        profile_named(profile)
    with app.request():  # one look at the files is enough for all questions
        app.freshen(vectors=True)
        app.measure_null()
        questions = make_questions(app, most, seed)
        prompts = sample_generic(seed, app.languages())
        ways = 1 + bool(profile) + _has_encoder(app)
        tell = _counting(listener, (ways + 1) * len(questions) + len(prompts))
        notices: dict[str, None] = {}
        ranks = {AS_SET: rank_questions(app, questions, None, tell, notices)}
        generic = ask_generic(app, prompts, tell)
        kept = ask_gate(app, questions, ranks[AS_SET], tell)
        if profile:
            ranks[f"profile {profile}"] = rank_questions(app, questions, profile, tell, notices)
        if _has_encoder(app):
            ranks["with encoder"] = _ranked_with_encoder(open_other, questions, tell, notices)
        notes, gate = app.store.note_count(), app.null_state()
        return VaultEval(tuple(questions), ranks, generic, kept, notes, gate, tuple(notices))


def _ranked_with_encoder(
    open_other: Callable[[], App], questions: Sequence[Question], tell: Tell, notices: dict[str, None]
) -> tuple[int, ...]:
    # In an app of its own: what judges memories takes the encoder when it is made, or never.
    with closing(open_other()) as app, app.request():
        app.encodes = "when idle"
        app.memory.fits("hindbrain")  # now it knows which memories there are to encode
        app.encode_pending(_ENCODE_S)
        return rank_questions(app, questions, None, tell, notices)


def _has_encoder(app: App) -> bool:
    try:
        return app.encoder is not None
    except ConfigError:  # the search says so
        return False


def _counting(listener: Listener, total: int) -> Tell:
    done = count(1)
    return lambda: listener(Progress("questions", next(done), total))


# Making questions


def make_questions(app: App, most: int, seed: int) -> list[Question]:
    """At most `most` questions about the vault; the same for the same notes and seed."""
    names = _note_names(app)
    about = [note for note in names if not app.layout.is_housekeeping(note.path)]
    memories = [item for item in app.memory.book.items() if not item.superseded and item.path]

    def chosen(kind: Kind, questions: Sequence[Question]) -> list[Question]:
        return one_a_note(questions, most, random.Random(f"{seed} {kind}"))

    return share_out(
        {
            "link": _links(app, names, most, random.Random(f"{seed} links")),
            "heading": chosen("heading", heading_questions(about)),
            "alias": chosen("alias", alias_questions(about)),
            "memory": chosen("memory", memory_questions(memories, random.Random(f"{seed} cues"))),
        },
        most,
    )


def _note_names(app: App) -> list[NoteNames]:
    return [
        NoteNames(path, title, _lines(aliases), _lines(headings))
        for path, title, aliases, headings in app.store.note_headings()
        if path.endswith(".md")
    ]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split("\n")))


def _links(app: App, names: Sequence[NoteNames], most: int, chance: random.Random) -> list[Question]:
    """One hidden link of each note, from notes in an order of chance, until there are enough."""
    known = link_names({note.path: note.aliases for note in names})
    paths = [path for path in app.store.linking_notes() if path.endswith(".md")]
    found: dict[str, Question] = {}
    for path in chance.sample(paths, min(len(paths), _MOST_READ)):
        note = None if app.layout.is_housekeeping(path) else _read(app, path)
        links = [link for link in hidden_links(path, note, known) if link.query not in found] if note else []
        if links:
            link = chance.choice(links)
            found[link.query] = link
        if len(found) == most:
            break
    return list(found.values())


def _read(app: App, path: str) -> Note | None:
    from hindbrain.vault.parse import decode_note, parse_note

    file = app.root / path
    try:
        return parse_note(decode_note(file.read_bytes())[0], stem=file.stem)
    except OSError:  # taken away meanwhile
        return None


# Asking


def rank_questions(
    app: App, questions: Sequence[Question], profile: str | None, tell: Tell, notices: dict[str, None]
) -> tuple[int, ...]:
    """The place of each answer, from 1; 0 where it is not among the first. `profile`: None for the usual.

    What searches have to say goes into `notices`.
    """
    ranks = []
    for question in questions:
        if question.kind == "memory":
            found = _recalled(app, question.query)
        else:
            result = _searched(app, question, profile)
            notices.update(dict.fromkeys(result.notices))
            found = [hit.path for hit in result.hits]
        ranks.append(found.index(question.target) + 1 if question.target in found else 0)
        tell()
    return tuple(ranks)


def _recalled(app: App, topic: str) -> list[str]:
    found = app.memory.recall(topic, k=DEPTH, counted=False).memories
    return [f"{one.item.path}:{one.item.line}" for one in found]


def _searched(app: App, question: Question, profile: str | None) -> SearchResult:
    return app.search(
        SearchQuery(
            question.query, k=DEPTH, unit="note", profile=profile, exact=False, without=question.source
        )
    )


# The gate


def sample_generic(seed: int, languages: Sequence[str]) -> list[GenericPrompt]:
    """As many of each kind; half of them in the languages of the notes, where not all are English."""
    chance = random.Random(f"{seed} generic")
    each = _GENERIC // len(GENERIC_KINDS)
    prompts = []
    for kind in GENERIC_KINDS:
        own = _in_languages(languages, kind, each // 2, chance)
        common = [prompt for prompt in generic_prompts() if prompt.kind == kind]
        prompts += [*own, *chance.sample(common, each - len(own))]
    return prompts


def _in_languages(
    languages: Sequence[str], kind: str, most: int, chance: random.Random
) -> list[GenericPrompt]:
    """As many of each language; first those that the gate does not know, so that the figure is honest."""
    taken: list[GenericPrompt] = []
    for at, language in enumerate(languages[:most]):
        unseen, seen = (
            [prompt for prompt in prompts if prompt.kind == kind]
            for prompts in (unseen_prompts(language), prompts_in(language))
        )
        wanted = (most - len(taken)) // (min(most, len(languages)) - at)
        shuffled = [*chance.sample(unseen, len(unseen)), *chance.sample(seen, len(seen))]
        taken += shuffled[:wanted]
    return taken


def ask_generic(app: App, prompts: Sequence[GenericPrompt], tell: Tell) -> tuple[Generic, ...]:
    got: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in GENERIC_KINDS}
    for prompt in prompts:
        pack = _pack(app, prompt.text)
        got[prompt.kind].append((bool(_slot(pack, "relevant")), bool(_slot(pack, "memories"))))
        tell()
    return tuple(
        Generic(kind, len(own), sum(notes for notes, _ in own), sum(lines for _, lines in own))
        for kind, own in got.items()
    )


def ask_gate(app: App, questions: Sequence[Question], ranks: Sequence[int], tell: Tell) -> tuple[Kept, ...]:
    """`ranks`: of the questions, as the settings are."""
    counts: dict[Kind, list[int]] = {}
    for question, rank in zip(questions, ranks, strict=True):
        answered, passed = _gated(app, question, rank)
        own = counts.setdefault(question.kind, [0, 0])
        own[0] += answered
        own[1] += answered and passed
        tell()
    return tuple(Kept(kind, *own) for kind, own in counts.items())


def _gated(app: App, question: Question, rank: int) -> tuple[bool, bool]:
    """Does the vault answer a question, and does a prompt of these words get the answer?"""
    if question.kind == "memory":
        lane = _slot(_pack(app, question.query), "memories")
        return rank > 0, question.target in {f"{one.path}:{one.first_line}" for one in lane}
    own = _passages_of(app, question.source)
    with _without_gate(app):
        answered = _holds(_pack(app, question.query, own), question.target)
    return answered, answered and _holds(_pack(app, question.query, own), question.target)


def _pack(app: App, prompt: str, exclude: frozenset[str] = frozenset()) -> Pack:
    return app.context.pack(prompt, preset=app.context.settings.preset, exclude=exclude)


def _holds(pack: Pack, path: str) -> bool:
    return any(one.path == path for one in pack.excerpts)


def _slot(pack: Pack, name: str) -> tuple[Excerpt, ...]:
    return tuple(one for slot in pack.slots if slot.name == name for one in slot.excerpts)


def _passages_of(app: App, path: str) -> frozenset[str]:
    """The note that holds the question is in the window already, as far as the prompt is concerned."""
    note = app.store.note_at(path) if path else None
    if note is None:
        return frozenset()
    passages = app.store.passages(range(note.first_passage, note.first_passage + note.passages))
    return frozenset(f"{passage.uid:016x}" for passage in passages)


@contextmanager
def _without_gate(app: App) -> Iterator[None]:
    settings = app.context.settings
    app.context.settings = settings._replace(false_rate=1.0)
    try:
        yield
    finally:
        app.context.settings = settings
