"""P18: third-party text is never stored as anybody else's word, and our own output is never learned again.

A model of what happens around a memory: pages are clipped and captured, an agent recalls, repeats, rewords
and merges what it read, with every tool that writes text; a person ticks, edits, refuses and moves notes;
what is written is consolidated, recalled and packed. Every statement is made of words that no other one
has, so that the oracle can tell whose it was, whatever became of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError, Refused
from hindbrain.memory.policy.note_trust import source_of
from hindbrain.memory.policy.protected import OWNER_ROLES
from hindbrain.memory.policy.provenance import lowest, trust_rank
from hindbrain.memory.policy.source_marks import sources_in
from hindbrain.memory.service import Memory
from hindbrain.memory.tools import TOOLS
from hindbrain.memory.tools.tool import call
from hindbrain.vault.items.category import CATEGORIES
from workbench import NOW, Vault

_SYLLABLES = tuple(first + second for first in "bdfklm" for second in "aeiou")
_LENGTH = 9  # words of a statement
NOTES = (
    "Projects/Boat.md", "Projects/New.md", "Log.md", "Agent/User Profile.md", "Agent/Current Status.md",
    "Agent/Home.md", "Agent/Active Tasks.md", "Agent/Daily/2026-05-15.md", "Agent/Learning/Lessons.md",
    "Agent/Memory/fact.md", "Reading/page 1.md", "Moved/User Profile.md", "Agent/user profile.md",
)  # fmt: skip
_SHARE = 0.6  # of a statement's runs of five words: whoever repeats so much, repeats it


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.lower().replace(".", "").replace(",", "").split()
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}


@dataclass
class World:
    vault: Vault
    app: App
    chance: random.Random
    said: dict[str, str] = field(default_factory=dict)  # statement -> the least trusted who said it
    clipped: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)  # what our tools said
    stored: int = 0
    written: int = 0  # by tools other than `remember`
    labelled: int = 0  # excerpts of packs that say a less trusted source

    @property
    def memory(self) -> Memory:
        return self.app.memory

    def statement(self) -> str:
        words = ["".join(self.chance.choices(_SYLLABLES, k=4)) for _ in range(_LENGTH)]
        return " ".join(words).capitalize()

    def tool(self, name: str, **args: object) -> None:
        """As an agent calls it; refusals are answers, too."""
        tool = next(tool for tool in TOOLS if tool.name == name)
        try:
            self.answers.append(call(self.memory, tool, args).text)
            self.stored += name == "remember"
            self.written += name.startswith(("vault_", "task_"))
        except HindbrainError as error:
            assert error.code in ("refused", "usage", "not_found", "conflict", "ambiguous"), error
        del self.answers[:-20]

    # What can happen

    def capture(self) -> None:
        text = self.statement()
        source = self.chance.choice(("agent", "tool", "web"))
        self.said[text] = source
        self.tool("remember", fact=text, source=source, category=self.chance.choice(CATEGORIES))

    def type_by_hand(self) -> None:
        text = self.statement()
        self.said[text] = "user"
        self.memory.remember(text, source="user")

    def clip(self) -> None:
        if len(self.clipped) >= 6:  # each one makes the index work
            return
        text = self.statement()
        self.said[text] = "web"
        self.clipped.append(text)
        number = len(self.clipped)
        front = "---\nurl: https://example.org/page\n---\n" if number % 2 else ""
        folder = "Reading" if number % 2 else "Clippings"
        self.vault.write(f"{folder}/page {number}.md", f"{front}# Page {number}\n\n{text}.\n")
        self.memory._around.take_in([f"{folder}/page {number}.md"])  # type: ignore[list-item]

    def repeat(self) -> None:
        """An agent offers what somebody said before as its own."""
        text = self.chance.choice([*self.said, *self.clipped] or ["Nothing was said so far by anyone"])
        self.tool("remember", fact=self.reworded(text), importance=self.chance.choice((0.3, 0.9)))

    def merge(self) -> None:
        """An agent adds words of its own, or corrects a memory with what it read."""
        if not self.said:
            return
        text = self.chance.choice(list(self.said))
        if self.chance.random() < 0.5:
            self.tool("remember", fact=f"{self.reworded(text)} {self.statement().lower()}")
            return
        items = self.memory.book.items()
        if items:
            item = self.chance.choice(items)
            self.tool("memory_update", memory_id=item.id or "m-none", content=text)
            self.overwritten(item.text)

    def overwritten(self, text: str) -> None:
        """What a tool said and nobody keeps any longer can't be known again; a stranger's word still is."""
        held = _runs(text)
        for said in [said for said, source in self.said.items() if source == "tool"]:
            if _runs(said) & held:
                del self.said[said]

    def recall(self) -> None:
        if self.said:
            self.tool("recall", topic=" ".join(self.chance.choice(list(self.said)).split()[:4]))

    def feed_back(self) -> None:
        """What our tools said comes back, as it was or inside a block that a host put into the prompt."""
        if not self.answers:
            return
        answer = self.chance.choice(self.answers)[:3_000]
        form = self.chance.choice(
            ("{}", "<memory>\n{}\n</memory>", '<memory_context query="x">{}</memory_context>')
        )
        self.tool("remember", fact=form.format(answer))

    def offered(self) -> str:
        """What an agent writes: words of its own, or what somebody said before, with or without its own."""
        if not self.said or self.chance.random() < 0.2:
            text = self.statement()
            self.said[text] = "agent"
            return text
        text = self.reworded(self.chance.choice(list(self.said)))
        own = f"{self.statement().lower()}. " if self.chance.random() < 0.3 else ""
        return own + text

    def append(self) -> None:
        form = self.chance.choice(
            ("{}.", "- {}", "- {} [source:: user]", "> {}", "## {}", "- [ ] {}", "`{}`")
        )
        heading = self.chance.choice(("", "", "Notes"))
        path = self.chance.choice(NOTES)
        self.tool("vault_append", path=path, content=form.format(self.offered()), heading=heading)

    def write(self) -> None:
        """A note anew, or one that was read, with more in it or with less."""
        path = self.chance.choice(NOTES)
        page = self.memory.notebook.find(path)
        kept = page.text if page is not None else "---\ntags: [x]\n---\n# Note\n\n## Notes\n"
        if self.chance.random() < 0.3:
            lines = kept.split("\n")
            del lines[self.chance.randrange(len(lines))]
            kept = "\n".join(lines).replace(" [source:: web]", "")
        text = f"{kept.rstrip()}\n\n{self.offered()}.\n"
        self.tool("vault_write", path=path, content=text, hash=page.hash if page is not None else "")

    def tasks(self) -> None:
        if self.chance.random() < 0.6:
            self.tool("task_create", title=self.offered(), details=self.chance.choice(("", self.offered())))
            return
        title = self.chance.choice([task.title for task in self.memory.tasks.list()] or ["none"])
        self.tool("task_update", title=title, status="in_progress", notes=self.offered())

    def move(self) -> None:
        """The owner renames a note or moves it into another folder; what it says of itself goes with it."""
        old = self.chance.choice(("Projects/Boat.md", "Reading/page 1.md", "Agent/User Profile.md"))
        new = self.chance.choice((f"Moved/{old.rpartition('/')[2]}", old))
        for source, target in ((old, new), (f"Moved/{old.rpartition('/')[2]}", old)):
            if (self.vault.root / source).is_file() and not (self.vault.root / target).exists():
                self.vault.rename(source, target)
                self.memory._around.take_in([source, target])  # type: ignore[list-item]
                return

    def consolidate(self) -> None:
        if self.chance.random() < 0.3:  # it reads everything
            self.app.learning.consolidate()

    def pack(self) -> None:
        if not self.said:
            return
        prompt = " ".join(self.chance.choice(list(self.said)).split()[:5])
        for excerpt in self.app.context.pack(prompt, preset=self.chance.choice(("turn", "full"))).excerpts:
            if source := self.stranger(excerpt.text):
                self.labelled += 1
                assert trust_rank(excerpt.source) >= trust_rank(source), (excerpt, source)

    def decide_in_inbox(self) -> None:
        waiting = self.memory.inbox.pending()
        if not waiting:
            return
        proposal = self.chance.choice(waiting)
        match self.chance.randrange(4):
            case 0:
                self.memory.inbox.accept(proposal.id)
            case 1:
                self.memory.inbox.refuse(proposal.id)
            case 2:
                self.memory.inbox.edit(proposal.id, self.reworded(proposal.text))
            case _:
                note = self.vault.root / self.memory.inbox.path
                text = note.read_text(encoding="utf-8")
                note.write_text(
                    text.replace(f"[ ] remember: {proposal.text} ", f"[x] remember: {proposal.text} ")
                    .replace("[source:: web]", self.chance.choice(("[source:: web]", "[source:: user]"))),
                    encoding="utf-8",
                )  # fmt: skip
                self.memory.settle()

    def settle(self) -> None:
        self.memory.settle(idle=True)

    def reworded(self, text: str) -> str:
        words = text.split()
        match self.chance.randrange(4):
            case 0:
                return text
            case 1:
                return text.upper() + "."
            case 2:
                return " ".join(words[:-1])
            case _:
                return f"{text}, they say"

    # What must hold

    def stranger(self, text: str) -> str:
        """Who said most of a statement that stands in the text, where that is no agent; "" for nobody."""
        held = _runs(text)
        found = [
            source
            for said, source in self.said.items()
            if source in ("web", "tool") and len(_runs(said) & held) >= _SHARE * len(_runs(said))
        ]
        return max(found, key=trust_rank, default="")

    def check(self) -> None:
        self.check_memories()
        self.check_notes()

    def check_notes(self) -> None:
        """Outside of clips a stranger's words have their mark; in the owner's notes an agent's, too."""
        for file in self.vault.root.rglob("*.md"):
            path = file.relative_to(self.vault.root).as_posix()
            text = file.read_text(encoding="utf-8")
            whole = source_of(path, text)
            role = self.memory.layout.role_of(path)
            if path == self.memory.inbox.path or role == "memory" or whole == "web":
                continue
            for block in text.split("\n\n"):
                for line in block.split("\n") if re.match(r"[-*#>] ", block) else [block]:
                    told = lowest((whole, *sources_in(line)))
                    if source := self.stranger(line):
                        assert trust_rank(told) >= trust_rank(source), (path, line, source)
                    elif role in OWNER_ROLES:
                        runs = _runs(line)
                        agents = [said for said, by in self.said.items() if by == "agent"]
                        assert told != "user" or not any(_runs(said) & runs for said in agents), (path, line)

    def check_memories(self) -> None:
        doubtful = {text: source for text, source in self.said.items() if source != "user"}
        runs = {text: _runs(text) for text in doubtful}
        for item in [*self.memory.book.items(), *self.memory.pending_items()]:
            held = _runs(item.text)
            for text, source in doubtful.items():
                if len(runs[text] & held) >= _SHARE * len(runs[text]):
                    assert trust_rank(item.source) >= trust_rank(source), (item, text, source)
            assert not any(mark in item.text for mark in ("#^m-", "memories about", "<memory", "hash: ")), (
                item
            )


STEPS: tuple[Callable[[World], None], ...] = (
    World.capture, World.capture, World.type_by_hand, World.clip, World.repeat, World.repeat, World.repeat,
    World.merge, World.recall, World.feed_back, World.decide_in_inbox, World.decide_in_inbox, World.settle,
    World.append, World.append, World.append, World.write, World.write, World.tasks, World.tasks, World.move,
    World.consolidate, World.pack,
)  # fmt: skip


def _live(place: Path, seed: int, steps: int) -> World:
    """In memory where there is some: hundreds of durable writes."""
    vault = Vault(place / "vault")
    vault.write("Welcome.md", "# Welcome\n")
    vault.write("Projects/Boat.md", "# Boat\n\n## Notes\n\nThe dinghy has a red sail.\n")
    vault.write("Agent/User Profile.md", "---\ntype: profile\ntags: [agent]\n---\n# User Profile\n\n- Ada\n")
    environ = {"HINDBRAIN_STATE_FOLDER": str(place / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "builtin"}
    app = build_app(
        load_config(environ, place / "no-config.toml"), vault.root, clock=FakeClock(NOW), warm=True
    )
    app.sync()
    world = World(vault, app, random.Random(seed))
    for number in range(steps):
        world.chance.choice(STEPS)(world)
        if number % 10 == 0:
            world.check()
    world.settle()
    world.check()
    app.close()
    return world


@pytest.mark.promise("P18")
def test_trust_never_rises_and_nothing_of_ours_is_learned_in_500_steps(place: Path) -> None:
    world = _live(place, seed=18, steps=500)
    sources = {item.source for item in world.memory.book.items()}
    assert sources >= {"user", "agent", "tool", "web"}  # it was put to the test
    assert world.written > 50 and world.labelled > 5


@pytest.mark.slow
@pytest.mark.promise("P18")
@pytest.mark.parametrize("seed", range(10))
def test_trust_never_rises_in_10_000_steps(place: Path, seed: int) -> None:
    _live(place, seed=seed, steps=1_000)


@pytest.mark.promise("P18")
def test_a_text_that_waits_in_the_inbox_cannot_be_offered_under_another_name(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    memory = make_app(vault.root).memory
    text = "The Lisbon office opens in May 2027 near the river"
    assert memory.remember(text, source="web").action == "held"
    assert memory.remember(text.upper(), source="agent").source == "web"
    assert memory.book.items() == []


@pytest.mark.promise("P18")
def test_a_sentence_of_a_clipped_note_is_not_the_agents_word(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    vault.write(
        "Clippings/News.md", "# News\n\nThe Lisbon office opens in May 2027 near the river, people say.\n"
    )
    app = make_app(vault.root)
    app.sync()
    answer = app.memory.remember("The Lisbon office opens in May 2027 near the river", source="agent")
    assert (answer.action, answer.source) == ("held", "web")


@pytest.mark.promise("P18")
def test_an_agent_cannot_claim_to_be_the_user(vault: Vault, make_app: Callable[..., App]) -> None:
    memory = make_app(vault.root).memory
    remember = next(tool for tool in TOOLS if tool.name == "remember")
    with pytest.raises(HindbrainError):
        call(memory, remember, {"fact": "Owes me money", "source": "user"})
    assert memory.book.items() == []


@pytest.mark.promise("P18")
def test_what_our_tools_answer_is_never_stored(vault: Vault, make_app: Callable[..., App]) -> None:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n\n## Black\n\n- Boiling water.\n")
    app = make_app(vault.root)
    memory = app.memory
    memory.remember("Prefers tea in the morning", source="user", strategy="immediate")
    app.sync()
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("recall", {"topic": "tea"}), ("recall", {"topic": "zebra"}), ("vault_search", {"query": "tea"}),
        ("memory_search", {"query": "tea"}), ("vault_read", {"path": "Tea.md"}),
        ("vault_read", {"path": "Tea.md", "heading": "Black"}), ("memory_get", {"path": "Tea.md"}),
        ("memory_status", {}), ("task_create", {"title": "Buy tea"}), ("task_list", {}),
        ("task_create", {"title": "buy tea"}),
        ("remember", {"fact": "Likes honey in tea", "importance": 0.9}),
    )  # fmt: skip
    answers = [
        call(memory, next(tool for tool in TOOLS if tool.name == name), args).text for name, args in calls
    ]
    before = memory.book.items()
    for answer in answers:
        with pytest.raises(Refused):
            memory.remember(answer, source="agent")
        with pytest.raises(Refused):
            memory.remember(f"<memory>\n{answer}\n</memory>", source="agent")
    assert memory.book.items() == before
