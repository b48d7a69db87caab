"""A person's save at every single call of a write of ours, one instant after the other (P4).

The races of `test_editor_races` hit the narrow instants by chance; here none is left out.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.anomalies import oracle
from tests.anomalies.killer import NEVER, Faults
from tests.anomalies.oracle import sha
from tests.anomalies.scenarios import OLD, Sandbox

from hindbrain.base.errors import HindbrainError
from hindbrain.vault import displaced
from hindbrain.vault.write import VaultWriter

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX calls")
ACTS: dict[str, Callable[[VaultWriter], object]] = {
    "replace": lambda w: w.replace_note("plan.md", b"ours\n", expected_hash=sha(OLD)),
    "append": lambda w: w.append_note("plan.md", b"ours\n"),
    "delete": lambda w: w.delete_note("plan.md", expected_hash=sha(OLD)),
}


@dataclass
class Person:
    """Saves when struck. Where our lease holds the editor back, it saves as soon as we are done."""

    note: Path
    way: str
    saved: list[bytes] = field(default_factory=list)
    waiting: list[bytes] = field(default_factory=list)

    def save(self, *_: object) -> None:
        data = b"typed by a person, save %d\n" % (len(self.saved) + len(self.waiting))
        try:
            self._write(data)
            self.saved.append(data)
        except BlockingIOError:
            self.waiting.append(data)

    def finish(self) -> None:
        for data in self.waiting:
            self._write(data)
            self.saved.append(data)

    def _write(self, data: bytes) -> None:
        if self.way == "rename":
            temp = self.note.with_name("editor~")
            temp.write_bytes(data)
            temp.replace(self.note)
            return
        fd = os.open(self.note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o644)
        os.write(fd, data)
        os.close(fd)


@dataclass
class HoldsOpen(Person):
    """Opens the note at the strike, and writes and closes when we are done, as a slow editor does."""

    fds: list[int] = field(default_factory=list)

    def save(self, *_: object) -> None:
        try:
            self.fds.append(os.open(self.note, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644))
        except BlockingIOError:
            self.waiting.append(b"typed later\n")

    def finish(self) -> None:
        for number, fd in enumerate(self.fds):
            data = b"typed into an open file %d\n" % number
            os.ftruncate(fd, 0)
            os.write(fd, data)
            os.close(fd)
            self.saved.append(data)
        super().finish()


def run(folder: Path, act: str, way: str, at: int | frozenset[int]) -> Faults:
    sandbox = Sandbox(folder / "vault", folder / "state")
    sandbox.root.mkdir(parents=True)
    note = sandbox.root / "plan.md"
    note.write_bytes(OLD)
    person = HoldsOpen(note, way) if way == "hold" else Person(note, way)
    faults = Faults(at, person.save)
    told = "ok"
    with sandbox.writer() as writer:
        try:
            with faults.active():
                ACTS[act](writer)
        except HindbrainError as error:
            told = error.code
        person.finish()
    texts = [path.read_bytes() for path in sandbox.root.iterdir()]
    texts += oracle.kept_blobs(sandbox.state).values()
    if person.saved:
        assert any(person.saved[-1] in text for text in texts), f"lost at {at}: told {told}, {texts!r:.300}"
    assert told in ("ok", "conflict", "not_found", "busy")
    assert act == "delete" or told != "ok" or any(b"ours\n" in text for text in texts), f"I1 at {at}"
    oracle.nothing_is_left_over(sandbox.root, sandbox.state)
    return faults


@pytest.mark.promise("P4")
@pytest.mark.parametrize("leases", [True, False], ids=["leases", "no leases"])
@pytest.mark.parametrize("way", ["truncate", "rename", "hold"])
@pytest.mark.parametrize("act", ACTS)
def test_a_save_at_any_call_of_a_write_is_kept(place, act, way, leases, monkeypatch):
    if not leases:
        monkeypatch.setattr(displaced, "_take_lease", lambda _: None)
    if way == "hold":  # else each of these waits for the patience of the writer to end
        monkeypatch.setattr("hindbrain.vault.write._LONGEST_WAIT_S", 0.0)
    calls = run(place / "count", act, way, NEVER).calls
    for number in range(1, len(calls) + 1):
        run(place / str(number), act, way, number)


@pytest.mark.promise("P4")
@pytest.mark.parametrize("way", ["truncate", "rename"])
def test_two_saves_around_the_exchange_are_both_kept(place, way):
    calls = run(place / "count", "append", way, NEVER).calls
    swap = calls.index("exchange") + 1
    for first in (swap - 1, swap, swap + 1):
        for gap in range(1, 25):
            run(place / f"{first}-{gap}", "append", way, frozenset({first, first + gap}))
