"""Which words a model wants before a query and before a document: a table, and the look-up in it.

Pure. Used where the model's own files do not say it (Ollama, OpenAI-compatible servers, bare ONNX folders).
The words are those of the models' cards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindbrain.models.embedder import Role


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is put before a text; "" is nothing."""

    query: str = ""
    document: str = ""

    def of(self, role: Role) -> str:
        return self.query if role == "query" else self.document

    def tag(self) -> str:
        """A short mark for a cache key; "" without prompts. Other prompts give other vectors."""
        if not (self.query or self.document):
            return ""
        import hashlib

        digest = hashlib.sha256(f"{self.query}\0{self.document}".encode())
        return "+" + digest.hexdigest()[:6]


NO_PROMPTS = Prompts()
_SENTENCE = Prompts(query="Represent this sentence for searching relevant passages: ")
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_GEMMA = Prompts(query="task: search result | query: ", document="title: none | text: ")

# The first pattern found in the model's name wins, so the special cases stand before their family.
_BY_MODEL: tuple[tuple[str, Prompts], ...] = (
    (r"nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    (r"mxbai-embed", _SENTENCE),
    (r"embedding-?gemma", _GEMMA),
    (r"gemini-embedding-2", _GEMMA),  # the first Gemini model has task types instead
    (r"arctic-embed2|arctic-embed-[lm]-v2", Prompts(query="query: ")),
    (r"arctic-embed", _SENTENCE),  # versions 1 and 1.5
    (r"qwen3-embedding", Prompts(query=_INSTRUCT)),  # its card has no space after "Query:"
    (r"e5-.*instruct|e5-mistral", Prompts(query=_INSTRUCT + " ")),
    (r"(^|[-_])e5([-_]|$)", Prompts("query: ", "passage: ")),
    (r"bge-m3|bge-multilingual", NO_PROMPTS),
    (r"bge-(small|base|large)-zh", Prompts(query="为这个句子生成表示以用于检索相关文章：")),
    (r"bge-(small|base|large)", _SENTENCE),
)


def prompts_for(model: str) -> Prompts:
    """The prompts of `model` as servers spell it ("user/Name-v1.5:latest"); none for a model not listed."""
    plain = bare_model(model).rpartition("/")[2].lower()
    for pattern, prompts in _BY_MODEL:
        if re.search(pattern, plain):
            return prompts
    return NO_PROMPTS


def bare_model(model: str) -> str:
    """`model` without Ollama's default tag: "x" and "x:latest" are the same model."""
    return model.removesuffix(":latest")
