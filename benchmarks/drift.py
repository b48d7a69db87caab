"""Topic drift: is a change of topic noticed, is nothing injected twice, does a follow-up find what is meant?

LoCoMo as running conversations: pieces of sessions, in random order and of all conversations, one after the
other. A shift is right at the first prompt of a piece; people change topics within a session, too, so the
precision is higher in truth. Thresholds were fitted on the pieces of every other conversation ("fit"); the
figures are those of the others ("check"), and of LongMemEval where it is there, on which no threshold was.

The ledger: all prompts of such a conversation with a pack each; a passage that is put into the window while
it is there counts as repeated. Follow-ups: questions whose names were taken out ("When did they go there?"),
with the messages before the evidence, and with those of another session.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import metrics
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, compared, main
from benchmarks.locomo import Conversation, covered_turns, read_conversation
from benchmarks.metrics import Figures
from benchmarks.rankers import Measured, measured, write_note
from hindbrain.context.messages import Message
from hindbrain.context.topic.drift import (
    CALIBRATIONS,
    FEWEST_WORDS,
    WORDS_ALONE,
    Calibration,
    Topic,
    TopicReader,
    similarity,
)
from hindbrain.context.topic.intent import understand_intent
from hindbrain.context.topic.pages import ids_of
from hindbrain.context.turn import SessionKey

if TYPE_CHECKING:
    from hindbrain.context.packs.pack import Pack
    from hindbrain.context.service import Context
    from hindbrain.models.embedder import Embedder

SEED = 7
_PIECE = (6, 14)  # messages of a session that are taken, after the greeting and before the farewell
_LME_PIECE = (4, 12)
_LME_SESSIONS = 400
_GREETING = 2
_REFERENCE = Calibration(words=0.0, threshold=0.3)
_CURVE = (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2, 0.25, 0.3, 0.4)
_RECENT = 10  # messages that a host tells with a prompt
_COMPACTED_AFTER = 60  # prompts
_LINE_CHARS = 40  # shorter lines are greetings and headings
_QUESTIONS = 60  # of each conversation
_BEFORE = 5  # messages that a follow-up looks back
_SESSION = re.compile(r"session_\d+")
_NAME = re.compile(r"[A-Z][\w'’-]+")


class Turn(NamedTuple):
    message: Message
    begins: bool  # another topic


class Judged(NamedTuple):
    """One prompt: how near it is to what was said before it, and whether it begins another topic."""

    near: float
    said: int
    begins: bool


def run(options: Options) -> Outcome:
    source = find_one(options.data, "LoCoMo", ("locomo*.json",))
    samples = read_json(source)
    embedder = _builtin()
    streams = {"fit": _locomo(samples[::2]), "check": _locomo(samples[1::2])}
    if lme := _longmemeval(options.data):
        streams["longmemeval"] = lme
    drift, tables, metrics_ = _drift(streams, embedder)
    ledger = _ledger(samples, options)
    follow = _follow_ups(samples, options)
    prompts = {
        f"prompts.{name}": sum(1 for turn in stream if turn.message.role == "user")
        for name, stream in streams.items()
    }
    metrics_ |= {f"ledger.{row}.{name}": value for row, own in ledger.items() for name, value in own.items()}
    metrics_ |= {f"follow.{row}.{name}": value for row, own in follow.items() for name, value in own.items()}
    names = ("fraction@5", "fraction@10", "mrr", "borrowed")
    return Outcome(
        metrics=metrics_,
        baselines=drift,
        data=described(source, conversations=len(samples), **prompts),
        tables=(
            *tables,
            compared(
                f"Ledger: {samples[0]['sample_id']} as one conversation, a pack for each prompt",
                list(ledger["host keeps"]),
                ledger,
            ),
            compared("Follow-ups, LoCoMo, turns found (%)", names, follow),
        ),
    )


# --- drift


def _drift(
    streams: Mapping[str, Sequence[Turn]], embedder: Embedder
) -> tuple[dict[str, Figures], tuple[Table, ...], Figures]:
    ways = {"words and vectors": lambda: embedder, "words alone": lambda: None}
    chosen = {"words and vectors": CALIBRATIONS[embedder.name], "words alone": WORDS_ALONE}
    rows: dict[str, dict[str, Figures]] = {}
    curves: list[Table] = []
    fitted: list[tuple[str, ...]] = []
    figures: Figures = {}
    for way, made in ways.items():
        cut = chosen[way].threshold
        for replies in (True, False):
            name = way if replies else f"{way}, prompts only"
            forget = 0.0 if replies else cut
            judged = {
                part: judge(stream, TopicReader(made), replies=replies, forget_below=forget)
                for part, stream in streams.items()
            }
            for part, own in judged.items():
                rows.setdefault(part, {})[name] = quality(own, cut)
            if not replies:
                continue
            best = max(_thresholds(judged["fit"]), key=lambda at: quality(judged["fit"], at)["f1"])
            fitted.append((name, f"{cut:.3f}", f"{best:.3f}"))
            curves.append(_curve(way, judged))
            figures |= {f"curve.{way}.{at}": quality(judged["check"], at)["f1"] for at in _CURVE}
            for part, own in judged.items():
                figures |= metrics.prefixed(f"{way}.{part}.", quality(own, cut))
    for part, stream in streams.items():
        reader = TopicReader(lambda: embedder)
        rows[part]["single messages, cosine 0.3"] = quality(
            judge(stream, reader, single=True), _REFERENCE.threshold, fewest=0
        )
        rows[part]["every prompt is a shift"] = quality(
            judge(stream, TopicReader(), replies=False), 2.0, fewest=0
        )
    fit = _calibrated_by_itself(streams["fit"], embedder)
    figures["self_calibrated"] = fit.threshold
    fitted.append(("vectors alone, by neighbours and strangers", "-", f"{fit.threshold:.3f}"))
    bare = judge(streams["check"], TopicReader(lambda: embedder), calibration=fit)
    rows["check"]["vectors alone, by neighbours and strangers"] = quality(bare, fit.threshold)
    tables = [
        compared(
            f"Topic shifts, {part} (%)",
            ("precision", "recall", "f1", "late_recall"),
            own,
            ("precision", "recall", "F1", "recall, one late"),
        )
        for part, own in rows.items()
    ]
    threshold_table = Table("Thresholds: in use, and best on fit", ("", "in use", "fitted"), tuple(fitted))
    return rows["check"], (*tables, threshold_table, *curves), figures


def judge(
    stream: Sequence[Turn],
    reader: TopicReader,
    *,
    replies: bool = True,
    single: bool = False,
    calibration: Calibration | None = None,
    forget_below: float = 0.0,
) -> list[Judged]:
    """Compare each prompt with the messages before it, whatever they are about, as a host tells them.

    `forget_below`: what was said before a shift is forgotten, as where only the ledger knows the prompts.
    """
    known = _REFERENCE if single else calibration
    judged: list[Judged] = []
    before: list[Message] = []
    for message, begins in stream:
        if message.role == "user":
            now = reader.prompt(message.text)
            near = similarity(reader.talk(before[-1:] if single else before), now, known) if before else 1.0
            judged.append(Judged(near, now.said, begins and bool(before)))
            if near < forget_below and now.said >= FEWEST_WORDS:
                before = []
        if message.role == "user" or replies:
            before = [*before, message][-_RECENT:]
    return judged


def quality(judged: Sequence[Judged], threshold: float, fewest: int = FEWEST_WORDS) -> Figures:
    """In percent. `late_recall`: also when it is only noticed with the prompt after."""
    said = [one.near < threshold and one.said >= fewest for one in judged]
    right = sum(1 for one, is_said in zip(judged, said, strict=True) if is_said and one.begins)
    begins = [at for at, one in enumerate(judged) if one.begins]
    late = sum(1 for at in begins if any(said[at : at + 2]))
    precision = right / sum(said) if any(said) else 0.0
    recall = right / len(begins) if begins else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return metrics.percent(
        {"precision": precision, "recall": recall, "f1": f1, "late_recall": late / max(1, len(begins))}
    )


def _thresholds(judged: Sequence[Judged]) -> list[float]:
    ordered = sorted(one.near for one in judged)
    return ordered[:: max(1, len(ordered) // 200)]


def _curve(way: str, judged: Mapping[str, Sequence[Judged]]) -> Table:
    rows = []
    for at in _CURVE:
        cells = [quality(own, at) for own in judged.values()]
        rows.append(
            (
                f"{at:.2f}",
                *(f"{cell['precision']:.0f}/{cell['recall']:.0f}/{cell['f1']:.0f}" for cell in cells),
            )
        )
    return Table(f"{way}: precision/recall/F1 (%) by threshold", ("", *judged), tuple(rows))


def _calibrated_by_itself(stream: Sequence[Turn], embedder: Embedder) -> Calibration:
    """As an embedder that nobody has measured would be: by neighbours and strangers among the messages."""
    reader = TopicReader(lambda: embedder)
    topics = [reader.prompt(turn.message.text) for turn in stream[:600]]
    rng = random.Random(SEED)
    bare = Calibration(words=0.0, threshold=0.0)

    def cosines(pairs: Iterable[tuple[Topic, Topic]]) -> list[float]:
        return [similarity(a, b, bare) for a, b in pairs if a.vector is not None and b.vector is not None]

    near = cosines((topics[at], topics[at + 1]) for at in range(len(topics) - 1) if not stream[at + 1].begins)
    apart = cosines((rng.choice(topics), rng.choice(topics)) for _ in range(len(topics)))
    return calibrate(near, apart)


def calibrate(near: Sequence[float], apart: Sequence[float]) -> Calibration:
    """The cosine that has most neighbours above and most strangers below it."""

    def gain(cut: float) -> float:
        kept = sum(1 for one in near if one >= cut) / len(near)
        return kept + sum(1 for one in apart if one < cut) / len(apart)

    return Calibration(words=0.0, threshold=max(sorted({*near, *apart}), key=gain))


# --- conversations


def _locomo(samples: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Pieces of all sessions, each speaker being the one who prompts once."""
    rng = random.Random(SEED)
    pieces = []
    for sample in samples:
        talk = sample["conversation"]
        for session in _sessions(talk):
            for asker in ("speaker_a", "speaker_b"):
                said = [_message(turn, talk[asker]) for turn in session[_GREETING:-_GREETING]]
                pieces.append(_from_prompt(said)[: rng.randint(*_PIECE)])
    return _spliced(pieces, rng, _PIECE[0])


def _longmemeval(data: Path) -> list[Turn]:
    try:
        source = find_one(data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    except Skipped:
        return []
    if "longmemeval" not in source.name:
        return []
    rng = random.Random(SEED)
    pool = list(read_json(source)["pool"].values())[:_LME_SESSIONS]
    pieces = [
        _from_prompt([Message(turn["role"], turn["content"]) for turn in session])[: rng.randint(*_LME_PIECE)]
        for session in pool
    ]
    return _spliced(pieces, rng, _LME_PIECE[0])


def _sessions(talk: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    return [talk[key] for key in talk if _SESSION.fullmatch(key)]


def _message(turn: Mapping[str, Any], asker: str) -> Message:
    return Message("user" if turn["speaker"] == asker else "assistant", turn["text"], id=turn["dia_id"])


def _from_prompt(messages: list[Message]) -> list[Message]:
    first = next((at for at, message in enumerate(messages) if message.role == "user"), len(messages))
    return messages[first:]


def _spliced(pieces: Iterable[list[Message]], rng: random.Random, shortest: int) -> list[Turn]:
    kept = [piece for piece in pieces if len(piece) >= shortest]
    rng.shuffle(kept)
    return [Turn(message, at == 0) for piece in kept for at, message in enumerate(piece)]


# --- the ledger


def _ledger(samples: Sequence[Mapping[str, Any]], options: Options) -> dict[str, Figures]:
    """Play a long conversation on one vault, with a host that keeps and with one that replaces our block."""
    conversation = read_conversation(samples[0])
    stream = _locomo(samples[:1])
    with _index(conversation, options, 0) as index:
        context = index.app.context
        return {
            "host keeps": _played(context, stream, SessionKey("own", "bench-keeps", keeps=True)),
            "host replaces": _played(context, stream, SessionKey("own", "bench-replaces", keeps=False)),
        }


def _played(context: Context, stream: Sequence[Turn], session: SessionKey) -> Figures:
    """What is repeated is counted here, by the excerpts themselves: the ledger is not asked about itself."""
    window = Window()
    spent: list[float] = []
    counts: Counter[str] = Counter()
    context.start(session, source="clear")
    for at, (message, _) in enumerate(stream):
        if message.role != "user":
            continue
        recent = [turn.message for turn in stream[max(0, at - _RECENT) : at]]
        started = time.perf_counter()
        turn = context.turn(session, message.text, recent=recent)
        spent.append(time.perf_counter() - started)
        if not session.keeps:
            window = Window()
        counts.update(prompts=1, shifts=bool(turn.shift), released=turn.released)
        counts.update(window.take(turn.pack))
        if counts["prompts"] % _COMPACTED_AFTER == 0:
            window = Window()
            window.take(context.start(session, source="compact").pack)
    names = ("prompts", "shifts", "excerpts", "released", "repeated passages", "repeated lines")
    return {name: float(counts[name]) for name in names} | {
        "p50 ms": 1e3 * metrics.quantile(spent, 0.5),
        "p95 ms": 1e3 * metrics.quantile(spent, 0.95),
    }


class Window:
    """What a host has before it."""

    def __init__(self) -> None:
        self._passages: set[str] = set()
        self._lines: set[str] = set()

    def take(self, pack: Pack | None) -> Counter[str]:
        counts: Counter[str] = Counter()
        for excerpt in pack.excerpts if pack else ():
            ids = set(ids_of(excerpt))
            lines = {line for line in excerpt.text.splitlines() if len(line) > _LINE_CHARS}
            counts.update(
                {
                    "excerpts": 1,
                    "repeated passages": len(ids & self._passages),
                    "repeated lines": len(lines & self._lines),
                }
            )
            self._passages |= ids
            self._lines |= lines
        return counts


# --- follow-ups


def _follow_ups(samples: Sequence[Mapping[str, Any]], options: Options) -> dict[str, Figures]:
    rng = random.Random(SEED)
    found: dict[str, list[Figures]] = {}
    for at, sample in enumerate(samples):
        conversation = read_conversation(sample)
        talk = sample["conversation"]
        places = {
            turn["dia_id"]: (session, place)
            for session in _sessions(talk)
            for place, turn in enumerate(session)
        }
        questions = list(conversation.questions)
        rng.shuffle(questions)
        with _index(conversation, options, at) as index:
            for question in questions[: options.limit or _QUESTIONS]:
                session, place = places[min(question.gold)]
                stranger = rng.choice([other for other in _sessions(talk) if other is not session])
                same = _messages(session[:place], talk)
                other = _messages(stranger, talk)
                short = elliptic(question.text)
                for row, prompt, recent in (
                    ("whole question", question.text, ()),
                    ("whole, after its session", question.text, same),
                    ("whole, after another", question.text, other),
                    ("names taken out", short, ()),
                    ("names out, after its session", short, same),
                    ("names out, after another", short, other),
                    ('"What about that one?"', "What about that one?", same),
                ):
                    intent = understand_intent(prompt, recent)
                    hits = index.passages("ours", intent.query, 20)
                    covered = [covered_turns(hit, conversation.turns) for hit in hits]
                    own = metrics.judge(covered, question.gold) | {"borrowed": float(bool(intent.borrowed))}
                    found.setdefault(row, []).append(own)
    return {row: metrics.percent(metrics.mean(own)) for row, own in found.items()}


def _messages(turns: Sequence[Mapping[str, Any]], talk: Mapping[str, Any]) -> tuple[Message, ...]:
    return tuple(_message(turn, talk["speaker_a"]) for turn in turns[-_BEFORE:])


def elliptic(question: str) -> str:
    """The question as somebody asks who has just talked about it: pronouns in the place of names."""
    first, *rest = question.split(" ")
    return " ".join([first, *("they" if _NAME.match(word.strip("\"'“")) else word for word in rest)])


@contextmanager
def _index(conversation: Conversation, options: Options, at: int) -> Iterator[Measured]:
    with options.work("drift") as work:
        vault = work / f"vault{at}"
        for name, text in conversation.notes.items():
            write_note(vault / name, text)
        with measured(vault, work / f"state{at}") as index:
            index.set_time(conversation.asked_at)
            yield index


def _builtin() -> Embedder:
    from hindbrain.models.static import load_static

    return load_static()


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import COLOURS, headline, legend

    for way, row in (("words and vectors", "ours"), ("words alone", "bm25")):
        heights = [result["metrics"][f"curve.{way}.{at}"] for at in _CURVE]
        axes.plot(_CURVE, heights, color=COLOURS[row], marker="o", markersize=3, label=way)
        cut = CALIBRATIONS["builtin/l2-supercat-256"].threshold if row == "ours" else WORDS_ALONE.threshold
        axes.axvline(cut, color=COLOURS[row], linewidth=0.9, linestyle="--")
    single = result["baselines"]["single messages, cosine 0.3"]["f1"]
    axes.axhline(single, color=COLOURS["rrf"], linewidth=1.2, label="single messages, cosine 0.3")
    axes.set_ylim(0, 100)
    axes.set_xlabel("threshold of similarity", fontsize=9)
    headline(axes, "Topic shifts noticed: F1 (%), LoCoMo spliced")
    legend(axes)


BENCHMARK = Benchmark("drift", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
