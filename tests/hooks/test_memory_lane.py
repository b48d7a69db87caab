"""What is remembered reaches the prompt that needs it, through the hooks of a host, and no other prompt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from host_session import Session

from hindbrain.edge.main import main
from hindbrain.vault.items.item import MemoryItem, render_item
from hindbrain.vault.layout import LAYOUTS, load_layout
from workbench import Vault

VET = "The vet is Dr. Okafor on Mill Street"
CAR = "Drives a 2017 Skoda Octavia"
ASKS_VET = "Can you recommend a good vet for my cat's teeth?"


def write_memories(host: Session, texts: Sequence[str], category: str = "fact") -> None:
    """As a note of the layout holds them."""
    path = load_layout(host.vault.root).path("memory", category=category)
    lines = (render_item(MemoryItem(f"m-{at:04d}", text, category)) for at, text in enumerate(texts))
    host.vault.write(path, "\n".join(lines) + "\n")


@pytest.fixture
def host(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
    return session


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_memory_enters_alone_and_once_a_session_in_every_layout(host: Session, layout: str) -> None:
    host.run("init", str(host.vault.root), "--layout", layout)
    for text in (VET, CAR):
        host.run("remember", text)
    got = host.hook("user-prompt-submit", prompt=ASKS_VET, session_id="one")
    assert VET in got and CAR not in got
    assert VET not in host.hook("user-prompt-submit", prompt=ASKS_VET, session_id="one")
    assert VET in host.hook("user-prompt-submit", prompt=ASKS_VET, session_id="another")


def test_a_memory_needs_no_index(host: Session) -> None:
    host.run("init")
    write_memories(host, [VET, CAR])
    assert VET in host.ask(ASKS_VET)


def test_a_session_begins_with_all_that_is_known_about_its_owner(host: Session) -> None:
    host.run("init")
    for text in (VET, CAR, "Decided to stay with SQLite"):
        host.run("remember", text)
    begun = host.start()
    assert VET in begun and CAR in begun and "SQLite" in begun


def test_what_does_not_fit_the_start_is_left_to_the_prompt(host: Session) -> None:
    host.run("init")
    parcels = [f"The parcel number {at} went to the harbour office in Genoa" for at in range(200)]
    write_memories(host, [VET, *parcels])
    assert VET not in host.start()
    assert VET in host.ask(ASKS_VET)


@pytest.mark.promise("P31")
def test_two_of_three_questions_get_the_memory_that_they_need(host: Session, shared_data: Path) -> None:
    draws = json.loads((shared_data / "memory_prefeval_dev.json").read_text("utf-8"))["draws"]
    found = asked = 0
    host.run("init")
    for draw in draws[20:22]:
        write_memories(host, [pair["memory"] for pair in draw], "preference")
        for pair in draw:
            found += pair["memory"] in host.ask(pair["question"])
            asked += 1
        begun = host.start()
        assert all(pair["memory"] in begun for pair in draw)
    assert asked == 40 and found >= 0.65 * asked


@pytest.mark.promise("P32")
def test_a_newcomer_with_twenty_memories_is_not_bothered_by_them(
    host: Session, shared_data: Path, unpacked: Callable[[str], Path]
) -> None:
    """A public vault, 20 memories, and 26 prompts that need nothing: what a first day looks like."""
    (public,) = (place for place in unpacked("vault_obsidian_help").iterdir() if place.is_dir())
    shutil.copytree(public, host.vault.root, dirs_exist_ok=True)
    draw = json.loads((shared_data / "memory_prefeval_dev.json").read_text("utf-8"))["draws"][23]
    host.run("init")
    write_memories(host, [pair["memory"] for pair in draw])
    host.run("sync")
    generic = json.loads((shared_data / "prompts_generic_dev.json").read_text("utf-8"))
    quiet = [*generic["agent_turns"][40:50], *generic["small_talk"][40:46], *generic["coding"][200:210]]
    bothered = [prompt for prompt in quiet if host.ask(prompt)]
    needed = [pair for pair in draw if pair["memory"] in host.ask(pair["question"])]
    assert len(quiet) == 26 and len(bothered) <= 2, bothered
    assert len(needed) >= 0.65 * len(draw)


def test_a_memory_stands_in_its_lane_and_not_among_notes(host: Session, vault: Vault) -> None:
    host.run("init")
    host.run("remember", "The ferry to Texel leaves at 9:40 from pier four")
    vault.write("Trips.md", "# Trips\n\nThe ferry to Texel was late, and pier four was closed.\n")
    host.run("sync")
    got = host.ask("When does the ferry to Texel leave, and from which pier?")
    assert got.count("9:40") == 1 and "was late" in got
    assert "<memories>" in got and got.index("9:40") < got.index("was late")


@pytest.mark.parametrize(
    "asked",
    [
        "Please remember that the vet for my cat's teeth is closed on Mondays.",
        "Merk dir bitte, dass ich mit meiner Katze zum Tierarzt Dr. Okafor in der Mill Street muss.",
    ],
)
def test_a_request_to_remember_gets_neither_memories_nor_notes(
    host: Session, vault: Vault, asked: str
) -> None:
    host.run("init")
    host.run("remember", VET)
    vault.write("Vets.md", "# Vets\n\nDr. Okafor in Mill Street is the vet for the teeth of my cat.\n")
    host.run("sync")
    assert host.ask(asked) == ""
    assert VET in host.ask(f"{asked} Who is the vet for my cat's teeth?")


def test_a_note_of_memories_that_can_not_be_read_is_named(
    host: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    host.run("init")
    write_memories(host, [CAR])
    broken = load_layout(host.vault.root).path("memory", category="contact")
    host.vault.write(broken, f"- {VET}\n".encode("utf-16"))
    capsys.readouterr()
    assert main(["context", "--vault", str(host.vault.root), ASKS_VET, "--json"]) in (0, 1)
    notices = json.loads(capsys.readouterr().out)["pack"]["notices"]
    assert any(broken in notice for notice in notices)
