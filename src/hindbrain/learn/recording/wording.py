"""How a run reads in a note: its text as harmless Markdown, its outcome, its actions, its times.

Pure. A command or a tool's answer may hold anything (headings, links, fields that claim a source, block
ids, 100 kB on one line): here it becomes one short line that means nothing but its words. Knows nothing of
notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from hindbrain.base.clock import local_time
from hindbrain.learn.runs.calls import command_line
from hindbrain.vault.items.item_text import fold

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Action, Episode

MOST_COMMAND, MOST_REASON, MOST_ANSWER, MOST_ACTION = 200, 300, 300, 60  # characters
MOST_ACTIONS = 24  # of a run that are told: who follows it needs them all
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_RUN_ID = re.compile(r"r-[A-Za-z0-9-]{1,60}")
# What begins a link, a field, code, a comment, a tag or a block id: a backslash takes its meaning from it.
_MEANS_MORE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|[\[\]<$%]|(?<=\])\(|(?<=<)!|(?<=:):|(?<!\S)[#^]|(?<=[(,;，。；、：（])#"
)
# Tools that look and do not act; those of this memory, whose results are our own output.
_LOOKS = re.compile(
    r"(?i)screenshot|snapshot|screen_?capture|^(?:observe|wait|sleep|think|zoom|cursor_position|mouse_move|"
    r"(?:get|read)_(?:screen|ui_tree|window|windows)|list_windows)$"
)
_OURS = re.compile(r"(?i)(?:^|_)(?:vault|memory|task)_[a-z]+$|^(?:remember|recall|forget)$|hindbrain")
_DONE = {"success": "done", "failed": "failed", "stuck": "failed"}
_OUTCOMES = {"success": "Success", "failed": "Failed", "stuck": "Stuck", "cancelled": "Cancelled"}


def block_id(run: str) -> str:
    """The block id under which a run stands in notes; a run's own id where that can be one."""
    return run if _RUN_ID.fullmatch(run) else item_id("r", run)


def run_link(log: str, episode: Episode, shown: str) -> str:
    """`[[Learning/Task Log#^r-...|14:30]]`: opens the run's entry in the task log, whose path is `log`."""
    return f"[[{log.removesuffix('.md')}#^{block_id(episode.run)}|{shown}]]"


def item_id(prefix: str, *parts: str) -> str:
    """An id made from what it names: the same parts give the same id."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"{prefix}-" + "".join(_LETTERS[byte & 31] for byte in digest)


def plain(text: str, most: int) -> str:
    """One line of at most `most` characters, whole words where that costs little."""
    whole = text[: 8 * most].encode("utf-8", "replace").decode("utf-8")
    # A backtick of theirs could pair with one of ours: what stands between would be code.
    folded = fold(whole).replace("`", "'")
    if len(folded) <= most:
        return folded
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    folded = redact(folded)[0]  # before it is cut: half a secret is none that anybody finds
    if len(folded) <= most:
        return folded
    cut = folded.rfind(" ", 0, most)
    return folded[: cut if cut > most * 0.7 else most - 1].rstrip() + "…"


def harmless(text: str) -> str:
    """`text`, which is one line, as it stands inside a line of Markdown: it means its words, nothing else."""
    return _MEANS_MORE.sub(lambda match: "".join(f"\\{char}" for char in match[0]), text)


def outcome(episode: Episode) -> str:
    """`Success (score: 92)`"""
    return _OUTCOMES.get(episode.outcome, "Unknown") + scored(episode.score)


def done(episode: Episode) -> str:
    """done, failed, cancelled or unknown: one word for a line of the day."""
    return _DONE.get(episode.outcome, episode.outcome)


def scored(score: int | None) -> str:
    return "" if score is None else f" (score: {score})"


def is_deed(action: Action) -> bool:
    """Does it act on the world, and not only look at it or at this memory?"""
    return _acts(action.name)


@lru_cache(maxsize=1024)
def _acts(tool: str) -> bool:
    return _LOOKS.search(tool) is None and _OURS.search(tool) is None


def key_actions(
    actions: Sequence[Action], most: int = MOST_ACTIONS, show: Callable[[Action], str] | None = None
) -> list[str]:
    """What was done: without looking, repetitions folded (`scroll(down) x3`); `…` where some are left out."""
    folded: list[tuple[Action, int]] = []
    for action in actions:
        if not is_deed(action):
            continue
        if folded and folded[-1][0][:2] == action[:2]:
            folded[-1] = (action, folded[-1][1] + 1)
        else:
            folded.append((action, 1))
    kept: list[tuple[Action, int] | None] = list(folded)
    if len(folded) > most:
        head = most // 2
        kept = [*folded[:head], None, *folded[-(most - head) :]]
    merged: list[tuple[str, int]] = []  # calls that differ only in what is cut away read the same
    for one in kept:
        shown, times = ("…", 1) if one is None else ((show or _in_a_line)(one[0]), one[1])
        if merged and merged[-1][0] == shown:
            times += merged.pop()[1]
        merged.append((shown, times))
    return [shown + (f" x{times}" if times > 1 else "") for shown, times in merged]


def _in_a_line(action: Action) -> str:
    shown = plain(action.shown, MOST_ACTION)
    return f"`{shown}`" if command_line(action.name, action.arguments) else shown


def what_worked(episode: Episode) -> Sequence[Action]:
    """The actions of a run; of one that began anew after a rejection and went well, those since then."""
    from hindbrain.learn.failures import good_of

    return good_of(episode).whole if episode.outcome == "success" else episode.actions


def lasted(seconds: float) -> str:
    """`45s`, `3m 20s`, `1h 5m`"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"


def stamp(at: float) -> str:
    """`2026-02-20T14:30:00Z`"""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of(at: float) -> str:
    """The owner's day."""
    return local_time(at).date().isoformat()


def clock_of(at: float) -> str:
    """`14:30`, as the owner's clock on the wall shows it."""
    return f"{local_time(at):%H:%M}"
