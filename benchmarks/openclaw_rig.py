"""A real OpenClaw over a copy of a vault, with one memory or another; the rig is that of the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.frame import Skipped
from hindbrain.models.embedder import EmbeddingSettings
from hindbrain.models.select import make_embedder

if TYPE_CHECKING:
    from tests.real_openclaw.gateway_process import Ran
    from tests.real_openclaw.rig import Rig

_EMBEDDINGS = "hindbrain-builtin"
_INDEX_S = 900.0


@contextmanager
def opened_rig(
    memory: str, vault: Path, folder: Path, prepare: Callable[[Rig], None] | None = None
) -> Iterator[tuple[Rig, float]]:
    """A gateway that runs, and the seconds that it took to index the vault.

    `memory`: "ours", "builtin", "keywords" or "none"; `prepare` is called before anything is indexed.
    """
    try:
        from tests.real_openclaw.program import Unavailable
        from tests.real_openclaw.rig import open_rig
    except ImportError as missing:
        raise Skipped(f"the tests are not beside the benchmarks: {missing}") from None
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with open_rig(folder, embed=_embed()) as rig:
            copy_notes(vault, rig.vault)
            set_config(rig, _config(memory, rig))
            if prepare is not None:
                prepare(rig)
            index_s = 0.0
            if memory == "ours":
                index_s = ran(rig.hindbrain("sync", timeout_s=_INDEX_S))
                ran(rig.hindbrain("openclaw", "install"))
            elif memory != "none":
                index_s = ran(rig.gateway.run("memory", "index", timeout_s=_INDEX_S))
            rig.gateway.start()
            yield rig, index_s
    except Unavailable as reason:
        raise Skipped(str(reason)) from None


def _config(memory: str, rig: Rig) -> dict[str, Any]:
    if memory == "ours":
        return {}
    if memory == "none":
        return {"plugins": {"slots": {"memory": "none"}}}
    search: dict[str, Any] = {"provider": "none", "extraPaths": [str(rig.vault)]}
    if memory == "builtin":
        remote = {"baseUrl": rig.model.url, "apiKey": "stub"}
        search |= {"provider": "openai-compatible", "model": _EMBEDDINGS, "remote": remote}
    return {"memory": {"search": search}}


def set_config(rig: Rig, changes: Mapping[str, Any]) -> None:
    """Change openclaw.json before the gateway starts."""
    from tests.real_openclaw.rig import merged

    rig.gateway.write_config(merged(rig.gateway.read_config(), changes))


def ran(done: Ran) -> float:
    """The seconds of a command that ended well."""
    if done.code != 0:
        raise RuntimeError(f"it ended with {done.code}: {done.err[-800:]} {done.out[-800:]}")
    return done.seconds


def note_path(rig: Rig, path: str) -> str:
    """A path in the vault: OpenClaw's own memory tells them from its workspace on."""
    if path.startswith(".."):
        path = os.path.relpath(os.path.normpath(rig.gateway.workspace / path), rig.vault)
    return Path(path).as_posix()


def copy_notes(vault: Path, to: Path) -> None:
    """All notes, as if they were written now."""
    for source in sorted(vault.rglob("*.md")):
        note = to / source.relative_to(vault)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(source.read_bytes())


def _embed() -> Callable[[Sequence[str]], Sequence[Sequence[float]]]:
    """Our built-in embedder for OpenClaw's own memory."""
    embedder = make_embedder(EmbeddingSettings(provider="builtin"), {})
    assert embedder is not None

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        rows: Sequence[Sequence[float]] = embedder.embed_documents(texts).tolist()
        return rows

    return embed
