"""The languages that a text may be in, of those that generic prompts ship for: by script and function words.

Pure. A prompt is short and often has no function word, so it is not forced into one language: the languages
of the vault's notes, which are known better, say what it is compared with. English has no code here: "" and
an empty answer stand for it, as for every language that we do not know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache

from hindbrain.search.terms import STOP_WORDS

_READ_CHARS = 2_000  # of a text
_SCRIPT_SHARE = 0.3  # of the letters of a text
_LEAST_WORDS = 5  # different function words that a text in Latin letters has
_VAULT_SHARE = 0.03  # of its texts, for a language that a vault is said to have
_KANA_SHARE = 0.1  # of Han and kana together, where it is Japanese
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {
    "ja": "\u3040-\u30ff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "zh": "\u3400-\u9fff",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
}
# A word that is English, too ("a", "was"), counts for both.
_FUNCTION_WORDS = {
    "de": """
        der die das den dem des ein eine einen einem einer und oder nicht ist sind wie ich du wir
        sie es mit von für auf zu zum zur im aus bei nach auch noch aber wenn dass diese dieser
        dieses diesen mir mich dir kann soll wird werden was nur bitte warum wo mach schreibe
        erkläre über
    """,
    "fr": """
        le la les un une de des du en à et ou ne pas est sont ce cette ces il elle je tu nous vous
        que qui dans avec sur par au aux plus mais comment pourquoi quelle quel moi toi se sa ses
        fait être ça ici écris explique deux
    """,
    "es": """
        el la los las un una unos unas a y o no es son este esta esto estos que en con por para del
        al se lo mi tu su más pero cómo qué cuál está hay muy como también escribe haz de
    """,
    "pt": """
        o os um uma a e ou não é são este esta isto que em com por para do da dos das na ao se seu
        sua mais mas como qual está muito também você foi escreva faça de
    """,
    "it": """
        il lo la gli le un uno una e o non è sono questo questa che di da nel nella con su per del
        della dei delle si mi più ma come cosa qual perché anche scrivi fai
    """,
    "nl": """
        de het een en niet zijn dit dat deze die ik je jij wij ze met van voor op aan te naar ook
        nog maar als hoe wat waarom wordt worden er bij uit schrijf geef maak
    """,
    "pl": """
        i w z na do nie jest są to ten ta te tego tej się że co jak dla o od po ale czy lub oraz
        przez który która które dlaczego mi mnie jeszcze napisz
    """,
    "tr": """
        bir ve bu şu ile için ne nasıl mi mı mu mü değil var yok da de gibi daha çok olan olarak ama
        veya ben sen biz bana neden yaz
    """,
}
LANGUAGES = (*_SCRIPTS, *_FUNCTION_WORDS)


def prompt_languages(prompt: str, vault: Collection[str] = ()) -> tuple[str, ...]:
    """The languages that a prompt may be in. `vault`: those of the notes.

    In doubt a prompt in Latin letters may be in any language of the vault that says no less for it than
    English does.
    """
    by_script = _of_script(Counter(_scripts(prompt)))
    if by_script == "zh" and "ja" in vault:  # Japanese without kana
        return ("zh", "ja") if "zh" in vault else ("ja",)
    if by_script:
        return (by_script,)
    counts, english = _function_words(prompt)
    shared = tuple(language for language in _FUNCTION_WORDS if language in vault)
    if shared:
        return tuple(language for language in shared if counts[language] >= english)
    best = max(_FUNCTION_WORDS, key=lambda language: counts[language])
    return (best,) if counts[best] > english else ()


def vault_languages(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages besides English that notes are written in, the most frequent first."""
    found = [_language_of(text[:_READ_CHARS]) for text in texts]
    counts = Counter(filter(None, found))
    return tuple(name for name, count in counts.most_common() if count >= _VAULT_SHARE * len(found))


def _language_of(text: str) -> str:
    scripts = Counter(_scripts(text))
    letters = sum(map(str.isalpha, text))
    if scripts.total() >= _SCRIPT_SHARE * max(1, letters):
        return _of_script(scripts)
    counts, english = _function_words(text)
    best = max(_FUNCTION_WORDS, key=lambda language: counts[language])
    return best if counts[best] > max(english, _LEAST_WORDS - 1) else ""


def _of_script(scripts: Counter[str]) -> str:
    """An empty text for Latin letters, and for scripts that we do not know."""
    if not scripts:
        return ""
    if scripts["ja"] > _KANA_SHARE * (scripts["ja"] + scripts["zh"]):
        return "ja"
    del scripts["ja"]
    return max(scripts, key=lambda name: scripts[name])


def _scripts(text: str) -> Iterable[str]:
    if text.isascii():
        return ()
    return (match.lastgroup or "" for match in _script_letter().finditer(text))


def _function_words(text: str) -> tuple[Counter[str], int]:
    """How many function words of each language are in it, each counted once; and how many of English."""
    words = set(_WORD.findall(text[:_READ_CHARS].casefold()))
    counts = Counter(language for word in words for language in _languages_of_words().get(word, ()))
    return counts, len(words & STOP_WORDS)


@cache
def _script_letter() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _SCRIPTS.items()))


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in _FUNCTION_WORDS.items():
        for word in set(words.split()):
            languages[word] = (*languages.get(word, ()), language)
    return languages
