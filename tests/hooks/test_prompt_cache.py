"""Prompt caches of hosts that keep what a hook adds: a request begins as the one before it did.

Our hook program is asked as Claude Code and Codex ask it, over 24 turns. The host is simulated in what counts
for a cache: it keeps the text of a hook in its history, behind the prompt that it was for. `tests/hosts` asks
the real ones.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.prompt_cache import measure
from host_session import Session

import hindbrain.edge

TALK = (
    ("Good morning! I have some time for the flat and the garden today.", "Good morning. Where do we begin?"),
    ("Which book does the reading group read next?", "The Summer Book, as your note has it."),
    ("And who chose it?", "That stands in the note on the meeting."),
    ("When do I feed the sourdough starter?", "Once a day while it stands outside the fridge."),
    ("How warm should it be for the dough?", "About as warm as a summer room."),
    ("ok, thanks", "Any time."),
    ("What did I order for the balcony?", "The seeds are in the note on the seed order."),
    ("When were the tomatoes to be sown?", "As early as your plan for the balcony says."),
    ("What is to be done about the flat this spring?", "The upkeep note lists it."),
    ("Which plumber did I call last time?", "I see no plumber's name in your notes."),
    ("Write me a two-line reminder to ring the bell man.", "Ring the bell man. Do it before noon."),
    ("What helps my back when I sleep badly?", "Your note names the pillow and the walk."),
    ("How do I write a for loop in Rust?", "for x in xs { f(x); }"),
    ("Where did the bicycle tour of 2025 go?", "Along the river, as the archive says."),
    ("How long was it?", "The days are listed in the same note."),
    ("Who is Tomás Vidal?", "He stands in your notes on people."),
    ("And Ilse Brandt?", "She does, too."),
    ("What was on my mind on the 2nd of March?", "The day's note has it."),
    ("Translate 'good night' into Dutch.", "Goedenacht."),
    ("What did the reading group decide at its meeting?", "The minutes are in the note of that day."),
    ("When do I feed the sourdough starter, again?", "Once a day, as I said."),
    ("What of The Summer Book did I like?", "The island, by your note."),
    ("Which seeds were too expensive?", "The order says which were left out."),
    ("That is all for today.", "Good luck with it."),
)  # fmt: skip
SMALLEST_HOST = 36_000  # characters of system prompt and tools; Codex sends as many, other hosts more


@pytest.fixture
def sample(session: Session) -> Session:
    demo = Path(hindbrain.edge.__file__).parent / "demo_vault"
    shutil.copytree(demo, session.vault.root, dirs_exist_ok=True)
    session.run("init")
    session.run("sync")
    return session


def requests_of(host: Session, *, restarts: tuple[int, ...] = ()) -> list[str]:
    """What a model would be sent in each turn. `restarts`: turns before which the host was started again."""
    one = {"session_id": "one"}
    window = "x" * SMALLEST_HOST + host.hook("session-start", source="startup", **one)
    requests = []
    for number, (prompt, answer) in enumerate(TALK):
        if number in restarts:
            window += host.hook("session-start", source="resume", **one)
        added = host.hook("user-prompt-submit", prompt=prompt, **one)
        window += f"\n<user>{prompt}\n{added}"
        requests.append(window)
        window += f"\n<assistant>{answer}"
    return requests


@pytest.mark.promise("P35")
def test_of_a_request_at_least_96_percent_is_as_in_the_one_before(sample: Session) -> None:
    requests = requests_of(sample, restarts=(8, 16))

    figures = measure([[request] for request in requests])

    assert requests[-1].count("<memory_context") >= 6, "much was injected"
    assert figures["share"] >= 96, figures


@pytest.mark.promise("P35")
def test_what_the_window_holds_is_not_put_into_it_again(sample: Session) -> None:
    last = requests_of(sample, restarts=(8, 16))[-1]

    lines = [line for line in last.splitlines() if line.startswith(" - ") and len(line) > 20]
    assert lines
    assert len(lines) == len(set(lines))
