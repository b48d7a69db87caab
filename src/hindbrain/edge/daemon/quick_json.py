"""JSON without the package `json`, whose import takes a hook longer than all else that it does.

That package is a thin wrapper around `_json`, plus regular expressions for where that is missing. Here is
another wrapper: the same values, the same errors (ValueError, TypeError, RecursionError). On an interpreter
whose `_json` is another one, the package does it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SPACE = " \t\n\r"  # what JSON takes for white space, which is less than Python does


class _Reading:
    """What `_json.make_scanner` wants to know."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float  # NaN, Infinity, -Infinity


def _own_loads() -> Callable[[str], Any]:
    import _json

    scan: Any = _json.make_scanner(_Reading)  # type: ignore[arg-type]

    def loads(text: str) -> Any:
        stripped = text.strip(_SPACE)
        try:
            value, end = scan(stripped, 0)
        except (StopIteration, SystemError):  # it knows no words for what is wrong without the package
            end = -1
        return value if end == len(stripped) else _package_loads()(text)

    loads("[0]")
    return loads


def _own_dumps() -> Callable[[object, bool], str]:
    import _json

    def refused(value: object) -> object:
        raise TypeError(f"{type(value).__name__} can't be said in JSON")

    def dumps(value: object, ascii_only: bool) -> str:
        text = _json.encode_basestring_ascii if ascii_only else _json.encode_basestring
        encode = _json.make_encoder({}, refused, text, None, ":", ",", False, False, True)
        return "".join(encode(value, 0))

    dumps([0], True)
    return dumps


def _package_loads() -> Callable[[str], Any]:
    import json

    return json.loads


def _package_dumps() -> Callable[[object, bool], str]:
    import json

    def dumps(value: object, ascii_only: bool) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))

    return dumps


try:
    _loads, _dumps = _own_loads(), _own_dumps()
except (ImportError, AttributeError, TypeError, ValueError):
    _loads, _dumps = _package_loads(), _package_dumps()


def loads(data: bytes | bytearray | str) -> Any:
    """The value. Bytes are UTF-8; half a character, from a broken file name, passes, and so does the mark
    with which some systems begin a text. Raises ValueError."""
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
    return _loads(text.removeprefix("\ufeff"))


def dumps(value: object, *, ascii_only: bool = False) -> str:
    """On one line, without white space. Raises TypeError for what JSON has no form for."""
    return _dumps(value, ascii_only)
