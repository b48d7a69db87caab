"""What a text names: quoted phrases, files, identifiers, error codes, people, links, apps.

Pure. Reads signs and capitals, no list of names; a capital at the beginning of a sentence proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from hindbrain.index.names import name_key
from hindbrain.search.telling import SMALL_TALK
from hindbrain.search.terms import STOP_WORDS

MOST_ENTITIES = 24
_LONGEST = 80  # characters of one
_APP_CHARS = 8_000  # of a prompt in which apps are looked for
_SHORT_NAME = 3  # characters: such an app must be written as it is written

_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|`([^`\n]{2,80})`|«([^»\n]{2,80})»|「([^」\n]{1,80})」"
)
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,80})")
_FILE = re.compile(
    r"(?<![\w/.])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\w.@-]{1,60}[/\\])*[\w.@-]{0,60}[\w@-]\.[A-Za-z][A-Za-z0-9]{0,5}\b(?![\w/])"
    r"|(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.@-]{1,60}/){0,12}[\w.@-]{1,60}"
)
_CODE = re.compile(
    r"\b(?:[A-Z]{1,8}[-_]?\d{2,7}(?:-\d{2,7})?|0x[0-9A-Fa-f]{3,16}|[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,20})+"
    r"|[A-Z]\w{1,40}(?:Error|Exception|Warning|Fault)|SIG[A-Z]{3,5})\b"
)
_IDENTIFIER = re.compile(
    r"\b(?:[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b"
)
_TAG = re.compile(r"(?<![\w#&/])[#@][A-Za-z_][\w/-]{1,50}")
_NAME = r"[A-Z][\w'’&-]{1,40}"
# After a sentence's end a capital is only grammar; two in a row are a name even there.
_NAMES = re.compile(
    rf"(?<![.!?:\n\"“(*#>-] )(?<=[a-z0-9,;)’'] ){_NAME}(?: {_NAME}){{0,3}}|\b{_NAME}(?: {_NAME}){{1,3}}"
)
_ABBREVIATIONS = frozenset(("e.g", "i.e", "etc", "vs", "a.m", "p.m"))


def find_entities(text: str) -> tuple[str, ...]:
    """Return what is named, as it is written, without repetitions; quoted phrases first."""
    found: dict[str, str] = {}
    for pattern in (_QUOTED, _LINK, _FILE, _CODE, _IDENTIFIER, _TAG, _NAMES):
        for match in pattern.finditer(text):
            name = _trimmed(next((group for group in match.groups() if group), match[0]))
            if _says_something(name):
                found.setdefault(name.casefold(), name)
            if len(found) >= MOST_ENTITIES:
                return tuple(found.values())
    return tuple(found.values())


def _trimmed(name: str) -> str:
    name = name.strip(" .,;:!?'’\"").removesuffix("'s").removesuffix("’s")[:_LONGEST]
    words = name.split(" ")
    while len(words) > 1 and _is_plain(words[0]):
        words = words[1:]  # "What Caroline" is Caroline
    return " ".join(words)


def _is_plain(word: str) -> bool:
    folded = word.casefold()
    is_short_form = len(word) > 1 and word.isupper()  # US, IT
    return not is_short_form and (folded in STOP_WORDS or folded in SMALL_TALK)


def _says_something(name: str) -> bool:
    return len(name) > 1 and name.casefold() not in _ABBREVIATIONS and not all(map(_is_plain, name.split()))


def find_apps(text: str, apps: Collection[str] | Mapping[str, str]) -> tuple[str, ...]:
    """Return the known apps that are named, as whole words. A mapping says which app an alias means."""
    if not apps:
        return ()
    text = text[:_APP_CHARS]
    spoken = f" {name_key(text)} "
    found: dict[str, None] = {}
    for name in sorted(apps):
        key = name_key(name)
        if key and f" {key} " in spoken and (not _is_common(key) or _is_written(name, text)):
            found[apps[name] if isinstance(apps, Mapping) else name] = None
    return tuple(found)


def _is_common(key: str) -> bool:
    """Is it a word that people use without meaning the app? "Go", "Notes" and "Things" are."""
    return len(key) <= _SHORT_NAME or key in STOP_WORDS or key in SMALL_TALK or key.rstrip("s") in SMALL_TALK


def _is_written(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
