"""`hindbrain runs`: what agents did, one run after the other; one that stopped, taken up again; and runs of
others, brought in."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.learn.importing.importing import Imported
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.learn.runs.events import Event
    from hindbrain.learn.runs.store import RunStore

_ACTIONS = ("list", "show", "resume", "import")
_OPTIONS_OF = {
    "list": ("failed", "limit"),
    "resume": ("unattended",),
    "import": ("format", "mapping", "dry_run"),
}
_LIMIT = 20


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default="list", choices=_ACTIONS, help="what to do; else list")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="ID|PATH",
        help="show, resume: a run's id, or the beginning of it; import: log files or folders",
    )
    parser.add_argument("--failed", action="store_true", default=None, help="list: those that failed")
    parser.add_argument("--limit", type=int, metavar="N", help=f"list: how many, newest first ({_LIMIT})")
    parser.add_argument(
        "--format", metavar="NAME", help="import: the format of the files; recognised without it"
    )
    parser.add_argument(
        "--mapping",
        metavar="FILE",
        help="import: a TOML file that says where a JSON log of any other form has its fields",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        default=None,
        help="import: say what would be added, and add nothing",
    )
    parser.add_argument(
        "--unattended",
        action="store_true",
        default=None,
        help="resume: ask nobody; what needs your word waits (hindbrain approve)",
    )


def run(args: Namespace, out: Output) -> int:
    _check(args)
    from hindbrain.learn.runs.store import RunStore

    if args.action == "resume":
        return _resume(args, out)
    with closing(open_app(args)) as app:
        store = RunStore(app.root, app.state, lambda: app.writer, dry_run=bool(args.dry_run))
        if args.action == "import":
            return _import(store, args, out)
        if args.action == "show":
            return _show(store, args.words[0], out)
        return _list(store, app.state, args, out)


def _check(args: Namespace) -> None:
    """argparse can't say that an option goes with one action only."""
    allowed = _OPTIONS_OF.get(args.action, ())
    for name in ("failed", "limit", "format", "mapping", "dry_run", "unattended"):
        if getattr(args, name) is not None and name not in allowed:
            option = name.replace("_", "-")
            raise UsageError(f"hindbrain runs {args.action} takes no --{option}; see hindbrain runs --help")
    if args.action == "list" and args.words:
        raise UsageError(f"hindbrain runs list takes no {args.words[0]!r}; show {args.words[0]} shows a run")
    if args.action in ("show", "resume") and len(args.words) != 1:
        raise UsageError(f"name one run: hindbrain runs {args.action} ID")
    if args.action == "import" and not args.words:
        raise UsageError("name the files or folders: hindbrain runs import PATH...")
    if args.limit is not None and args.limit < 1:
        raise UsageError(f"--limit is {args.limit}; ask for at least 1")


def _list(store: RunStore, state: Path, args: Namespace, out: Output) -> int:
    from hindbrain.edge.run_text import row_data, table_lines

    limit = args.limit or _LIMIT
    found = store.episodes(last=0 if args.failed else limit)
    if args.failed:
        found = [episode for episode in found if episode.failed][-limit:]
    found.reverse()
    going, problems, passed_over = store.unfinished(), store.problems(), store.passed_over()
    if out.json:
        out.data(
            {
                "runs": [row_data(episode) for episode in found],
                "unfinished": going,
                "passed_over": passed_over,
                "problems": problems,
            }
        )
        return 1 if problems else 0
    if found:
        for line in table_lines(found, out):
            out.line(line)
    else:
        out.say("no run failed" if args.failed else "no run is recorded in this vault")
    if going:
        shown = ", ".join(going[:3]) + (", ..." if len(going) > 3 else "")
        out.say(f"{len(going)} begun and not ended: {safe(shown)}")
        if run := _resumable(state, going):
            out.say(f"hindbrain runs resume {run} goes on with it")
    if passed_over:
        out.say(f"{plural(passed_over, 'line')} of journals passed over: damaged, or of a newer Hindbrain")
    for problem in problems:
        out.warn(safe(problem))
    return 1 if problems else 0


def _resumable(state: Path, going: Sequence[str]) -> str:
    """The newest run of which enough is left to go on; "" when there is none."""
    from hindbrain.agent.transcript import transcripts

    left = {transcript.run for transcript in transcripts(state)}
    return next((run for run in reversed(going) if run in left), "")


def _show(store: RunStore, name: str, out: Output) -> int:
    from hindbrain.edge.run_text import story_data, story_lines

    episode, finished = _story(name, store.events(name))
    if out.json:
        out.data({"run": story_data(episode, finished=finished)})
        return 0
    for line in story_lines(episode, out, finished=finished):
        out.line(line)
    return 0


def _resume(args: Namespace, out: Output) -> int:
    """Go on with a run that was cut off, or that waited for its owner's word."""
    from functools import partial

    from hindbrain.edge.agent_runs.carrying_out import carry_out

    with closing(open_app(args, warm=True)) as app:
        run = app.learning.runs.find(args.words[0])
        work = partial(app.agent.resume, run)
        return carry_out(app, work, out, unattended=bool(args.unattended))


def _story(name: str, events: Iterable[Event]) -> tuple[Episode, bool]:
    """A run as far as it came, and whether that was its end."""
    from hindbrain.learn.runs.events import RunEnded
    from hindbrain.learn.runs.folding import fold

    ended = False

    def closed() -> Iterator[Event]:
        nonlocal ended
        last: Event | None = None
        for last in events:
            ended = ended or isinstance(last, RunEnded)
            yield last
        if last is not None and not ended:
            yield RunEnded(last.run, last.at, "unknown")

    episode = fold(closed())
    if episode is None:
        raise NotFound(f"the journal of {name!r} does not tell how it began")
    return episode, ended


def _import(store: RunStore, args: Namespace, out: Output) -> int:
    from hindbrain.learn.importing.importing import import_runs

    paths = [Path(word).expanduser() for word in args.words]
    for path in paths:
        if not path.exists():
            raise NotFound(f"there is no {str(path)!r} to import; check the path")
    mapping = _mapping(Path(args.mapping).expanduser()) if args.mapping else None
    imported = import_runs(store, paths, format=args.format or "", mapping=mapping)
    _tell(imported, out, dry_run=bool(args.dry_run))
    return 1 if imported.problems else 0


def _mapping(path: Path) -> Mapping[str, object]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound(f"there is no mapping at {str(path)!r}; check the path") from None
    except OSError as error:
        raise UsageError(f"the mapping {str(path)!r} can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the mapping {str(path)!r} is no TOML: {error}") from error


def _tell(imported: Imported, out: Output, *, dry_run: bool) -> None:
    if out.json:
        data = imported._asdict() | {
            "problems": list(imported.problems),
            "by_outcome": dict(imported.by_outcome),
            "dry_run": dry_run,
        }
        out.data(data)
        return
    outcomes = ", ".join(f"{count} {name}" for name, count in imported.by_outcome.items())
    runs = plural(imported.runs, "run")
    would = "would be added" if dry_run else "added"
    out.line(
        f"{runs} {would}" + (f" ({outcomes})" if outcomes else "") + f", {plural(imported.events, 'event')}"
    )
    if imported.known:
        out.say(f"{imported.known} known before and left as they are")
    for problem in imported.problems:
        out.warn(safe(problem))
    if imported.runs and not dry_run:
        out.say("hindbrain runs list shows them; hindbrain learn learns from them")
