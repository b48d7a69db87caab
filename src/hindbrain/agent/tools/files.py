"""`read_file`, `write_file`, `list_files`: the files of the workspace, as tools.

Arguments in, an answer out; the workspace does the work. What a file says is a tool's word.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.agent.tools.workspace import Excerpt, Workspace
from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.memory.tools.tool import Arguments, Param

_HEAD = 150_000  # bytes that are shown of a long file's beginning
_TAIL = 50_000  # and of its end
_MOST_BYTES = 20_000_000  # of a file of which lines are wanted
_MOST_ENTRIES = 300
_ODD_SHARE = 0.1  # of a text's characters that no text has: it is none


def file_tools(workspace: Workspace) -> tuple[ActionTool, ...]:
    """The three; without write_file where all of the workspace lies in a vault."""
    reading = (_read_tool(workspace), _list_tool(workspace))
    return (*reading, _write_tool(workspace)) if workspace.writable else reading


def _read_tool(workspace: Workspace) -> ActionTool:
    def read(args: Arguments) -> Result:
        first, last = args.get("line_start", 0), args.get("line_end", 0)
        if first or last:
            return Result(_lines(workspace, args["path"], first or 1, last))
        return Result(_shown(args["path"], workspace.read(args["path"], head=_HEAD, tail=_TAIL)))

    return ActionTool(
        "read_file",
        "Read a text file of the workspace. Of a long one the beginning and the end; ask for lines.",
        (
            Param("path", "string", "In the workspace, e.g. src/main.py", required=True),
            Param("line_start", "integer", "First line", minimum=1),
            Param("line_end", "integer", "Last line", minimum=1),
        ),
        "read",
        read,
        side_by_side=True,
    )


def _list_tool(workspace: Workspace) -> ActionTool:
    def list_files(args: Arguments) -> Result:
        path = args.get("path", "")
        listed = workspace.list(path)
        rows = [f"{_plain(name)}/" for name in listed.folders]
        rows += [f"{_plain(name)}  {size:,}" for name, size in listed.files]
        return Result(_listing(path or str(workspace.root), rows))

    return ActionTool(
        "list_files",
        "List a folder of the workspace: folders, then files with their size in bytes.",
        (Param("path", "string", "Default: the workspace itself"),),
        "read",
        list_files,
        side_by_side=True,
    )


def _write_tool(workspace: Workspace) -> ActionTool:
    def write(args: Arguments) -> Result:
        put = workspace.write(args["path"], args["content"].encode("utf-8"))
        if put.created:
            return Result(f"Created {put.path!r}.")
        if put.kept is None:
            return Result(f"{put.path!r} says that already; nothing was changed.")
        return Result(f"Replaced {put.path!r}. What was there is kept for 30 days in {str(put.kept)!r}.")

    def shown(args: Arguments) -> str:
        size, path, content = workspace.size_of(args["path"]), args["path"], args["content"]
        what = "Make the file" if size is None else f"Replace ({size:,} bytes) the file"
        # All of it: what nobody was shown, nobody has approved.
        return f"{what} {path!r} in {str(workspace.root)!r} with:\n{content}"

    return ActionTool(
        "write_file",
        "Create or replace a text file of the workspace; missing folders are made.",
        (
            Param("path", "string", "In the workspace, e.g. out/report.md", required=True),
            Param("content", "string", "The whole file", required=True),
        ),
        "act",
        write,
        shown=shown,
    )


def _shown(path: str, found: Excerpt) -> str:
    head = _text(path, found.head)
    if not found.tail:
        return head or f"({path!r} is empty)"
    # Cut where a line ends; in a file of one line, where it happens to be.
    head = head[: head.rfind("\n") + 1] or head
    tail = _text(path, found.tail)
    tail = tail[tail.find("\n") + 1 :] or tail
    left = found.size - len(head.encode("utf-8")) - len(tail.encode("utf-8"))
    count = head.count("\n")
    return f"{head}\n… some {left:,} bytes left out after line {count}; ask with line_start …\n{tail}"


def _lines(workspace: Workspace, path: str, first: int, last: int) -> str:
    from hindbrain.vault.parse import split_lines

    found = workspace.read(path, head=_MOST_BYTES, tail=0)
    if found.size > _MOST_BYTES:
        raise UsageError(f"{path!r} is {found.size:,} bytes long, too large to be read by lines")
    lines = split_lines(_text(path, found.head))
    if first > len(lines) or (last and last < first):
        raise UsageError(f"{path!r} has {plural(len(lines), 'line')}; ask for some of them")
    wanted = _within(lines[first - 1 : last or None])
    end = first + len(wanted) - 1
    text = "".join(wanted)[: _HEAD + _TAIL]
    return f"{text.rstrip()}\n… lines {first}-{end} of {len(lines)}"


def _within(lines: Sequence[str]) -> Sequence[str]:
    """As many lines as an answer holds, at least one."""
    used = 0
    for count, line in enumerate(lines):
        used += len(line)
        if count and used > _HEAD + _TAIL:
            return lines[:count]
    return lines


def _text(path: str, data: bytes) -> str:
    """UsageError for what is no text. A letter that was cut in two at an end becomes U+FFFD."""
    from hindbrain.vault.parse import decode_note

    text, _ = decode_note(data)
    odd = sum(1 for char in text if char == "\ufffd" or (char < " " and char not in "\t\n\r\f\b\x1b"))
    if "\0" in text or odd > 1 + _ODD_SHARE * len(text):
        raise UsageError(f"{path!r} is not text ({len(data):,} bytes of something else); it can't be shown")
    return text


def _listing(where: str, rows: Sequence[str]) -> str:
    if not rows:
        return f"{where!r} is empty."
    more = len(rows) - _MOST_ENTRIES
    return "\n".join([*rows[:_MOST_ENTRIES], *([f"… {more} more"] if more > 0 else [])])


def _plain(name: str) -> str:
    """A name as one word on one line, whatever is in it."""
    return name if name.isprintable() else repr(name)
