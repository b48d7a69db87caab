"""Look a vault through, and mend what needs no decision of its owner's.

The checks themselves are in `vault.lint` and `lint_lines`; here is what they are run on: the whole vault for
looking, the agent's notes for mending, any note that is named for both. Mends through the notebook, so that
every change can be undone. Knows nothing of the index; whoever has one says where links lead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.base.errors import HindbrainError, NotFound, VaultError
from hindbrain.index.parallel import on_all_cores
from hindbrain.memory.notes.lint_lines import (
    MemoryPlace,
    by_id,
    check_agent_note,
    is_agents,
    memory_places,
    mend,
)
from hindbrain.memory.notes.notebook import Notebook, Page
from hindbrain.vault.canvas import is_canvas
from hindbrain.vault.dates import find_date
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.items.item import new_id
from hindbrain.vault.layout import Layout
from hindbrain.vault.lint import Checked, LintProblem, Resolve, check_files, check_links
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import stamp_of
from hindbrain.vault.scan import scan

_BATCH = 200
_DATED = frozenset({"date", "updated", "modified", "last_updated", "last_modified", "last updated"})
_WORTH_CHILDREN = 2_000  # files; for fewer, starting other processes takes longer than they save
# What a scan leaves out on purpose is no news; all else means that a note could not be looked at.
_EXPECTED = frozenset({"conflict_copy", "temporary", "duplicate_link", "symlink_outside", "symlink_private"})


class Mended(NamedTuple):
    """A note that was changed."""

    path: str
    revision_id: str  # for `undo`
    problems: tuple[LintProblem, ...]  # what is no longer there


class LintReport(NamedTuple):
    """What was found. `problems` is what is left, in the order of path and line."""

    notes: int  # looked at
    problems: tuple[LintProblem, ...]
    mended: tuple[Mended, ...] = ()
    links_checked: bool = True  # False: nobody could say where links lead


class Linter:
    def __init__(
        self,
        root: Path,
        rules: IgnoreRules,
        layout: Layout,
        notebook: Notebook,
        *,
        resolve: Resolve | None = None,
        once_known: Callable[[], Collection[str]] = frozenset,
        max_bytes: int = 20_000_000,
    ) -> None:
        """`once_known`: ids of memories that there were; a line may name one that its owner deleted."""
        self._root = root
        self._rules = rules
        self._layout = layout
        self._notebook = notebook
        self._resolve = resolve
        self._once_known = once_known
        self._max_bytes = max_bytes

    def check(self, paths: Sequence[NotePath] = ()) -> LintReport:
        """Look at the notes that are named, else at all. Writes nothing."""
        chosen, unseen = (list(paths), []) if paths else self._all_notes()
        problems = [*unseen, *self._problems_of(chosen)]
        return LintReport(len(chosen), _sorted(problems), links_checked=self._resolve is not None)

    def mend(self, paths: Sequence[NotePath] = ()) -> LintReport:
        """As `check`, and mend what can be: in the notes that are named, else in the agent's."""
        found = self.check(paths)
        named = frozenset(paths)
        todo: dict[NotePath, list[LintProblem]] = {}
        for problem in found.problems:
            if problem.fixable and (problem.path in named or is_agents(self._layout, problem.path)):
                todo.setdefault(NotePath(problem.path), []).append(problem)
        revisions: dict[NotePath, str] = {}
        left = [problem for problem in found.problems if problem.path not in todo]
        for path in todo:
            try:
                written = self._notebook.edit(path, lambda page: self._mended(page))
            except HindbrainError as error:  # one that can't be written affects only itself
                left.append(LintProblem(path, 0, error.code, f"not mended: {error}"))
            else:
                revisions[path] = written.revision_id if written is not None else ""
        again = list(self._problems_of(list(todo)))
        mended = [
            Mended(path, revision, _without(todo[path], again))
            for path, revision in revisions.items()
            if revision
        ]
        return found._replace(problems=_sorted([*left, *again]), mended=tuple(mended))

    def _problems_of(self, paths: Sequence[NotePath]) -> Iterator[LintProblem]:
        places, complete = self._memory_places()
        for checked in self._check_files(paths):
            yield from checked.problems
            if self._resolve is not None:
                yield from check_links(checked.path, checked.links, self._resolve)
            if is_agents(self._layout, checked.path):
                for problem in self._agent_problems(checked.path, places):
                    # An id that stands in a note that could not be read is not therefore unknown.
                    if complete or not problem.code.startswith("unknown_"):
                        yield problem

    def _mended(self, page: Page | None) -> bytes | None:
        if page is None:
            return None
        data = mend(
            page.data,
            path=page.path,
            layout=self._layout,
            created=self._created(page),
            new_id=new_id,
            agents=is_agents(self._layout, page.path),
        )
        return None if data == page.data else data

    def _created(self, page: Page) -> str:
        """The earliest day on which the note is known to exist: by its name, properties or file time."""
        seconds = stamp_of(self._root, page.path).mtime_ns / 1e9
        properties = read_frontmatter(page.text.split("\n")).properties
        said = [
            value for key, value in properties.items() if key.lower() in _DATED and isinstance(value, str)
        ]
        days = map(find_date, (page.path.rpartition("/")[2], *said))
        return min(filter(None, (local_time(seconds).date().isoformat(), *days)))

    def _all_notes(self) -> tuple[list[NotePath], list[LintProblem]]:
        found = scan(self._root, self._rules, max_bytes=self._max_bytes)
        if not found.root_ok:
            raise VaultError(f"the vault at {str(self._root)!r} can't be read; nothing was looked at")
        unseen = [
            LintProblem(item.path, 0, item.reason, f"not looked at: {item.detail or item.reason}")
            for item in found.skipped
            if item.reason not in _EXPECTED
        ]
        return [file.path for file in found.files if not is_canvas(file.path)], unseen

    def _check_files(self, paths: Sequence[NotePath]) -> Iterable[Checked]:
        batches = [paths[i : i + _BATCH] for i in range(0, len(paths), _BATCH)]
        jobs = ((self._root, batch, self._max_bytes) for batch in batches)
        if len(paths) < _WORTH_CHILDREN:
            results: Iterable[list[Checked]] = (check_files(*job) for job in jobs)
        else:
            results = on_all_cores(check_files, jobs)
        return (checked for batch in results for checked in batch)

    def _agent_problems(self, path: str, places: Mapping[str, Sequence[MemoryPlace]]) -> list[LintProblem]:
        try:
            page = self._notebook.read(path)
        except HindbrainError:
            return []  # told already
        return check_agent_note(self._layout, path, page.data, places)

    def _memory_places(self) -> tuple[dict[str, list[MemoryPlace]], bool]:
        """Every memory id with its lines, none for one that is gone; False when not all could be read."""
        found: list[MemoryPlace] = []
        complete = True
        for path in self._layout.notes_of("memory", self._root):
            try:
                found += memory_places(self._layout, path, self._notebook.read(path).data)
            except NotFound:
                continue  # deleted this instant
            except HindbrainError:
                complete = False
        places = by_id(found)
        try:
            gone = self._once_known()
        except HindbrainError:
            return places, False
        return {**{id_: [] for id_ in gone}, **places}, complete


def _without(before: Sequence[LintProblem], after: Sequence[LintProblem]) -> tuple[LintProblem, ...]:
    left = {(problem.path, problem.code) for problem in after}
    return tuple(problem for problem in before if (problem.path, problem.code) not in left)


def _sorted(problems: Iterable[LintProblem]) -> tuple[LintProblem, ...]:
    return tuple(sorted(set(problems), key=lambda problem: (problem.path, problem.line, problem.code)))
