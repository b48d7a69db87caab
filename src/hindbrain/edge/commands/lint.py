"""`hindbrain lint`: what is broken in the notes; mends what needs no decision, and lists the rest."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.base.plural import plural
from hindbrain.edge.note_names import find_note
from hindbrain.edge.opening import open_app, sync_with_progress
from hindbrain.edge.output import DIM, GREEN, YELLOW, Output, safe

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.index.links import LinkGraph
    from hindbrain.memory.notes.lint import LintReport
    from hindbrain.vault.lint import LinkEnd, LintProblem, Resolve
    from hindbrain.vault.path_rules import NotePath


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "notes",
        nargs="*",
        default=[],
        metavar="NOTE",
        help="notes or folders to look at and mend; else the whole vault is looked at, and the agent's own "
        "notes are mended",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="change no note. Exit codes, with it and without: 0 nothing is wrong (any more), 1 there are "
        "problems, 2 the arguments are wrong",
    )


def run(args: Namespace, out: Output) -> int:
    from hindbrain.memory.notes.lint import Linter
    from hindbrain.memory.notes.notebook import Notebook

    with closing(open_app(args)) as app:
        resolve = _resolver(app, out)
        chosen = [path for name in args.notes for path in _named(app, name)]
        notebook = Notebook(app.root, lambda: app.writer)
        linter = Linter(
            app.root,
            app.rules,
            app.layout,
            notebook,
            resolve=resolve,
            once_known=lambda: app.memory.ledger.ids(),
            max_bytes=app.config.number("vault.max_note_mb") * 1_000_000,
        )
        if args.notes and not chosen:
            raise NotFound(f"there are no notes in {args.notes[0]!r}")
        report = linter.check(chosen) if args.check else linter.mend(chosen)
        _take_in(app, sorted(notebook.touched), out)
    _show(report, out)
    return 1 if report.problems else 0


def _named(app: App, name: str) -> list[NotePath]:
    """A note by any of its names, or all notes below a folder."""
    from hindbrain.vault.canvas import is_canvas
    from hindbrain.vault.path_rules import check_existing_path
    from hindbrain.vault.paths import resolve_beneath
    from hindbrain.vault.scan import scan

    folder = name.removeprefix("./").rstrip("/")
    if folder and folder != "." and not folder.endswith(".md"):
        inside = check_existing_path(folder)
        if resolve_beneath(app.root, inside).is_dir():
            found = scan(app.root, app.rules)
            notes = (file.path for file in found.files if not is_canvas(file.path))
            return [path for path in notes if path.startswith(f"{inside}/")]
    return [find_note(app, name)]


def _resolver(app: App, out: Output) -> Resolve | None:
    """Where links lead, by an index that is brought up to date first; None when that can't be done."""
    from hindbrain.index.links import LinkGraph

    try:
        sync_with_progress(app, out, vectors=False)
        graph = LinkGraph(app.store)
        graph.resolve("x")  # reads the names now, so that a damaged index is met here
    except HindbrainError as error:
        out.warn(f"links are not looked at: {error}")
        return None

    return lambda target, path: _link_end(app, graph, target, path)


def _link_end(app: App, graph: LinkGraph, target: str, path: str) -> LinkEnd | None:
    from hindbrain.vault.lint import LinkEnd

    to = graph.resolve(target, path)
    if to.path:
        lacks = graph.lacks(to.path, target.partition("#")[2])
        return LinkEnd(to.candidates if to.is_ambiguous else (to.path,), lacks)
    bare = target.partition("#")[0]
    return None if to.how in ("attachment", "page") or _stands_there(app, bare, path) else LinkEnd(())


def _stands_there(app: App, target: str, path: str) -> bool:
    """Is there such a file, though the index leaves it out?"""
    import os
    import posixpath

    root = str(app.root)
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    inside = [place for place in (target.lstrip("/"), beside) if not place.startswith(("/", ".."))]
    # By plain strings: a vault imported from a web site has tens of thousands of links that lead nowhere.
    return any(os.path.lexists(f"{root}/{place}{end}") for place in inside for end in ("", ".md"))


def _take_in(app: App, paths: list[NotePath], out: Output) -> None:
    """Let the index know what was mended. The notes are changed whatever becomes of this."""
    if not paths or not app.index_path.exists():
        return
    try:
        app.sync_paths(paths)
    except HindbrainError as error:
        out.warn(f"the index does not know yet ({error}); run hindbrain sync")


def _show(report: LintReport, out: Output) -> None:
    if out.json:
        out.data(
            {
                "notes": report.notes,
                "links_checked": report.links_checked,
                "problems": [_problem_data(problem) for problem in report.problems],
                "mended": [
                    {
                        "path": mended.path,
                        "revision": mended.revision_id,
                        "problems": [_problem_data(problem) for problem in mended.problems],
                    }
                    for mended in report.mended
                ],
            }
        )
        return
    for problem in report.problems:
        place = f"{safe(problem.path)}:{problem.line}" if problem.line else safe(problem.path)
        code = out.paint(problem.code, YELLOW)
        hint = out.paint(" (can be mended)", DIM) if problem.fixable else ""
        out.line(f"{place}: {code}: {safe(problem.message)}{hint}")
    for mended in report.mended:
        what = ", ".join(sorted({problem.code for problem in mended.problems}))
        out.line(f"{safe(mended.path)}: {out.paint('mended', GREEN)}: {what}; undo {mended.revision_id}")
    out.say(_summary(report))


def _problem_data(problem: LintProblem) -> dict[str, object]:
    return problem._asdict()


def _summary(report: LintReport) -> str:
    notes = plural(report.notes, "note")
    left, mended = len(report.problems), len(report.mended)
    wrong = "nothing wrong" if not left else plural(left, "problem")
    changed = f", {plural(mended, 'note')} mended" if mended else ""
    fixable = sum(problem.fixable for problem in report.problems)
    hint = f"; {fixable} can be mended" if fixable else ""
    return f"{notes}: {wrong}{changed}{hint}"
