"""A command as a list of words: read from a text without a shell, shown to a person, and its program found.

Nothing here runs anything. A text that a shell would read in another way than word by word is refused: a
person must be able to see what will be run, and no shell is there to run the rest.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from hindbrain.base.errors import UsageError

_MOST_WORDS = 500
_MOST_CHARS = 30_000  # of all words; Windows takes 32,767
# A word that no shell would touch, or one wholly in quotes with nothing in it that quotes do not keep.
_PLAIN = r"[A-Za-z0-9_./:@%+,=~\-\u00a1-\U0010ffff]+"
_WORD = re.compile(rf"""{_PLAIN}|'[^'\n\r]*'|"[^"$`\\!\n\r]*\"""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_WINDOWS_PROGRAMS = (".exe", ".com")  # batch files are not among them: cmd.exe would read their arguments
_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that show as nothing: fillers, joiners, variation selectors, an empty Braille cell.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def split_command(text: str) -> tuple[str, ...]:
    """The words of a plain command. Raises UsageError for all that only a shell could carry out."""
    words: list[str] = []
    for piece in _pieces(text.strip(" ")):
        quoted = piece[0] in "'\""
        word = piece[1:-1] if quoted else piece
        expands = not quoted and (word[0] in "~=" or (not words and _ASSIGNMENT.match(word)))
        if expands or not is_readable(word):
            raise _not_plain(text)
        words.append(word)
    return check_words(words)


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    at = 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] != " "):
            raise _not_plain(text)
        pieces.append(match[0])
        at = match.end()
        while at < len(text) and text[at] == " ":
            at += 1
    return pieces


def _not_plain(text: str) -> UsageError:
    return UsageError(
        f"{text[:200]!r} would need a shell (operators, expansions, patterns, line breaks or quotes inside a "
        'word), and there is none: send one program and its words as "argv", and several commands one by one'
    )


def check_words(words: Sequence[str]) -> tuple[str, ...]:
    """Raises UsageError for what no program can be started with."""
    if not words or not words[0].strip():
        raise UsageError('give the program and its words: "argv": ["git", "status"]')
    if len(words) > _MOST_WORDS or sum(map(len, words)) > _MOST_CHARS:
        raise UsageError(f"a command has at most {_MOST_WORDS} words and {_MOST_CHARS:,} characters")
    if any("\0" in word for word in words):
        raise UsageError("a word of the command holds a NUL character; send text")
    return tuple(words)


def is_readable(word: str) -> bool:
    """Does it hold only what a person can see? No line breaks, directions, or spaces that are none."""
    if word.isascii():
        return word.isprintable()
    seen = (
        char == " " or (unicodedata.category(char) not in _HIDING and not char.isspace()) for char in word
    )
    return all(seen) and not _UNSEEN.search(word)


def shown_words(words: Sequence[str]) -> str:
    """The command as a person reads it, with everything that hides or misleads written out."""
    return " ".join(_shown(word) for word in words)


def _shown(word: str) -> str:
    if is_readable(word):
        return shlex.quote(word)
    return (
        "$'"
        + "".join(char if char not in "'\\" and is_readable(char) else _escaped(char) for char in word)
        + "'"
    )


def _escaped(char: str) -> str:
    if char in "'\\":
        return "\\" + char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def unusual_letters(words: Iterable[str]) -> str:
    """Letters that are not ASCII, named: 'і' may pass for 'i'. "" when there are none."""
    found = dict.fromkeys(char for word in words for char in word if ord(char) > 127 and is_readable(char))
    return ", ".join(f"{char} is {unicodedata.name(char, 'unnamed')}" for char in list(found)[:10])


def search_folders(path: str, workspace: Path) -> tuple[str, ...]:
    """The folders of a PATH in which programs are looked for: none that others or the agent can write to."""
    own = os.path.realpath(workspace)
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    return tuple(dict.fromkeys(folder for folder in folders if _is_safe(folder, own)))


def _is_safe(folder: str, workspace: str) -> bool:
    try:
        mode = Path(folder).stat().st_mode
    except OSError:
        return False
    if not stat.S_ISDIR(mode) or is_inside(os.path.realpath(folder), workspace):
        return False
    return sys.platform == "win32" or not mode & stat.S_IWOTH


def find_program(word: str, folders: Iterable[str], cwd: str) -> str:
    """The file that the word means; "" when there is none. A name with a folder is meant from `cwd`."""
    if "/" in word or (os.sep != "/" and (os.sep in word or ":" in word)):
        places = [os.path.join(cwd, word)]  # noqa: PTH118
    else:
        places = [os.path.join(folder, word) for folder in folders]  # noqa: PTH118
    for place in places:
        for candidate in _candidates(os.path.normpath(place)):
            if Path(candidate).is_file() and os.access(candidate, os.X_OK):
                return candidate
    return ""


def _candidates(place: str) -> list[str]:
    if sys.platform != "win32" or place.lower().endswith(_WINDOWS_PROGRAMS):
        return [place]
    return [place + suffix for suffix in _WINDOWS_PROGRAMS]


def same_program(one: str, other: str) -> bool:
    """The same name in the same folder. Links to one file under several names are several programs."""
    return bool(one and other) and _placed(one) == _placed(other)


def _placed(program: str) -> str:
    folder, name = os.path.split(program)
    return os.path.normcase(os.path.join(os.path.realpath(folder), name))  # noqa: PTH118


def is_inside(path: str, folder: str) -> bool:
    """Both real paths, compared as this system does."""
    path, folder = os.path.normcase(path), os.path.normcase(folder).rstrip(os.sep)
    return path == folder or path.startswith(folder + os.sep)


def may_be_inside(path: str, folder: str) -> bool:
    """The same where a mistake must be a yes: some disks do not tell capitals apart, whatever the system."""
    return is_inside(path.casefold(), folder.casefold())
