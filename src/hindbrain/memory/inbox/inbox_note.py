"""The inbox note as lines: how a proposal is written, and what a person made of it.

    - [ ] remember: Moves to Lisbon in May [category:: fact] [importance:: 0.5] [source:: web] ^p-7f3k2a
    - [ ] remember: Plays the cello [category:: fact] [source:: agent] [for:: profile] [under:: About] ^p-3c1d
    - [ ] skill: Send email [template:: [[Templates/Send email]]] [success:: 0.93] [runs:: 14] ^p-0b1c2d3e

Ticked is accepted, `[-]` is refused, and the text counts as it stands. `[?]` and `[ticked:: ...]` are a tick
that a person has to confirm. Pure; knows nothing of files or logs.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.memory.policy.protected import OWNER_ROLES
from hindbrain.vault.items.category import CATEGORIES
from hindbrain.vault.items.item import DEFAULT_IMPORTANCE, join_cues, read_cues
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.origin import SOURCES

Mark: TypeAlias = Literal["waiting", "accepted", "refused"]
Kind: TypeAlias = Literal["remember", "skill"]
FIRST_TEXT = """# Inbox

What an agent would like to remember and may not without you. Tick a line to keep it (correct its text first
if you like); delete it, or put `-` into its box, to refuse it. What you refuse is not asked again.
"""
_LINE = re.compile(
    r"(?P<lead>\s*(?:[-*+]|\d+[.)])\s+)\[(?P<box>.)\]\s+(?P<kind>remember|skill):[ \t]*(?P<rest>.*)",
    re.I | re.S,
)
_ID = re.compile(r"(?:^|\s)\^(p-[A-Za-z0-9]+)(?=\s|$)")
_FIELD = re.compile(
    r"\s*[\[(](category|importance|source|reason|tags|cues|created|ticked|for|under|replaces)::([^\[\]()]*)[\])]",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\s*\[template::\s*\[\[([^\[\]|#^]+)\]\]\s*\]", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[\[(](success|runs)::\s*([0-9.]{1,9})\s*[\])]", re.IGNORECASE)
_TICKED = "while an agent was running; confirm with hindbrain inbox accept"
# What a line that stays is called once it is decided.
_DECIDED = {"remember": "remembered", "skill": "skill made"}
# "[source:: user]" inside a proposed text is no field of ours: it is written "[source\:: user]".
_FIELD_LIKE = re.compile(r"([\[(][^\[\]()\\:]*)(\\*)::")
_ESCAPED = re.compile(r"([\[(][^\[\]()\\:]*)\\(\\*)::")
_ID_LIKE = re.compile(r"(^|\s)(\\*)\^(?=p-)")
_ESCAPED_ID = re.compile(r"(^|\s)\\(\\*)\^(?=p-)")
_BREAKS = re.compile(r"\s*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\s*")


class Proposal(NamedTuple):
    """What waits for a person's word: a memory, or a skill that is to be made of a template."""

    id: str  # "p-7f3k2a"; "" until it is held
    text: str  # one line
    category: str = "fact"
    importance: float = DEFAULT_IMPORTANCE
    source: str = "agent"
    reason: str = ""  # why it was held back
    tags: tuple[str, ...] = ()  # without "#"
    created: str = ""  # YYYY-MM-DD
    kind: Kind = "remember"
    template: str = ""  # of a skill: the path of its template
    success: float = 0.0  # of a skill: the share of its runs that went well, 0..1
    runs: int = 0  # of a skill
    digest: str = ""  # of a skill: of the steps that are proposed; kept in the log, not in the line
    ticked: bool = False  # in the note, while an agent was running: it waits for a person to confirm
    role: str = ""  # of a line for one of the owner's own notes: the role of that note; "" for a memory
    heading: str = ""  # of such a line: the section; "" for the end of the note
    cues: tuple[str, ...] = ()  # under which a memory will be needed
    replaces: str = ""  # the id of the memory that it replaces once it is accepted

    @property
    def key(self) -> str:
        """What it is known by, whatever its line is called: a memory's text, a skill's template."""
        return self.text if self.kind == "remember" else f"skill: {self.template}"


class InboxLine(NamedTuple):
    """A line of the note, as it stands."""

    at: int  # counted from 0
    raw: str  # the whole line, without its end
    mark: Mark
    proposal: Proposal  # id "" when a person wrote it; source "" when the line does not say
    followed: bool  # something is indented beneath it


def one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()


def render(proposal: Proposal) -> str:
    """The line, waiting to be ticked."""
    text = _ID_LIKE.sub(r"\1\\\2^", _FIELD_LIKE.sub(r"\1\\\2::", one_line(proposal.text)))
    if proposal.kind == "skill":
        fields = [f"[template:: [[{proposal.template.removesuffix('.md')}]]]"]
        fields += [f"[success:: {proposal.success:g}]", f"[runs:: {proposal.runs}]"]
        if proposal.reason:
            fields.append(f"[reason:: {_plain(proposal.reason)}]")
        return f"- [ ] skill: {text} {' '.join(fields)} ^{proposal.id}"
    fields = [f"[category:: {proposal.category}]", f"[importance:: {proposal.importance:g}]"]
    fields.append(f"[source:: {proposal.source}]")
    if proposal.tags:
        fields.append(f"[tags:: {_plain(', '.join(proposal.tags))}]")
    if cues := join_cues(proposal.cues):
        fields.append(f"[cues:: {', '.join(cues)}]")
    if proposal.replaces:
        fields.append(f"[replaces:: ^{proposal.replaces}]")
    if proposal.role:
        fields.append(f"[for:: {proposal.role}]")
    if proposal.heading:
        fields.append(f"[under:: {_plain(proposal.heading)}]")
    if proposal.reason:
        fields.append(f"[reason:: {_plain(proposal.reason)}]")
    return f"- [ ] remember: {text} {' '.join(fields)} ^{proposal.id}"


def read_line(raw: str, at: int = 0, *, followed: bool = False) -> InboxLine | None:
    """What a line of the inbox says; None when it is no proposal."""
    match = _LINE.fullmatch(raw)
    if match is None:
        return None
    rest = match["rest"]
    ids = _ID.findall(rest)
    if ids:
        rest = _ID.sub("", rest)
    kind: Kind = "skill" if match["kind"].lower() == "skill" else "remember"
    template = ""
    if kind == "skill":
        named = _TEMPLATE.findall(rest)
        if not named:
            return None  # somebody's own task: there is nothing to make a skill of
        template, rest = f"{named[-1].strip().removesuffix('.md')}.md", _TEMPLATE.sub("", rest)
    fields: dict[str, list[str]] = {}
    for key, value in [*_FIELD.findall(rest), *(_NUMBER.findall(rest) if template else ())]:
        fields.setdefault(key.lower(), []).append(value.strip())
    text = _FIELD.sub("", _NUMBER.sub("", rest) if template else rest).strip()
    text = _ESCAPED_ID.sub(r"\1\2^", _ESCAPED.sub(r"\1\2::", text))
    box = match["box"]
    mark: Mark = "accepted" if box in "xX" else "refused" if box == "-" else "waiting"
    proposal = _proposal(ids[-1] if ids else "", text, fields)
    if template:
        proposal = proposal._replace(
            kind=kind, template=template, success=_importance(fields.get("success", ["0"])[-1]),
            runs=int(_importance(fields.get("runs", ["0"])[-1], most=1e9)),
        )  # fmt: skip
    return InboxLine(at, raw, mark, proposal, followed)


def read_lines(data: bytes, name: str) -> list[InboxLine]:
    """The proposals of a note, in order. Lines in code blocks, comments and the like are none."""
    from hindbrain.vault.parse import decode_note, parse_note

    lines = NoteLines(data, name)
    found = []
    for task in parse_note(decode_note(data)[0], stem="").tasks:
        at = task.line - 1
        line = read_line(lines.texts[at], at, followed=_is_followed(lines.texts, at))
        if line is not None and line.proposal.text:
            found.append(line)
    return found


def proposals_in(data: bytes, name: str) -> dict[str, Proposal]:
    """The proposals of a note that have an id, by it."""
    return {line.proposal.id: line.proposal for line in read_lines(data, name) if line.proposal.id}


def untick_returned(before: bytes, after: bytes, name: str) -> bytes:
    """`after`, in which proposals that `before` does not have are not decided."""
    there = proposals_in(before, name)
    lines = NoteLines(after, name)
    for line in read_lines(after, name):
        if line.mark != "waiting" and line.proposal.id not in there:
            lines.replace(line.at, re.sub(r"\[[xX-]\]", "[ ]", line.raw, count=1))
    return lines.data()


def add_lines(data: bytes, rendered: list[str], name: str) -> bytes:
    """The note with these lines after the last proposal, or at its end."""
    lines = NoteLines(data, name)
    known = read_lines(data, name)
    if known:
        at = known[-1].at + 1
        while at < len(lines.texts) and _is_indented(lines.texts[at]):
            at += 1
        lines.insert(at, rendered)
        return lines.data()
    filled = bool(lines.texts) and bool(lines.texts[-1].strip())
    lines.insert(len(lines.texts), ["", *rendered] if filled else rendered)
    return lines.data()


def hold_ticks(data: bytes, ticked: list[tuple[InboxLine, Proposal]], name: str) -> bytes:
    """The note with `[?]` and a remark in these lines, where they still stand as they were read.

    A line gets the id and the source of its proposal where it lacks them.
    """
    lines = NoteLines(data, name)
    for line, proposal in ticked:
        at = _find(lines.texts, line)
        if at is not None:
            lines.replace(at, _held_line(line.raw, proposal))
    return lines.data()


def _held_line(raw: str, proposal: Proposal) -> str:
    box = re.sub(r"\[[xX]\]", "[?]", raw, count=1)
    said = read_line(raw)
    parts = [_ID.sub("", box).rstrip()]
    if said is None or (said.proposal.source != proposal.source and proposal.kind != "skill"):
        parts.append(f"[source:: {proposal.source}]")  # of several sources the least trusted counts
    if said is None or not said.proposal.ticked:
        parts.append(f"[ticked:: {_TICKED}]")
    return " ".join([*parts, f"^{proposal.id}"])


def take_lines(data: bytes, taken: list[InboxLine], name: str) -> bytes:
    """The note without these lines, where they still stand as they were read.

    A line with something beneath it stays, as "remembered" or "refused": what a person wrote is not orphaned.
    """
    lines = NoteLines(data, name)
    for line in sorted(taken, key=lambda line: -line.at):
        at = _find(lines.texts, line)
        if at is None:
            continue
        if _is_followed(lines.texts, at):
            word = "refused" if line.mark == "refused" else _DECIDED[line.proposal.kind]
            named = rf"{line.proposal.kind}:"
            lines.replace(at, re.sub(named, f"{word}:", line.raw, count=1, flags=re.IGNORECASE))
        else:
            lines.remove(at, at + 1)
    return lines.data()


def change_text(data: bytes, line: InboxLine, text: str, name: str) -> bytes:
    """The note with another text in that line; its fields, box and everything else stay."""
    lines = NoteLines(data, name)
    at = _find(lines.texts, line)
    if at is None:
        return data
    new = render(line.proposal._replace(text=text, source=line.proposal.source or "user"))
    lead = _LINE.fullmatch(line.raw)
    lines.replace(at, (lead["lead"] if lead else "- ") + new.removeprefix("- "))
    return lines.data()


def _proposal(id_: str, text: str, fields: dict[str, list[str]]) -> Proposal:
    category = fields.get("category", [""])[-1].lower()
    sources = [source.lower() for source in fields.get("source", []) if source]
    return Proposal(
        id=id_,
        text=text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        category=category if category in CATEGORIES else "fact",
        importance=_importance(fields.get("importance", [""])[-1]),
        source=_least_trusted(sources),
        reason=fields.get("reason", [""])[-1],
        tags=tuple(tag.strip().lstrip("#") for tag in fields.get("tags", [""])[-1].split(",") if tag.strip()),
        created=fields.get("created", [""])[-1],
        ticked="ticked" in fields,
        role=role if (role := fields.get("for", [""])[-1].lower()) in OWNER_ROLES else "",
        heading=fields.get("under", [""])[-1],
        cues=read_cues(fields.get("cues", [""])[-1]),
        replaces=fields.get("replaces", [""])[-1].strip().lstrip("^"),
    )


def _least_trusted(sources: list[str]) -> str:
    from hindbrain.memory.policy.provenance import lowest

    return lowest(source if source in SOURCES else "import" for source in sources) if sources else ""


def _importance(value: str, *, most: float = 1.0) -> float:
    try:
        number = float(value)
    except ValueError:
        return DEFAULT_IMPORTANCE
    return number if 0 <= number <= most else DEFAULT_IMPORTANCE


def _plain(value: str) -> str:
    return re.sub(r"[\[\]()\r\n]", " ", value).replace("::", ":").strip()


def _find(texts: list[str], line: InboxLine) -> int | None:
    """Where the line stands now: at its old place, else wherever the same bytes are."""
    if line.at < len(texts) and texts[line.at] == line.raw:
        return line.at
    return next((at for at, text in enumerate(texts) if text == line.raw), None)


def _is_followed(texts: list[str], at: int) -> bool:
    if at + 1 >= len(texts) or not _is_indented(texts[at + 1]):
        return False
    return _indent(texts[at + 1]) > _indent(texts[at])


def _is_indented(text: str) -> bool:
    return bool(text.strip()) and text[0] in " \t"


def _indent(text: str) -> int:
    return len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip())
