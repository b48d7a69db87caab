"""`hindbrain demo`: a sample vault in a temp folder, three questions, an agent that learns, what is next."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.base.plural import plural
from hindbrain.edge.opening import sync_with_progress
from hindbrain.edge.output import BOLD, DIM, Output
from hindbrain.edge.when import span_text

QUESTIONS = (
    ("noisy neighbours", "by meaning: the note has neither word", "Areas/Home/Flat upkeep.md"),
    ("who is the Compost King?", "by a name that stands only in a note's aliases", "People/Tomás Vidal.md"),
    ("what did I do on 2 March 2026?", "by date", "Daily/2026-03-02.md"),
)
_SAMPLE = Path(__file__).parent.parent / "demo_vault"


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--keep", metavar="PATH", default="", help="also copy the sample vault here, to play with it"
    )


def run(args: Namespace, out: Output) -> int:
    import os
    import shutil
    import tempfile

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if args.keep:
        from hindbrain.base.errors import UsageError

        if Path(args.keep).exists():
            raise UsageError(f"{args.keep!r} is already there; name a folder that is not")
        shutil.copytree(_SAMPLE, args.keep)
    with tempfile.TemporaryDirectory(prefix="hindbrain-demo-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "vault"
        shutil.copytree(_SAMPLE, root)
        app = _open(root, Path(folder) / "state")
        try:
            return _show(app, out, args.keep, Path(folder) / "work")
        finally:
            app.close()


def _open(root: Path, state: Path) -> App:
    """With the built-in embedder whatever the settings are: a demo sends nothing anywhere."""
    config = load_config({"HINDBRAIN_CONFIG": str(state / "none.toml")})
    return build_app(config._replace(values={**config.values, "state.folder": str(state)}), root, warm=False)


def _show(app: App, out: Output, kept: str, workspace: Path) -> int:
    from hindbrain.edge.demo_story import story_data, story_lines, tell_story

    notes, answers, right = _ask(app, out)
    story = tell_story(app, workspace)
    if out.json:
        told = {"notes": notes, "answers": answers, "as_expected": right, "story": story_data(story)}
        out.data(told)
    else:
        out.line()
        for line in story_lines(story, out):
            out.line(line)
        out.line()
        out.line(_next_steps(kept))
    return 0 if right == len(QUESTIONS) and story.turned_out_well else 1


def _ask(app: App, out: Output) -> tuple[int, list[dict[str, Any]], int]:
    """The questions: how many notes there are, the answers as data, and how many are as expected."""
    from hindbrain.edge.hit_data import result_data
    from hindbrain.edge.hit_text import hit_lines
    from hindbrain.search.query import SearchQuery

    begun = time.perf_counter()
    report = sync_with_progress(app, out)
    answers: list[dict[str, Any]] = []
    right = 0
    if not out.json:
        notes = plural(report.files, "note")
        out.line(f"A sample vault of {notes}, indexed in {span_text(time.perf_counter() - begun)}.")
    for text, kind, expected in QUESTIONS:
        begun = time.perf_counter()
        query = SearchQuery(text, k=2, unit="note")
        result = app.search(query)
        took = time.perf_counter() - begun
        right += bool(result.hits) and result.hits[0].path == expected
        answers.append(result_data(query, result, now=app.clock.now(), took_ms=took * 1000))
        if not out.json:
            out.line()
            out.line(f"{out.paint(text, BOLD)}  {out.paint(f'({kind}; {span_text(took)})', DIM)}")
            for line in hit_lines(result.hits, out, explain=True):
                out.line(line)
    return report.files, answers, right


def _next_steps(kept: str) -> str:
    sample = f"  cd {kept} && hindbrain search bread\n" if kept else ""
    return f"""\
Now with your own notes:
{sample}  cd ~/my-vault
  hindbrain init            gives the vault an id; changes no note
  hindbrain search coffee   makes the index at the first search
  hindbrain watch           keeps it up to date while you write
  hindbrain context coffee  shows what an agent would be given, and why
  hindbrain chat            talks with an agent that has your notes (needs a chat model: docs/agent.md)
  hindbrain hook install claude-code   lets it ask at each prompt; also codex, gemini and others"""
