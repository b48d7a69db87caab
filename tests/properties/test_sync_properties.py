"""After any history of edits the index equals the vault, and equals one that is made at once."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.sync import Syncer
from hindbrain.models.fake import FakeEmbedder
from hindbrain.vault.ignore import make_rules
from index_faults import Strikes, Struck, interrupt
from index_oracle import assert_equals_vault, meaning
from workbench import NOW, Vault

_NAMES = st.sampled_from(["a.md", "b.md", "c/a.md", "c/d.md", "é.md", "Zebra.md"])
_TEXTS = st.sampled_from(
    [
        "",
        "one\n",
        "two\n\nthree\n",
        "# H\n\nfour #tag\n",
        "---\ntitle: T\n---\n[[a]]\n",
        "same\n\nsame\n",
        "long " * 400,
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
_STEPS = st.lists(
    st.tuples(st.just("write"), _NAMES, _TEXTS)
    | st.tuples(st.just("remove"), _NAMES, st.just(""))
    | st.tuples(st.just("rename"), _NAMES, _NAMES)
    | st.tuples(st.just("sync"), st.just(""), st.just(""))
    | st.tuples(st.just("interrupted"), st.just(""), st.integers(1, 60).map(str)),
    max_size=14,
)


def _syncer(vault: Vault, state: Path) -> Syncer:
    # A clock beyond every time stamp that the system gives, so that an emptied note is believed.
    return Syncer(vault.root, state, make_rules(), ChunkSettings(), FakeClock(NOW + 20 * 365 * 86_400))


def _do(vault: Vault, state: Path, embedder: FakeEmbedder, tick: int, step: tuple[str, str, str]) -> None:
    kind, name, value = step
    file = vault.root / name
    if kind == "write":
        vault.write(name, value, at=NOW - 5_000 + tick)
    elif kind == "remove":
        file.unlink(missing_ok=True)
    elif kind == "rename" and file.exists() and not (vault.root / value).exists():
        vault.rename(name, value)
    elif kind == "sync":
        _syncer(vault, state).sync(embedder, confirm=True)
    elif kind == "interrupted":
        with Strikes(int(value), interrupt).active(), contextlib.suppress(Struck):
            _syncer(vault, state).sync(embedder, confirm=True)


@settings(max_examples=30, deadline=None)
@given(_STEPS)
def test_any_history_ends_in_an_index_that_equals_the_vault(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        vault, state, embedder = Vault(Path(name) / "vault"), Path(name) / "state", FakeEmbedder(8)
        vault.write(".obsidian/app.json", "{}")
        vault.write("always.md", "always there\n", at=NOW - 9_000)
        for tick, step in enumerate(steps):
            _do(vault, state, embedder, tick, step)
        _syncer(vault, state).sync(embedder, confirm=True)
        assert_equals_vault(state / "index.db", vault.root, all_embedded=True)
        fresh = Path(name) / "fresh"
        _syncer(vault, fresh).sync(embedder)
        assert meaning(state / "index.db") == meaning(fresh / "index.db")
