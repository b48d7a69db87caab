"""One journey with every verb, in every layout: each verb has its effect, and nothing crashes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from example_files import example_files
from journey_doors import CommandLine, hook

from hindbrain.app import App
from hindbrain.models.chat_fake import ScriptedChat, calls
from hindbrain.vault.layout import LAYOUTS
from workbench import person_says

_OWN = {
    "Boat.md": b"# Boat\r\n\r\nThe mast needs varnish before June.\r\n",
    "People/Ada.md": b"---\naliases: [Ada Lovelace]\n---\n# Ada\n\nSails with me on Sundays. [[Boat]]",
}
_MINIMAL = '[roles]\nmemory = "Facts/{category}.md"\ndaily = "Log/{date}.md"\ninbox = "To decide.md"\n'
_SITES = ("github.com", "example.org", "python.org", "gitlab.com", "debian.org")
_COMMAND = "open kernel.org in Chrome"

Notes = Mapping[str, bytes]


class Journey:
    """A vault on its way through all verbs."""

    skill_place = "Skills/Bowline.md"  # for one that its owner writes

    def __init__(self, hb: CommandLine, machine: Path, own: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hb = hb
        self.machine = machine
        self.own = own
        self.monkeypatch = monkeypatch
        for path, data in own.items():
            self.write(path, data)

    def write(self, path: str, data: bytes) -> None:
        file = self.hb.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def text(self, path: str) -> str:
        return (self.hb.root / path).read_text(encoding="utf-8")

    def travel(self) -> None:
        for verb in (
            self.sync, self.remember, self.inbox, self.skill, self.task, self.daily, self.prompt,
            self.session, self.context, self.run, self.learn, self.consolidate, self.undo, self.forget,
            self.health,
        ):  # fmt: skip
            verb()
        for path, data in self.own.items():
            assert (self.hb.root / path).read_bytes() == data, path
        for log in (self.machine / "state").rglob("*.log"):
            assert "Traceback" not in log.read_text(encoding="utf-8"), log

    # The verbs, in the order of the journey

    def sync(self) -> None:
        notes = [path for path in self.hb.root.rglob("*.md") if ".hindbrain" not in path.parts]
        assert self.hb.data("sync")["indexed"] == len(notes)

    def remember(self) -> None:
        kept = self.hb.data("remember", "The boat is moored at Pier 4")
        liked = self.hb.data("remember", "I prefer tabs in Go code", "--category", "preference")
        self.fact = str(kept["id"])
        for one, words in ((kept, "moored at Pier 4"), (liked, "tabs in Go code")):
            assert words in self.text(one["path"]) and one["id"] in self.text(one["path"])
        assert "The boat is moored at Pier 4" in self.recalled("where is the boat moored?")
        assert "I prefer tabs in Go code" in self.recalled("tabs or spaces in Go code?")

    def inbox(self) -> None:
        """What a web page said waits for its owner, and is known from then on."""
        held = self.hb.data("remember", "The harbour master is called Noor", "--source", "web")
        assert held["action"] == "held"
        assert not any("Noor" in text for text in self.recalled("what is the harbour master called?"))
        (waiting,) = self.hb.data("inbox")["waiting"]
        person_says(self.monkeypatch, "y")
        self.hb("inbox", "accept", waiting["id"])
        assert "The harbour master is called Noor" in self.recalled("what is the harbour master called?")

    def skill(self) -> None:
        text = "---\nname: Bowline\ndescription: Tie a bowline knot\n---\n# Bowline\n\n1. Make a loop.\n"
        self.write(self.skill_place, text.encode())
        assert [skill["name"] for skill in self.hb.data("skills")["skills"]] == ["Bowline"]
        assert "Make a loop" in self.hb("context", "--preset", "agent", "tie a bowline knot").out

    def task(self) -> None:
        (task,) = self.hb.data("task", "add", "Varnish the mast", "--priority", "high")["tasks"]
        self.hb("task", "add", "Buy rope")
        assert "Varnish the mast" in self.text(task["path"])
        self.hb("task", "done", "Buy rope")
        tasks = self.hb.data("task", "list", "--status", "all")["tasks"]
        status = {one["title"]: one["status"] for one in tasks}
        assert (status["Varnish the mast"], status["Buy rope"]) == ("todo", "done")

    def daily(self) -> None:
        note = self.hb.data("daily", "--add", "Rowed to the island")
        assert "Rowed to the island" in self.text(note["path"]) and note["date"] in note["path"]
        assert "Rowed to the island" in self.hb("daily").out

    def prompt(self) -> None:
        assert "Pier 4" in hook(self.hb.root, "user-prompt-submit", prompt="where is the boat moored?")
        assert not hook(self.hb.root, "user-prompt-submit", prompt="thanks!")

    def session(self) -> None:
        text = hook(self.hb.root, "session-start", source="startup")
        assert "tabs in Go code" in text and "Varnish the mast" in text

    def context(self) -> None:
        assert "Pier 4" in self.hb("context", "where is the boat moored?").out
        (hit, *_) = self.hb.data("search", "boat moored at Pier 4")["hits"]
        assert "Pier 4" in self.hb.data("read", hit["path"])["text"]

    def run(self) -> None:
        work = self.machine / "work"
        work.mkdir()
        (work / "rope.txt").write_text("12 m", encoding="utf-8")
        self.monkeypatch.chdir(work)
        chat = ScriptedChat([calls("read_file", path="rope.txt"), "The rope has 12 m.\nTASK_COMPLETE"])
        with self.monkeypatch.context() as patched:
            patched.setattr(App, "chat", chat, raising=False)
            done = self.hb.data("run", "how long is the rope on the boat at the pier?", "--unattended")
        assert (done["end"], done["answer"]) == ("complete", "The rope has 12 m.")
        assert "Pier 4" in "".join(message.text for message in chat.asked[0].messages)
        (run,) = self.hb.data("runs", "list")["runs"]
        assert run["outcome"] == "success"

    def learn(self) -> None:
        log = self.machine / "runs.jsonl"
        log.write_text(
            "".join(json.dumps(event) + "\n" for number in range(10) for event in _run(number)),
            encoding="utf-8",
        )
        assert self.hb.data("runs", "import", str(log))["runs"] == 10
        learned = self.hb.data("learn")
        assert learned["lessons"]["added"] and learned["templates"]["added"] and not learned["problems"]
        assert self.hb.data("learn")["lessons"]["added"] == []
        found = self.hb.data("lessons")["lessons"]
        assert any("click(URL bar)" in lesson["text"] for lesson in found)
        assert not any("Score" in lesson["text"] for lesson in found)
        (template,) = [one for one in self.hb.data("templates")["templates"] if "Chrome" in one["title"]]
        self.hb("sync")
        assert template["path"] in {hit["path"] for hit in self.hb.data("search", template["title"])["hits"]}
        for verb in ("lessons", "templates"):
            assert self.hb.data(verb, _COMMAND)["fitting"], verb
        pack = self.hb("context", "--preset", "agent", _COMMAND).out
        assert "<avoid_mistakes>" in pack and "<task_template" in pack
        assert self.hb.data("stats")["runs"]["runs"] == 11

    def consolidate(self) -> None:
        day = (date.today() - timedelta(days=45)).isoformat()
        path = self.hb.data("daily", day)["path"]
        text = "# A day\n\n## Events\n\n- 09:00 Decision: the boat gets a red sail #important\n"
        self.write(path, text.encode())
        self.hb("consolidate")
        assert (self.hb.root / path).read_text(encoding="utf-8") == text  # its owner wrote it: it stays
        assert any("red sail" in memory for memory in self.recalled("which sail does the boat get?"))

    def undo(self) -> None:
        """What was remembered and taken back is not there; what was there before is."""
        before = self.files()
        kept = self.hb.data("remember", "The anchor weighs nine kilos")
        assert "anchor" in self.text(kept["path"])
        self.hb("undo")
        assert self.files() == before
        assert not any("anchor" in text for text in self.recalled("how heavy is the anchor?"))

    def forget(self) -> None:
        self.hb("forget", self.fact)
        assert not any("Pier 4" in text for text in self.recalled("where is the boat moored?"))
        assert "Pier 4" not in self.hb("context", "where is the boat moored?").out

    def health(self) -> None:
        state = self.hb.data("status")
        assert state["index"]["notes"] and state["vault"]["path"] == str(self.hb.root)
        assert self.hb.data("doctor")["healthy"]

    # What the verbs look at

    def recalled(self, topic: str) -> list[str]:
        return [memory["text"] for memory in self.hb.data("recall", topic)["memories"]]

    def files(self) -> dict[str, bytes]:
        found = (path for path in self.hb.root.rglob("*.md") if ".hindbrain" not in path.parts)
        return {path.relative_to(self.hb.root).as_posix(): path.read_bytes() for path in found}


def _run(number: int) -> list[dict[str, Any]]:
    """Clicking on the URL bar fails five times; the key does it five times."""
    well, site = number >= 5, _SITES[number % 5]
    run, at = f"r-{number:04}", time.time() - (20 - number) * 3_600
    steps: list[tuple[str, dict[str, Any]]] = [("open_application", {"name": "Chrome"})]
    steps += [("press_key", {"key": "l", "command": True})] if well else [("click", {"target": "URL bar"})]
    steps += [("type_text", {"text": site}), ("press_key", {"key": "return"})]
    events: list[dict[str, Any]] = [
        {"type": "run.created", "at": at, "command": f"open {site} in Chrome", "app": "Chrome"}
    ]
    for step, (name, arguments) in enumerate(steps, start=1):
        ok = name != "click"
        events.append({"type": "iteration.start", "at": at + step, "number": step})
        said = {} if ok else {"ok": False, "said": "the URL bar was not found"}
        events.append(
            {"type": "tool.executed", "at": at + step, "name": name, "arguments": arguments, **said}
        )
    end = {"score": 95} if well else {"score": 10, "reason": "the URL bar was not found"}
    events.append({"type": "run.complete" if well else "run.fail", "at": at + 9, **end})
    return [{"v": 1, "run": run, **event} for event in events]


def _skill_place(layout: str) -> str:
    return "skills/bowline/SKILL.md" if layout == "openclaw" else "Skills/Bowline.md"


@pytest.fixture
def journey(hb: CommandLine, machine: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Notes], Journey]:
    return lambda own: Journey(hb, machine, own, monkeypatch)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_a_new_vault_of_each_layout(journey: Callable[[Notes], Journey], layout: str) -> None:
    travel = journey({})
    made = travel.hb.data("init", "--layout", layout)
    assert made["layout"]["name"] == layout and made["created"]
    travel.skill_place = f"{made['layout']['folder']}/{_skill_place(layout)}".lstrip("/")
    travel.travel()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_a_vault_with_notes_whose_agent_has_a_folder(
    journey: Callable[[Notes], Journey], layout: str
) -> None:
    travel = journey(_OWN)
    travel.hb("init", "--layout", layout, "--folder", "Machines/Agent")
    travel.skill_place = f"Machines/Agent/{_skill_place(layout)}"
    travel.travel()
    ours = [path for path in travel.files() if path not in _OWN]
    assert ours and all(path.startswith("Machines/Agent/") for path in ours)


def test_in_a_minimal_layout_that_its_owner_wrote(journey: Callable[[Notes], Journey], machine: Path) -> None:
    travel = journey(_OWN)
    (machine / "mine.toml").write_text(_MINIMAL, encoding="utf-8")
    travel.hb("init", "--layout", str(machine / "mine.toml"))
    travel.skill_place = "Agent/Skills/Bowline.md"
    travel.travel()


def test_in_a_folder_that_was_never_set_up(journey: Callable[[Notes], Journey]) -> None:
    travel = journey(_OWN)
    travel.skill_place = "Agent/Skills/Bowline.md"
    travel.travel()


# The example files of the reference documents, at the places that the documents give them.
_EXAMPLE_PLACES: Mapping[str, Mapping[str, str]] = {
    "openclaw": {
        "memory": "memory/MEMORY.md",
        "soul": "memory/SOUL.md",
        "profile": "memory/USER.md",
        "daily": "memory/daily/2025-01-16.md",
        "task_log": "learning/task-log.md",
        "app": "learning/apps/Google Chrome.md",
        "template": "learning/templates/send-email.md",
        "failures": "learning/issues.md",
    },
    "brain": {
        "memory": "knowledge/memory/fact.md",
        "soul": "identity/SOUL.md",
        "profile": "identity/user-profile.md",
        "daily": "context/daily/2025-01-16.md",
        "task_log": "tasks/task-log.md",
        "app": "knowledge/apps/Google Chrome.md",
        "template": "tasks/task-templates/send-email.md",
        "recent": "context/recent-actions.md",
        "failures": "learning/failures.md",
    },
    "obsidian": {
        "memory": "Memory/fact.md",
        "soul": "SOUL.md",
        "profile": "User Profile.md",
        "daily": "Daily/2025-01-16.md",
        "task_log": "Learning/Task Log.md",
        "app": "Apps/Google Chrome.md",
        "template": "Learning/Templates/Send Email.md",
        "recent": "Learning/Recent Actions.md",
        "failures": "Known Issues.md",
        "core": "MEMORY.md",
    },
}


@pytest.mark.parametrize("layout", _EXAMPLE_PLACES)
def test_with_the_example_files_of_the_reference_documents(
    journey: Callable[[Notes], Journey], shared_data: Path, layout: str
) -> None:
    texts = example_files(shared_data)
    travel = journey({})
    places = _EXAMPLE_PLACES[layout]
    for name, path in places.items():
        travel.write(path, texts[name].encode())
    # An OpenClaw folder is recognised; in the others the whole vault is the agent's.
    travel.hb("init", "--layout", layout, *([] if layout == "openclaw" else ["--folder", ""]))
    travel.skill_place = _skill_place(layout)
    travel.travel()
    hb = travel.hb
    assert not any("/100" in lesson["text"] for lesson in hb.data("lessons", "--all")["lessons"])
    assert any(
        "Send Email" in str(fit) for fit in hb.data("templates", "compose an email to John")["fitting"]
    )
    pack = hb("context", "--preset", "agent", "open example.org in Google Chrome").out
    assert "Cmd+L focuses the URL bar reliably" in pack
    assert "Alex" in hook(hb.root, "session-start", source="startup")
    assert any("Slack preferred" in text for text in travel.recalled("What does Sarah from DevOps prefer?"))
    assert "retry logic" in hb("search", "refactored error handling, added retry logic").out
    files = travel.files()
    for name in places:
        lines = {line.strip() for line in texts[name].splitlines()}
        kept = {line.strip() for text in files.values() for line in text.decode().splitlines()}
        assert not lines - kept, name
