"""The fence around what notes say in a prompt: recalled text can't end its block or take on a role.

Pure. Knows text and nothing of packs. Every line of a note stands behind a prefix of ours, inside a block
whose tags carry a nonce that nobody without the key can foretell. What covers what:

- tags, ours or a host's (`</memory>`, `<system>`, `<tool_call>`), comments, CDATA: the "<" is written as
  "&lt;" wherever a tag could begin, however it is spaced, and so are the signs that look like it;
- special tokens of chat templates: `<|im_start|>`, `<｜User｜>`, `<start_of_turn>`, `<s>`, `<<SYS>>` by the
  same rule; `[INST]` and its kin by writing the "[" as "&#91;";
- roles by name ("Human:", "Assistant:", "### Instruction:"): they count at the start of a line, where a
  prefix stands before them, whatever character ends the line before;
- what is not seen (controls, terminal escapes, direction overrides, zero-width and tag characters) is taken
  out.
"""

from __future__ import annotations

import hashlib
import re

from hindbrain.memory.policy.hidden_text import strip_hidden

NONCE_DIGITS = 8  # a nonce never occurs in the content, so more would make nobody safer, and cost tokens
# One blank: words are tokenised with the blank before them, so it costs 1 % of a pack; two would cost 4 %.
TEXT_PREFIX = " "

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and the cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # the window's title, links
    r"|\x1b[ -/]*[0-~]?"
)
# Characters for formatting that nothing draws, beyond those that are taken out of whatever is stored.
_UNDRAWN = re.compile(
    "[\u2065\u206a-\u206f\ufff0-\ufffb\u17b4\u17b5\U00013430-\U0001345f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_UNSEEN_MARKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # that Unicode calls letters or marks
_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")
_HALF = re.compile("[\ud800-\udfff]")  # of a character, from a broken file name
_BLANK = r"[\s\u2800]*"
_SLASH = "/\u2044\u2215\uff0f\u29f8\u2571"
_BAR = "|\uff5c\u00a6\u2223\u01c0\u2502\u2758"
_RESERVED = (
    "memory|memories|hindbrain|context_pack|recalled|section|system|user|assistant|human|developer|model|tool"
    "|function|instruction|prompt|im_start|im_end|inst|sys|script|antml"
)
_NAME = r"[^\W\d][\w:.-]*"
_TAG = re.compile(
    rf"[<\uff1c\ufe64](?:(?=[^\W\d]|0x[0-9A-Fa-f]{{2}}>)"  # "<a", "<é", "<_", the name of a byte
    rf"|(?={_BLANK}[!?{_SLASH}{_BAR}])"
    # "a < b" is no tag; "< system>", "< b >" and "< b c='d'" could be read as one.
    rf"|(?={_BLANK}(?:{_RESERVED}|{_NAME}\s*[>\uff1e\ufe65]|{_NAME}\s+{_NAME}\s*=\s*[\"'])))"
    # Brackets that only look alike are other people's quotation marks: «Bonjour», 《书》.
    rf"|[\u2039\u2329\u3008\u27e8\u276e\u276c\u27ea\u300a\u00ab\u02c2\u1438\u227a\u29fc]"
    rf"(?={_BLANK}[{_SLASH}{_BAR}]|{_BLANK}(?:{_RESERVED}))",
    re.IGNORECASE,
)
_TOKEN_NAME = (
    r"(?:(?i:/?INST|/?SYS|/?SYSTEM)|/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT"
    r"|MODEL_SETTINGS|THINK|ARGS|CALL_ID|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|AUDIO|BEGIN_AUDIO|TRANSCRIBE"
    r"|CLS|SEP|PAD|UNK|MASK|gMASK|sMASK|BOS|EOS|control_\d+))\]"
)
_TOKEN = re.compile(rf"\[(?={_TOKEN_NAME})")
_TOKEN_END = re.compile(_TOKEN_NAME)


def clean(text: str) -> str:
    """`text` with plain line ends and nothing that is not seen."""
    plain = "\n".join(text.splitlines())  # knows every character that any system takes for a line end
    if plain.isascii() and plain.replace("\n", " ").isprintable():
        return plain
    seen = strip_hidden(_TERMINAL.sub("", plain)).text
    return _HALF.sub("\ufffd", _UNDRAWN.sub("", seen))


def disarm(text: str) -> str:
    """`text`, which is clean, with nothing in it that could begin a tag or be a special token."""
    return _TOKEN.sub("&#91;", _TAG.sub("&lt;", text))


def fence_text(text: str, *, prefix: str = TEXT_PREFIX) -> list[str]:
    """The lines of a note's text, each behind the prefix; runs of blank lines are one, none at the ends."""
    empty = prefix.rstrip()
    lines: list[str] = []
    for line in disarm(clean(text)).split("\n"):
        told = (prefix + line).rstrip()
        if told != empty or (lines and lines[-1] != empty):
            lines.append(told)
    return lines[:-1] if lines and lines[-1] == empty else lines


def fence_line(text: str, *, limit: int) -> str:
    """`text` as a part of a line of ours: on one line, disarmed, cut."""
    return _cut(disarm(_on_one_line(text, limit)), limit)  # in this order: half of a name would not be known


def fence_attribute(text: str, *, limit: int) -> str:
    """`text` as the value of an attribute in double quotes."""
    told = _cut(_TOKEN.sub("(", _TAG.sub("<", _on_one_line(text, limit))), limit)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        told = told.replace(sign, entity)
    return told


def fence_json(text: str) -> str:
    """The same JSON value, in bytes that hold no tag, no special token and nothing unseen."""
    told = _TOKEN.sub(_escaped, _TAG.sub(_escaped, text.replace("<", "\\u003c")))
    return _NOT_PLAIN.sub(_escaped_unseen, told)


def begins_token(text: str) -> bool:
    """Would a "[" before `text` make a special token of it?"""
    return _TOKEN_END.match(text) is not None


def nonce_for(key: bytes, seed: str, content: str) -> str:
    """The same for the same seed, unknown to whoever lacks the key, and not to be found in the content."""
    for attempt in range(1_000_000):
        message = f"{attempt}:{seed}".encode("utf-8", "replace")
        # Keyed BLAKE2 is what HMAC is, without another module to import in a hook.
        nonce = hashlib.blake2b(message, key=key, digest_size=NONCE_DIGITS // 2).hexdigest()
        if nonce not in content.casefold():
            break
    return nonce


def _on_one_line(text: str, limit: int) -> str:
    """At least the first `limit` characters that are seen; a prompt may be of megabytes."""
    return " ".join(clean(text[: 50 * limit]).split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2))


def _escaped_unseen(found: re.Match[str]) -> str:
    char = found[0]
    selects = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    seen = char.isprintable() and char not in _UNSEEN_MARKS and not selects
    return char if seen else _escaped(found)
