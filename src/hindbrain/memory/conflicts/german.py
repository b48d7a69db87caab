"""German statements in the English words that the rules read: a gloss of grammar and common verbs.

    Das Standup wurde auf 10:00 verschoben    is read as    the Standup moved to 10:00

It is no translation: nouns and names stay as they are. A text that shows no sign of being German is returned
as it is. Pure.
"""

from __future__ import annotations

import re

# Words that show a text to be German: none is an English word or a common name.
_MARKERS = """
    und ist sind eine einen einem einer nicht kein keine keinen keinem jetzt nun für auf zum zur bei beim nach
    statt anstatt wurde wurden wird wohnt lebt arbeitet benutzt nutzt verwendet trinkt isst fährt spielt heißt
    bevorzugt ich wir sich mag das läuft
"""
# What changed, as the participle at the end of a German sentence: "ist nach Bonn umgezogen".
_PARTICIPLES = {
    "moved": "umgezogen gezogen verschoben verlegt vorgezogen",
    "switched": "umgestiegen gewechselt umgestellt",
    "upgraded": "aktualisiert upgegradet aufgerüstet angehoben",
    "changed": "geändert",
    "migrated": "migriert",
    "raised": "erhöht",
    "lowered": "gesenkt reduziert",
    "renamed": "umbenannt",
    "replaced": "ersetzt abgelöst",
}
_WORDS = {
    "the": "der die das den dem des",
    "a": "ein eine einen einem einer eines",
    "and": "und",
    "or": "oder",
    "is": "ist bin beträgt",
    "are": "sind",
    "was": "wurde wurden war waren",
    "has": "hat",
    "have": "haben",
    "I": "ich",
    "my": "mein meine meinen meinem meiner",
    "we": "wir",
    "he": "er",
    "no": "kein keine keinen keinem keiner",
    "not": "nicht nie niemals",
    "without": "ohne",
    "now": "jetzt nun inzwischen mittlerweile derzeit aktuell",
    "also": "auch",
    "only": "nur",
    "to": "nach auf zu zum zur",
    "from": "von vom",
    "in": "im",
    "at": "bei beim um",
    "on": "am an",
    "with": "mit durch",
    "for": "für",
    "as": "als",
    "since": "seit",
    "instead of": "statt anstatt anstelle",
    "lives": "wohnt lebt wohne lebe",
    "works": "arbeitet arbeite",
    "uses": "benutzt nutzt verwendet benutze nutze verwende benutzen nutzen verwenden",
    "prefers": "bevorzugt bevorzuge",
    "runs": "läuft",
    "drinks": "trinkt trinke",
    "eats": "isst esse",
    "drives": "fährt fahre",
    "plays": "spielt spiele",
    "likes": "mag",
    "is called": "heißt heißen",
    "plans": "will möchte plant überlegt erwägt vielleicht soll sollte",
    "stopped": "aufgehört",
    "every": "jeden jede jedes",
}
_MONTHS = {
    "January": "januar jänner", "February": "februar", "March": "märz", "May": "mai", "June": "juni",
    "July": "juli", "October": "oktober", "December": "dezember",
}  # fmt: skip
_WEEKDAYS = {
    "Monday": "montag", "Tuesday": "dienstag", "Wednesday": "mittwoch", "Thursday": "donnerstag",
    "Friday": "freitag", "Saturday": "samstag sonnabend", "Sunday": "sonntag",
}  # fmt: skip


def _by_german(table: dict[str, str], ending: str = "") -> dict[str, str]:
    return {
        german + more: english + more
        for english, words in table.items()
        for german in words.split()
        for more in {"", ending}
    }


_GLOSS = _by_german(_WORDS) | _by_german(_MONTHS) | _by_german(_WEEKDAYS, "s")
_VERBS = _by_german(_PARTICIPLES)
_GERMAN = "|".join((*_MARKERS.split(), *_VERBS))
_IS_GERMAN = re.compile(rf"\b(?:{_GERMAN})\b|\b(?:der|die|das|ein)\s(?-i:[A-ZÄÖÜ])", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_NO_LONGER = re.compile(r"\bnicht (?:mehr|länger)\b", re.I)
_NO_MORE = re.compile(r"\b(kein\w*\b.*?)\s+mehr\b", re.I)
_CHANGED = re.compile(
    rf"\b(?:ist|sind|bin|wurden?|hat|haben|habe)\s+(?P<middle>(?:[^,;.]*?\s)??)(?P<verb>{'|'.join(_VERBS)})\b",
    re.I,
)
# In notes the verb "ist" or "hat" is often left out: "von VS Code zu Neovim gewechselt".
_CHANGED_ALONE = re.compile(
    rf"^(?P<middle>(?:von|auf|nach|zu)\s[^,;.]*?\s)(?P<verb>{'|'.join(_VERBS)})(?=\W*$)", re.I
)
_DAY = re.compile(r"\b(\d{1,2})\.(?=\s+[^\W\d_])")


def in_english(text: str) -> str:
    """`text` with its German grammar in English words; `text` itself when it is not German."""
    if not _IS_GERMAN.search(text):
        return text
    text = _NO_MORE.sub(r"\1 any more", _NO_LONGER.sub("no longer", _DAY.sub(r"\1", text)))
    for pattern in (_CHANGED, _CHANGED_ALONE):
        text = pattern.sub(lambda found: f"{_VERBS[found['verb'].casefold()]} {found['middle']}", text)
    return " ".join(_WORD.sub(lambda found: _GLOSS.get(found[0].casefold(), found[0]), text).split())
