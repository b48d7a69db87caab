"""The command line: which command is meant, and what its end looks like from outside.

Exit codes: 0 done (also when nothing was found), 1 it could not be done, 2 the arguments are wrong, 3 a run
waits for its owner's approval, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from hindbrain.base.errors import HindbrainError, NoteChanged, UsageError
from hindbrain.edge.commands import COMMANDS, NAMES
from hindbrain.edge.output import RED, Output

_EVERYWHERE = ("--json", "--debug")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; never raises but for a bug in here."""
    words = list(sys.argv[1:] if argv is None else argv)
    options = words[: words.index("--")] if "--" in words else words
    out = Output(json="--json" in options)
    try:
        code = _run(words, out)
        out.stdout.flush()
        return code
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        out.say("interrupted")
        return 130
    except SystemExit as end:  # argparse, after it has printed a command's help
        return end.code if isinstance(end.code, int) else 0
    except HindbrainError as error:
        return _failed(out, error.code, _told(error), 2 if isinstance(error, UsageError) else 1)
    except Exception as error:  # noqa: BLE001  the outermost handler
        if "--debug" in options:
            import traceback

            traceback.print_exc(file=out.stderr)
        message = (
            f"internal: {type(error).__name__}: {error}; run it again with --debug and report what it shows"
        )
        return _failed(out, "internal", message, 1)


def _run(words: list[str], out: Output) -> int:
    before, name, after = _split(words)
    if not name:
        return _without_command(before, out)
    if name not in NAMES:
        from hindbrain.edge.parser import nearest

        raise UsageError(f"there is no command {name!r}{nearest(name, NAMES) or '; see hindbrain --help'}")
    if any(word in ("--help", "-h") for word in before):
        after = ["--help"]
    from hindbrain.edge.parser import command_module, parse

    module = command_module(name)
    return module.run(parse(name, module, [*before, *after]), out)


def _split(words: list[str]) -> tuple[list[str], str, list[str]]:
    """Options before the command, the command, the rest."""
    i = 0
    while i < len(words) and words[i].startswith("-"):
        i += 2 if words[i] == "--vault" else 1
    return words[:i], words[i] if i < len(words) else "", words[i + 1 :]


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

hindbrain COMMAND --help tells more. New here? hindbrain demo"""


def _told(error: HindbrainError) -> str:
    """The message; of a note that was changed meanwhile, with the hash to go on with."""
    current = error.current_hash if isinstance(error, NoteChanged) else ""
    return f"{error}; its hash is {current[:16]} now" if current else str(error)


def _failed(out: Output, code: str, message: str, status: int) -> int:
    if out.json:
        out.data({"error": {"code": code, "message": message}})
    else:
        out.say(f"{out.paint_err('error:', RED)} {message}  ({code})")
    return status


def _reader_left() -> int:
    """Whoever read our output has seen enough, as `head` does: not an error, and nothing to say."""
    # Python flushes stdout when it ends, and would complain then.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    return 0
