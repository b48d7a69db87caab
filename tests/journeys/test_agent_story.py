"""A month with the agent: it errs, is put right, learns, and needs less and less; without memory it does not.

Everything is real (vault, tools, checks, learning, packs) but the clock and the model. The model is a reader:
it decides by the messages it is given and by nothing else, and takes four seconds for each answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from hindbrain.agent.run import Limits, RunRequest, RunResult
from hindbrain.agent.verify.check import parse_check
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.learn.runs.events import IterationEnded, IterationStarted, RunCreated, RunEnded
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, ToolCall, Watch
from workbench import NOW, Vault

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0
_LAYOUT = '<!doctype html>\n<title>{title}</title>\n<main class="page">{body}</main>\n'
_OLD = "<html><body><table><tr><td><h1>Home</h1></td></tr></table></body></html>\n"
_HABIT = "site/index.html"
_WANTED = '<main class="page">'
_PAGES = {
    "harbour": "The harbour office opens at eight, except on Sundays.",
    "ferry": "The ferry leaves every hour from the north quay.",
    "lighthouse": "The lighthouse can be climbed from May to October.",
    "museum": "The museum shows ropes, charts and a whale's jaw.",
    "market": "The fish market is held on Fridays, before dawn.",
    "library": "The library lends charts to members of the club.",
    "theatre": "The theatre plays on the pier, all summer long.",
}
_OWNER = {
    "Site.md": "# Site\n\nThe site of the town is rebuilt; the pages of the old one go offline in July.\n",
    "Boat.md": "# Boat\n\nThe mast of the boat needs varnish before June.\n",
}


class Reader:
    """Publishes pages. By itself it looks at the page that is there and does likewise, which is plausible.

    What stands in its prompt decides otherwise: a lesson's "do not `...`" and the call that worked instead,
    and the numbered calls of a template, which it follows without looking around first.
    """

    name, calls_tools = "reader", True
    _TOPIC = re.compile(r"page about the (\w+)")
    _STEP = re.compile(r"^\s*\d+\. (\w+)\((.*?)\)", re.MULTILINE)
    _AVOID = re.compile(r"do not `(\w+\([^`]*\))`")
    _WORKED = re.compile(r"; `(\w+)\(([^`{}]+)\)`(?: before `[^`]*`)? worked in")

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        del watch
        if not request.tools:
            return ChatAnswer("I only publish pages.")  # learning wants a sentence: its own rules have one
        self._clock.advance(4)
        messages = request.messages
        prompt = "\n".join(message.text for message in messages if message.role == "system")
        command, *feedback = [message.text for message in messages if message.role == "user"]
        topic = self._TOPIC.search(command)
        assert topic is not None
        done = [call for message in messages for call in message.calls]
        for calls in self._plan(prompt, command, topic[1], _listed(messages)):
            if not set(_shown(calls)) <= set(_shown(done)):
                return _calling(calls, len(done))
        written = sum(call.name == "write_file" for call in done)
        if written > len(feedback):
            return ChatAnswer(f"The page about the {topic[1]} is published.\nTASK_COMPLETE")
        page = _page(topic[1], messages, attempt=written)
        write = ToolCall("", "write_file", {"path": f"site/{topic[1]}.html", "content": page})
        return _calling([write], len(done))

    def _plan(
        self, prompt: str, command: str, topic: str, listed: Mapping[str, Sequence[str]]
    ) -> Iterator[list[ToolCall]]:
        """What it looks at before it writes, an iteration each, as far as it can tell by now."""
        steps = [
            _call(name, re.sub(r"\{\w+\}", topic, path))
            for name, path in self._STEP.findall(prompt)
            if name == "read_file"
        ]
        if steps:
            yield steps  # it knows all that it needs: nothing has to wait for what is found first
            return
        if "new layout" not in command and f"read_file({_HABIT})" not in self._AVOID.findall(prompt):
            yield [_call("list_files")]
            yield [_call("read_file", _HABIT)]
        else:
            worked = self._WORKED.search(prompt)
            if worked is None:
                yield [_call("list_files")]
                other = next(name for name in listed[""] if name not in ("site", "drafts"))
            name, path = worked.groups() if worked else ("list_files", other)
            yield [_call(name, path)]
            if name == "list_files":
                yield [_call("read_file", f"{path}/{listed[path][0]}")]
        yield [_call("read_file", f"drafts/{topic}.md")]


def _listed(messages: Sequence[ChatMessage]) -> dict[str, list[str]]:
    """The names in each folder that was looked into."""
    folders = {call.id: call.arguments.get("path", "") for message in messages for call in message.calls}
    return {
        folders[message.call]: [line.split()[0].rstrip("/") for line in message.text.splitlines()]
        for message in messages
        if message.tool == "list_files"
    }


def _call(name: str, path: str = "") -> ToolCall:
    return ToolCall("", name, {"path": path} if path else {})


def _shown(calls: Sequence[ToolCall]) -> list[str]:
    return [f"{call.name} {sorted(call.arguments.items())}" for call in calls]


def _calling(calls: Sequence[ToolCall], done: int) -> ChatAnswer:
    return ChatAnswer(
        calls=tuple(call._replace(id=f"c{done + at}") for at, call in enumerate(calls)), stop="calls"
    )


def _page(topic: str, messages: Sequence[ChatMessage], *, attempt: int) -> str:
    """The draft in the shape of the page that it has read; another title at another attempt."""
    read = [message.text for message in messages if message.role == "tool" and message.tool == "read_file"]
    draft = next(text for text in read if "<" not in text).strip()
    shape = next(text for text in read if "<" in text)
    title = topic.title() + " again" * attempt
    if "{body}" in shape:
        return shape.replace("{title}", title).replace("{body}", draft)
    return re.sub(r"<td>.*</td>", f"<td><h1>{title}</h1>{draft}</td>", shape)


class Told(NamedTuple):
    """One command of the month."""

    day: int  # from 1
    topic: str
    corrects: bool = False  # a minute after the one before, which had failed


_MONTH = (
    Told(1, "harbour"), Told(1, "harbour", corrects=True), Told(1, "ferry"), Told(1, "lighthouse"),
    Told(2, "museum"), Told(3, "market"), Told(4, "library"), Told(30, "theatre"),
)  # fmt: skip
_MUSEUM = 4  # its place in it
_LIMIT = 8  # iterations


class Month:
    """One vault and one agent, through the month."""

    def __init__(self, place: Path, *, preset: str) -> None:
        self.clock = FakeClock(NOW)
        self.place, self.preset = place, preset
        self.vault, self.state, self.work = Vault(place / "notes"), place / "state", place / "work"
        (self.vault.root / ".obsidian").mkdir(parents=True)
        for path, text in _OWNER.items():
            self.vault.write(path, text)
        files = {"site/index.html": _OLD, "style/layout.html": _LAYOUT}
        files |= {f"drafts/{topic}.md": f"{text}\n" for topic, text in _PAGES.items()}
        for path, text in files.items():
            (self.work / path).parent.mkdir(parents=True, exist_ok=True)
            (self.work / path).write_text(text, encoding="utf-8")
        environ = {"HINDBRAIN_STATE_FOLDER": str(self.state), "HINDBRAIN_EMBEDDING_PROVIDER": "builtin"}
        config = load_config(environ, place / "settings" / "config.toml")
        self.app: App = build_app(config, self.vault.root, clock=self.clock)
        self.app.chat = Reader(self.clock)
        self.before = self.untouched()
        self.runs_of_template: list[int] = []  # what its note counted after each run
        self.results = [self._live(told) for told in _MONTH]

    def _live(self, told: Told) -> RunResult:
        morning = NOW + (told.day - 1) * _DAY
        later = _MINUTE if told.corrects else _HOUR
        self.clock.advance(max(morning, self.clock.now() + later) - self.clock.now())
        self.app.sync()
        page = f"site/{told.topic}.html"
        request = RunRequest(
            f"publish the page about the {told.topic}" + " in the new layout" * told.corrects,
            checks=(parse_check(f"file: {page}"), parse_check(f"text: {page}: {_WANTED}")),
            limits=Limits(iterations=_LIMIT),
            preset=self.preset,
            workspace=str(self.work),
            allowed=("write_file",),
        )
        result = self.app.agent.run(request)
        self.runs_of_template.append(sum(template.runs for template in self.app.learning.templates()))
        return result

    def untouched(self) -> dict[str, bytes]:
        """All files but those that the agent is there to write: its notes, its state, the site."""
        own = (self.vault.root / "Agent", self.vault.root / ".hindbrain", self.state, self.work / "site")
        files = (path for path in self.place.parent.rglob("*") if path.is_file())
        return {
            path.relative_to(self.place.parent).as_posix(): path.read_bytes()
            for path in files
            if not any(path.is_relative_to(folder) for folder in own)
        }

    @property
    def outcomes(self) -> list[tuple[str, int]]:
        return [(result.end, result.iterations) for result in self.results]

    def note(self, path: str) -> str:
        return (self.vault.root / "Agent" / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Month]]:
    """A month with this preset, lived once; from a folder and a home of its own."""
    lived: dict[str, Month] = {}

    def month(preset: str) -> Month:
        if preset not in lived:
            place = tmp_path_factory.mktemp("month")
            for folder in ("here", "home", "month"):
                (place / folder).mkdir()
            patch.chdir(place / "here")
            patch.setenv("HOME", str(place / "home"))
            lived[preset] = Month(place / "month", preset=preset)
        return lived[preset]

    with pytest.MonkeyPatch.context() as patch:
        yield month
        for one in lived.values():
            one.app.close()


LiveMonth = Callable[[str], Month]


def test_with_memory_it_needs_less_and_less_and_without_it_nothing_changes(live: LiveMonth) -> None:
    first_day = [("fail", 8), ("complete", 6), ("fail", 8), ("fail", 8)]  # the second was told how
    assert live("agent").outcomes == [*first_day, *[("complete", 5)] * 3, ("complete", 3)]
    assert live("").outcomes == [*first_day, *[("fail", 8)] * 4]
    assert [result.score for result in live("agent").results] == [50, 100, 50, 50, 100, 100, 100, 100]
    assert all(result.recalled == () for result in live("").results)


def test_three_failures_make_the_lesson_and_three_successes_the_template(live: LiveMonth) -> None:
    month = live("agent")
    learned = [result.learned for result in month.results]
    assert all(one is not None and not one.problems for one in learned)
    assert [len(one.lessons.added) for one in learned if one] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert [len(one.templates.added) for one in learned if one] == [0, 0, 0, 0, 0, 0, 1, 0]
    (lesson,), (template,) = month.app.learning.lessons(), month.app.learning.templates()
    recalled = [result.recalled for result in month.results]
    assert [f"^{lesson.id}" in items for items in recalled] == [False] * 4 + [True] * 4
    assert [template.path in items for items in recalled] == [False] * 7 + [True]
    assert month.runs_of_template == [0, 0, 0, 0, 0, 0, 4, 5]  # its note counts the run that followed it
    assert (lesson.avoid, lesson.prefer) == ("read_file(site/index.html)", "read_file(style/layout.html)")
    assert (lesson.failures, len(lesson.worked)) == (3, 5)


def test_the_pages_are_what_was_asked_for(live: LiveMonth) -> None:
    site = live("agent").work / "site"
    for told in _MONTH[_MUSEUM:]:
        page = (site / f"{told.topic}.html").read_text(encoding="utf-8")
        assert page == _LAYOUT.format(title=told.topic.title(), body=_PAGES[told.topic])


def test_the_vault_tells_its_owner_what_happened_and_what_was_learned(live: LiveMonth) -> None:
    month = live("agent")
    runs = [result.run for result in month.results]
    assert (
        "## 2026-05-16T12:00:00Z\n"
        f'- **Command:** "publish the page about the museum" ^{runs[_MUSEUM]}\n'
        "- **Outcome:** Success (score: 100)\n"
        "- **Result:** The page about the museum is published.\n"
        "- **Iterations:** 5\n"
        "- **Key actions:** list_files(style), read_file(style/layout.html), read_file(drafts/museum.md), "
    ) in month.note("Learning/Task Log.md")
    corrected = month.note("Learning/Corrections.md")
    assert '- **Original:** "publish the page about the harbour" ^' in corrected
    assert '- **Corrected:** "publish the page about the harbour in the new layout"\n' in corrected
    assert "Failed (score: 50), then Success (score: 100)" in corrected
    lessons = month.note("Learning/Lessons.md")
    assert (
        "- For tasks like “publish the page about the {path}”: do not `read_file(site/index.html)` "
        "(in 3 of 3 runs that failed, 0 of 5 that worked); "
        "`read_file(style/layout.html)` worked in 5 of 5; else “"
    ) in lessons
    assert all(f"[[Agent/Learning/Task Log#^{runs[at]}|2026-05-15]]" in lessons for at in (0, 2, 3))
    (template,) = month.app.learning.templates()
    note = (month.vault.root / template.path).read_text(encoding="utf-8")
    assert re.search(r"^# Publish the page about the \{\w+\}$", note, re.MULTILINE)
    assert re.search(r"^\d\. read_file\(style/layout\.html\)", note, re.MULTILINE)
    assert f"- [[Agent/Learning/Task Log#^{runs[_MUSEUM]}]]" in note
    day = month.note("Daily/2026-06-13.md")
    done = "- [12:00] `done` publish the page about the theatre (score: 100)"
    assert f"{done} — The page about the theatre is published. (3 iterations)" in day
    assert "`failed` publish the page about the ferry (score: 50) — " in month.note("Daily/2026-05-15.md")


@pytest.mark.parametrize("preset", ["agent", ""])
def test_every_journal_is_whole_and_no_transcript_is_left(live: LiveMonth, preset: str) -> None:
    month = live(preset)
    for result in month.results:
        events = list(month.app.learning.runs.events(result.run))
        assert (type(events[0]), type(events[-1])) == (RunCreated, RunEnded)
        numbers = list(range(1, result.iterations + 1))
        for kind in (IterationStarted, IterationEnded):
            assert [event.number for event in events if isinstance(event, kind)] == numbers
        assert sorted(events, key=lambda event: event.at) == events
    assert month.app.learning.runs.unfinished() == []
    assert month.app.agent.open_runs() == []
    assert not any(path.is_file() for path in (month.state / "agent" / "runs").rglob("*"))


@pytest.mark.parametrize("preset", ["agent", ""])
def test_nothing_but_its_notes_its_state_and_the_site_was_touched(live: LiveMonth, preset: str) -> None:
    month = live(preset)
    assert month.untouched() == month.before
    for path, text in _OWNER.items():
        assert month.before[f"month/notes/{path}"] == text.encode()
    assert (month.work / "site" / "index.html").read_text(encoding="utf-8") == _OLD
