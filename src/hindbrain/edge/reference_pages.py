"""docs/settings.md, errors.md and tools.md, made from the settings, the errors and the tools themselves.

`python -m hindbrain.edge.reference_pages settings > docs/settings.md`, and the same with `errors` and
`tools`. Knows nothing of commands: those are in `reference`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from itertools import groupby

from hindbrain.base import errors
from hindbrain.base.config import KEY_NAMES, SETTINGS, Setting, Value, variable_of
from hindbrain.base.errors import HindbrainError, OutputFailed, UsageError
from hindbrain.edge.main import EXIT_OUTPUT_FAILED
from hindbrain.memory.tools import DEFAULT_SET, TOOL_SETS, TOOLS, tools_of
from hindbrain.memory.tools.tool import Param, Tool, listed_tool

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

A list is written `["a", "b"]` in the file and `a,b` in a variable or on the command line. A name that
does not exist and a value that a setting may not have are errors (`config`), when it is set and whenever it
is loaded; `hindbrain config` names what is wrong and repairs it. A path may begin with `~`. A relative one is
made absolute: from the current folder on the command line and in a variable, from the folder of the settings
file in the file. A setting holds at every door: command line,
MCP, hooks, service and context packs. A vault holds no settings: what a sync tool or an agent can write must
not decide where notes are sent.
"""
_ERRORS_INTRO = """\
# Errors

Made by `python -m hindbrain.edge.reference_pages errors`; do not edit by hand.

The code is stable: programs map it and never read the message, which says what happened, to which thing, and
what to do next. The command line prints `error: message  (code)` to stderr; with `--json` the error goes to
stdout, in the shape of [json.md](json.md). Indented errors are kinds of the one above them.
"""
_ERRORS_END = """\
Exit codes: 2 where the arguments are wrong, 4 where the result could not be written, 1 for every other error.
1 is also the end of a command that did its work, but not wholly (`sync` with notes that could not be read);
its result names what is missing. Nothing found is no error: exit 0. A reader of the output that leaves early,
as `head` does, is no error either.

`internal` means a bug: run the command again with `--debug` and report what it shows.
"""
_TOOLS_INTRO = """\
# Tools

Made by `python -m hindbrain.edge.reference_pages tools`; do not edit by hand.

What a model can do with a vault. A host chooses one set (`hindbrain mcp --tools SET`), since every session
pays for every schema it is shown.
"""
_TOOLS_COST = """\
Tokens are what the list of tools costs as JSON (names, descriptions, schemas), at 4.5 characters a token;
`python -m benchmarks.tool_tokens` compares that with a tokenizer.

An answer is text, at most about 8,000 characters, with citations that open in Obsidian (`[[Note#Heading]]`,
`[[Memory/fact#^m-7f3k2a]]`) and that `vault_read` takes as a path. Nothing found is an answer; not being able
to look is an error. Unknown arguments are refused by name, texts above 1,000,000 bytes are refused. A failure
reads `error (code): what happened.` and ends with one of three sentences: `Fix the arguments and try again.`,
`Try again in a moment.`, `Stop and tell the user.` The codes are in [errors.md](errors.md).

Paths are relative to the vault; a note that is not there is looked for in the agent's folder. `vault_write`
replaces a note only for whoever sends the hash of what they read: edits that others made to other lines
meanwhile are kept, edits of the same lines are a `conflict`. Lines that were sent back unchanged keep every
byte (line ends, byte order mark, bytes that are not UTF-8).

No tool writes to instruction files (`AGENTS.md` and its like), skills, hidden files, or the inbox; none
accepts what waits there, and no search shows it. Notes of memories are changed by `remember`,
`memory_update` and `memory_forget` only. Secrets are taken out of what is stored, and the answer says so;
those that a note held before stay. A new note without frontmatter gets `created` and `source: agent`; no note
can be made to say `source: user`, or to say more trust than it said before.
"""
_CHARS_PER_TOKEN = 4.5  # of these texts, as cl100k_base counts them
_EFFECTS = {
    "read": "changes nothing",
    "add": "adds to notes",
    "change": "changes what is there; `hindbrain undo` takes it back",
    "remove": "removes; `hindbrain undo` takes it back",
}
_TREE_ROW = re.compile(r"^ {4}([│├└─ ]*)(\w+) +(\w+) +(\S.*)$", re.MULTILINE)


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
    head = ["| setting | default | may be | variable | what it is |", "|---|---|---|---|---|"]
    return "\n".join(head + [_setting_row(setting) for setting in settings])


def _setting_row(setting: Setting) -> str:
    cells = (
        f"`{setting.name}`",
        _default_text(setting.default),
        setting.allowed,
        f"`{variable_of(setting.name)}`",
        setting.doc,
    )
    return f"| {' | '.join(cells)} |"


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
    status = {UsageError: 2, OutputFailed: EXIT_OUTPUT_FAILED}.get(kind, 1)
    return f"| {'&emsp;' * depth}{kind.__name__} | `{kind.code}` | {status} | {meaning} |"


def tools_page() -> str:
    rows = ["| set | tools | tokens |", "|---|---|---|"]
    for name in TOOL_SETS:
        shown = f"`{name}` (the default)" if name == DEFAULT_SET else f"`{name}`"
        rows.append(f"| {shown} | {', '.join(TOOL_SETS[name])} | {_tokens(tools_of(name))} |")
    return "\n".join([_TOOLS_INTRO, *rows, "", _TOOLS_COST, *map(_tool_section, TOOLS)])


def _tokens(tools: Iterable[Tool]) -> int:
    text = json.dumps({"tools": [listed_tool(tool) for tool in tools]}, separators=(",", ":"))
    return 10 * round(len(text) / _CHARS_PER_TOKEN / 10)


def _tool_section(tool: Tool) -> str:
    sets = ", ".join(f"`{name}`" for name, names in TOOL_SETS.items() if tool.name in names)
    about = f"{tool.doc}\n\nIn {sets}; {_EFFECTS[tool.effect]}."
    if not tool.params:
        return f"## {tool.name}\n\n{about} Takes no arguments.\n"
    head = "| argument | kind | what it is |\n|---|---|---|"
    rows = "\n".join(map(_param_row, tool.params))
    return f"## {tool.name}\n\n{about}\n\n{head}\n{rows}\n"


def _param_row(param: Param) -> str:
    kind = {"string": "text", "integer": "whole number", "array": "list of texts"}.get(param.kind, param.kind)
    limits = [
        f"{param.minimum:g}" if param.minimum is not None else "",
        f"{param.maximum:g}" if param.maximum else "",
    ]
    if any(limits):
        kind += f", {limits[0]} to {limits[1]}" if all(limits) else f" from {limits[0]}"
    said = [param.doc] if param.doc else []
    if param.choices:
        said.append(
            f"one of {', '.join(param.choices)}" if param.kind == "string" else ", ".join(param.choices)
        )
    if param.also:
        said.append(f"also taken as {', '.join(f'`{name}`' for name in param.also)}")
    if not param.declared:
        said.append("taken, and not in the schema")
    needed = ", needed" if param.required else ""
    return f"| `{param.name}` | {kind}{needed} | {'; '.join(said)} |"


PAGES = {"settings": settings_page, "errors": errors_page, "tools": tools_page}

if __name__ == "__main__":
    print(PAGES[sys.argv[1]](), end="")
