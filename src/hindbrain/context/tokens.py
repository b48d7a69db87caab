"""What a text costs in a prompt: an estimate that needs nothing, and exact counts where tables are at hand.

Pure, but for `counter_for`. Knows nothing of notes, packs or messages. How the estimate was tuned and how
far it is off: docs/decisions/0011-token-counting.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple, Protocol

ESTIMATE = "estimate"


class TokenCounter(Protocol):
    """Says what a text costs."""

    name: str

    def count(self, text: str) -> int: ...


class ErrorBound(NamedTuple):
    """How far the estimate may be off, as a share of the true count; below zero: it said too little."""

    least: float
    most: float


# Of a text of some thousand characters, against cl100k_base: English, code, JSON, numbers, Chinese, Japanese,
# Arabic, German, French. Finnish, Hungarian, Czech, Ukrainian and Italian may be under by up to 15 %.
# o200k_base has fewer tokens for scripts beside Latin: there the estimate is too high.
ERROR_BOUND = ErrorBound(-0.05, 0.25)

# Tokenizers cut a text into such pieces first and never join two of them. A piece is short, so that its cost
# is cheap to keep. A character beyond Latin letters is a piece of its own, and Han is left out.
_LATIN = r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_PIECES = re.compile(
    rf"[^\r\n\w]?[{_LATIN}]{{1,32}}+"  # a word with the one character before it, often a blank
    r"|[0-9]{1,3}+"
    r"| ?[!-/:-@\[-`{-~]{1,32}+[\r\n]{0,8}+"  # signs, with the ends of lines behind them
    r"|[^\S\r\n]{0,64}+[\r\n]{1,32}+"
    r"|[^\S\r\n]{1,64}(?!\S)"  # the last blank belongs to the word behind it
    r"| ?[^\x00-\x7f\u4e00-\u9fff]"
    r"|[\x00-\x7f]"
)
_HAN = re.compile(r"[\u4e00-\u9fff]+")  # counted apart: that is faster
_HAN_COST = 206
# The common ones are a token each in cl100k_base; no other is.
_HAN_WHOLE = frozenset(
    "一万三上下不与专业东两个中串为主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企优会传但"
    "位体何余作你使例供価保信修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前力功加务动動包化"
    "北区十午华单南即历原去县参及友反发取变口只可台右号司合同名后向否含听启告员周命和品哈商問器四回因国图"
    "土在地场址型城基報場填增声处备复外多大天失头女好如始子字存学安宋完定实审客家容密对导将小少尔就局展山"
    "岁州工左已市布常平年并广序库应店度建开异式引张当录形影径待後得微心必志态思性总息您情意感成我或户所手"
    "打找技投报拉持指按换据排接推提播支收改放政效数整文料断新方族无日时明易星是時景更最月有服期木未本机权"
    "束条来板构析果查标样核格案检模次款止正此步歳段每比民気水求江汽没治法注活流海消清游源火点無然片版物特"
    "率环现球理生用由电男画界番登的监目直相省看県真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签简"
    "算管箱米类系素索约级线组经结给络统编网置美老考者而联能自至色节英藏行表装西要見见规视角解言計記話読计"
    "认议记论设证评试话询该详语误说请读调象责败账货购费资起超路身车转软载辑输达过运近还这进连述退送选通速"
    "造連道邮部都配释里重量金钟钮链销错键长開間関门闭问间队阳陆限院除雅集雷需非面音页项预频题额首验高黑"
)
_HAN_LESS = 206 - 99
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")  # get HTTP Response Code
# Letters that English words hardly have side by side: of another language, or random, and in more tokens.
_UNUSUAL = re.compile(
    r"k[aokurt]|[eiu]k|[cdrs]z|z[anoyi]|[eo]z|[ceiu]j|j[aoi]|aa|ii|uu|lm|vo|oe|uo|sch|ung"
    r"|ym|yk|lla|zz|gl[iu]|[bcdfghjklmnpqrstvwxz]{5}"
)
# Hundredths of a token by the number of letters; the last step goes on.
_WORD = (0, 100, 100, 101, 105, 114, 120, 130, 140, 153, 162, 182, 205, 225, 270, 310, 350)
_STEP = 32
# The same where no blank stands before the word.
_INSIDE = (0, 100, 104, 118, 124, 136, 148, 168, 184, 205, 225, 245, 300, 330, 345, 380, 410)
_SIGNS = (0, 101, 118, 146, 205, 250, 320, 345, 400, 475)
_SIGN_STEP = 60
# Hundredths of a token for one character, from this code point on.
_SCRIPTS = (
    (0x0000, 100), (0x0080, 115), (0x0250, 205), (0x0370, 104), (0x0400, 56), (0x0530, 200), (0x0590, 118),
    (0x0600, 87), (0x0700, 220), (0x0900, 123), (0x0980, 155), (0x0E00, 97), (0x0E80, 250), (0x2000, 108),
    (0x2070, 200), (0x3000, 118), (0x3040, 104), (0x3100, 200), (0xA000, 250), (0xAC00, 116),
    (0xD800, 250), (0xFF00, 118), (0xFFF0, 250), (0x10000, 310),
)  # fmt: skip
_STARTS = tuple(start for start, _cost in _SCRIPTS)
_COSTS = tuple(cost for _start, cost in _SCRIPTS)


class EstimatedTokens:
    """Counts by the kinds of characters and the lengths of words. Sums of parts differ only by rounding."""

    name = ESTIMATE

    def count(self, text: str) -> int:
        return count_tokens(text)


class RememberedTokens:
    """Counts each text once: for a conversation that is counted again whenever something is added to it."""

    _MOST = 4_096  # texts; a conversation has fewer

    def __init__(self, counter: TokenCounter) -> None:
        self.name = counter.name
        self._counter = counter
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        if (known := self._known.get(text)) is not None:
            return known
        if len(self._known) >= self._MOST:
            self._known.clear()
        counted = self._known[text] = self._counter.count(text)
        return counted


def count_tokens(text: str) -> int:
    """Return the estimate."""
    cost = sum(map(_cost, _PIECES.findall(text)))
    if not text.isascii():
        han = "".join(_HAN.findall(text))
        cost += _HAN_COST * len(han) - _HAN_LESS * sum(map(_HAN_WHOLE.__contains__, han))
    return -(-cost // 100)


def counter_for(encoding: str = "") -> TokenCounter:
    """Return the exact counter of an encoding that is present, or the estimate for ""; never a download."""
    if encoding in ("", ESTIMATE):
        return EstimatedTokens()
    from hindbrain.context.encodings import exact_counter

    return exact_counter(encoding)


@lru_cache(maxsize=32_768)  # texts repeat their words: a piece is judged once
def _cost(piece: str) -> int:
    """Hundredths of a token."""
    last = piece[-1]
    if (last.isalpha() and last < "\u0250") or "\u1e00" <= last < "\u1f00":
        return _word_cost(piece)
    if not piece.isascii():
        return _COSTS[bisect_right(_STARTS, ord(last)) - 1]
    if last.isdigit() or piece.isspace():
        return 100
    return _sign_cost(piece.strip())


def _word_cost(piece: str) -> int:
    word = piece if piece[0].isalpha() else piece[1:]
    after_blank = piece[0] == " "
    if word.isupper():
        cost = 100 + 28 * max(0, len(word) - 2) + (0 if after_blank else 12)
    elif len(word) == 1 or word[1:].islower():
        cost = _by_length(_WORD if after_blank else _INSIDE, len(word), _STEP)
        cost += 2 * len(word) * word[0].isupper()
    else:
        humps = _HUMPS.findall(word)
        # Many short humps are random letters, as in base64, and no name.
        cost = sum(_by_length(_WORD, len(hump), _STEP) for hump in humps) + 2 * len(word)
        cost += 25 * len(humps) * (len(word) < 3 * len(humps))
    if _UNUSUAL.search(word.lower()):
        cost += 15 * min(len(word), 12)
    if not word.isascii():
        cost += 7 * len(word) + sum(60 if letter < "\u0100" else 130 for letter in word if letter > "\x7f")
    if not after_blank and not piece[0].isalpha():
        cost += 8 if piece[0].isascii() else 60
    return cost


def _sign_cost(signs: str) -> int:
    if len(signs) > 3 and signs == signs[0] * len(signs):
        return 110 + 3 * len(signs)  # ------
    return _by_length(_SIGNS, len(signs), _SIGN_STEP)


def _by_length(costs: tuple[int, ...], length: int, step: int) -> int:
    beyond = length - len(costs) + 1
    return costs[length] if beyond <= 0 else costs[-1] + beyond * step
