"""Which tool calls of an agent are put before a person first: those that would decide in the owner's place.

An agent must not approve its own memories, speak as the user, or write what only the owner writes. This is a
guard rail, not a wall: a program that the agent writes and then runs can do all of it, and is not seen here.
The wall is that approving needs a person (`memory.inbox.presence`, `memory.inbox.agent_sessions`).
Decides from the call's arguments; what is not recognised passes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hindbrain.context.guarded_paths import ASK_FOLDER, OWN_FOLDER, Surroundings
from hindbrain.context.shell_words import UNKNOWN, Simple, simple_commands

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout


class Guarded(NamedTuple):
    """What to do with a call: "ask" the person, or "" (it is none of our business)."""

    decision: Literal["", "ask"] = ""
    reason: str = ""  # for the person and for the agent; "" when it passes


PASSES = Guarded()

_MOST_WORDS = 200  # of a command that are looked at
_MOST_SEARCHED = 20_000  # characters of code that no shell reads
_DEEPEST = 4  # of commands in arguments of commands
_COMMAND_NAMES = ("command", "cmd", "script", "input", "patch")
_PATH_NAMES = ("file_path", "notebook_path", "filePath", "absolute_path", "target_file", "path", "file")
_READING_TOOLS = frozenset(("read", "read_file", "glob", "grep", "ls", "list", "webfetch", "websearch"))
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)

_SHELLS = frozenset(
    ("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "busybox", "cmd", "eval", "source", ".")
)
_INTERPRETERS = re.compile(
    r"(?:python|pypy|node|deno|bun|perl|ruby|php|lua|osascript|pwsh|powershell|rscript|awk|gawk)[\d.]*"
)
# Programs that show text and run none of it, unless a shell reads what they print.
_SHOWING = frozenset({
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "gh", "echo", "printf", "cat", "less", "more",
    "head", "tail", "wc", "man", "ls", "tree", "diff", "cmp", "jq", "which", "type", "test", "[",
    "stat", "file", "cd",
})  # fmt: skip
_WRITING = frozenset({
    "tee", "mv", "rm", "rmdir", "unlink", "truncate", "touch", "ln", "chmod", "chown", "mkdir",
    "sponge", "ed", "ex", "vi", "vim", "nano", "emacs", "patch", "shred", "set-content", "add-content",
    "out-file", "new-item", "remove-item", "move-item", "clear-content", "del", "erase", "ren", "move",
    "rd",
})  # fmt: skip
_IN_PLACE = frozenset(("sed", "gsed", "perl", "ruby"))
# Programs that run the program that is named after their options.
_WRAPPING = frozenset(
    (
        "env",
        "nohup",
        "setsid",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "time",
        "command",
        "exec",
        "sudo",
        "doas",
    )
)
_COPYING = frozenset(("cp", "install", "rsync", "scp", "copy", "copy-item", "xcopy", "robocopy"))

_OWN_PROGRAM = re.compile(r"hindbrain(?:\.exe|\.cmd)?(?:[@=~<>!].*)?|hindbrain\.edge\.main")
_DECIDING = ("accept", "refuse", "edit")
_OF_THE_AGENT = ("run", "chat", "approve")  # what is said to it counts as the owner's word
# In code that is no shell's: a call of ours that decides, or our folder together with a verb that writes.
_DECIDES_IN_CODE = re.compile(r"hindbrain\b.{0,300}\binbox\b.{0,300}\b(?:accept|refuse)\b", re.DOTALL)
_WRITES_IN_CODE = re.compile(
    r"\bwrite|\bopen\b.{0,200}['\"](?:[wax+>]|r\+)|unlink|remove|rename|replace|rmtree|truncate|copy|move|touch|mkdir"
    r"|\bset-content|\bout-file",
    re.IGNORECASE | re.DOTALL,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,4000}={0,2}")
_ASK_INBOX = "it decides on memories that wait in the inbox, and those are the owner's to accept or refuse"
_ASK_AS_USER = (
    "it stores a memory as the user's own word; an agent's memories carry --source agent, "
    "or go through the memory tools"
)
_ASK_HOOKS = "it takes Hindbrain's hooks out of a host"
_ASK_AGENT = "it speaks to Hindbrain's own agent, or decides what that may do, as only the owner does"


def guard_call(
    root: Path | None, layout: Layout | None, *, tool: str, arguments: Mapping[str, object], cwd: str
) -> Guarded:
    """What to do with a call. `root`: the vault in force; without a `layout`, the vault's own is read."""
    if tool.lower() in _READING_TOOLS:
        return PASSES
    place = Surroundings(cwd or str(Path.cwd()), root, layout)
    for reason in _reasons(arguments, place):
        if reason:
            return Guarded("ask", f"Hindbrain asks a person first: {reason}.")
    return PASSES


def _reasons(arguments: Mapping[str, object], place: Surroundings) -> Iterator[str]:
    for name in _PATH_NAMES:
        if isinstance(path := arguments.get(name), str):
            yield place.why_asked(path)
    for name in _COMMAND_NAMES:
        given = arguments.get(name)
        if isinstance(given, list) and all(isinstance(word, str) for word in given):
            yield from _of_command(Simple(tuple(given)), place, 0, piped=False)
        elif isinstance(given, str):
            for path in _PATCHED.findall(given):
                yield place.why_asked(path.strip())
            if not given.lstrip().startswith("*** Begin Patch"):
                yield from _of_shell(given, place, 0)


def _of_shell(text: str, place: Surroundings, depth: int) -> Iterator[str]:
    commands = simple_commands(text)
    # What is printed may be run when a shell stands in the same line: `echo ... | sh`.
    piped = any(
        _program(word) in (*_SHELLS, "xargs", "parallel") for one in commands for word in one.words[:1]
    )
    for one in commands:
        yield from _of_command(one, place, depth, piped=piped)
    if piped or any(one.words[:1] == ("alias",) for one in commands):
        yield _of_code(text, place)
    if piped and depth < _DEEPEST:
        for decoded in _decoded(text):
            yield from _of_shell(decoded, place, depth + 1)


def _of_command(one: Simple, place: Surroundings, depth: int, *, piped: bool) -> Iterator[str]:
    for path in one.writes:
        yield place.why_asked(path)
    words = _unwrapped(one.words)
    program = _program(words[0]) if words else ""
    if program in ("cd", "pushd", "set-location"):
        place.go_to(words[1:])
        return
    for path in _written_by(program, words[1:]):
        yield place.why_asked(path)
    if program in _SHOWING and not piped:
        return
    yield from _of_ours(one.words, place)
    code = [word for word in one.words if _is_code(word)] + ([one.fed] if one.fed else [])
    for text in code:
        if _INTERPRETERS.fullmatch(program):
            yield _of_code(text, place)
        elif depth < _DEEPEST:
            yield from _of_shell(text, place, depth + 1)


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """The command behind `env -u NAME`, `nohup` and the like, where it is one that writes or runs code."""
    if words and _program(words[0]) in _WRAPPING:
        for at, word in enumerate(words[1:_MOST_WORDS], start=1):
            program = _program(word)
            known = program in _WRITING | _COPYING | _IN_PLACE | _SHELLS or program == "dd"
            if known or _INTERPRETERS.fullmatch(program):
                return words[at:]
    return words


def _decoded(text: str) -> Iterator[str]:
    """What stands in a text as base64: `echo ... | base64 -d | sh`."""
    import base64

    for found in _BASE64.finditer(text[:_MOST_SEARCHED]):
        with contextlib.suppress(ValueError):
            plain = base64.b64decode(found[0], validate=True).decode("utf-8")
            if plain.replace("\n", " ").isprintable():
                yield plain


def _of_ours(words: Sequence[str], place: Surroundings) -> Iterator[str]:
    """A call of our own program anywhere among the words: after sudo, env, uv run, python -m, xargs ..."""
    for at, word in enumerate(words[:_MOST_WORDS]):
        name = word.replace("\\", "/").rpartition("/")[2].lower()
        if _OWN_PROGRAM.fullmatch(name) or word.lower().endswith("hindbrain/__main__.py"):
            rest = words[at + 1 : at + _MOST_WORDS]
            yield _why_ours(rest)
            yield _why_note(rest, place)
    if words and UNKNOWN in words[0]:  # the program is what a variable holds
        yield _why_ours(words[1:_MOST_WORDS], surely=False)


def _why_ours(words: Sequence[str], *, surely: bool = True) -> str:
    said, options = _said(words)
    if not said:
        return ""
    if said[0] == "inbox" or (surely and UNKNOWN in said[0]):
        if len(said) > 1 and (said[1] in _DECIDING or UNKNOWN in said[1]):
            return _ASK_INBOX
    elif surely and said[0] == "remember":
        source = options.get("--source", "user").lower()
        return _ASK_AS_USER if source == "user" or UNKNOWN in source else ""
    elif surely and said[0] == "hook" and said[1:2] == ["uninstall"]:
        return _ASK_HOOKS
    elif surely and (said[0] in _OF_THE_AGENT or said[:2] == ["runs", "resume"]):
        return "" if said == ["approve"] else _ASK_AGENT
    return ""


def _why_note(words: Sequence[str], place: Surroundings) -> str:
    """`hindbrain note append NOTE TEXT` writes as its owner does, the inbox too."""
    said, _ = _said(words)
    writes = said[:1] == ["note"] and len(said) > 2 and said[1] != "read"
    return place.why_asked_note(said[2]) if writes else ""


def _said(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words that are no options, and the options with their values."""
    said: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in ("--source", "--vault", "--category", "--importance", "--tag"):
            options[word] = next(rest, "")
        elif word.startswith("-") and len(word) > 1:
            name, _, value = word.partition("=")
            options[name] = value
        else:
            said.append(word)
    return said, options


def _of_code(text: str, place: Surroundings) -> str:
    if _DECIDES_IN_CODE.search(re.sub(r"[\\'\",\[\]]", " ", text[:_MOST_SEARCHED])):
        return _ASK_INBOX
    if OWN_FOLDER in text and _WRITES_IN_CODE.search(text):
        return ASK_FOLDER
    inbox = place.inbox_in(text)
    return (
        f"it writes {inbox!r}, which is the owner's alone" if inbox and _WRITES_IN_CODE.search(text) else ""
    )


def _written_by(program: str, words: Sequence[str]) -> list[str]:
    plain = [word for word in words if not word.startswith("-")]
    if program in _WRITING:
        return plain
    if program in _COPYING:
        into = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-t", "-Destination")]
        into += [word.partition("=")[2] for word in words if word.startswith("--target-directory=")]
        return into or plain[-1:]
    if program == "dd":
        return [word[3:] for word in words if word.startswith("of=")]
    edits_in_place = any(word.startswith(("-i", "--in-place", "-pi", "-ni")) for word in words)
    if program in _IN_PLACE and edits_in_place:
        return plain
    return []


def _program(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


def _is_code(word: str) -> bool:
    return any(char in word for char in " \n;|&")
