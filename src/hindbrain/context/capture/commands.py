"""Shell commands: whether one is another one again, and whether it changes anything.

Pure, and a guess: a command is read by its words, not run. What surrounds the program that matters (cd,
variables, redirections, pipes to a pager, `timeout`, `uv run`) is no part of what was tried.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# These only look. Their exit code 1 often means "not found", and what they print is not their own error.
_LOOKERS = frozenset((
    "cat", "grep", "egrep", "rg", "ag", "ack", "less", "more", "head", "tail", "ls", "ll", "tree", "find",
    "fd", "wc", "sort", "uniq", "cut", "awk", "sed", "diff", "cmp", "test", "[", "[[", "which", "type",
    "whereis", "file", "stat", "du", "df", "pwd", "echo", "printf", "date", "env", "printenv", "whoami", "id",
    "ps", "pgrep", "top", "jq", "yq", "xxd", "hexdump", "strings", "man", "history", "true", "false", "sleep",
    "wait", "tee", "column", "tr", "xargs", "uname", "hostname", "lsof", "ss", "netstat", "hindbrain",
    "hindbrain-hook",
))  # fmt: skip
# `git log` looks, `git push` does something.
_LOOKING_VERBS = {
    "git": _set("status log diff show blame grep branch remote ls-files rev-parse describe"),
    "docker": _set("ps images logs inspect"),
    "kubectl": _set("get describe logs"),
    "npm": _set("ls list view outdated"),
    "pip": _set("list show freeze"),
    "cargo": _set("tree metadata"),
}
_GH_LOOKS = _set("list view status diff checks watch")  # gh pr view, gh run watch
# Running these again tells whether something works; it is no step towards that.
_CHECKS = frozenset((
    "pytest", "unittest", "tox", "nox", "mypy", "pyright", "ruff", "flake8", "pylint", "eslint", "tsc",
    "jest", "vitest", "mocha", "phpunit", "rspec", "ctest", "shellcheck", "playwright", "cypress",
))  # fmt: skip
_CHECKING_VERBS = {
    "cargo": _set("test check clippy"),
    "go": _set("test vet"),
    "npm": _set("test t"),
    "yarn": _set("test lint"),
    "pnpm": _set("test lint"),
    "make": _set("test check lint"),
    "dotnet": _set("test"),
    "mvn": _set("test verify"),
    "gradle": _set("test check"),
}
_VERBS = frozenset((
    *_LOOKING_VERBS, *_CHECKING_VERBS, "brew", "apt", "apt-get", "dnf", "pacman", "uv", "poetry", "conda",
    "bundle", "gem", "terraform", "helm", "aws", "gcloud", "az", "systemctl", "bun", "deno", "composer",
    "rustup", "docker-compose", "podman", "compose", "just", "django-admin", "manage.py", "alembic", "svn",
    "hg", "pip3",
))  # fmt: skip
_MOVES = frozenset(("cd", "pushd", "popd", "set", "clear"))
_MOVE = re.compile(r"(?:cd|pushd) \S")
_RUNNERS = {  # words in front of the program that is really run
    "sudo": 0, "time": 0, "nohup": 0, "exec": 0, "command": 0, "env": 0, "npx": 0, "bunx": 0, "xvfb-run": 0,
    "timeout": 1, "nice": 0, "stdbuf": 0,
}  # fmt: skip
_RUN_VERBS = {"uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "hatch": "run", "pnpm": "exec"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_REDIRECTION = re.compile(r"\s*(?:\d?>&\d|&>>?\s*\S+|\d?>>?\s*\S+)")
_WRITES = re.compile(r"(?<![\d&])>>?\s*(?!/dev/null|&)\S")
_IN_PLACE = frozenset(("sed", "perl", "awk"))
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_SEPARATOR = re.compile(r"&&|\|\||;|\n")
_PIPED = re.compile(r"\|(?!\|)|\|\| *(?:true|:|echo)\b")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?(?:\n\2(?=\n|$)|$)", re.DOTALL)
_PYTHON = re.compile(r"python[\d.]*$|pypy\d*$")
_MOST = 4_000  # characters of a command that are looked at


class Command(NamedTuple):
    """The part of a command that matters."""

    program: str  # pytest, npm, cargo; "" when there is none
    verb: str  # of a program with verbs: install, build, push; or a script's name
    targets: frozenset[str]  # what it is applied to: words that are no options
    plain: str  # the command without its surroundings, for people and for comparing
    hides_exit: bool = False  # the exit code that is told is that of something after it
    prefix: str = ""  # what stands before the program: variables, sudo, uv run, a folder
    writes: bool = False  # it looks only, but into a file
    before: tuple[str, ...] = ()  # what was done in the same line before it, as far as that changes something
    moved: str = ""  # the last `cd` of the line before it, or the whole of a line that only moves

    @property
    def name(self) -> str:
        return f"{self.program} {self.verb}".strip()

    @property
    def changes_something(self) -> bool:
        return not self.looks_only and not self.checks_only

    @property
    def looks_only(self) -> bool:
        if self.writes:
            return False
        if self.program == "gh":
            return not _GH_LOOKS.isdisjoint((*self.targets, *self.verb.split()))
        return (
            not self.program or self.program in _LOOKERS or self.verb in _LOOKING_VERBS.get(self.program, ())
        )

    @property
    def checks_only(self) -> bool:
        if self.program in _CHECKS:
            return "install" not in self.targets  # playwright install
        return self.verb in _CHECKING_VERBS.get(self.program, ())


def understand_command(text: str) -> Command:
    """The last part of a command that does more than look; its last part when none does."""
    return _understood(text[:_MOST])


@lru_cache(maxsize=256)
def _understood(text: str) -> Command:
    parts = [_one(part) for part in _parts(text)]
    found = [command for command in parts if command.program]
    moved = next((one.plain for one in reversed(parts) if not one.program and _MOVE.match(one.plain)), "")
    if not found:
        return Command("", "", frozenset(), " ".join(text.split()), moved=moved)
    doing = [number for number, command in enumerate(found) if not command.looks_only]
    at = doing[-1] if doing else len(found) - 1
    hides_exit = at < len(found) - 1 or _PIPED.search(_unquoted(text)) is not None
    before = tuple(command.plain for command in found[:at] if command.changes_something)
    return found[at]._replace(hides_exit=hides_exit, before=before, moved=moved)


def is_retry(later: Command, earlier: Command) -> bool:
    """Is `later` the same attempt as `earlier`, perhaps with other options or of more than that?"""
    if later.program != earlier.program or not earlier.program:
        return False
    if later.verb != earlier.verb:
        return False
    if later.targets == earlier.targets or (not later.targets and earlier.checks_only):
        return True
    if earlier.targets <= later.targets:
        return True
    shared = len(later.targets & earlier.targets)
    return shared >= 0.6 * len(later.targets | earlier.targets)


def is_part_of(later: Command, earlier: Command, named: str) -> bool:
    """Is `later` a narrower run of `earlier` for just the thing that failed, which `named` names?"""
    if (later.program, later.verb) != (earlier.program, earlier.verb) or not later.targets or not named:
        return False
    return all(target in named or named in target for target in later.targets)


def other_way(later: Command, earlier: Command) -> str:
    """How `later` was run where that differs from `earlier`; "" when it is the same way."""
    if earlier.checks_only:
        return later.plain if later.prefix != earlier.prefix else ""
    return later.plain if later.plain != earlier.plain else ""


def _parts(text: str) -> list[str]:
    """The commands of a line, each without what it is piped into."""
    text = _HEREDOC.sub("", text)
    hidden = _unquoted(text)
    parts: list[str] = []
    at = 0
    for match in [*_SEPARATOR.finditer(hidden), None]:
        stop = match.start() if match else len(text)
        pipe = hidden.find("|", at, stop)
        parts.append(text[at : pipe if pipe >= 0 else stop].strip())
        at = match.end() if match else stop
    return [part for part in parts if part]


def _unquoted(text: str) -> str:
    """With quoted words blanked out: they separate nothing."""
    return _QUOTED.sub(lambda match: "\x01" * len(match[0]), text)


def _one(part: str) -> Command:
    plain = " ".join(_REDIRECTION.sub("", part).split())
    every = _split(plain)
    words = _without_runners(every)
    if not words or words[0] in _MOVES:
        return Command("", "", frozenset(), plain)
    program = words[0].replace("\\", "/").rpartition("/")[2]
    rest = words[1:]
    if _PYTHON.match(program) and rest[:1] == ["-m"] and len(rest) > 1:
        program, rest = rest[1], rest[2:]
    elif _PYTHON.match(program):
        program = "python"
    if program in ("pip3",):
        program = "pip"
    verb, applied = _verb(program, rest) if program in _VERBS else ("", rest)
    # A number is the value of an option, and tried with another one it is the same attempt.
    targets = frozenset(word for word in applied if not word.startswith("-") and not word.isdigit())
    prefix = " ".join(every[: len(every) - len(rest)])
    writes = program in _LOOKERS and (bool(_WRITES.search(_unquoted(part))) or _in_place(program, rest))
    # Where the output goes is the point of such a command only.
    return Command(
        program, verb, targets, " ".join(part.split()) if writes else plain, prefix=prefix, writes=writes
    )


def _in_place(program: str, rest: list[str]) -> bool:
    return program in _IN_PLACE and any(word.startswith("-i") for word in rest)


def _verb(program: str, rest: list[str]) -> tuple[str, list[str]]:
    """`run build` is one verb: scripts have names. Images have options before theirs."""
    named = [word for word in rest if not word.startswith("-")]
    if not named:
        return "", rest
    is_script = named[0] == "compose" or program not in ("docker", "podman")
    if named[0] in ("run", "compose", "exec") and len(named) > 1 and is_script:
        return f"{named[0]} {named[1]}", [word for word in rest if word not in named[:2]]
    return named[0], [word for word in rest if word != named[0]]


def _without_runners(words: list[str]) -> list[str]:
    while words:
        if _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0] in _RUNNERS:
            skipped = _RUNNERS[words[0]]
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            words = words[skipped:]
        elif _RUN_VERBS.get(words[0]) and words[1:2] == [_RUN_VERBS[words[0]]]:
            words = words[2:]
        else:
            break
    return words


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
