"""Learning: what runs taught, and how it reaches the next one.

Keeps the order: take in the runs that hosts have left, record what happened, then lessons, then templates;
consolidation does the same and then keeps the vault healthy. What belongs to a part (how a lesson is found,
how a template is aligned) is the part's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hindbrain.base.errors import Busy, HindbrainError
from hindbrain.base.plural import plural
from hindbrain.context.packs.learned import Matches
from hindbrain.learn.consolidation.importance import Thresholds
from hindbrain.learn.lessons.book import LessonsWritten
from hindbrain.learn.recording.recorder import Recorded
from hindbrain.learn.templates.book import TemplatesWritten
from hindbrain.learn.unchanged import LastTime
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.context.packs.pack import Pack
    from hindbrain.learn.consolidation.consolidator import Consolidated
    from hindbrain.learn.fitting import Fitting, Known
    from hindbrain.learn.lessons.book import LessonBook
    from hindbrain.learn.lessons.guards import Heeded, KnownGuards
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.learn.runs.store import RunStore
    from hindbrain.learn.skills.loading import Loaded
    from hindbrain.learn.stats.figures import Stats
    from hindbrain.learn.templates.book import TemplateBook
    from hindbrain.learn.templates.template import Template
    from hindbrain.memory.answers import PastRuns
    from hindbrain.memory.inbox.inbox_note import Proposal
    from hindbrain.memory.relevance import BestRelevance
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.models.embedder import Embedder
    from hindbrain.search.adjustments import Adjustments
    from hindbrain.vault.write import VaultWriter

_T = TypeVar("_T")
_LOCK = "learn.lock"
_WAIT_S = 30.0  # for another process that is at it
MOST_EPISODES = 5_000  # the newest: what was learned from older ones stands in notes


class Around(NamedTuple):
    """What learning needs from the application; each is called at first need."""

    root: Path
    state: Path
    clock: Clock
    memory: Callable[[], Memory]
    writer: Callable[[], VaultWriter]
    embedder: Callable[[], Embedder | None]  # None: commands are compared by their words
    chat: Callable[[], ChatModel | None]
    relevance: Callable[[], BestRelevance]  # judges how well what runs found fits a prompt
    lesson_notes: Callable[[], list[str]]  # paths of notes that say `type: lesson`; [] without an index
    daily_tokens: int = 0  # that background work may spend on the chat model
    thresholds: Thresholds = Thresholds()  # of consolidation


class Learned(NamedTuple):
    """What a round of learning did, or would do."""

    recorded: Recorded = Recorded()
    lessons: LessonsWritten = LessonsWritten()
    templates: TemplatesWritten = TemplatesWritten()
    proposals: int = 0  # of skills, which wait in the inbox
    diff: str = ""  # of a dry run
    problems: tuple[str, ...] = ()


class Learning:
    """For one thread."""

    def __init__(self, around: Around) -> None:
        self._around = around

    # What is done with runs

    @action("learn", via="background")
    def learn(self, *, dry_run: bool = False, with_model: bool = True) -> Learned:
        """Learn from the runs that are over. To do it again changes nothing; a dry run writes nothing.

        Without the chat model, what it would have worded is left to the next time.
        """
        if not dry_run:
            return self._learn(self._desk, with_model=with_model)
        from hindbrain.learn.pages.drafts import draft_of, drafts_on

        desk = draft_of(self._desk)
        learned = self._learn(desk)
        drafts = drafts_on(desk)
        return learned._replace(diff=drafts.diff() if drafts is not None else "")

    @action("consolidate", via="background")
    def consolidate(self, *, dry_run: bool = False) -> Consolidated:
        """Learn, make facts of old days, archive what is old, and prove that nothing was lost.

        Busy when another process is at it.
        """
        from hindbrain.learn.consolidation.consolidator import Consolidator
        from hindbrain.learn.consolidation.steps import Parts

        around = self._around
        parts = Parts(
            learn=self._learn_on,
            summarise=self._summarise_on,
            chat=lambda: self._chat("consolidation"),
            adjustment=self._adjustment,
            thresholds=around.thresholds,
        )
        return Consolidator(
            self._desk, around.memory(), self.runs, around.clock, around.state, around.writer, parts
        ).consolidate(dry_run=dry_run)

    # What was learned

    @cached_property
    def runs(self) -> RunStore:
        from hindbrain.learn.runs.store import RunStore

        return RunStore(self._around.root, self._around.state, self._around.writer)

    def lessons(self) -> list[Lesson]:
        return self._lesson_book(self._desk).lessons()

    def lesson_places(self) -> dict[str, tuple[str, str]]:
        """What each lesson says and the note that says it, by its id."""
        return {one.lesson.id: (one.lesson.text, one.path) for one in self._lesson_book(self._desk).noted()}

    def templates(self) -> list[Template]:
        return self._template_book(self._desk).templates()

    def skills(self) -> Loaded:
        from hindbrain.learn.skills.loading import load_skills

        return load_skills(self._around.root, self._desk.layout)

    def matches(self, command: str, apps: Sequence[str] = ()) -> Matches:
        """What fits a command that is about to be carried out."""
        return self._fitting.matches(command, apps)

    def past_runs(self, topic: str) -> PastRuns:
        """Earlier runs whose answers a question may mean."""
        return self._fitting.past_runs(topic)

    def injected(self, pack: Pack) -> tuple[str, ...]:
        """The ids of what a pack brings into a prompt, as `context.injected` tells them."""
        from hindbrain.learn.injected import items_of, shown_in

        return items_of(shown_in(pack), self._around.memory().book.items())

    def stats(self, *, days: int = 0) -> Stats:
        from hindbrain.context.receipts import Receipts
        from hindbrain.context.topic.ledger import FOLDER, count_injections
        from hindbrain.learn.consolidation.budget import TokenLedger
        from hindbrain.learn.stats.counting import stats_of
        from hindbrain.learn.stats.slots import slot_stats

        around = self._around
        now = around.clock.now()
        episodes, templates = self._worked(), self.templates()
        try:
            receipts = Receipts(around.state).read()
        except OSError:  # what can't be read counts for nothing, as with the ledgers
            receipts = []
        stats = stats_of(
            episodes,
            days=days,
            now=now,
            lessons=self.lessons(),
            templates=templates,
            background=TokenLedger(around.state, around.clock).by_purpose(),
            preferences=self._preferences(),
            receipts=receipts,
        )
        since = now - days * 86_400.0 if days else 0.0
        return stats._replace(
            hosts=count_injections(around.state / FOLDER, since=since),
            slots=slot_stats(receipts, episodes, templates, since=since),
        )

    def _preferences(self) -> dict[str, str]:
        """The texts of preferences by id, of those that no longer hold as well: they held in old runs."""
        items = self._around.memory().book.items()
        return {item.id: item.text for item in items if item.category == "preference" and item.id}

    # The order of a round

    def _learn(self, desk: Desk, *, with_model: bool = True) -> Learned:
        """One process at a time: two that add what is new would add it twice. Busy."""
        from hindbrain.learn.pages.drafts import drafts_on
        from hindbrain.vault.lock import FileLock

        if drafts_on(desk) is not None:
            return self._round(desk, dry=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(FileLock(self._around.state / _LOCK).held(_WAIT_S))
            except Busy as error:
                raise Busy("another process learns from this vault's runs; try again later") from error
            return self._round(desk, dry=False, with_model=with_model)

    def _round(self, desk: Desk, *, dry: bool, with_model: bool = True) -> Learned:
        problems = list(self._take_in_sessions()) if not dry else []
        episodes = self._worked()
        last, now = LastTime(desk, self._around.state), self._around.clock.now()
        if not dry and last.is_same(episodes, now):
            return Learned(problems=(*problems, *self._bring_guards()))
        recorded, lessons = self._record(desk, episodes, with_model=with_model)
        templates, proposals = self._find_templates(desk, episodes)
        if not dry:
            problems += [*filter(None, [self._bring_feedback(episodes)]), *self._bring_guards()]
        problems += [*recorded.problems, *templates.problems]
        if not dry and not problems and with_model:
            last.note(episodes, now)
        return Learned(recorded, lessons, templates, proposals, "", tuple(problems))

    def _record(
        self, desk: Desk, episodes: Sequence[Episode], *, with_model: bool
    ) -> tuple[Recorded, LessonsWritten]:
        from hindbrain.learn.lessons.finding import find_lessons
        from hindbrain.learn.pages.drafts import drafts_on
        from hindbrain.learn.recording.recorder import Recorder

        around = self._around
        recorder = Recorder(
            desk, around.memory(), around.clock, self._log(desk), dry_run=drafts_on(desk) is not None
        )
        recorded = recorder.record(episodes)
        book = self._lesson_book(desk, episodes if with_model else ())
        written = book.bring_up_to(find_lessons(episodes, around.embedder()))
        recorder.name_lessons(episodes, book.lessons())
        return recorded, written

    def _find_templates(self, desk: Desk, episodes: Sequence[Episode]) -> tuple[TemplatesWritten, int]:
        from hindbrain.learn.pages.drafts import drafts_on
        from hindbrain.learn.templates.finding import find_templates
        from hindbrain.learn.templates.promoting import proposals

        book = self._template_book(desk)
        written = book.bring_up_to(find_templates(episodes, self._around.embedder()), episodes)
        drafts = drafts_on(desk)
        held = 0
        for proposal in proposals(book.templates()):
            if drafts is not None:
                drafts.say(f"+ skill: {proposal.text}")
            else:
                held += bool(self._around.memory().inbox.hold(proposal))
        return written, held

    def _take_in_sessions(self) -> tuple[str, ...]:
        """Runs of conversations that hooks have told of."""
        from hindbrain.learn.importing.captured import take_captured
        from hindbrain.learn.injected import items_of

        around = self._around
        return take_captured(
            self.runs, around.root, around.state, now=around.clock.now(),
            named=lambda shown: items_of(shown, around.memory().book.items()),
        ).problems  # fmt: skip

    def _bring_feedback(self, episodes: Sequence[Episode]) -> str:
        from hindbrain.learn.feedback.feedback import Feedback

        around = self._around
        feedback = Feedback(around.memory(), around.state, around.clock, around.writer)
        return feedback.bring_up_to_date(episodes).problem

    def _bring_guards(self) -> list[str]:
        """Put the guards of lessons and notes where hooks find them; returns what can't be checked."""
        from hindbrain.learn.lessons.guards import write_guards

        known = self.guards()
        try:
            write_guards(self._around.state, known.usable)
        except OSError as error:
            return [f"guards can't be written ({error.strerror or error}); those before stay in force"]
        return [
            f"the guard {one.text!r} of {one.id!r} is not checked: {one.problem}" for one in known.unusable
        ]

    def guards(self) -> KnownGuards:
        """What lessons and notes guard now. It is in force from the next learning on."""
        from hindbrain.learn.lessons.guards import KnownGuards, guards_of, read_guards

        lessons = [lesson for lesson in self.lessons() if lesson.state != "retired"]
        usable, unusable = guards_of(lessons, self._guarding_notes())
        in_force = frozenset(read_guards(self._around.state)).intersection(usable)
        return KnownGuards(tuple(usable), tuple(unusable), in_force)

    def _guarding_notes(self) -> Iterator[tuple[str, str, str]]:
        """Path, title and guard of notes that their owner made a lesson."""
        from hindbrain.vault.origin import source_of_note
        from hindbrain.vault.parse import parse_note

        for path in self._around.lesson_notes():
            page = self._desk.find(path)
            note = parse_note(page.text, stem=path.rpartition("/")[2].removesuffix(".md")) if page else None
            if note is None or source_of_note(path, note.frontmatter) != "user":
                continue
            guard = note.frontmatter.get("guard")
            for text in [guard] if isinstance(guard, str) else guard or ():
                yield path, note.title, text

    def heeded(self) -> Mapping[str, Heeded]:
        """How often each guard asked a person, and how often the agent did it all the same."""
        from hindbrain.learn.lessons.guards import heeded

        return heeded(self._around.state, self.runs.episodes(last=MOST_EPISODES))

    def _learn_on(self, desk: Desk) -> str:
        learned = self._learn(desk)
        counts = (
            (learned.recorded.runs, "run recorded", "runs recorded"),
            (len(learned.lessons.added), "new lesson", "new lessons"),
            (len(learned.templates.added), "new template", "new templates"),
        )
        told = [plural(count, one, many) for count, one, many in counts if count]
        return ", ".join(told) or "nothing new"

    def _summarise_on(self, desk: Desk) -> str:
        from hindbrain.learn.summaries.summaries import Summaries

        summaries = Summaries(desk, self._around.memory(), lambda: self._chat("summaries"), self._log(desk))
        episodes = self._worked()
        written = summaries.bring_up_to_date(episodes, self._lesson_book(desk).lessons())
        return f"{plural(written, 'section')} written" if written else "none is due"

    def keep_skill(self, proposal: Proposal, approved: str) -> str:
        """Write the note of a skill that its owner ticked in the inbox."""
        from hindbrain.learn.skills.writing import SkillKeeper

        return SkillKeeper(self._desk).keep(proposal, approved)

    def purge(self, runs: Callable[[str], bool], notes: Callable[[str], bool]) -> int:
        """Take out of journals and summaries what they hold; returns of how many."""
        from hindbrain.learn.runs.purging import purge_runs
        from hindbrain.learn.summaries.summaries import take_from_summaries

        around = self._around
        return purge_runs(around.root, around.state, around.writer(), runs) + take_from_summaries(
            self._desk, notes
        )

    def _worked(self) -> list[Episode]:
        """The runs in which something was to be done: "thanks!", "ok" and "remind me to ..." are none."""
        from hindbrain.context.flush.reminders import is_only_reminder
        from hindbrain.learn.importing.prompts import asks_for_nothing

        episodes = self.runs.episodes(last=MOST_EPISODES)
        worked = [one for one in episodes if one.actions or not asks_for_nothing(one.command)]
        return [one for one in worked if not is_only_reminder(one.command)]

    # What the verbs are made of

    @cached_property
    def _desk(self) -> Desk:
        from hindbrain.learn.pages.desk import Desk
        from hindbrain.memory.notes.own_lines import OwnLines

        memory = self._around.memory()
        own = OwnLines(self._around.root, self._append)
        return Desk(self._around.root, memory.notebook, memory.layout, own, memory.today)

    @cached_property
    def _fitting(self) -> Fitting:
        from hindbrain.learn.fitting import Fitting

        return Fitting(self._desk, self._around.embedder, self._known, self._around.relevance)

    def _known(self) -> Known:
        from hindbrain.learn.fitting import Known, read_entries

        problems: list[str] = []
        noted = self._read(lambda: self._lesson_book(self._desk).noted(), problems)
        book = self._template_book(self._desk)
        templates = self._read(book.templates, problems)
        skills = self.skills()
        told = {
            role: read_entries(self._desk, role, problems) for role in ("issues", "corrections", "task_log")
        }
        return Known(
            [one for one in noted if not one.struck], templates, skills.skills,
            [*told["corrections"], *told["issues"]], told["task_log"],
            (*problems, *book.problems),
        )  # fmt: skip

    def _read(self, read: Callable[[], list[_T]], problems: list[str]) -> list[_T]:
        """What can't be read costs a prompt what it says, and is named."""
        try:
            return read()
        except HindbrainError as error:
            problems.append(str(error))
            return []

    def _lesson_book(self, desk: Desk, episodes: Sequence[Episode] = ()) -> LessonBook:
        from hindbrain.learn.lessons.book import LessonBook, screen_of

        screen = screen_of(self._around.memory().policy)
        return LessonBook(desk, self._log(desk), screen=screen, phrase=self._phrase(desk, episodes))

    def _phrase(self, desk: Desk, episodes: Sequence[Episode]) -> Callable[[Lesson], str] | None:
        """How a model words a lesson; None without one. A dry run spends nothing."""
        from hindbrain.learn.pages.drafts import drafts_on

        if not episodes or drafts_on(desk) is not None or (chat := self._chat("lessons")) is None:
            return None
        from hindbrain.learn.lessons.phrasing import phrase

        by_run = {episode.run: episode for episode in episodes}

        def worded(lesson: Lesson) -> str:
            failed = [by_run[run] for run in lesson.evidence if run in by_run]
            return phrase(lesson, failed, [by_run[run] for run in lesson.worked if run in by_run], chat)

        return worded

    def _template_book(self, desk: Desk) -> TemplateBook:
        from hindbrain.learn.templates.book import TemplateBook

        return TemplateBook(desk, self._log(desk), self._around.memory().policy)

    def _chat(self, purpose: str) -> ChatModel | None:
        from hindbrain.learn.consolidation.budget import BudgetedChat, TokenLedger

        chat, around = self._around.chat(), self._around
        if chat is None or not around.daily_tokens:
            return None
        return BudgetedChat(chat, TokenLedger(around.state, around.clock), around.daily_tokens, purpose)

    def _adjustment(self, memory_id: str) -> float:
        self._adjustments.refresh()
        found = self._adjustments.items.get(memory_id)
        return found.change if found is not None else 0.0

    @cached_property
    def _adjustments(self) -> Adjustments:
        from hindbrain.search.adjustments import Adjustments

        return Adjustments(self._around.state)

    def _log(self, desk: Desk) -> Callable[[str, str], None]:
        """Adds a line to one of our files in the vault; of a dry run it does nothing."""
        from hindbrain.learn.pages.drafts import drafts_on

        return self._append if drafts_on(desk) is None else lambda _name, _line: None

    def _append(self, name: str, line: str) -> None:
        self._around.writer().append_state_line(name, line, undoable=True)
