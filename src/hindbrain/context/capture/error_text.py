"""What an error says: the line that tells most, a signature that comes again with it, words to search by.

Pure. Numbers, addresses, times and temporary paths differ between two runs of the same failure; they are left
out of signatures and queries.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.context.capture.commands import Command, understand_command

_HEAD = 4_000  # characters of an output that are looked at from its beginning
_TAIL = 12_000  # and from its end
_LONGEST_LINE = 300
_LONGEST_QUERY = 240
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_FAILED_TEST = (
    re.compile(r"^(?:FAILED|ERROR) (\S+::\S+|\S+\.py)"),  # pytest
    re.compile(r"^\s*--- FAIL: (\S+)"),  # go
    re.compile(r"^test (\S+) \.\.\. FAILED"),  # cargo
    re.compile(r"^\s*● (.+ › .+)$"),  # jest
    re.compile(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))"),  # unittest
    re.compile(r"^\s*FAIL\s+(\S+\.[jt]sx?(?: > .+)?)"),  # vitest, jest
)
# From the most telling kind of line to the least; of one kind, the first or the last says most.
_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|NotFound|Interrupt)(?::|$)"),
     "last"),
    (re.compile(r"^error(?:\[E\d+\])?: (?!could not compile|aborting)|^\S+\(\d+,\d+\): error "
                r"|^.+:\d+:\d+: error:?"), "first"),
    (re.compile(r"^E\s{2,}\S"), "first"),  # pytest, without an exception
    (re.compile(r"^(?:FAILED|ERROR) \S+ - "), "first"),
    (re.compile(r"^npm (?:ERR!|error) (?!code|syscall|path|errno|A complete log|\s*$)\S"), "first"),
    (re.compile(r"^(?!ERROR|Error|remote)[\w.-]+: [Ee]rror:? \S"), "first"),  # psql: error: ...
    (re.compile(r"^(?:fatal|remote: error|ERROR|Error|error|failed|panic|Unhandled)\b:?\s*"
                r"(?!usage:|\S+::)\S"), "first"),
    (re.compile(r"^(?!YN0000)[A-Z]{1,5}\d{3,5}:? \S"), "first"),  # a code: YN0028
    (re.compile(r"^\S+\.\w+:\d+(?::\d+)?: (?!in )\S"), "first"),  # a compiler's
    (re.compile(r"(?:command not found|No such file or directory|[Pp]ermission denied|[Cc]onnection refused"
                r"|not found|[Aa]ddress already in use|timed out|cannot |can't |denied|unable to )"), "last"),
    (re.compile(r"[Cc]ould not |[Uu]nsupported |[Uu]nknown |does not |doesn't |couldn't |[Ii]nvalid "
                r"|modified by this hook"), "first"),
    (re.compile(r"^make(?:\[\d+\])?: \*\*\* "), "first"),
    (re.compile(r"^(?!=+ ).*\b(?:FAILED|FAIL|failed|error)\b"), "last"),
)  # fmt: skip
# Text that only a failure prints. Believed of a command whose exit code a pipe has hidden.
_TELLTALE = re.compile(
    r"(?:Traceback \(most recent call last\):"
    r"|=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+"
    r"|error(?:\[E\d+\])?: .+"
    r"|npm (?:ERR!|error) .+"
    r"|fatal: .+"
    r"|make(?:\[\d+\])?: \*\*\* .+"
    r"|(?:/\S+: |\w+: )(?:line \d+: )?\S+: command not found"
    r"|Tests:\s+[1-9]\d* failed.*"
    r"|FAIL(?:ED)?\b.*"
    r"|BUILD FAILED.*"
    r"|[A-Z]\w*(?:Error|Exception): .+"
    r"|test result: FAILED.*)",
)
_NOT_THE_TOOLS_FAULT = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|\[Request interrupted"
    r"|[Ii]nterrupted by (?:the )?user"
    r"|rejected by (?:the )?user|requires approval|permission to use \S+ (?:with|has been denied)"
    r"|\bwas blocked\b|operation was cancell?ed|aborted by user|hook (?:blocked|denied)",
)
_NOISE = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{13,}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "#"),
    (re.compile(r"(?:/private)?(?:/var/folders|/tmp|/var/tmp)/[^\s'\":)]+"), "<tmp>"),
    (re.compile(r"[A-Z]:\\[^\s'\"]*\\Temp\\[^\s'\"]+"), "<tmp>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "#"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b"), "#"),
    (re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.@+-]+)+[\\/](?=[\w.@+-]+)"), ""),  # folders; names of files stay
    (re.compile(r":\d+(?::\d+)?\b(?!\.\d|-\w)"), ""),  # a line; python:3.13-slim is a name
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|minutes|bytes|[KMG]i?B)\b"), "#"),
    (re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w.])"), "#"),
)  # fmt: skip
# A line that says that something failed and not what: a second line says that.
_VAGUE = re.compile(
    r"^(?:error: failed to push some refs|error: failed to parse manifest"
    r"|error: failed to run custom build command|ERROR: \S+BUILD:\d"
    r"|ERROR: failed to solve: process |#\d+ ERROR: process "
    r"|fatal: Could not read from remote repository|make(?:\[\d+\])?: \*\*\* \[|error: subprocess-exited"
    r"|FAILURE: Build failed|Error making API request"
    r"|Error: Command failed|error: Process completed with exit code)"
)
_SPECIFIC = re.compile(
    r"^! \[|[Pp]ermission denied|not found|[Nn]o such|[Rr]efused|^remote: error|fatal error|\berror:"
    r"|is required|[Ii]nvalid|[Uu]nknown|[Cc]ould not|[Cc]annot|does not|parse error|missing"
)
_WARNING = re.compile(r"(?i:warn(?:ing)?)\b")
_FRAME = re.compile(r"^[\s│╷╵╭╰─║╔╚×➤└├┌>|]+")  # around messages
_OURS = (
    '<memory_context source="hindbrain"'  # what we told of it before, where a host put that behind the output
)
_MARKS = re.compile(r"[#<>`'\"()\[\]{}|=*,;:!]+")


class Failure(NamedTuple):
    """A command that failed, as far as it will fail in the same way again."""

    command: str  # as it was given, without its surroundings
    name: str  # the program and its verb: npm install
    error: str  # the line that tells most
    test: str  # the first test that failed; "" when it was no test
    signature: str  # equal for equal failures
    detail: str = ""  # a second line, where the first one says little

    @property
    def query(self) -> str:
        """What to search with."""
        return _query(self.name, self.test, f"{self.error} {self.detail}")


def has_failed(command: Command, output: str, *, failed: bool) -> bool:
    """Did a command fail in a way that is worth knowing? `failed` is the host's word, by its exit code."""
    if command.looks_only or _NOT_THE_TOOLS_FAULT.search(output[:2_000]):
        return False
    if failed or not (command.hides_exit or command.checks_only):
        return failed
    return any(_TELLTALE.fullmatch(line) for line in _lines(output))


def understand_failure(command: str, output: str) -> Failure:
    """The failure that a command's output tells of."""
    what = understand_command(command)
    lines = _lines(output)
    error = _telling_line(lines)
    detail = _detail(lines, error)
    test = _failed_test(lines)
    named = test.rpartition("::")[2] if test else ""
    signature = "|".join((what.name, named, normalised(error), *([normalised(detail)] if detail else [])))
    return Failure(what.plain[:_LONGEST_LINE], what.name, error, test, signature, detail)


def query_for(tool: str, command: str, error: str) -> str:
    """What to search with when a tool failed; "" when there is nothing to go by."""
    if not error.strip():
        return ""
    if not command:
        return _query(tool, "", _telling_line(_lines(error)))
    return understand_failure(command, error).query


def normalised(line: str) -> str:
    """Without what differs from run to run."""
    for pattern, instead in _NOISE:
        line = pattern.sub(instead, line)
    return " ".join(line.split())


def _lines(output: str) -> list[str]:
    output = output.partition(_OURS)[0]
    if len(output) > _HEAD + _TAIL:
        output = output[:_HEAD] + "\n" + output[-_TAIL:]
    cleaned = _ANSI.sub("", output).replace("\r\n", "\n").replace("\r", "\n")
    return [line[:_LONGEST_LINE].rstrip() for line in cleaned.split("\n") if line.strip()]


def lines_of(output: str) -> list[str]:
    """The lines of an output as they are compared with known errors, each once."""
    return list(dict.fromkeys(re.sub(r"^E\s+", "", _unframed(line)) for line in _lines(output)))


def _unframed(line: str) -> str:
    return _FRAME.sub("", line).strip()


def _telling_line(lines: list[str]) -> str:
    if "* What went wrong:" in lines:  # gradle: its last reason is the cause
        reasons = [line for line in lines[lines.index("* What went wrong:") + 1 :] if line.startswith("> ")]
        if reasons:
            return _unframed(reasons[-1])
    lines = [line if line.lstrip().startswith(">") else _unframed(line) for line in lines]
    lines = [line for line in lines if not _WARNING.match(line)] or lines
    for pattern, which in _KINDS:
        matching = [line for line in lines if pattern.search(line.strip())]
        if matching:
            line = matching[0] if which == "first" else matching[-1]
            return re.sub(r"^E\s+", "", line.strip())
    plain = [line for line in lines if not line.startswith(("Exit code", "Exit Code", "Process exited"))]
    return plain[-1].strip() if plain else ""


def _detail(lines: list[str], error: str) -> str:
    if not _VAGUE.search(error):
        return ""
    others = [line for line in map(_unframed, lines) if line != error and not _VAGUE.search(line)]
    return next((line for line in others if _SPECIFIC.search(line)), others[-1] if others else "")


def _failed_test(lines: list[str]) -> str:
    for line in lines:
        for pattern in _FAILED_TEST:
            if match := pattern.search(line):
                return match[1]
    return ""


def _query(name: str, test: str, error: str) -> str:
    words = _MARKS.sub(" ", f"{name} {test} {normalised(error)}").split()
    text = ""
    for word in dict.fromkeys(word.strip(".-/\\") for word in words):
        if len(text) + len(word) >= _LONGEST_QUERY:
            break
        text = f"{text} {word}".strip()
    return text
