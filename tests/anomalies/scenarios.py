"""The write paths that fault tests break, each with the vault before it and what may be there after."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.anomalies.oracle import sha

from hindbrain.base.clock import FakeClock
from hindbrain.vault.write import VaultWriter

OLD = b"\xef\xbb\xbf# Plan\r\n\r\n" + b"- an old line\r\n" * 300
NEW = OLD.replace(b"Plan", b"New plan") + b"- a new line\r\n" * 20
OTHERS = {
    "other/crlf.md": b"one\r\ntwo",
    "other/empty.md": b"",
    "other/e\u0301te\u0301.md": b"decomposed name\n",
}


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    path: str  # the file that is touched
    before: bytes | None
    after: bytes | None
    act: Callable[[VaultWriter], object]
    prepare: Callable[[VaultWriter], object] = lambda _: None


@dataclass(frozen=True, slots=True)
class Sandbox:
    root: Path
    state: Path

    def writer(self) -> VaultWriter:
        return VaultWriter(self.root, self.state, FakeClock())

    def read(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None


def _replaced(writer: VaultWriter) -> None:
    writer.replace_note("plan.md", NEW, expected_hash=sha(OLD))


SCENARIOS = [
    Scenario("create", "deep/new/plan.md", None, NEW, lambda w: w.create_note("deep/new/plan.md", NEW)),
    Scenario(
        "replace", "plan.md", OLD, NEW, lambda w: w.replace_note("plan.md", NEW, expected_hash=sha(OLD))
    ),
    Scenario("append", "plan.md", OLD, OLD + b"tail\n", lambda w: w.append_note("plan.md", b"tail\n")),
    Scenario("delete", "plan.md", OLD, None, lambda w: w.delete_note("plan.md", expected_hash=sha(OLD))),
    Scenario("undo", "plan.md", NEW, OLD, lambda w: w.undo(), _replaced),
    Scenario(
        "undo of a delete",
        "plan.md",
        None,
        OLD,
        lambda w: w.undo(),
        lambda w: w.delete_note("plan.md", expected_hash=sha(OLD)),
    ),
    Scenario(
        "undo of a create",
        "fresh.md",
        NEW,
        None,
        lambda w: w.undo(),
        lambda w: w.create_note("fresh.md", NEW),
    ),
    Scenario(
        "state file",
        ".hindbrain/vault-id",
        b"old id",
        b"new id",
        lambda w: w.put_state_file("vault-id", b"new id"),
        lambda w: w.put_state_file("vault-id", b"old id"),
    ),
]


def build(folder: Path, scenario: Scenario) -> Sandbox:
    """A small vault as it is right before the scenario's act."""
    sandbox = Sandbox(folder / "vault", folder / "state")
    sandbox.root.mkdir(parents=True)
    for name, data in {"plan.md": OLD, **OTHERS}.items():
        (sandbox.root / name).parent.mkdir(parents=True, exist_ok=True)
        (sandbox.root / name).write_bytes(data)
    (sandbox.root / "plan.md").chmod(0o640)
    (folder / "outside.md").write_bytes(b"not ours")
    with sandbox.writer() as writer:
        scenario.prepare(writer)
    assert sandbox.read(scenario.path) == scenario.before
    return sandbox
