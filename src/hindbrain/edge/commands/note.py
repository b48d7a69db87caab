"""`hindbrain note`: read a note with its hash, write one against that hash, add to one, set properties."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import DIM, Output, safe

if TYPE_CHECKING:
    from hindbrain.memory.notes.vault_verbs import Author, Changed, PropertyChange
    from hindbrain.memory.service import Memory

_MOST_BYTES = 50_000_000  # of stdin: more is no note
_OPTIONS_OF = {
    "read": ("heading", "block", "lines"),
    "write": ("text", "hash"),
    "append": ("text", "heading"),
    "set": ("remove",),
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=tuple(_OPTIONS_OF), help="what to do")
    parser.add_argument("note", metavar="NOTE", help="path, title or alias; a path ends in .md")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="TEXT",
        help="append: what to add; without it, stdin is read. set: KEY=VALUE, or KEY+=VALUE for a list",
    )
    parser.add_argument("--text", metavar="TEXT", help="write, append: the text, in place of stdin")
    parser.add_argument(
        "--hash", metavar="HASH", help="write: what 'note read' gave; needed to replace a note that is there"
    )
    parser.add_argument("--heading", metavar="NAME", help="read: only this section; append: to its end")
    parser.add_argument(
        "--remove", metavar="KEY", action="append", help="set: take this property away; repeatable"
    )
    parser.add_argument("--block", metavar="ID", help="read: only this block")
    parser.add_argument("--lines", metavar="A-B", help="read: only these lines: 12, 12-15 or 12-")


def run(args: Namespace, out: Output) -> int:
    _check(args)
    if args.action == "read":
        with closing(open_app(args)) as app:
            _read(app.memory, args, out)
        return 0
    if args.action == "set":
        changes = _property_changes(args)
        with closing(open_app(args)) as app:
            from hindbrain.base.errors import NeedsPerson
            from hindbrain.memory.notes.vault_verbs import set_properties

            if agent := app.started_by():
                raise NeedsPerson(f"this runs inside {agent}; the owner sets properties")
            changed = set_properties(app.memory, args.note, changes)
        _show(changed, out)
        return 0
    content = _content(args)
    with closing(open_app(args)) as app:
        changed = _change(app.memory, args, content, by="agent" if app.started_by() else "user")
    _show(changed, out)
    return 0


def _check(args: Namespace) -> None:
    """Every option belongs to some action, and is refused by name with another."""
    own = _OPTIONS_OF[args.action]
    for option in dict.fromkeys(name for names in _OPTIONS_OF.values() for name in names):
        if getattr(args, option) is not None and option not in own:
            raise UsageError(f"note {args.action} takes no --{option}; see hindbrain note --help")
    if args.action == "write" and args.words:
        raise UsageError("note write takes its text from stdin or --text; quote a name that has spaces")
    if args.text is not None and args.words:
        raise UsageError("give the text as words or with --text, not both")


def _property_changes(args: Namespace) -> list[PropertyChange]:
    from hindbrain.memory.notes.vault_verbs import PropertyChange

    changes = [PropertyChange(key, None) for key in args.remove or ()]
    for word in args.words:
        key, sign, value = word.partition("=")
        adding = key.endswith("+")
        key = key.removesuffix("+").strip()
        if not sign or not key:
            raise UsageError(f"{word!r} is no KEY=VALUE; quote it when it holds spaces: 'status=in review'")
        changes.append(PropertyChange(key, value.strip(), adding))
    if not changes:
        raise UsageError("nothing to set: give KEY=VALUE, KEY+=VALUE or --remove KEY")
    return changes


def _content(args: Namespace) -> str:
    if args.text is not None:
        content = str(args.text)
    elif args.words and args.words != ["-"]:
        content = " ".join(args.words)
    else:
        content = _stdin()
    if not content.strip():
        raise UsageError(
            f"there is nothing to {args.action}: the text is empty; give it with --text TEXT or through "
            f"stdin, as in: echo TEXT | hindbrain note {args.action} NOTE"
        )
    return content


def _stdin() -> str:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError(f"stdin gave more than {_MOST_BYTES:,} bytes; that is no note")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"what came from stdin is not UTF-8 (byte {error.start}); convert it first"
        ) from error


def _read(memory: Memory, args: Namespace, out: Output) -> None:
    from hindbrain.edge.commands.read import line_range, note_data, part_data
    from hindbrain.memory.notes.vault_verbs import Part, read
    from hindbrain.memory.tools.tool import short_hash

    first, last = line_range(args.lines) if args.lines else (0, 0)
    part = Part(heading=args.heading or "", block=args.block or "", first=first, last=last)
    reading = read(memory, " ".join([args.note, *args.words]), part)
    memory.count_access(reading.page.path, "")
    body = "\n".join(reading.lines)
    if out.json:
        out.data(
            note_data(reading.page.path, reading.page.data, reading.note, reading.problems)
            | part_data(reading.note, reading.first, reading.last)
            | {"text": body}
        )
        return
    out.line((safe(body) if out.on_terminal else body).removesuffix("\n"))
    out.stdout.flush()
    place = f"{reading.page.path}:{reading.first}-{reading.last}"
    known = f"hash {short_hash(reading.page.hash)}" if reading.is_known else "a part: no hash"
    out.say(out.paint_err(f"{place}  {known}", DIM))


def _change(memory: Memory, args: Namespace, content: str, by: Author) -> Changed:
    """What the owner types is not signed as an agent's, and nothing is taken out of it."""
    from hindbrain.memory.notes.vault_verbs import append, write

    if args.action == "write":
        return write(memory, args.note, content, known_hash=args.hash or "", by=by)
    return append(memory, args.note, content, heading=args.heading or "", by=by)


def _show(changed: Changed, out: Output) -> None:
    from hindbrain.memory.tools.tool import short_hash

    if changed.removed:
        kinds = ", ".join(changed.removed)
        out.warn(f"the text holds what looks like a secret ({kinds}); the note has it as you gave it")
    if out.json:
        out.data(
            {
                "path": changed.path,
                "did": changed.did,
                "hash": changed.hash,
                "merged": changed.merged,
                "secrets": list(changed.removed),
                "held": list(changed.held),
            }
        )
        return
    place = f"{changed.path}#{changed.heading}" if changed.heading else changed.path
    if changed.held:
        out.line(
            f"{plural(len(changed.held), 'line')} for {safe(place)} in the inbox: the owner accepts them"
        )
        return
    out.line(f"{'appended to' if changed.did == 'appended' else changed.did} {safe(place)}")
    if changed.merged:
        out.say("somebody changed other lines meanwhile: both changes are in the note")
    out.say(out.paint_err(f"hash {short_hash(changed.hash)}", DIM))
