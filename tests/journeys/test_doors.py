"""The same question gives the same answer at every door: command line, MCP, HTTP service, hook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from journey_doors import CommandLine, Doors, hook

from hindbrain.edge.service.routes import ROUTES

_SECRET = "AKIAIOSFODNN7EXAMPLE"
_NOTES = {
    "Boat.md": "# Boat\n\nThe mast needs varnish.\n\n## Engine\n\nIt starts cold.\nOil it in May.\n",
    "Harbour/Pier.md": "---\ntags: [harbour]\n---\n# Pier\n\nThe boat lies at the pier, mast down.\n",
    "Harbour/Prices.md": "# Prices\n\nA boat with a mast pays 12 a night.\n",
    "Broth.md": "# Broth\n\nChicken broth simmers for three hours.\n",
    # So many that what waits in the inbox, which only its owner's door shows, is not among the first ten.
    **{
        f"Harbour/Berth {number}.md": f"# Berth {number}\n\nA mast of the boat at berth {number}.\n"
        for number in range(12)
    },
}


@pytest.fixture
def doors(hb: CommandLine, machine: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doors]:
    for name, route in ROUTES.items():  # nothing here is about how busy the machine is
        monkeypatch.setitem(ROUTES, name, route._replace(patience_s=60.0))
    for path, text in _NOTES.items():
        (hb.root / path).parent.mkdir(parents=True, exist_ok=True)
        (hb.root / path).write_text(text, encoding="utf-8")
    hb("init", "--layout", "obsidian")
    hb("sync")
    hb("remember", "The boat is moored at Pier 4")
    hb("remember", "I prefer tabs in Go code", "--category", "preference")
    hb("remember", "A stranger says the boat is for sale", "--source", "web")  # waits in the inbox
    hb("task", "add", "Varnish the mast", "--priority", "high", "--project", "boat")
    hb("task", "add", "Buy rope")
    hb("task", "done", "Buy rope")
    made = Doors(hb, machine)
    yield made
    made.close()


Facts = Callable[[Doors], object]


def _hits(answer: Any) -> object:
    """Where each hit stands and what it says, in order; the code of an error."""
    if isinstance(answer, str):
        return answer
    hits = answer.get("hits", answer.get("results"))
    return [
        (hit["path"], hit.get("first_line", hit.get("startLine")), hit.get("text", hit.get("snippet")))
        for hit in hits
    ]


def _recalled(answer: Any) -> object:
    if isinstance(answer, str):
        return answer
    memories = [
        (memory["id"], memory["text"], memory["category"], memory["source"], memory["citation"])
        for memory in answer["memories"]
    ]
    return memories, [(one["path"], one["first_line"], one["text"].split()) for one in answer["passages"]]


def _text(answer: Any) -> object:
    """What was read and from which line; that there is no such note."""
    if isinstance(answer, str) or answer.get("status") == "not_found":
        return answer if isinstance(answer, str) else answer["status"]
    return answer["path"], answer.get("first_line", answer.get("from")), answer["text"].rstrip("\n")


def _tasks(answer: Any) -> object:
    if isinstance(answer, str):
        return answer
    names = ("id", "title", "status", "priority", "project", "details", "line")
    return [[task[name] for name in names] for task in answer["tasks"]]


# Each operation, and how each door is asked for it. Defaults are asked for by saying nothing.
_OPERATIONS: Mapping[str, Mapping[str, Facts]] = {
    "search": {
        "cli": lambda at: _hits(at.cli("search", "mast of the boat")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="mast of the boat")),
    },
    "search for passages": {
        "cli": lambda at: _hits(at.cli("search", "mast of the boat", "--passages")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="mast of the boat", passages=True)),
        "mcp openclaw": lambda at: _hits(at.mcp("memory_search", query="mast of the boat")),
        "http": lambda at: _hits(at.http("search", query="mast of the boat", minScore=0)),
    },
    "search, two hits": {
        "cli": lambda at: _hits(at.cli("search", "mast of the boat", "-k", "2", "--passages")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="mast of the boat", limit=2, passages=True)),
        "mcp openclaw": lambda at: _hits(at.mcp("memory_search", query="mast of the boat", max_results=2)),
        "http": lambda at: _hits(at.http("search", query="mast of the boat", minScore=0, maxResults=2)),
    },
    "search in a folder": {
        "cli": lambda at: _hits(at.cli("search", "mast of the boat", "--folder", "Harbour")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="mast of the boat", directory="Harbour")),
    },
    "search in the agent's folder": {
        "cli": lambda at: _hits(at.cli("search", "boat", "--folder", "Memory")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="boat", directory="Memory")),
    },
    "search in a folder that is not there": {
        "cli": lambda at: _hits(at.cli("search", "boat", "--folder", "Nowhere")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query="boat", directory="Nowhere")),
    },
    "search for nothing": {
        "cli": lambda at: _hits(at.cli("search", " ")),
        "mcp": lambda at: _hits(at.mcp("vault_search", query=" ")),
        "mcp openclaw": lambda at: _hits(at.mcp("memory_search", query=" ")),
        "http": lambda at: _hits(at.http("search", query=" ")),
    },
    "recall": {
        "cli": lambda at: _recalled(at.cli("recall", "where is the boat moored?")),
        "mcp": lambda at: _recalled(at.mcp("recall", topic="where is the boat moored?")),
    },
    "recall, one memory": {
        "cli": lambda at: _recalled(at.cli("recall", "boat and Go code", "-k", "1")),
        "mcp": lambda at: _recalled(at.mcp("recall", topic="boat and Go code", limit=1)),
    },
    "recall, too many": {
        "cli": lambda at: _recalled(at.cli("recall", "boat", "-k", "51")),
        "mcp": lambda at: _recalled(at.mcp("recall", topic="boat", limit=51)),
    },
    "read": {
        "cli": lambda at: _text(at.cli("read", "Boat")),
        "cli note": lambda at: _text(at.cli("note", "read", "Boat")),
        "mcp": lambda at: _text(at.mcp("vault_read", path="Boat")),
        "mcp openclaw": lambda at: _text(at.mcp("memory_get", path="Boat")),
        "mcp file": lambda at: _text(at.mcp("memory_read", file_path="Boat")),
        "http": lambda at: _text(at.http("read", path="Boat")),
    },
    "read a section": {
        "cli": lambda at: _text(at.cli("read", "Boat#Engine")),
        "mcp": lambda at: _text(at.mcp("vault_read", path="Boat", heading="Engine")),
    },
    "read lines": {
        "mcp": lambda at: _text(at.mcp("vault_read", path="Boat", line_start=5, line_end=7)),
        "mcp openclaw": lambda at: _text(at.mcp("memory_get", path="Boat", **{"from": 5, "lines": 3})),
        "http": lambda at: _text(at.http("read", path="Boat", **{"from": 5, "lines": 3})),
    },
    "read a note that is not there": {
        "cli": lambda at: _text(at.cli("read", "Nowhere")),
        "mcp": lambda at: _text(at.mcp("vault_read", path="Nowhere")),
        "mcp openclaw": lambda at: _text(at.mcp("memory_get", path="Nowhere")),
        "http": lambda at: _text(at.http("read", path="Nowhere")),
    },
    "open tasks": {
        "cli": lambda at: _tasks(at.cli("task")),
        "mcp": lambda at: _tasks(at.mcp("task_list")),
    },
    "all tasks": {
        "cli": lambda at: _tasks(at.cli("task", "list", "--status", "all")),
        "mcp": lambda at: _tasks(at.mcp("task_list", status="all")),
    },
    "tasks of a project": {
        "cli": lambda at: _tasks(at.cli("task", "list", "--project", "boat")),
        "mcp": lambda at: _tasks(at.mcp("task_list", project="boat")),
    },
    "context": {
        "cli": lambda at: at.cli("context", "where is the boat moored?")["text"],
        "http": lambda at: at.http("context", session="a", message="where is the boat moored?")["context"],
    },
    "context without a daemon": {
        "cli": lambda at: at.cli("context", "where is the boat moored?", "--keyword")["text"],
        "hook": lambda at: hook(at.hb.root, "user-prompt-submit", prompt="where is the boat moored?"),
    },
    "context of small talk": {
        "cli": lambda at: at.cli("context", "thanks!")["text"],
        "http": lambda at: at.http("context", session="b", message="thanks!")["context"],
        "hook": lambda at: hook(at.hb.root, "user-prompt-submit", prompt="thanks!"),
    },
    "start of a session": {
        "cli": lambda at: _excerpts(at.cli("context", "--preset", "start", "hello")["text"]),
        "hook": lambda at: _excerpts(hook(at.hb.root, "session-start", source="startup")),
    },
    "card": {
        "cli": lambda at: _excerpts(at.cli("context", "--preset", "card", "hello")["text"]),
        "http": lambda at: _excerpts(at.http("card")["text"]),
    },
    "how many notes": {
        "cli": lambda at: at.cli("status")["index"]["notes"],
        "mcp": lambda at: at.mcp("memory_status")["notes"],
        "http": lambda at: at.http("status")["index"]["notes"],
    },
    "remember nothing": {
        "cli": lambda at: at.cli("remember", " "),
        "mcp": lambda at: at.mcp("remember", fact=" "),
        "http": lambda at: at.http("save", text=" "),
    },
    "remember under a category that is none": {
        "cli": lambda at: at.cli("remember", "Ada sails", "--category", "nonsense"),
        "mcp": lambda at: at.mcp("remember", fact="Ada sails", category="nonsense"),
        "http": lambda at: at.http("save", text="Ada sails", category="nonsense"),
    },
    "forget what is not there": {
        "cli": lambda at: at.cli("forget", "m-00000000"),
        "mcp": lambda at: at.mcp("memory_forget", memory_id="m-00000000"),
    },
    "change a task that is not there": {
        "cli": lambda at: at.cli("task", "done", "Fly to the moon"),
        "mcp": lambda at: at.mcp("task_update", title="Fly to the moon", status="done"),
    },
}


def _excerpts(text: str) -> str:
    """A block without the marks that differ from one to the next."""
    return re.sub(r' nonce="\w+"', "", text)


def test_every_door_gives_the_same_answer(doors: Doors) -> None:
    different: dict[str, dict[str, object]] = {}
    for operation, ways in _OPERATIONS.items():
        answers = {door: facts(doors) for door, facts in ways.items()}
        first, *others = answers.values()
        assert len(answers) > 1 and (first or "small talk" in operation), operation
        if any(other != first for other in others):
            different[operation] = answers
    assert not different, json.dumps(different, indent=1, default=str)


def test_what_one_door_stores_every_door_finds_in_the_same_form(doors: Doors) -> None:
    doors.cli("remember", "Ada has a red kayak", "--source", "agent")
    doors.mcp("remember", fact="Ben has a blue kayak")
    doors.mcp("memory_write", content="Cleo has a green kayak")
    doors.http("save", text="Dora has a white kayak")
    for name in ("Ada", "Ben", "Cleo", "Dora"):
        topic = f"which kayak does {name} have?"
        found = _recalled(doors.cli("recall", topic))
        assert found == _recalled(doors.mcp("recall", topic=topic))
        assert name in str(found)
    doors.close()  # what waits is written
    text = (doors.hb.root / "Agent/Memory/fact.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if "kayak" in line]
    forms = {re.sub(r"\^m-\w+|\w+ has a \w+ kayak|\[related::.*?\] ", "", line) for line in lines}
    assert len(lines) == 4 and len(forms) == 1


def test_no_door_stores_a_secret(doors: Doors) -> None:
    written = [
        doors.cli("task", "add", f"Use the key {_SECRET}", "--details", f"it is {_SECRET}"),
        doors.cli("task", "start", "Varnish the mast", "--note", f"with {_SECRET}"),
        doors.mcp("task_create", title=f"Take the key {_SECRET}", details=f"it is {_SECRET}"),
        doors.mcp("task_update", title="Varnish the mast", status="blocked", notes=f"no {_SECRET}"),
        doors.cli("daily", "--add", f"Got the key {_SECRET}"),
        doors.cli("remember", f"The key of the boat is {_SECRET}"),
        doors.mcp("remember", fact=f"The key of the car is {_SECRET}"),
        doors.http("save", text=f"The key of the house is {_SECRET}"),
    ]
    assert all(answer.get("removed") or answer.get("reasons") for answer in written)
    doors.close()
    for note in doors.hb.root.rglob("*.md"):
        assert _SECRET not in note.read_text(encoding="utf-8"), note


def test_what_waits_in_the_inbox_is_found_by_its_owner_alone(doors: Doors) -> None:
    words = "a stranger says the boat is for sale"
    assert "stranger" in str(doors.cli("search", words))
    agents = [
        doors.mcp("vault_search", query=words),
        doors.mcp("memory_search", query=words),
        doors.mcp("recall", topic=words),
        doors.http("search", query=words, minScore=0),
        doors.http("context", session="d", message=words)["context"].partition("nonce")[2],
        hook(doors.hb.root, "user-prompt-submit", prompt=words).partition("nonce")[2],
    ]
    assert not any("stranger" in str(answer) for answer in agents)


@pytest.mark.parametrize("door", ["cli", "mcp"])
def test_what_one_door_forgets_no_door_finds(doors: Doors, door: str) -> None:
    (memory, *_) = doors.cli("recall", "where is the boat moored?")["memories"]
    if door == "cli":
        doors.cli("forget", memory["id"])
    else:
        doors.mcp("memory_forget", memory_id=memory["id"])
    for found in (doors.cli("recall", "Pier 4"), doors.mcp("recall", topic="Pier 4")):
        assert memory["id"] not in str(found)
    assert "Pier 4" not in str(doors.http("context", session="c", message="where is the boat moored?"))
    assert "Pier 4" not in hook(doors.hb.root, "user-prompt-submit", prompt="where is the boat moored?")


def test_one_hit_a_note_at_each_door_and_passages_on_request(doors: Doors) -> None:
    text = "\n\n".join(
        f"## Part {n}\n\nThe rudder of the boat, part {n}. {'More of it. ' * 60}" for n in range(4)
    )
    (doors.hb.root / "Rudder.md").write_text(f"# Rudder\n\n{text}\n", encoding="utf-8")
    doors.cli("sync")
    for found, more in (
        (doors.cli("search", "rudder parts"), doors.cli("search", "rudder parts", "--passages")),
        (
            doors.mcp("vault_search", query="rudder parts"),
            doors.mcp("vault_search", query="rudder parts", passages=True),
        ),
    ):
        paths = [hit["path"] for hit in found["hits"]]
        assert paths[0] == "Rudder.md" and len(paths) == len(set(paths))
        passages = [hit["path"] for hit in more["hits"]]
        assert passages.count("Rudder.md") > 1
        assert found["hits"][0]["more"] > 1
