"""What a shell would run, as far as it can be told without running it: a text in, its simple commands out.

Pure. Knows quotes, operators, redirections, substitutions and plain assignments of a POSIX-like shell; knows
nothing of what the commands mean. What only a running shell could tell stands in a word as `UNKNOWN`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

UNKNOWN = "\0"
_MOST_CHARS = 200_000
_DEEPEST = 6
_LONGEST_VALUE = 1_000  # of a variable: `a=$a$a` doubles
_KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "fi", "do", "done", "while", "until", "for", "in", "!", "{", "}", "time")
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NAME = re.compile(r"\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Simple(NamedTuple):
    """One simple command."""

    words: tuple[str, ...]  # without quotes and without assignments before the program
    writes: tuple[str, ...] = ()  # what redirections write to
    fed: str = ""  # the text of a here-document or here-string


def simple_commands(text: str) -> list[Simple]:
    """All commands in it, those in substitutions and in quotes of substitutions too, in no strict order."""
    return _Reader(text[:_MOST_CHARS], {}, 0).read()


class _Reader:
    """One pass over one text; texts inside it are read by readers of their own."""

    def __init__(self, text: str, known: dict[str, str], depth: int) -> None:
        self.text = text
        self.known = known  # variables that were set to something plain
        self.depth = depth
        self.at = 0
        self.found: list[Simple] = []
        self.pending: list[str] = []  # here-documents whose text begins at the next line
        self._begin()

    def _begin(self) -> None:
        self.words: list[str] = []
        self.writes: list[str] = []
        self.fed: list[str] = []

    def read(self) -> list[Simple]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\r":
                self.at += 1
            elif char == "\n":
                self.at += 1
                self._here_documents()
                self._end()
            elif char == "#":
                self.at = _index(self.text, "\n", self.at)
            elif char in ";&|()":
                self._operator()
            elif self._redirection():
                continue
            else:
                self._take(self._word())
        self._here_documents()
        self._end()
        return self.found

    def _operator(self) -> None:
        if self.text.startswith(("&>", ">&"), self.at) and self._redirection():
            return
        self.at += 1
        self._end()

    def _take(self, word: str) -> None:
        if not self.words:
            if word in _KEYWORDS:
                return
            if match := _ASSIGNMENT.fullmatch(word):
                self.known[match[1]] = match[2] if len(match[2]) <= _LONGEST_VALUE else UNKNOWN
                return
        self.words.append(word)

    def _end(self) -> None:
        if self.pending:
            return  # the command goes on after its here-document
        if self.words or self.writes:
            self.found.append(Simple(tuple(self.words), tuple(self.writes), "\n".join(self.fed)))
        self._begin()

    def _redirection(self) -> bool:
        match = re.compile(r"\d*(&>>|&>|<<<|<<-?|>>|>\||>&|<>|>|<)(?!\()").match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        self._blanks()
        target = self._word()
        if match[1] == "<<<":
            self.fed.append(target)
        elif match[1].startswith("<<"):
            self.pending.append(target)
        elif match[1] != "<" and not (match[1] == ">&" and (target.isdecimal() or target == "-")):
            self.writes.append(target)
        return True

    def _here_documents(self) -> None:
        for delimiter in self.pending:
            lines: list[str] = []
            while self.at < len(self.text):
                end = _index(self.text, "\n", self.at)
                line = self.text[self.at : end]
                self.at = end + 1
                if line.strip("\t ") == delimiter:
                    break
                lines.append(line)
            self.fed.append("\n".join(lines))
        self.pending = []

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _word(self) -> str:
        """Up to a blank or an operator; always moves on."""
        parts: list[str] = []
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\r\n;&|()<>" and self.at > start:
                break
            parts.append(self._part(char))
            if char in ";&|()<>":
                break
        return "".join(parts)

    def _part(self, char: str) -> str:
        text = self.text
        if char == "\\":
            self.at += 2
            return text[self.at - 1 : self.at].replace("\n", "")
        if char == "'":
            return self._quoted(self.at + 1, "'")
        if char == '"':
            return self._double_quoted()
        if text.startswith("$'", self.at):
            return _unescaped(self._quoted_with_escapes(self.at + 2))
        if char == "$" or char == "`":
            return self._expansion()
        if text.startswith(("<(", ">("), self.at):
            self.at += 1
            return self._substitution()
        self.at += 1
        return char

    def _quoted(self, start: int, mark: str) -> str:
        end = _index(self.text, mark, start)
        self.at = end + 1
        return self.text[start:end]

    def _quoted_with_escapes(self, start: int) -> str:
        at = start
        while at < len(self.text) and self.text[at] != "'":
            at += 2 if self.text[at] == "\\" else 1
        self.at = at + 1
        return self.text[start:at]

    def _double_quoted(self) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append(self.text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif char in "$`":
                parts.append(self._expansion())
            else:
                parts.append(char)
                self.at += 1
        self.at += 1
        return "".join(parts)

    def _expansion(self) -> str:
        if self.text[self.at] == "`":
            inner = self._quoted(self.at + 1, "`")
            self._inside(inner)
            return UNKNOWN
        self.at += 1
        if self.text.startswith("(", self.at):
            return self._substitution()
        match = _NAME.match(self.text, self.at)
        if match is None:
            if self.text.startswith("{", self.at):
                self.at = _index(self.text, "}", self.at) + 1
                return UNKNOWN
            return "$"
        self.at = match.end()
        return self.known.get(match[1] or match[2], UNKNOWN)

    def _substitution(self) -> str:
        """From an opening parenthesis to the one that closes it; quotes inside are passed over."""
        depth, at, quote = 0, self.at, ""
        while at < len(self.text):
            char = self.text[at]
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char == "\\":
                at += 1
            elif char in "()":
                depth += 1 if char == "(" else -1
                if depth == 0:
                    break
            at += 1
        self._inside(self.text[self.at + 1 : at])
        self.at = at + 1
        return UNKNOWN

    def _inside(self, text: str) -> None:
        if self.depth < _DEEPEST:
            self.found += _Reader(text, self.known, self.depth + 1).read()


def _index(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        if match[4]:
            return _ESCAPED.get(match[4], match[4])
        return chr(int(match[1] or match[2], 16) if match[1] or match[2] else int(match[3], 8))

    return _ESCAPE.sub(meant, text)
