"""Known issues: each failure and each verification that said no, once, with how often it was seen.

`find_issues` is pure: the same failure is the same words in the command and in the reason, whatever
addresses, numbers and quoted texts differ. An entry is found again by its block id wherever its owner moved
it; only lines that are still ours change, and an entry that they deleted stays deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.failures import failures_of, good_of
from hindbrain.learn.recording.corrections import POLITE
from hindbrain.learn.recording.entries import entries_of, ids_in, replace_line
from hindbrain.learn.recording.places import first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.shapes import deeds_of
from hindbrain.learn.recording.wording import MOST_REASON, day_of, item_id, stamp
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.recording.recorded import Recordings
    from hindbrain.learn.runs.episode import Action, Episode
    from hindbrain.memory.notes.notebook import Page

PART = "issues"
OPEN = "Open"  # the heading below which new issues stand
REVIEW = "review needed"
_LEVEL = 3
_MOST_NEW = 200  # entries that one recording adds
SOLVED = "Solved"
_SEEN, _LESSON, _SOLVED = "- **Seen:**", "- **Lesson:**", "- **Solved:**"
_MOST_DEEDS = 3  # that a fix names
_MOST_CHARS, _MOST_WORDS = 4_000, 40  # of a command or a reason, by which it is known
# Not `alike.masked`: that may be tuned, and an id in a note must stay what it is.
_VARIES = re.compile(
    r"https?://\S+|[\w.+-]+@[\w.-]+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}\b\S*|\"[^\"\n]{1,200}\"|'[^'\n]{2,200}'(?!\w)"
    r"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|\b\w*\d[\w.,:-]*"
)
_WORD = re.compile(r"<>|[^\W_]+")


class Issue(NamedTuple):
    """One failure, however often it came."""

    id: str
    first: Episode
    reason: str
    score: int | None
    runs: tuple[str, ...]  # in which it was seen, oldest first
    last: float  # seconds since the epoch
    actions: tuple[Action, ...] = ()  # of the first run, what was done since the attempt began

    @property
    def seen(self) -> str:
        day = day_of(self.last)
        return f"once, {day}" if len(self.runs) == 1 else f"{len(self.runs)} times, last {day}"


def find_issues(episodes: Sequence[Episode]) -> list[Issue]:
    """Every failure and rejection, those that are the same as one; by their first run, oldest first."""
    found: dict[str, Issue] = {}
    runs: dict[str, dict[str, None]] = {}
    for failure in failures_of(episodes):
        episode = failure.episode
        name = item_id("i", _gist(episode.command), _gist(failure.reason))
        runs.setdefault(name, {})[episode.run] = None
        known = found.get(name)
        if known is None:
            known = Issue(
                name, episode, failure.reason, failure.score, (), episode.ended, failure.actions
            )  # fmt: skip
        found[name] = known._replace(last=max(known.last, episode.ended))
    return [issue._replace(runs=tuple(runs[issue.id])) for issue in found.values()]


class Fix(NamedTuple):
    """The first run that did what had failed."""

    run: Episode
    did: tuple[str, ...] = ()  # what it did and the run that failed did not, as people write it
    instead_of: tuple[str, ...] = ()


def find_solved(issues: Iterable[Issue], episodes: Iterable[Episode]) -> dict[str, Fix]:
    """By the id of an issue: the run that mended it, or the first with the same wish that went well since."""
    worked: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.outcome == "success":
            worked.setdefault(_wish(episode.command), []).append(episode)
    solved: dict[str, Fix] = {}
    for issue in issues:
        same = worked.get(_wish(issue.first.command), ())
        since = [one for one in same if one.started > issue.last or one.run == issue.runs[-1]]
        if since:
            solved[issue.id] = _fix(issue, min(since, key=lambda one: (one.started, one.run)))
    return solved


def _fix(issue: Issue, run: Episode) -> Fix:
    from hindbrain.learn.templates.steps import is_opening

    good = good_of(run)
    failed = deeds_of(issue.actions, issue.first.command)
    did = [deed for deed in deeds_of(good.actions, run.command) if deed not in failed]
    done = deeds_of(good.whole, run.command)
    left = [deed for deed in failed if deed not in done and not is_opening(deed)]
    return Fix(run, tuple(did[:_MOST_DEEDS]), tuple(left[:_MOST_DEEDS]))


def _gist(text: str) -> str:
    """Equal for two texts that say the same of other addresses, numbers or names in quotes."""
    words = _WORD.findall(_VARIES.sub(" <> ", text[:_MOST_CHARS].casefold()))
    return " ".join(sorted(set(words[:_MOST_WORDS])))


def _wish(command: str) -> str:
    """As `_gist`, without the words that make no other command of it: "please run the tests again"."""
    return " ".join(word for word in _gist(command).split() if word not in POLITE)


def issue_lines(issue: Issue, screen: Screen, note_is: str) -> list[str]:
    """The reference's entry, with how often it was seen."""
    first = issue.first
    command = screen.command(first)
    reason = screen.told(issue.reason, MOST_REASON, first.source)
    actions = screen.actions(issue.actions, first.source)
    lines = [
        f"### {stamp(first.started)}",
        f'- **Command:** "{command.text}"{source_mark(command.source, note_is)} ^{issue.id}',
    ]
    if issue.score is not None:
        lines.append(f"- **Score:** {issue.score}/100")
    lines.append(f"- **Reason:** {reason.text or 'not known'}{source_mark(reason.source, note_is)}")
    if actions.text:
        lines.append(f"- **Actions:** {actions.text}{source_mark(actions.source, note_is)}")
    return [*lines, f"{_LESSON} {REVIEW}", f"{_SEEN} {issue.seen}"]


class IssueNote:
    def __init__(self, desk: Desk, screen: Screen, recordings: Recordings) -> None:
        self._desk = desk
        self._screen = screen
        self._recordings = recordings

    def bring_up_to(self, issues: Sequence[Issue]) -> int:
        """Tell the issues that are new, count those that are told; returns how many were new. One write."""
        if not issues:
            return 0
        path = self._desk.path("issues")
        page = self._desk.find(path)
        first = first_text(self._desk, "issues")
        data = page.data if page is not None else first
        note_is = note_source(data, path)
        there = ids_in(data)
        fresh = [
            issue for issue in issues if issue.id not in there and not self._recordings.has(PART, issue.id)
        ]
        # Thousands of old failures, imported at once, would bury what matters: those that came last.
        fresh = sorted(fresh, key=lambda issue: (issue.last, issue.id))[-_MOST_NEW:]
        entries = {issue.id: issue_lines(issue, self._screen, note_is) for issue in fresh}
        seen = {
            issue.id: f"{_SEEN} {issue.seen}" for issue in issues if issue.id in there or issue.id in entries
        }

        def change(now: Page | None) -> bytes | None:
            before = first if now is None else now.data
            after = self._with_lines(before, path, _SEEN, seen)
            known = ids_in(after)
            new = [line for name, lines in entries.items() if name not in known for line in ("", *lines)]
            after = _below(after, OPEN, new[1:], path) if new else after
            return None if after == before else after

        ours = [f"## {OPEN}", *(line for lines in entries.values() for line in lines), *seen.values()]
        self._desk.edit(path, change, ours=ours)
        self._recordings.note(PART, seen)
        return len(fresh)

    def sort_solved(self, issues: Sequence[Issue], solved: Mapping[str, Fix]) -> None:
        """Move issues that worked since from "Open" to "Solved", and back those that came again. One write.

        An entry is moved whole, with what its owner wrote in it. One that stands elsewhere is left there.
        """
        path = self._desk.path("issues")
        if self._desk.find(path) is None:
            return
        lines = {name: self._solved_line(fix) for name, fix in solved.items()}
        again = {issue.id for issue in issues} - set(solved)
        self._desk.own.note(path, lines.values())

        def change(now: Page | None) -> bytes | None:
            if now is None:
                return None
            data = self._moved(now.data, path, OPEN, SOLVED, lines)
            data = self._moved(data, path, SOLVED, OPEN, dict.fromkeys(again, ""))
            return None if data == now.data else data

        self._desk.edit(path, change)

    def _solved_line(self, fix: Fix) -> str:
        """`- **Solved:** 2026-02-21 by `npm ci` instead of `npm install``"""
        day, source = day_of(fix.run.started), fix.run.source
        did, instead = (self._screen.code(", ".join(deeds), source) for deeds in (fix.did, fix.instead_of))
        if not did.text or did.left_out:
            return f"{_SOLVED} {day}, it worked"
        line = f"{_SOLVED} {day} by `{did.text}`"
        return line + (f" instead of `{instead.text}`" if instead.text and not instead.left_out else "")

    def _moved(self, data: bytes, path: str, here: str, there: str, lines: Mapping[str, str]) -> bytes:
        """Move entries from one section to another. `lines`: by id, what is added to it; "": ours goes."""
        from hindbrain.learn.pages.sections import section_at

        section = section_at(data, here)
        note = NoteLines(data, path)
        moved: list[str] = []
        for entry in reversed(entries_of(note, data, _LEVEL)):
            if section is None or entry.id not in lines or not section[0] <= entry.start < section[1]:
                continue
            texts = note.texts[entry.start : entry.stop]
            mark = [line for line in texts if line.startswith(_SOLVED) and self._desk.own.is_ours(path, line)]
            if not lines[entry.id] and not mark:
                continue  # its owner put it there
            kept = [line for line in texts if line not in mark]
            moved[:0] = ["", *kept, *filter(None, [lines[entry.id]])]
            blank = entry.stop < len(note.texts) and not note.texts[entry.stop].strip()
            note.remove(entry.start, entry.stop + blank)
        return _below(note.data(), there, moved[1:], path) if moved else data

    def name_lessons(self, issues: Sequence[Issue], lessons: Sequence[Lesson]) -> int:
        """Put a link to its lesson where an issue still says that a review is needed; returns how many."""
        path = self._desk.path("issues")
        note = self._desk.path("lessons") if self._desk.is_single("lessons") else ""
        if self._desk.find(path) is None or not note:
            return 0
        by_run = {run: lesson.id for lesson in lessons for run in lesson.evidence}
        target = note.removesuffix(".md")
        links: dict[str, str] = {}
        for issue in issues:
            found = next((by_run[run] for run in issue.runs if run in by_run), "")
            if found:
                links[issue.id] = f"{_LESSON} [[{target}#^{found}]]"
        count = 0

        def change(now: Page | None) -> bytes | None:
            nonlocal count
            if now is None:
                return None
            after = self._with_lines(now.data, path, f"{_LESSON} {REVIEW}", links)
            count = after.count(f"{_LESSON} [[".encode()) - now.data.count(f"{_LESSON} [[".encode())
            return None if after == now.data else after

        self._desk.edit(path, change, ours=links.values())
        return count

    def _with_lines(self, data: bytes, path: str, lead: str, lines: Mapping[str, str]) -> bytes:
        """The note with another line of that kind in these entries, where the line is still ours."""
        note = NoteLines(data, path)
        changed = False
        for entry in entries_of(note, data, _LEVEL):
            if entry.id in lines:
                text = lines[entry.id]
                changed |= replace_line(
                    note, entry, lead, text, lambda line: self._desk.own.is_ours(path, line)
                )
        return note.data() if changed else data


def _below(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes:
    from hindbrain.learn.pages.sections import section_at, with_section
    from hindbrain.memory.notes.section_end import appended_below

    if section_at(data, heading) is not None:
        return appended_below(data, heading, lines, path=path)
    return with_section(data, heading, lines, ours=lambda _: False, path=path)
