"""The command line: which command is meant, and what its end looks like from outside.

Exit codes: 0 done (also when nothing was found), 1 it could not be done, 2 the arguments are wrong, 3 a run
waits for its owner's approval, 4 the result could not be written, 130 interrupted. A reader that leaves early
(`| head`) is no error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hindbrain.base.errors import HindbrainError, NoteChanged, OutputFailed, UsageError
from hindbrain.edge.commands import COMMANDS, LASTING, NAMES
from hindbrain.edge.output import RED, Output
from hindbrain.edge.streams import ReaderLeft, discard, open_missing_streams

EXIT_OUTPUT_FAILED = 4
_EVERYWHERE = ("--json", "--debug")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; never raises but for a bug in here."""
    open_missing_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    options = words[: words.index("--")] if "--" in words else words
    out = Output(json="--json" in options)
    code = 0
    try:
        code = _status_of(words, out, debug="--debug" in options)
        out.stdout.flush()
    except ReaderLeft:
        discard(out.stdout)
    except OutputFailed as error:
        discard(out.stdout)
        code = EXIT_OUTPUT_FAILED
        _say_error(out, error.code, str(error))
    return code


def _status_of(words: list[str], out: Output, *, debug: bool) -> int:
    """Run the command and report its error. Raises only when the result can't be written."""
    try:
        return _run(words, out)
    except (ReaderLeft, OutputFailed):
        raise
    except KeyboardInterrupt:
        out.say("interrupted")
        return 130
    except SystemExit as end:  # argparse, after it has printed a command's help
        return end.code if isinstance(end.code, int) else 0
    except HindbrainError as error:
        return _failed(out, error.code, _told(error), 2 if isinstance(error, UsageError) else 1)
    except Exception as error:  # noqa: BLE001  the outermost handler
        if debug:
            import traceback

            traceback.print_exc(file=out.stderr)
        message = (
            f"internal: {type(error).__name__}: {error}; run it again with --debug and report what it shows"
        )
        return _failed(out, "internal", message, 1)


def _run(words: list[str], out: Output) -> int:
    before, name, after = _split(words)
    if name in ("help", "version"):
        before, name, after = _as_option(name, before, after)
    if not name:
        return _without_command(before, out)
    if name not in NAMES:
        from hindbrain.edge.parser import nearest

        hint = nearest(name, (*NAMES, "help", "version")) or "; see hindbrain --help"
        raise UsageError(f"there is no command {name!r}{hint}")
    if any(word in ("--help", "-h") for word in before):
        after = ["--help"]
    from hindbrain.edge.parser import command_module, parse

    module = command_module(name)
    args = parse(name, module, [*before, *after])
    if name in LASTING:
        return module.run(args, out)
    from hindbrain.vault.actions import action

    # What hooks keep is named by the work itself, the same with and without the daemon.
    with action("") if name == "hook" else action(name, via="command"):
        return module.run(args, out)


def _split(words: list[str]) -> tuple[list[str], str, list[str]]:
    """Options before the command, the command, the rest."""
    i = 0
    while i < len(words) and words[i].startswith("-"):
        i += 2 if words[i] == "--vault" else 1
    return words[:i], words[i] if i < len(words) else "", words[i + 1 :]


def _as_option(word: str, before: list[str], after: list[str]) -> tuple[list[str], str, list[str]]:
    """Read `help COMMAND` as `COMMAND --help`, and `help` and `version` alone as their options."""
    more, name, rest = _split(after)
    if word == "version" and name:
        raise UsageError(f"hindbrain version takes no argument {name!r}")
    if rest and any(not option.startswith("-") for option in rest):
        raise UsageError(f"hindbrain help takes one command, not {' '.join([name, *rest])!r}")
    return [*before, *more, *rest, f"--{word}"], name, []


def _without_command(options: list[str], out: Output) -> int:
    if "--version" in options or "-V" in options:
        return _show_version(out)
    wrong = next((word for word in options if word not in ("--help", "-h", *_EVERYWHERE)), "")
    if wrong:
        raise UsageError(f"no command was given, and hindbrain has no option {wrong!r}; see hindbrain --help")
    if options and "--help" not in options and "-h" not in options:
        raise UsageError("no command was given; see hindbrain --help")
    out.line(overview())
    return 0


def _show_version(out: Output) -> int:
    from hindbrain import __version__

    if out.json:
        out.data({"version": __version__})
    else:
        out.line(f"hindbrain {__version__}")
    return 0


def overview() -> str:
    """The text of `hindbrain --help`."""
    width = max(map(len, NAMES))
    commands = "\n".join(f"  {name:{width}}  {text}" for name, text in COMMANDS)
    return f"""\
Search and memory over a vault of Markdown notes.

usage: hindbrain COMMAND [options]

{commands}

  --vault PATH  the vault; else the nearest one upwards, else the setting vault.path
  --json        print one JSON value
  --version     print the version
  --debug       show where an internal error happened

hindbrain help COMMAND tells more. New here? hindbrain demo"""


def _told(error: HindbrainError) -> str:
    """The message; of a note that was changed meanwhile, with the hash to go on with."""
    current = error.current_hash if isinstance(error, NoteChanged) else ""
    return f"{error}; its hash is {current[:16]} now" if current else str(error)


def _failed(out: Output, code: str, message: str, status: int) -> int:
    if out.json:
        out.data({"error": {"code": code, "message": message}})
    else:
        _say_error(out, code, message)
    return status


def _say_error(out: Output, code: str, message: str) -> None:
    out.say(f"{out.paint_err('error:', RED)} {message}  ({code})")
