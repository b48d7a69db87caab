"""The owner's rules for commands: a list of words in, allow, ask or deny out.

A rule is a list of words. A word stands for itself; `*` for one word, and `**`, as the last, for any rest.
In a rule that allows, a wildcard stands only for what is known to be harmless (`harmless`): not for words of
an unknown program, for a place outside the workspace or for a shell's operators, nor for options, unless it
is `--**`. In a rule that denies, it stands for anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.agent.safety.argv import find_program, is_inside, is_readable, same_program, shown_words
from hindbrain.agent.safety.command import Command
from hindbrain.agent.safety.harmless import Grammar, grammar_of
from hindbrain.agent.safety.programs import is_runner, plain_name, why_no_wildcard
from hindbrain.context.shell_words import simple_commands

Rule: TypeAlias = tuple[str, ...]
ONE, REST, REST_WITH_OPTIONS = "*", "**", "--**"
_WILD = frozenset((ONE, REST, REST_WITH_OPTIONS))
_DEEPEST = 4  # of commands in words of commands
_LONGEST = 4_000  # characters of a word
# A word that is more than a name: an option, a file to read words from, a setting, a place elsewhere.
_MEANS_MORE = re.compile(r"[-/@+~:=!\\]|\w+\+?=|[A-Za-z]:|\w+:/{0,2}/|file:|data:", re.IGNORECASE)
_RUNS_GPG = "%G"  # in a format of git
_OPERATORS = re.compile(r"[;&|<>`$\\]")


class ShellRules(NamedTuple):
    """What agent.toml says. First match wins: deny, then allow; a person is asked about the rest."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


class Ruling(NamedTuple):
    decision: Literal["allow", "ask", "deny"]
    why: str = ""


def rule_problem(rule: Sequence[str], *, allows: bool) -> str:
    """Why the rule can't be used; "" when it can."""
    if not rule or not all(rule):
        return "a rule is a list of words, none of them empty"
    if rule[0] in _WILD:
        return "a rule begins with a program"
    if any(word in (REST, REST_WITH_OPTIONS) for word in rule[:-1]):
        return f"{REST!r} and {REST_WITH_OPTIONS!r} stand only at the end of a rule"
    if not allows:
        return ""
    if "/" in rule[0] and not Path(rule[0]).is_absolute():
        return "a program is named alone, to be found on PATH, or by its whole path"
    wild = [at for at, word in enumerate(rule) if word in _WILD]
    if wild and (reason := why_no_wildcard(tuple(rule[: wild[0]]))):
        return f"{reason}: a rule for it names every word, without wildcards"
    return ""


def rule_on(command: Command, rules: ShellRules) -> Ruling:
    for rule in rules.deny:
        given = (command.program, *command.argv[1:])
        if any(_denies(rule, words) for words in (given, *commands_in(command.argv))):
            return Ruling("deny", f"a rule of the owner denies it: {shown_words(rule)}")
    near = [rule for rule in rules.allow if _begins(rule, command)]
    for rule in near:
        if _allows(rule, command):
            return Ruling("allow", f"a rule of the owner allows it: {shown_words(rule)}")
    if near:
        wild = "a wildcard stands only for words that are known to be harmless"
        why = wild if _WILD.intersection(near[0]) else "holds in the workspace itself, not below it"
        return Ruling("ask", f"the owner's rule {shown_words(near[0])} does not cover it: {why}")
    return Ruling("ask", "no rule of the owner allows this command")


def _begins(rule: Rule, command: Command) -> bool:
    """Is the rule about this program, and are the words that it names there?"""
    if rule_problem(rule, allows=True) or plain_name(rule[0]) != plain_name(command.program):
        return False
    words, wanted = command.argv[1:], rule[1:]
    rest = bool(wanted) and wanted[-1] in (REST, REST_WITH_OPTIONS)
    fixed = wanted[:-1] if rest else wanted
    if len(words) < len(fixed) or (not rest and len(words) > len(fixed)):
        return False
    if any(want not in (ONE, word) for want, word in zip(fixed, words, strict=False)):
        return False
    if not Path(rule[0]).is_absolute() and is_inside(os.path.realpath(command.program), command.workspace):
        return False  # a link on PATH that leads to what the agent can write
    return same_program(command.program, find_program(rule[0], command.folders, command.cwd))


def _allows(rule: Rule, command: Command) -> bool:
    """Of a rule that begins as the command does: do its wildcards stand for the rest?"""
    known = grammar_of(command.argv)
    if not _WILD.intersection(rule):
        # What an unknown program does depends on the folder: the owner meant the workspace itself.
        shows_only = known is not None and known[0].takes_all(command.argv[known[1] :])
        return command.cwd == command.workspace or shows_only
    if known is None or not known[0].takes_all(command.argv[known[1] :]):
        return False
    options = rule[-1] == REST_WITH_OPTIONS
    for at, word in enumerate(command.argv):
        is_named = at < len(rule) and rule[at] not in _WILD
        if at and not is_named and not _is_harmless(word, known[0], command, options=options):
            return False
    return True


def _is_harmless(word: str, known: Grammar, command: Command, *, options: bool) -> bool:
    """May a wildcard stand for it? That the program takes it is known already."""
    if not is_readable(word) or len(word) > _LONGEST or _OPERATORS.search(word) or _RUNS_GPG in word:
        return False
    if word.startswith("-") and not options:
        return False
    if known.takes_as_is(word):
        return True
    if word.startswith("-"):
        hides_path = not word.startswith("--") and re.search(r"[/\\]", word)
        return not hides_path and all(_stays(part, command) for part in _values_in(word))
    if known.files_only and os.path.isdir(os.path.join(command.cwd, word)):  # noqa: PTH112, PTH118
        return False
    return not _MEANS_MORE.match(word) and _stays(word, command)


def _values_in(option: str) -> Iterator[str]:
    """What an option may carry: behind `=`, and behind the letter of a short one."""
    yield option.partition("=")[2]
    if not option.startswith("--"):
        yield option[2:]


def _stays(word: str, command: Command) -> bool:
    """Does the word, taken as a path, stay in the workspace, wherever links lead?"""
    if ".." in re.split(r"[/\\]", word) or (word and _MEANS_MORE.match(word)):
        return False
    try:
        return is_inside(os.path.realpath(os.path.join(command.cwd, word)), command.workspace)  # noqa: PTH118
    except (OSError, ValueError):
        return False


def _denies(rule: Rule, words: Sequence[str]) -> bool:
    """By the program's plain name, wherever it lies, and by where a link to it leads."""
    names = {plain_name(words[0]), plain_name(os.path.realpath(words[0]))}
    if plain_name(rule[0]) not in names:
        return False
    wanted, given = rule[1:], words[1:]
    rest = bool(wanted) and wanted[-1] in (REST, REST_WITH_OPTIONS)
    fixed = wanted[:-1] if rest else wanted
    if len(given) < len(fixed) or (not rest and len(given) > len(fixed)):
        return False
    return all(
        want == ONE or want.casefold() == word.casefold() for want, word in zip(fixed, given, strict=False)
    )


def commands_in(argv: Sequence[str], depth: int = 0) -> Iterator[Sequence[str]]:
    """The command, and what it would run as far as its words tell."""
    if not argv:
        return
    yield argv
    if depth >= _DEEPEST or not (is_runner(argv[0]) or plain_name(argv[0]) in ("find", "fd", "git")):
        return
    for at in range(1, len(argv)):
        yield argv[at:]
        if any(char in argv[at] for char in " \n;|&"):
            for one in simple_commands(argv[at]):
                yield from commands_in(one.words, depth + 1)
