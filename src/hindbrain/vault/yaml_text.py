"""Values as YAML text, the way Obsidian writes them: bare where that is safe, else in quotes.

Pure. The counterpart of `scalars`, which reads. Bare text is what every reader of YAML takes for that very
text: not for a number, a truth value or nothing. Dates stay bare, as Obsidian's date properties are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hindbrain.base.errors import UsageError

_INDICATORS = frozenset(",[]{}#&*!|>'\"%@`")  # a bare scalar can't begin with these
_LOOKS_TYPED = re.compile(
    r"(?:true|false|yes|no|on|off|null|~|y|n"
    r"|[-+]?(?:0[xob])?[0-9][0-9_]*+(?:\.[0-9_]*+)?(?:e[-+]?[0-9]++)?"
    r"|0x[0-9a-f]++|[-+]?\.[0-9][0-9_]*+(?:e[-+]?[0-9]++)?|[-+]?\.inf|\.nan"
    r"|[-+]?[0-9]++(?::[0-5]?[0-9])++(?:\.[0-9]*+)?)",  # 12:30 is a number to YAML 1.1
    re.IGNORECASE,
)
_SPLITS = re.compile(r":(?:\s|$)|\s#")
_FLOW_SPECIAL = re.compile(r"[,\[\]{}]|:|\s['\"#]")
_BARE_KEY = re.compile(r"[^\W\d_][\w \-./]{0,99}+")
# Controls, line marks, byte order marks, halves of characters: YAML forbids them or takes them for line ends.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def scalar_text(value: str | bool | float) -> str:
    """The value as it stands behind `key:` or `-`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if _is_bare(value) else _quoted(value)
    if not math.isfinite(value):
        raise UsageError(f"{value!r} can't be a property; give a finite number")
    return repr(value).removesuffix(".0")


def flow_list(values: Sequence[str]) -> str:
    """`[a, "b, c"]`."""
    return "[" + ", ".join(_flow_item(value) for value in values) + "]"


def key_text(key: str) -> str:
    """A property's name as it stands before the colon."""
    bare = _BARE_KEY.fullmatch(key) and key == key.strip() and not _LOOKS_TYPED.fullmatch(key)
    return key if bare else _quoted(key)


def _flow_item(value: str) -> str:
    return value if _is_bare(value) and not _FLOW_SPECIAL.search(value) else _quoted(value)


def _is_bare(value: str) -> bool:
    if not value or value != value.strip() or not _is_plain(value):
        return False
    if value[0] in _INDICATORS or (value[0] in "-?:" and value[1:2] in ("", " ")):
        return False
    return not _SPLITS.search(value) and not _LOOKS_TYPED.fullmatch(value) and value not in ("---", "...")


def _is_plain(value: str) -> bool:
    return HIDDEN.search(value) is None


def _quoted(value: str) -> str:
    """In double quotes, or in single ones where that needs no escape."""
    if ('"' in value or "\\" in value) and "'" not in value and _is_plain(value):
        return f"'{value}'"
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if _is_plain(char):
        return char
    code = ord(char)
    if 0xD800 <= code < 0xE000:
        raise UsageError(f"{char!r} is half a character; leave it out")
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
