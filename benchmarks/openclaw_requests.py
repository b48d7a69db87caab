"""What recorded requests to a model held: tokens by what they are worth to a turn, and shared beginnings.

Pure: knows the shapes of a request and of the memories' texts, and nothing of a gateway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from hindbrain.context.tokens import count_tokens

Body: TypeAlias = Mapping[str, Any]  # of a request, as OpenAI's chat completions have it

_BLOCK = re.compile(r"<memory_context\b[^>]*>\n?(.*?)</memory_context[^>]*>", re.DOTALL)
# The head of an excerpt, as `[2022-05-05 thoughts/CRDT.md:18 · Title]`.
_HEAD = re.compile(r"^\[(?:\d{4}-\d{2}-\d{2} )?(.+?\.md)(?::\d+)?(?: · [^\n]*)?\]$", re.MULTILINE)

_RESULT = re.compile(
    r'(?P<quote>\\*)"path(?P=quote)":\s*(?P=quote)"(?P<path>[^"]+?\.md)(?P=quote)".*?'
    r'(?P=quote)"snippet(?P=quote)":\s*(?P=quote)"(?P<snippet>.*?)(?<!\\)(?P=quote)"[,}\s\\]',
    re.DOTALL,
)


class Worth(NamedTuple):
    """Tokens that belong to the notes which answer a turn, and all others."""

    relevant: int = 0
    irrelevant: int = 0

    def plus(self, other: Worth) -> Worth:
        return Worth(self.relevant + other.relevant, self.irrelevant + other.irrelevant)


class Fact(NamedTuple):
    """A line of MEMORY.md and the notes it was written from; one without notes holds in every turn."""

    text: str
    notes: tuple[str, ...] = ()

    def is_on(self, gold: Collection[str]) -> bool:
        return not set(self.notes).isdisjoint(gold)


def words_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))


def prompt_of(body: Body) -> str:
    """All that a model reads, in the order in which a provider caches it: tools, then messages."""
    tools = json.dumps(body.get("tools") or [], ensure_ascii=False)
    said = (f"<{one.get('role')}>{words_of(one)}{_calls(one)}" for one in body.get("messages") or ())
    return "\n".join((tools, *said))


def _calls(message: Mapping[str, Any]) -> str:
    calls = [call.get("function", {}) for call in message.get("tool_calls") or ()]
    return "".join(f"<call>{call.get('name')} {call.get('arguments')}" for call in calls)


def fixed_tokens(body: Body) -> int:
    """Tokens that stand before the conversation: tools and system prompt."""
    system = (
        words_of(one) for one in body.get("messages") or () if one.get("role") in ("system", "developer")
    )
    return count_tokens(json.dumps(body.get("tools") or [], ensure_ascii=False)) + sum(
        map(count_tokens, system)
    )


def shared_beginning(before: str, after: str) -> float:
    """The share of `after` that a provider may still have from `before`, 0..1."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    return same / len(after) if after else 0.0


def excerpts(text: str) -> Iterator[tuple[str, str]]:
    """The notes that our block quotes: path and words. What comes before the first is under no path."""
    for block in _BLOCK.finditer(text):
        pieces = _HEAD.split(block[1])
        yield "", pieces[0]
        yield from zip(pieces[1::2], pieces[2::2], strict=True)


def injected_worth(text: str, gold: Collection[str], facts: Sequence[Fact] = ()) -> Worth:
    """What was put before a prompt. The frame around the quotes answers nothing."""
    total = sum(count_tokens(block[0]) for block in _BLOCK.finditer(text))
    relevant = 0
    for path, words in excerpts(text):
        if path in gold or _tells(words, gold, facts):
            relevant += count_tokens(words)
    return Worth(min(relevant, total), total - min(relevant, total))


def _tells(words: str, gold: Collection[str], facts: Sequence[Fact]) -> bool:
    return any(fact.text in words for fact in facts if fact.is_on(gold))


def static_worth(system: str, gold: Collection[str], facts: Sequence[Fact]) -> Worth:
    """The facts that stand in a system prompt."""
    worth = Worth()
    for fact in facts:
        if fact.text in system:
            tokens = count_tokens(f"- {fact.text}\n")
            helps = not fact.notes or fact.is_on(gold)
            worth = worth.plus(Worth(tokens, 0) if helps else Worth(0, tokens))
    return worth


def found_worth(result: str, gold: Collection[str]) -> Worth:
    """The text of a result of memory_search. What stands around the snippets answers nothing."""
    total = count_tokens(result)
    relevant = sum(count_tokens(words) for path, words in results(result) if is_of(path, gold))
    return Worth(min(relevant, total), total - min(relevant, total))


def results(result: str) -> list[tuple[str, str]]:
    """Path and snippet of each result, once each; nothing where it is no answer of memory_search.

    By their names and not as JSON: OpenClaw cuts long results, and puts those of deferred tools into others.
    """
    found: dict[tuple[str, str], str] = {}
    for one in _RESULT.finditer(result):
        begins = re.sub(r"\\+n?|\W", "", one["snippet"])[:60]
        found.setdefault((one["path"], begins), one["snippet"])
    return [(path, words) for (path, _), words in found.items()]


def is_of(path: str, gold: Collection[str]) -> bool:
    """OpenClaw's own memory tells paths from its workspace on."""
    return any(path == note or path.endswith(f"/{note}") for note in gold)
