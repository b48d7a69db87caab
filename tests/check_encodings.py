"""`python -m tests.check_encodings`: every text that is opened names its encoding.

Without one, Python takes that of the system, which is not UTF-8 on every Windows. Ruff's rule (PLW1514) sees
only what is plainly a path; this looks at every call of these names.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PLACES = ("src", "tests", "benchmarks")
_AT = {"read_text": 0, "write_text": 1}  # where the encoding stands among the arguments


def missing(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that open a text without naming its encoding."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not _names_it(node) and _opens_text(node):
            yield node


def _names_it(call: ast.Call) -> bool:
    return any(word.arg in ("encoding", None) for word in call.keywords) or any(
        isinstance(arg, ast.Starred) for arg in call.args
    )


def _opens_text(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(call.func, ast.Attribute) and name in _AT:
        return len(call.args) <= _AT[name]
    if name in ("Popen", "run", "check_output"):
        return any(
            word.arg in ("text", "universal_newlines") and _is_true(word.value) for word in call.keywords
        )
    if name == "fdopen" or (name == "open" and isinstance(call.func, ast.Name)):
        return "b" not in _mode(call) and len(call.args) < 4
    return False


def _mode(call: ast.Call) -> str:
    """The mode, as far as it stands there; "b" when it is not known."""
    given = next((word.value for word in call.keywords if word.arg == "mode"), None)
    given = given or (call.args[1] if len(call.args) > 1 else None)
    if given is None:
        return "r"
    return str(given.value) if isinstance(given, ast.Constant) else "b"


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def main() -> int:
    found = 0
    for path in sorted(path for place in _PLACES for path in (ROOT / place).rglob("*.py")):
        for call in missing(ast.parse(path.read_text(encoding="utf-8"))):
            print(f"{path.relative_to(ROOT)}:{call.lineno}: name the encoding of this text")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
