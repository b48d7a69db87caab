"""Which files no memory tool may write: what tells an agent how to act, and what configures programs.

Whoever can write an instruction file can command the next session, so the check is about what a name comes
to on some system or to some reader, not about its bytes. Decides on text first (`why_protected`, pure), then
looks where symlinks lead. Hard links need no check: the writer puts a new file in a name's place and never
writes into one, so another name of the old file keeps its bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import ConfigError, Refused
from hindbrain.memory.policy.lookalikes import fold_lookalikes

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout

# What agents and their hosts read as instructions, without ".md".
INSTRUCTION_NOTES = frozenset({
    "agent", "agents", "agents.local", "agents.override", "boot", "bootstrap", "claude", "claude.local",
    "copilot-instructions", "crush", "cursorrules", "gemini", "heartbeat", "identity", "qwen", "skill",
    "soul", "tools", "warp", "windsurfrules",
})  # fmt: skip
INSTRUCTION_ROLES = ("soul", "identity", "agents")  # of a layout: their notes are in the agent's prompt
OWNER_ROLES = ("profile", "preferences", "home", "status")  # shown as the owner's: agents only propose lines
_INSTRUCTION_ENDINGS = (".instructions", ".prompt", ".chatmode", ".agent")  # "python.instructions.md"
_OTHER_ENDINGS = (".mdc", "llms.txt", "llms-full.txt")
_NOTE_ENDINGS = (".md", ".markdown")
_ENDED_TWICE = re.compile(r"(\.(?:md|markdown))(?:[ .]*\.(?:md|markdown))+$")  # by a tool that adds ".md"
_SHORT_NAME = re.compile(r"([^~]{1,6})~\d{1,6}(?:\.[^.~]{0,3})?")
_HASHED_SHORT_NAME = re.compile(r"([^~]{2})[0-9a-f]{4}")
_PERCENT = re.compile(r"%(?:u([0-9a-f]{4})|([0-9a-f]{2}))", re.IGNORECASE)
_DECODE_ROUNDS = 4
_SLASHES = dict.fromkeys(map(ord, "\\\u2044\u2215\u2216\u29f5\u29f8\u29f9\uff0f\uff3c"), "/")


def check_writable(root: Path, path: str, *, layout: Layout | None = None) -> None:
    """Raise Refused when a memory tool must not write `path`; UnsafePath when it leads out of the vault.

    Without a `layout`, the vault's own is read: its inbox and its skills are protected, too.
    """
    kept = _kept_by_layout(root, layout)
    reason = why_protected(path, kept=kept)
    if not reason:
        real = _real_path(root, path)
        reason = why_protected(real, kept=[*kept, *(_real_path(root, name) for name in kept)])
    if reason:
        raise Refused(f"{path!r} {reason}; memory tools do not write it, its owner does")


def why_protected(path: str, *, kept: Sequence[str] = ()) -> str:
    """Why no tool may write this vault-relative path ("" when it may); `kept`: notes and folders besides."""
    spoken = fold_path(path)
    parts = spoken.split("/")
    for part in parts:
        if part.startswith("."):
            return "is a hidden file or lies in a hidden folder"
        if _is_instruction_name(part):
            return "is read by agents as instructions"
    if any(_lies_in(parts, fold_path(name).split("/")) for name in kept):
        return "belongs to the owner alone (the inbox, the skills, or what instructs agents)"
    if not parts[-1].endswith(_NOTE_ENDINGS):
        return "is not a note (.md)"
    return ""


def check_layout(layout: Layout) -> Layout:
    """`layout`; ConfigError when it gives a role an instruction file, a hidden one or what is no note.

    A layout comes with its vault, over a sync or in a repository: not all of it is its owner's word.
    """
    from hindbrain.vault.layout_table import all_places

    for role, templates in all_places(layout.roles).items():
        for template in templates:
            path = "/".join(filter(None, (layout.folder, template.replace("{", "").replace("}", ""))))
            if reason := why_protected(_without_own_name(role, path)):
                raise ConfigError(
                    f"the layout of this vault gives {role!r} the path {path!r}, which {reason}; change it "
                    "in .hindbrain/layout.toml"
                )
    return layout


def _without_own_name(role: str, path: str) -> str:
    """With a plain name in place of the one that notes of the role have by their nature."""
    folder, _, name = path.rpartition("/")
    own = {"skills": "SKILL.md", "soul": "SOUL.md", "identity": "IDENTITY.md", "agents": "AGENTS.md"}
    return f"{folder}/note.md" if name == own.get(role) else path


def check_kept_note(root: Path, path: str, role: str) -> None:
    """As `check_writable`, for a note that only our own code writes: the inbox, a skill that was accepted."""
    real = _real_path(root, path)
    if reason := why_protected(path if role != "skills" else _without_own_name(role, path)):
        raise Refused(f"{path!r} {reason}; memory does not write it, its owner does")
    if reason := why_protected(real if role != "skills" else _without_own_name(role, real)):
        raise Refused(f"{path!r} leads to {real!r}, which {reason}; memory does not write it, its owner does")


def owner_places(layout: Layout) -> list[str]:
    """Notes and folders that only the owner writes, whatever they are called."""
    roles = [role for role in INSTRUCTION_ROLES if layout.has(role)]
    instructions = [path for role in roles for path in layout.places_of(role)]
    return [layout.path("inbox"), layout.folder_of("skills"), *filter(None, instructions)]


def role_at(root: Path, path: str, layout: Layout, roles: Sequence[str]) -> str:
    """Return which of these roles, each of one note, `path` plays on some system; "" when it plays none."""
    forms = {fold_path(path), fold_path(_real_path(root, path))}
    for role in roles:
        if layout.has(role) and forms & {fold_path(place) for place in layout.paths(role)}:
            return role
    return ""


def check_no_layout_sign(path: str) -> None:
    """Refused for a new note whose name makes a vault look like one of another layout."""
    from hindbrain.vault.layout_table import LAYOUTS, built_in_table

    for table in map(built_in_table, LAYOUTS):
        signs = (f"{form.folder}/{sign}" for form in table.forms for sign in form.signs)
        if fold_path(path) in map(fold_path, signs):
            raise Refused(
                f"a note {path!r} would make this a vault of the layout {table.name!r}; memory tools do not "
                "create it, its owner does"
            )


def fold_path(path: str) -> str:
    """What a path comes to: decoded, in one case and one form, without what systems drop or ignore."""
    for _ in range(_DECODE_ROUNDS):
        decoded = _PERCENT.sub(lambda match: chr(int(match[1] or match[2], 16)), path)
        if decoded == path:
            break
        path = _as_utf8(decoded)
    folded = fold_lookalikes(path.translate(_SLASHES)).translate(_SLASHES)
    parts = [_fold_name(part) for part in folded.split("/")]
    return "/".join(part for part in parts if part)


def _fold_name(name: str) -> str:
    """Without an NTFS stream, and without the dots and spaces that Windows drops or nobody sees."""
    name = re.sub(r"\s", " ", name).strip(" ").partition(":")[0]
    bare = re.sub(r" +(?=\.[^.]*$)", "", name.rstrip(" ."))
    bare = _ENDED_TWICE.sub(r"\1", bare)
    return bare if bare or not name.startswith(".") else ""


def _lies_in(parts: list[str], kept: list[str]) -> bool:
    """Is it this note, or in this folder? The vault itself ("") is nobody's folder."""
    if kept == [""] or len(parts) < len(kept):
        return False
    return all(part == name or _is_short_name(part, name) for part, name in zip(parts, kept, strict=False))


def _as_utf8(text: str) -> str:
    """Percent-escapes stand for bytes: read them as UTF-8 where they make sense so."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return text


def _is_instruction_name(name: str) -> bool:
    if any(_is_short_name(name, known) for known in INSTRUCTION_NOTES):
        return True
    stem = next((name.removesuffix(end) for end in (*_NOTE_ENDINGS, ".txt") if name.endswith(end)), "")
    stem = stem.rstrip(" .").replace("_", "-")
    if any(form.endswith(_OTHER_ENDINGS) for form in (name, stem)):
        return True
    return stem in INSTRUCTION_NOTES or stem.endswith(_INSTRUCTION_ENDINGS)


def _is_short_name(name: str, known: str) -> bool:
    """Could this be the 8.3 name under which NTFS also answers for `known`?"""
    match = _SHORT_NAME.fullmatch(name)
    if match is None:
        return False
    start = match[1]
    plain = re.sub(r"[^a-z0-9]", "", known.removesuffix(".md"))
    hashed = _HASHED_SHORT_NAME.fullmatch(start)  # after the fourth of one beginning
    return plain[:6] == start or (hashed is not None and plain.startswith(hashed[1]))


def _kept_by_layout(root: Path, layout: Layout | None) -> list[str]:
    if layout is None:
        from hindbrain.vault.layout import load_layout

        layout = load_layout(root)
    return owner_places(layout)


def _real_path(root: Path, path: str) -> str:
    """Where the path really leads, relative to the vault. Raises UnsafePath when that is outside."""
    from hindbrain.vault.path_rules import check_existing_path
    from hindbrain.vault.paths import resolve_beneath

    real = resolve_beneath(root, check_existing_path(path))
    return real.relative_to(os.path.realpath(root)).as_posix()
