"""The figure of P6: an index of 100,000 notes is made anew without embedding, and answers meanwhile."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from hindbrain.index.progress import Progress
from hindbrain.index.schema import remove_index
from hindbrain.search.query import SearchQuery
from index_oracle import assert_sound, rows
from workbench import NOW, Bench, Vault


def _write_notes(vault: Vault, count: int, words: list[str]) -> None:
    choose = random.Random(5)
    for i in range(count):
        body = "\n\n".join(" ".join(choose.choices(words, k=25)) + "." for _ in range(4))
        vault.write(f"{i % 500:03d}/n{i}.md", f"# Note {i}\n\nzebra{i} {body}\n", at=NOW - 9_000)


@pytest.mark.slow
@pytest.mark.promise("P6")
def test_a_hundred_thousand_notes_are_indexed_anew_and_answer_meanwhile(place: Path, plain: Bench) -> None:
    words = [f"w{i}" for i in range(20_000)]
    vault = Vault(place / "vault")
    vault.write(".obsidian/app.json", "{}")
    _write_notes(vault, 100_000, words)
    bench = Bench(vault, _app_for(plain, vault.root, place / "state"), None)
    bench.sync()
    remove_index(bench.app.index_path)
    answered: list[bool] = []

    def look(progress: Progress) -> None:
        if progress.phase == "text" and progress.done >= 50_000 and not answered:
            answered.append(bool(bench.hits(SearchQuery("zebra10", mode="keyword"))))

    start = time.perf_counter()
    report = bench.syncer().sync(None, look)
    print(f"100,000 notes without embedding: {time.perf_counter() - start:.1f} s")
    assert report.clean
    assert answered == [True]
    assert rows(bench.app.index_path, "SELECT count(*) FROM note") == [(100_000,)]
    assert_sound(bench.app.index_path)


def _app_for(like: Bench, root: Path, state: Path):
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config

    config = load_config({"HINDBRAIN_STATE_FOLDER": str(state)}, root.with_name("no-config.toml"))
    return build_app(config, root, clock=like.app.clock, warm=False)
