"""docs/settings.md and docs/errors.md, made from the table of settings and the tree of errors.

`python -m hindbrain.edge.reference_pages settings > docs/settings.md`, and the same with `errors`. Knows
nothing of commands: those are in `reference`.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby

from hindbrain.base import errors
from hindbrain.base.config import KEY_NAMES, SETTINGS, Setting, Value, variable_of
from hindbrain.base.errors import HindbrainError, UsageError

_SETTINGS_INTRO = """\
# Settings

Made by `python -m hindbrain.edge.reference_pages settings`; do not edit by hand.

A variable goes before the file, the file before the default. `hindbrain config` shows every value and where
it comes from, `hindbrain config KEY VALUE` writes one to the file, `hindbrain config --unset KEY` takes it
out again.

The file is `config.toml` where the system keeps settings of applications (`hindbrain config` prints the
place); `HINDBRAIN_CONFIG` names another one. A section of the file is the part before the dot:

```toml
[search]
k = 20
```

A list is written `["a", "b"]` in the file and `a,b` in a variable or on the command line. A name in the file
that does not exist and a value of the wrong kind are errors (`config`). A vault holds no settings: what a
sync tool or an agent can write must not decide where notes are sent.
"""
_ERRORS_INTRO = """\
# Errors

Made by `python -m hindbrain.edge.reference_pages errors`; do not edit by hand.

The code is stable: programs map it and never read the message, which says what happened, to which thing, and
what to do next. The command line prints `error: message  (code)` to stderr; with `--json` the error goes to
stdout, in the shape of [json.md](json.md). Indented errors are kinds of the one above them.
"""
_ERRORS_END = """\
Exit codes: 2 where the arguments are wrong, 1 for every other error. 1 is also the end of a command that did
its work, but not wholly (`sync` with notes that could not be read); its result names what is missing. Nothing
found is no error: exit 0.

`internal` means a bug: run the command again with `--debug` and report what it shows.
"""
_TREE_ROW = re.compile(r"^ {4}([│├└─ ]*)(\w+) +(\w+) +(\S.*)$", re.MULTILINE)
_KINDS = {bool: "true or false", int: "whole number", float: "number", str: "text", tuple: "list of texts"}


def settings_page() -> str:
    parts = [_SETTINGS_INTRO]
    for section, rows in groupby(SETTINGS, key=lambda setting: setting.name.partition(".")[0]):
        parts.append(f"## {section}\n\n{_table(list(rows))}\n")
    keys = ", ".join(f"`{name}`" for name in KEY_NAMES)
    parts.append(
        f"## Keys\n\nKeys of services are read from the environment only, never from the file: {keys}.\n"
    )
    return "\n".join(parts)


def _table(settings: list[Setting]) -> str:
    head = ["| setting | default | kind | variable | what it is |", "|---|---|---|---|---|"]
    return "\n".join(head + [_setting_row(setting) for setting in settings])


def _setting_row(setting: Setting) -> str:
    kind = _KINDS[type(setting.default)]
    default = _default_text(setting.default)
    return f"| `{setting.name}` | {default} | {kind} | `{variable_of(setting.name)}` | {setting.doc} |"


def _default_text(value: Value) -> str:
    if value in ("", ()):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def errors_page() -> str:
    """Raises LookupError when the tree in the docstring is not the tree of the classes."""
    rows = ["| error | code | exit | what it means |", "|---|---|---|---|"]
    rows += [_error_row(*row) for row in error_tree()]
    return "\n".join([_ERRORS_INTRO, *rows, "", _ERRORS_END])


def error_tree() -> list[tuple[int, type[HindbrainError], str]]:
    """(depth, class, meaning) of every error, in the order of the tree that `base.errors` draws."""
    rows = [(HindbrainError, "what is not expected to happen; the root of all others")]
    for _, name, code, meaning in _TREE_ROW.findall(errors.__doc__ or ""):
        kind = getattr(errors, name)
        if kind.code != code:
            raise LookupError(f"{name} has the code {kind.code!r}, and the tree says {code!r}")
        rows.append((kind, meaning))
    forgotten = _all_kinds(HindbrainError) - {kind for kind, _ in rows}
    if forgotten:
        raise LookupError(f"not in the tree: {sorted(kind.__name__ for kind in forgotten)}")
    return [(kind.__mro__.index(HindbrainError), kind, meaning) for kind, meaning in rows]


def _all_kinds(root: type[HindbrainError]) -> set[type[HindbrainError]]:
    return {root}.union(*(_all_kinds(kind) for kind in root.__subclasses__()))


def _error_row(depth: int, kind: type[HindbrainError], meaning: str) -> str:
    status = 2 if issubclass(kind, UsageError) else 1
    return f"| {'&emsp;' * depth}{kind.__name__} | `{kind.code}` | {status} | {meaning} |"


PAGES = {"settings": settings_page, "errors": errors_page}

if __name__ == "__main__":
    print(PAGES[sys.argv[1]](), end="")
