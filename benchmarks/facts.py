"""Memories to measure with: sentences of the scale corpus, and vaults that hold some of them already.

A corpus of real prose, since made-up sentences resemble each other and keep the judge of conflicts busier, or
idler, than people's do. Half of the memories are facts, the others are spread over the other categories.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.rankers import bench_config
from benchmarks.scale import endless, read_notes, scale_corpus
from hindbrain.app import App, build_app
from hindbrain.memory.policy.policy import Policy
from hindbrain.vault.items.category import CATEGORIES
from hindbrain.vault.items.item import MemoryItem, new_id, render_item

_SEED = 7_919
_SENTENCE = re.compile(r"(?:(?<=[.!?] )|(?<=\n))[A-Z][A-Za-z0-9 ,'’-]{38,158}\.(?=\s|$)")


def read_facts(data: Path, work: Path, wanted: int) -> list[str]:
    """That many different sentences that policy lets pass, always the same ones."""
    notes = read_notes(scale_corpus(data, work))
    facts = list(islice(_accepted(text for _, text in endless(notes)), wanted))
    random.Random(_SEED).shuffle(facts)  # else neighbours would come from one note
    return facts


def _accepted(texts: Iterable[str]) -> Iterator[str]:
    policy, seen = Policy(), set[str]()
    for text in texts:
        for sentence in _SENTENCE.findall(text):
            if sentence not in seen:
                seen.add(sentence)
                if policy.judge(sentence, source="agent").action == "accept":
                    yield sentence


def category_of(at: int) -> str:
    """Of the memory with this number: every second one is a fact."""
    others = [name for name in CATEGORIES if name != "fact"]
    return "fact" if at % 2 else others[at // 2 % len(others)]


def copied_vault(data: Path, work: Path, target: Path) -> Path:
    """A copy of the vault to write into."""
    source = find_one(data, "vault", ("vault_jzhao.tar.gz", "vault_jzhao*", "vault_*"))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(single_root(unpacked(source, work)), target)
    return target


def opened(vault: Path, state: Path, memories: Sequence[str]) -> App:
    """The vault with these memories in its notes, indexed, and everything loaded that a call needs."""
    app = build_app(bench_config(state), vault)
    layout, today = app.memory.layout, app.memory.today()
    lines: dict[str, list[str]] = {category: [] for category in CATEGORIES}
    for at, text in enumerate(memories):
        category = category_of(at)
        item = MemoryItem(new_id(), text, category, source="agent", created=today)
        lines[category].append(render_item(item, place=category))
    for category, own in lines.items():
        if own:
            first = layout.first_text("memory", today=today, category=category)
            note = vault / layout.path("memory", category=category)
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(first + "\n".join(own) + "\n", encoding="utf-8")
    app.sync()
    app.memory.settle(idle=True)
    return app
