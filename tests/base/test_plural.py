"""Counts in words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import hindbrain
from hindbrain.base.plural import plural

_NOUNS = (
    "notes|memories|passages|hits|lessons|templates|skills|tasks|runs|proposals|iterations|messages|sessions"
)
_COUNTED = re.compile(rf" (?:(?!of )\w+ )?(?:{_NOUNS})\b")
_MAYBE = re.compile(r"\}" + _COUNTED.pattern)
# Never 1, as a limit or the count of an ambiguity; or a word.
_NEVER_ONE = {
    ("demo_story.py", "before"), ("note_names.py", "len(found)"), ("lint.py", "len(notes)"),
    ("store.py", "len(found)"), ("task_names.py", "len(names)"), ("orchestrator.py", "limits.iterations"),
    ("trimming.py", "len(messages)"), ("stats_text.py", "high"), ("task.py", "args.status"),
    ("memory_search.py", "kinds"), ("forget.py", "len(found)"),
    ("note_place.py", "len(found)"), ("health.py", "len(trouble.claims)"), ("task_answers.py", "kind"),
}  # fmt: skip


def test_a_count_and_its_noun_agree() -> None:
    assert [plural(n, "note") for n in (0, 1, 2, 1234)] == ["0 notes", "1 note", "2 notes", "1,234 notes"]
    assert (plural(1, "memory"), plural(2, "memory"), plural(2, "day")) == (
        "1 memory",
        "2 memories",
        "2 days",
    )
    assert (plural(2, "fix"), plural(2, "note is", "notes are")) == ("2 fixes", "2 notes are")


def test_no_text_says_1_notes() -> None:
    """Each count of these nouns goes through `plural`."""
    wrong = [
        f"{path.name}: {{{value}}}{text!r}"
        for path in sorted(Path(hindbrain.__file__).parent.rglob("*.py"))
        if _MAYBE.search(source := path.read_text(encoding="utf-8"))
        for value, text in _counts(ast.parse(source))
        if (path.name, value) not in _NEVER_ONE
    ]
    assert not wrong


def _counts(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Values of f-strings that a noun follows, as far as they are whole numbers by their look."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            if value.conversion != -1 or (value.format_spec and ast.unparse(value.format_spec) != "f','"):
                continue  # a name, or a fraction
            if _COUNTED.match(str(after.value)):
                yield ast.unparse(value.value), str(after.value)
