"""What a service has embedded once is not sent again: not after a rebuild, and only within a bound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.models.embedder import Embedder
from hindbrain.models.fake import FakeEmbedder
from workbench import Vault

MakeApp = Callable[..., App]


def opened(make_app: MakeApp, vault: Vault, embedder: Embedder) -> App:
    app = make_app(vault.root)
    app.__dict__["embedder"] = embedder
    return app


def write_notes(vault: Vault, first: int, count: int) -> None:
    for number in range(first, first + count):
        vault.write(f"n{number}.md", f"Passage number {number}.\n")


def embedded(app: App, embedder: FakeEmbedder, work: Callable[[App], object]) -> int:
    """How many texts the service was sent."""
    embedder.calls.clear()
    work(app)
    app.close()
    return len(embedder.texts())


def test_a_rebuild_embeds_no_text_again(vault: Vault, make_app: MakeApp, embedder: FakeEmbedder) -> None:
    write_notes(vault, 0, 30)
    assert embedded(opened(make_app, vault, embedder), embedder, App.sync) == 30

    app = opened(make_app, vault, embedder)
    assert embedded(app, embedder, App.rebuild) == 0
    assert app.store.vector_count() == 30
    other = FakeEmbedder(32)
    assert embedded(opened(make_app, vault, other), other, App.sync) == 30  # vectors of another length


def test_beyond_the_bound_the_least_recently_used_go(
    vault: Vault, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, clock: FakeClock
) -> None:
    monkeypatch.setattr("hindbrain.index.embedding_cache.MOST_BYTES", 400_000)
    embedder = FakeEmbedder(1024)

    def do(work: Callable[[App], object]) -> int:
        clock.advance(60)
        return embedded(opened(make_app, vault, embedder), embedder, work)

    write_notes(vault, 0, 100)
    do(App.sync)
    write_notes(vault, 100, 100)
    do(App.sync)
    for number in range(100, 200):
        vault.remove(f"n{number}.md")
    assert do(App.rebuild) == 0  # uses the first hundred again
    write_notes(vault, 200, 100)
    assert do(App.sync) == 100  # more than there is room for

    assert do(App.rebuild) == 0
    write_notes(vault, 100, 100)
    assert 0 < do(App.sync) < 100
    assert (make_app(vault.root).state / "embeddings.db").stat().st_size < 500_000


def test_a_damaged_cache_costs_only_what_was_in_it(
    vault: Vault, make_app: MakeApp, embedder: FakeEmbedder
) -> None:
    write_notes(vault, 0, 5)
    app = opened(make_app, vault, embedder)
    app.sync()
    app.close()
    cache: Path = app.state / "embeddings.db"
    cache.write_bytes(b"no database" * 1_000)

    assert embedded(opened(make_app, vault, embedder), embedder, App.rebuild) == 5
    assert embedded(opened(make_app, vault, embedder), embedder, App.rebuild) == 0


def test_the_built_in_embedder_keeps_no_cache(vault: Vault, make_app: MakeApp) -> None:
    write_notes(vault, 0, 3)
    app = make_app(vault.root)
    app.sync()
    app.close()
    assert not (app.state / "embeddings.db").exists()
