"""German, French and Spanish questions about days and open work, said in English. Pure.

Only whole questions are read, so that no word of another text is taken for a date: "hier" is "yesterday" in
"qu'avons-nous fait hier ?" and nowhere else. Dates in digits mean the same in every language.
"""

from __future__ import annotations

import re
from functools import cache

# How such a question begins: a cheap look that spares most texts the rest.
_BEGINS = ("was ", "wann ", "welche ", "woran ", "qu", "sur ", "en q", "cuándo ")
_DAYS = {
    "heute": "today", "gestern": "yesterday", "vorgestern": "the day before yesterday",
    "diese woche": "this week", "in dieser woche": "this week", "letzte woche": "last week",
    "in der letzten woche": "last week", "diesen monat": "this month", "letzten monat": "last month",
    "aujourd'hui": "today", "hier": "yesterday", "avant-hier": "the day before yesterday",
    "cette semaine": "this week", "la semaine dernière": "last week", "ce mois-ci": "this month",
    "le mois dernier": "last month",
    "hoy": "today", "ayer": "yesterday", "anteayer": "the day before yesterday",
    "esta semana": "this week", "la semana pasada": "last week", "este mes": "this month",
    "el mes pasado": "last month",
}  # fmt: skip
_IN_DIGITS = r"(?:am|le|el)? ?(\d{4}-\d\d-\d\d)"
_ABOUT_DAYS = (
    r"was (?:haben wir|hast du|habe ich|wurde|ist|war) (?:alles )?(?P<de>.+?)(?: alles)? "
    r"(?:gemacht|getan|erledigt|passiert|geschehen|los)"
    r"|(?:qu'est-ce qu'on a fait|qu'est-ce que (?:nous avons|tu as|j'ai) fait|qu'avons-nous fait"
    r"|qu'as-tu fait|qu'est-ce qui s'est passé|que s'est-il passé) (?P<fr>.+)"
    r"|qué (?:hicimos|hiciste|hice|pasó|ha pasado|hemos hecho) (?P<es>.+)"
)
_OPEN = (
    r"was (?:ist|bleibt) (?:noch |alles )*(?:offen|unerledigt|zu tun)|was steht noch an|was fehlt noch"
    r"|qu'est-ce qui (?:reste à faire|est encore ouvert)|(?:que|qu'est-ce qu'il) reste(?:-t-il)? à faire"
    r"|qué (?:queda|está|hay)(?: aún| todavía)? (?:pendiente|abierto)|qué (?:queda|falta) por hacer"
)
_OPEN_TASKS = (
    r"welche aufgaben sind (?:noch )?offen|quelles tâches (?:sont (?:encore )?ouvertes|restent à faire)"
    r"|qué tareas (?:están|quedan) (?:pendientes|abiertas)"
)
_WORKING = (
    r"woran (?:arbeiten wir|arbeitest du|arbeite ich)(?: gerade)?"
    r"|sur quoi (?:travaillons-nous|travailles-tu|travaille-t-on)|en qué (?:estamos|estás) trabajando"
)
_LAST = (
    r"wann (?:haben wir|hast du|habe ich) (?:zuletzt|das letzte mal) (?P<de>.+)"
    r"|quand (?:avons-nous|as-tu|a-t-on) (?P<fr>.+) pour la dernière fois"
    r"|cuándo fue la última vez que (?P<es>.+)"
)
_LONGEST = 200  # characters


def in_english(text: str) -> str:
    """The same question in English; the text as it is where it is no such question."""
    if len(text) > _LONGEST:
        return text
    said = " ".join(text.casefold().replace("’", "'").strip(" \t\n¿?!.").split())
    return (_said_in_english(said) if said.startswith(_BEGINS) else "") or text


def _said_in_english(said: str) -> str:
    if found := _form(_ABOUT_DAYS).fullmatch(said):
        when = _day(next(filter(None, found.groups()), ""))
        return f"what did we do {when}" if when else ""
    if found := _form(_LAST).fullmatch(said):
        return f"when did we last {next(filter(None, found.groups()), '')}?"
    general = (
        (_OPEN, "what is still open?"),
        (_OPEN_TASKS, "which tasks are open?"),
        (_WORKING, "what are we working on?"),
    )
    return next((english for form, english in general if _form(form).fullmatch(said)), "")


@cache
def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _day(said: str) -> str:
    if said in _DAYS:
        return _DAYS[said]
    digits = _form(_IN_DIGITS).fullmatch(said)
    return f"on {digits[1]}" if digits else ""
