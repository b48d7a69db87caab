"""docs/cli.md, made from the commands themselves: `python -m hindbrain.edge.reference > docs/cli.md`.

Rendered here and not by argparse, whose layout differs between versions of Python.
"""

from __future__ import annotations

from argparse import Action, ArgumentParser

from hindbrain.base.config import SETTINGS, variable_of
from hindbrain.edge.commands import COMMANDS
from hindbrain.edge.parser import command_module, make_parser

_INTRO = """\
# The command line

Made by `python -m hindbrain.edge.reference`; do not edit by hand.

The result goes to stdout, everything else to stderr. `--json` prints one JSON value, in the shapes of
[json.md](json.md). Exit codes: 0 done (also when nothing was found), 1 it could not be done, or not wholly,
2 the arguments are wrong, 3 a run waits for your approval, 4 the result could not be written,
130 interrupted. A reader that leaves early (`| head`) is no error. Output to a file or a pipe is UTF-8 on
every system.

Every command takes `--vault PATH` (else the nearest vault from the current folder upwards, else the setting
`vault.path`), `--json`, `--debug` and `--help`.
"""
_EVERYWHERE = frozenset(("--vault", "--json", "--debug", "--help"))


def reference() -> str:
    parts = [_INTRO]
    for name, text in COMMANDS:
        parser = make_parser(name, command_module(name))
        parts.append(f"## hindbrain {name}\n\n{text[0].upper()}{text[1:]}.\n\n    {_usage(name, parser)}\n")
        rows = [f"- `{_label(action)}` {action.help}" for action in _own(parser)]
        if rows:
            parts.append("\n".join(rows) + "\n")
    return "\n".join([*parts, _settings()])


def _own(parser: ArgumentParser) -> list[Action]:
    return [action for action in parser._actions if not _EVERYWHERE.intersection(action.option_strings)]


def _usage(name: str, parser: ArgumentParser) -> str:
    words = [f"hindbrain {name}"]
    for action in sorted(_own(parser), key=lambda action: bool(action.option_strings)):
        label = _label(action)
        optional = action.option_strings or action.nargs in ("?", "*")
        words.append(f"[{label}]" if optional else label)
    return " ".join(words)


def _label(action: Action) -> str:
    value = str(action.metavar) if action.metavar else ""
    if not action.option_strings:
        return f"{value}..." if action.nargs in ("+", "*") else value
    return f"{action.option_strings[-1]} {value}".strip()


def _settings() -> str:
    rows = [f"| `{s.name}` | `{_default(s.default)}` | `{variable_of(s.name)}` | {s.doc} |" for s in SETTINGS]
    table = "\n".join(["| setting | default | variable | what it is |", "|---|---|---|---|", *rows])
    order = (
        "A variable goes before the file, the file before the default. `HINDBRAIN_CONFIG` names another file."
    )
    return f"## Settings\n\n{order}\n\n{table}\n"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "empty" if value in ("", ()) else str(value)


if __name__ == "__main__":
    print(reference(), end="")
