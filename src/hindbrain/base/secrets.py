r"""Finds credentials and card numbers in a text, and takes them out.

Pure: text in, text out. Knows nothing of notes, memory or the index. A text is first made into bytes of the
same length (what is beyond Latin-1 becomes `\x01`), so an offset in one is an offset in the other, and the
same patterns mean the same in both engines: RE2 (linear time, whatever the text) and, where that can't be
installed, `re`. One look for keywords decides which rules are tried at all, so ordinary prose costs little.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from hindbrain.base.secret_rule import AWS_ID_REMOVED, Rule
from hindbrain.base.secret_rules import RULES
from hindbrain.base.secret_words import GOES_ON, SAID_OF_ONE, marked_words, plain_letters

_LABEL = re.compile(rb"\[secret removed: [a-z0-9 .]{1,40}\]")
_HIDDEN = re.compile(r"[^\r\n]")
_DOT = "•"  # means nothing in Markdown, YAML or full text, so what is around it is read as before
_SHORTEST = 8  # characters: nothing shorter is found, and an empty text need not load the engine
_QUESTION = bytes.maketrans(b"?\x02", b"\x01?")
_FULL_WIDTH = (("：", ":"), ("＝", "="), ("—", "-"), ("–", "-"), ("→", ">"), ("’", "'"))
_BEYOND_LATIN_1 = re.compile(r"[\u0100-\u024f\u0400-\u04ff\u1e00-\u1eff]")


class Secret(NamedTuple):
    kind: str  # "github token"; where finds overlap, that of the one which begins first
    start: int  # offset in the text, in characters
    stop: int


def find_secrets(text: str) -> list[Secret]:
    """Return what should not be stored, in order and without overlaps."""
    if len(text) < _SHORTEST:
        return []
    data = _as_bytes(text)
    found = [secret for rule in _engine().likely(data) for secret in _found_by(rule, data)]
    return _merged(sorted(found, key=lambda secret: (secret.start, -secret.stop)))


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with each secret replaced by what it was, and the kinds that were removed."""
    kinds: dict[str, None] = {}
    # What is left after a removal may show a second secret. Each round takes away characters that are no part
    # of a label, so this ends; and what it ends with has nothing left to remove.
    while found := find_secrets(text):
        kinds.update(dict.fromkeys(secret.kind for secret in found))
        pieces, at = [], 0
        for kind, start, stop in found:
            pieces += [text[at:start], f"[secret removed: {kind}]"]
            at = stop
        text = "".join(pieces) + text[at:]
    return text, tuple(kinds)


def mask(text: str) -> str:
    """Return a text of the same length and the same lines in which the characters of secrets are dots."""
    while found := find_secrets(text):
        pieces, at = [], 0
        for _, start, stop in found:
            pieces += [text[at:start], _HIDDEN.sub(_DOT, text[start:stop])]
            at = stop
        text = "".join(pieces) + text[at:]
    return text


def _as_bytes(text: str) -> bytes:
    if text.isascii():
        data = text.encode()
    else:
        for word, stand_in in (*_FULL_WIDTH, *marked_words()):
            if word[0] in text:  # far cheaper than to look for the word
                text = text.replace(word, stand_in)
        if _BEYOND_LATIN_1.search(text):
            text = text.translate(plain_letters())
        # What can't be encoded becomes "?", so a real one is kept aside meanwhile.
        data = text.replace("?", "\x02").encode("latin-1", "replace").translate(_QUESTION)
    if b"\\" in data:  # a line break inside a string of code is one to us as well
        data = data.replace(b"\\n", b" \n").replace(b"\\r", b" \r").replace(b"\\t", b" \t")
    if b"[secret removed: " in data:
        data = _LABEL.sub(_removed, data)
    return data


def _removed(label: re.Match[bytes]) -> bytes:
    """As many bytes that no pattern takes for a text; of an AWS id, whose secret may follow, a mark of it."""
    mark = AWS_ID_REMOVED.encode() if b": aws access key]" in label[0] else b"\0"
    return b"\0" * (len(label[0]) - 1) + mark


def _merged(found: Sequence[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in found:
        if merged and secret.start < merged[-1].stop:
            last = merged[-1]
            merged[-1] = last._replace(stop=max(last.stop, secret.stop))
        else:
            merged.append(secret)
    return merged


def _found_by(rule: Rule, data: bytes) -> Iterator[Secret]:
    accept = _CHECKS[rule.check]
    for match in _engine().pattern(rule).finditer(data):
        start, stop = match.span(match.lastindex or 0)
        value = data[start:stop]
        if rule.check in ("password", "lettered", "paired"):
            value = _ended(value)
        elif rule.check == "said":
            value = _said(value)
        stop = start + len(value)
        if value and _entropy(value) >= rule.entropy and accept(value):
            yield Secret(rule.kind, start, stop)


# --- judging a candidate

_NEXT_FIELD = re.compile(rb"[;,&][A-Za-z_ -]{1,30}[=:]")
# What stands where a secret would: names of variables, templates, "..." and words that say so.
_STAND_IN = re.compile(
    rb"(?i)[<{\[(]|//|\*{3}|\.\.|\$[a-z_{(][\w.{}():-]*$|%[a-z_]+%?$|.*(?:\$\{|\{\{|\.\.\.|\*{5}|x{5})|x+$"
    rb"|your[_ -]|your(?:pass|secret|token|key|api|own)|(?:my|the|a|new|old|some|enter|insert)?[_ -]?"
    rb"(?:example|sample|dummy|placeholder|redacted|changeme|string|none|null|undefined|true|false|secret|token"
    rb"|password|passwd|pass|pwd|user|username|hidden)[\d!]{0,3}$"
    rb"|some value$|[$\xa3\xa5]\d[\d.,]*$|\+ |:[a-z]+\??$|\$.*\\[a-z]{3}"
    rb"|process\.|os\.|env\.|getenv|https?:|\d+-?(?:char|digit|letter|bit|byte|word)"
)
_CODE = re.compile(rb"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$]|\(|\[|->|::)")
_STRONG = re.compile(rb"[!@#$%^&*+=?~\x80-\xff]")
_WORD = re.compile(rb"[a-z]{6,24}|[A-Z][a-z]{5,23}")
_SPACED = re.compile(rb"[^\s]+")
_SPOKEN = re.compile(rb"[A-Za-z0-9\x80-\xff!@#$%^&*+?~_-]{2,24}")
_ABOUT_ONE = re.compile(rb"(?:ed|ing|able|ible|ly|n't)$")
_MOST_WORDS = 5
_PATH_PART = re.compile(rb"[\w~-]{7,}")
_INFLECTED = re.compile(rb"(?:ing|ed|ly|s|tion)$")
_PROSE = frozenset(
    b"""
    the and for are was were his her its not but our their these those from been has had which would could
    should how why your did does him she them being each most many few nor yet per via etc
    """.split()
)
_LONGEST = 200  # bytes of what somebody chose as a password; beyond, two quotes of a text met
_KEY_LINE = re.compile(rb"[A-Za-z0-9+/]{20}")
_SEGMENT = re.compile(rb"[A-Za-z0-9]{8,}")


def _ended(value: bytes) -> bytes:
    """Cut off the next field of a connection string, and the sentence's own punctuation."""
    if field := _NEXT_FIELD.search(value):
        value = value[: field.start()]
    value = value.rstrip(b".,;:*_\\")
    return value.rstrip(b")") if b"(" not in value else value


def _is_password(value: bytes) -> bool:
    if (
        not 4 <= len(value) <= _LONGEST
        or value.count(b" ") > 3
        or _STAND_IN.match(value)
        or _CODE.match(value)
        or value.lower() in SAID_OF_ONE
    ):
        return False
    letters = any(65 <= byte <= 90 or 97 <= byte <= 122 for byte in value)
    digits = any(48 <= byte <= 57 for byte in value)
    if value.isdigit():
        return 6 <= len(value) <= 12
    return (letters and digits) or ((letters or digits) and _STRONG.search(value) is not None)


def _is_lettered(value: bytes) -> bool:
    return (
        _is_password(value)
        and re.search(rb"[A-Za-z]", value) is not None
        and re.search(rb"[0-9]", value) is not None
    )


def _is_paired(value: bytes) -> bool:
    """A password, or one word: beside the name of a user that is enough."""
    if _is_password(value):
        return True
    return _WORD.fullmatch(value) is not None and not (_STAND_IN.match(value) or value.lower() in SAID_OF_ONE)


def _said(value: bytes) -> bytes:
    """The part of a sentence that may be a password: `sunflower and the printer` -> `sunflower`."""
    end = words = 0
    for word in _SPACED.finditer(value):
        if word[0].lower().strip(b"\"'.,;:!?)") in GOES_ON:
            break
        words, end = words + 1, word.end()
        if word[0][-1:] in b".,;:!?)":
            break
    else:
        words = words if words <= _MOST_WORDS else 0
    return value[:end].rstrip(b" \t.,;:!?)") if words else b""


def _is_said(value: bytes) -> bool:
    """A password of a sentence: not what people say about one ("required", "printed below")."""
    words = value.split()
    first = words[0].lower()
    if len(words) == 1 and _is_password(value):
        return True
    if _STAND_IN.match(value) or _CODE.match(value) or not all(_SPOKEN.fullmatch(word) for word in words):
        return False
    if len(words) < 3 and (first in SAID_OF_ONE or (words[0].islower() and _ABOUT_ONE.search(first))):
        return False
    return len(value) >= 4 and words[-1].lower() not in SAID_OF_ONE


def _is_quoted(value: bytes) -> bool:
    words = value.lower().split()
    return 1 <= len(words) <= _MOST_WORDS and SAID_OF_ONE.isdisjoint(words[:1]) and _is_given(value)


def _is_given(value: bytes) -> bool:
    return not _STAND_IN.match(value)


def _has_token(value: bytes) -> bool:
    """A path in which some part looks random: the address is the credential."""
    if _STAND_IN.match(value):
        return False
    parts = [part.translate(None, b"-_~") for part in _PATH_PART.findall(value)]
    return any(_turns(part) >= max(3, 0.4 * len(part) if part.isalpha() else 3) for part in parts)


_BACKUP_TOKEN = re.compile(rb"[A-Za-z0-9]+")
_SEED_WORD = re.compile(rb"[A-Za-z]+")
_SEED_COUNTS = (12, 15, 18, 21, 24)


def _are_codes(value: bytes) -> bool:
    tokens = _BACKUP_TOKEN.findall(value)
    digits = sum(48 <= byte <= 57 for byte in value)
    one_case = all(token.islower() or token.isupper() or token.isdigit() for token in tokens)
    return digits >= 3 and one_case and len(b"".join(tokens)) >= 6


def _is_seed(value: bytes) -> bool:
    """As many words as a wallet has, and none of those that prose needs (BIP-39 lists none of them)."""
    words = [word.lower() for word in _SEED_WORD.findall(value)]
    if len(words) not in _SEED_COUNTS or not _PROSE.isdisjoint(words):
        return False
    return sum(_INFLECTED.search(word) is not None for word in words) <= len(words) // 6


def _is_random(value: bytes) -> bool:
    """Not a name: some part of it changes between letters, digits and cases more often than words do."""
    if _STAND_IN.match(value):
        return False
    return any(_turns(part) >= 3 and not part.isalpha() for part in _SEGMENT.findall(value))


def _has_both(value: bytes) -> bool:
    """Letters of both cases, or letters and digits: enough where the form is known."""
    return not _STAND_IN.match(value) and not (value.isdigit() or (value.islower() and value.isalpha()))


def _turns(part: bytes) -> int:
    """How often the kind of character changes: `a1B2` turns three times, `version12` once."""
    kinds = [0 if byte < 58 else 1 if byte < 91 else 2 for byte in part]
    return sum(a != b for a, b in pairwise(kinds))


def _is_card(value: bytes) -> bool:
    digits = [byte - 48 for byte in value if 48 <= byte <= 57]
    doubled = sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (doubled + sum(digits[-1::-2])) % 10 == 0


def _entropy(value: bytes) -> float:
    """Bits per character, from how often each occurs in the value itself."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


_CHECKS: dict[str, Callable[[bytes], bool]] = {
    "": bool,
    "random": _is_random,
    "password": _is_password,
    "lettered": _is_lettered,
    "paired": _is_paired,
    "said": _is_said,
    "quoted": _is_quoted,
    "given": _is_given,
    "path": _has_token,
    "seed": _is_seed,
    "codes": _are_codes,
    "mixed": _has_both,
    "card": _is_card,
    "pem": lambda value: _KEY_LINE.search(value) is not None,
}


# --- the two engines


class _Re2:
    """Google's RE2: time grows with the text and with nothing else."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._keywords = module.Set.SearchSet(self._options(ignore_case=True))
        self._by_keyword = [rule for rule in RULES if not rule.hint]
        for rule in self._by_keyword:
            self._keywords.Add("|".join(map(re.escape, rule.keywords)))
        self._keywords.Compile()
        # Hints are kept out of the set: together they would cost it 0.1 s of states before the first note.
        self._by_hint = [(rule, self._compiled(rule.hint, ignore_case=True)) for rule in RULES if rule.hint]
        self._any_hint = self._compiled("|".join(rule.hint for rule, _ in self._by_hint), ignore_case=True)

    def likely(self, data: bytes) -> list[Rule]:
        """The rules that are worth a try on this text."""
        rules = [self._by_keyword[at] for at in sorted(self._keywords.Match(data) or ())]
        if self._any_hint.search(data):
            rules += [rule for rule, hint in self._by_hint if hint.search(data)]
        return rules

    @cache  # noqa: B019 - the engine lives as long as the process
    def pattern(self, rule: Rule) -> Any:
        return self._compiled(rule.pattern)

    def _compiled(self, pattern: str, *, ignore_case: bool = False) -> Any:
        return self._module.compile(pattern.encode(), self._options(ignore_case=ignore_case))

    def _options(self, *, ignore_case: bool) -> Any:
        options = self._module.Options()
        options.encoding = self._module.Options.Encoding.LATIN1
        options.case_sensitive = not ignore_case
        options.log_errors = False
        return options


class _Re:
    """The standard library's, where there is no RE2: the same rules, some ten times slower."""

    def likely(self, data: bytes) -> list[Rule]:
        lowered = data.lower()
        return [rule for rule in RULES if self._is_likely(rule, lowered)]

    @staticmethod
    def _is_likely(rule: Rule, lowered: bytes) -> bool:
        if rule.keywords:
            return any(keyword.encode() in lowered for keyword in rule.keywords)
        return re.search(rule.hint.encode(), lowered, re.IGNORECASE) is not None

    @cache  # noqa: B019 - the engine lives as long as the process
    def pattern(self, rule: Rule) -> Any:
        return re.compile(rule.pattern.encode())


@cache
def _engine() -> _Re2 | _Re:
    try:
        import re2
    except ImportError:
        return _Re()
    return _Re2(re2)
