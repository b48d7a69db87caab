"""Which files and folders are left out: the owner's settings, built-in folders, ignore files in the vault.

Pure but for `read_scope`, which reads one folder's ignore files. Knows nothing of the walk that asks it.

Settings come in two kinds: an entry without wildcards ("Archive", "Private/drafts") is a path from the
vault's root; one with wildcards ("*.excalidraw.md", "**/old") is a gitignore pattern, from the root too.
What Obsidian excludes is the beginning of a path ("Archive/"), or an expression between slashes.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from hindbrain.vault.scan_result import Rule

IGNORE_FILES = (".gitignore", ".obsidianignore")  # the later one wins where they disagree
TEMPLATE_FOLDERS = frozenset({"templates", "_templates"})

_ALWAYS = frozenset({"node_modules"})  # every folder that begins with a dot is left out as well
_WILDCARDS = frozenset("*?[")
_MAX_FILE_BYTES = 256 * 1024
# pathspec turns each star into a backtracking regular expression: with more of them a single hostile
# name of 255 letters could keep us busy for minutes.
_MAX_STARS = 3
_LONGEST_EXPRESSION = 200
_COSTLY = re.compile(r"[({]|\\[1-9]")  # groups, counts and references: what makes an expression slow


class IgnoreScope(NamedTuple):
    """The ignore files that hold in one folder: its own, then those of the folders above."""

    base: str  # the folder of these patterns, vault-relative with a final "/"; "" for the root
    spec: "GitIgnoreSpec"
    above: "IgnoreScope | None" = None

    def excludes(self, path: str, *, is_folder: bool) -> bool:
        """`path` is vault-relative and beneath `base`. The nearest file that says anything decides."""
        scope: IgnoreScope | None = self
        while scope is not None:
            local = path[len(scope.base) :]
            verdict = scope.spec.check_file(local + "/" if is_folder else local).include
            if verdict is not None:
                return bool(verdict)
            scope = scope.above
        return False


class IgnoreRules(NamedTuple):
    """What is excluded everywhere in a vault. Built by `make_rules`."""

    folder_names: frozenset[str]  # lower case, at any level
    is_kept: Callable[[str], bool]  # asked for the path of a folder that its name would leave out
    paths: frozenset[str]  # case-folded, from the root, without a final "/"
    patterns: IgnoreScope | None = None
    beginnings: tuple[str, ...] = ()  # of paths, case-folded
    expressions: tuple[re.Pattern[str], ...] = ()
    has_settings: bool = False  # whether any of the four above holds anything
    refused: tuple[str, ...] = ()  # settings that were not taken, for the report
    key: str = ""  # equal rules have equal keys

    def excludes_folder(self, path: str, name: str) -> bool:
        if name[0] == "." or (name.lower() in self.folder_names and not self.is_kept(path)):
            return True
        return self.has_settings and self._by_setting(path, is_folder=True)

    def rule_for(self, path: str, name: str, *, is_folder: bool) -> "Rule | None":
        """Which rule of the vault leaves this out; None for what is no matter of notes (hidden folders)."""
        if name[0] == "." or (is_folder and name.lower() in _ALWAYS):
            return None
        if is_folder and name.lower() in self.folder_names:
            return "templates_folder"
        by_setting = self.has_settings and self._by_setting(path, is_folder=is_folder)
        return "excluded" if by_setting else "ignore_rule"

    def excludes_file(self, path: str, name: str) -> bool:
        return name[0] == "." or (self.has_settings and self._by_setting(path, is_folder=False))

    def _by_setting(self, path: str, *, is_folder: bool) -> bool:
        if path.casefold() in self.paths:
            return True
        if self.beginnings or self.expressions:
            whole = f"{path}/" if is_folder else path
            if whole.casefold().startswith(self.beginnings) or any(
                one.search(whole) for one in self.expressions
            ):
                return True
        return self.patterns is not None and self.patterns.excludes(path, is_folder=is_folder)


class ReadScope(NamedTuple):
    """What came of reading a folder's ignore files."""

    scope: IgnoreScope | None
    problems: tuple[tuple[str, str], ...] = ()  # (file name, what is wrong with it)


def make_rules(
    exclude: Sequence[str] = (),
    *,
    templates: bool = False,
    is_kept: Callable[[str], bool] = lambda _: False,
    obsidian: Sequence[str] = (),
    own_folder: str = "",
) -> IgnoreRules:
    """Compile the owner's exclusions.

    `templates=True` lets template folders be indexed; `is_kept` says of one that it is indexed in any case.
    `obsidian`: what Obsidian excludes. One that covers `own_folder`, the agent's notes, is not taken: it
    hides them from their owner's view, and an agent without its notes has no memory.
    """
    plain, globs = set(), []
    for entry in exclude:
        cleaned = unicodedata.normalize("NFC", entry.strip().replace("\\", "/"))
        if _WILDCARDS.isdisjoint(cleaned):
            plain.add(cleaned.removeprefix("./").strip("/").casefold())
        else:
            globs.append(cleaned)
    taken, refused = _bounded(globs)
    beginnings, expressions, unread = _obsidian_filters(obsidian, f"{own_folder}/" if own_folder else "")
    return IgnoreRules(
        folder_names=_ALWAYS if templates else _ALWAYS | TEMPLATE_FOLDERS,
        is_kept=is_kept,
        paths=frozenset(plain - {""}),
        patterns=IgnoreScope("", _compile(taken)) if taken else None,
        beginnings=beginnings,
        expressions=expressions,
        has_settings=bool(plain - {""} or taken or beginnings or expressions),
        refused=(*refused, *unread),
        key="\n".join(("templates" if templates else "", *sorted(plain), *globs, *obsidian)),
    )


def _obsidian_filters(
    filters: Sequence[str], own: str
) -> tuple[tuple[str, ...], tuple[re.Pattern[str], ...], list[str]]:
    """Beginnings of paths, expressions, and those that can't be taken."""
    beginnings: list[str] = []
    expressions: list[re.Pattern[str]] = []
    refused: list[str] = []
    for given in filters:
        text = unicodedata.normalize("NFC", given)
        if len(text) < 2 or not (text[0] == text[-1] == "/"):
            beginning = text.lstrip("/").casefold()
            if beginning and not (own and own.casefold().startswith(beginning)):
                beginnings.append(beginning)
        elif (
            _COSTLY.search(text)
            or len(text) > _LONGEST_EXPRESSION
            or text.count("*") + text.count("+") > _MAX_STARS
        ):
            refused.append(given)
        else:
            try:
                expression = re.compile(text[1:-1])
            except (re.error, OverflowError, RecursionError):
                refused.append(given)
                continue
            if not (own and expression.search(own)):
                expressions.append(expression)
    return tuple(beginnings), tuple(expressions), refused


def read_scope(base: str, entries: Mapping[str, "os.DirEntry[str]"], above: IgnoreScope | None) -> ReadScope:
    """Read the ignore files among a folder's `entries`. `above` is what holds in the folder above."""
    lines: list[str] = []
    problems: list[tuple[str, str]] = []
    for name in IGNORE_FILES:
        entry = entries.get(name)
        # Git does not follow a symlinked ignore file either: it could be anybody's file.
        if entry is None or not entry.is_file(follow_symlinks=False):
            continue
        try:
            with open(entry.path, "rb") as file:
                data = file.read(_MAX_FILE_BYTES + 1)
        except OSError as error:
            problems.append((name, f"can't be read: {error.strerror}"))
            continue
        if len(data) > _MAX_FILE_BYTES:
            problems.append((name, f"is larger than {_MAX_FILE_BYTES} bytes and was left out"))
            continue
        taken, refused = _bounded(data.decode("utf-8-sig", errors="replace").splitlines())
        lines += taken
        problems += [(name, f"has too many wildcards in {line!r}; the line was left out") for line in refused]
    if not lines:
        return ReadScope(above, tuple(problems))
    return ReadScope(IgnoreScope(base, _compile(lines), above), tuple(problems))


def _bounded(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split gitignore lines into those that are cheap to match and those that are not."""
    taken: list[str] = []
    refused: list[str] = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        (taken if _is_bounded(line) else refused).append(line)
    return taken, refused


def _is_bounded(line: str) -> bool:
    segments = line.split("/")
    stars = [segment.count("*") for segment in segments if segment != "**"]
    return max(stars, default=0) <= _MAX_STARS and len(segments) - len(stars) <= _MAX_STARS


def _compile(lines: Sequence[str]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # 60 ms to import, and most vaults have no patterns

    compiled = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue  # git passes over a pattern that is none, such as a lone "!"
        compiled.append(line)
    return GitIgnoreSpec.from_lines(compiled)
