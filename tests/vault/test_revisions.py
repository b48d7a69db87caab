import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import NoteChanged, NotFound, VaultError
from hindbrain.base.passed_time import passed_time
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.write import VaultWriter

DAY_S = 86_400


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def writer(tmp_path, clock):
    (tmp_path / "vault").mkdir()
    with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
        yield writer


def pass_days(state: Path, clock: FakeClock, days: int) -> None:
    """Let days pass with a look at the clock on each."""
    for _ in range(days):
        clock.advance(DAY_S)
        passed_time(state, clock)


def test_history_is_newest_first_and_can_be_asked_for_one_note(writer):
    first = writer.create_note("a.md", b"1")
    writer.create_note("b.md", b"2")
    third = writer.replace_note("a.md", b"3", expected_hash=first.hash)
    assert [each.path for each in writer.history()] == ["a.md", "b.md", "a.md"]
    assert [each.id for each in writer.history("a.md")] == [third.revision_id, first.revision_id]
    assert [(each.op, each.before_hash, each.size) for each in writer.history(limit=1)] == [
        ("replace", content_hash(b"1"), 1)
    ]


def test_undo_refuses_when_the_note_changed_since_and_force_keeps_the_present_text(writer, tmp_path):
    created = writer.create_note("a.md", b"one")
    writer.replace_note("a.md", b"two", expected_hash=created.hash)
    (tmp_path / "vault" / "a.md").write_bytes(b"typed by a person")
    with pytest.raises(NoteChanged) as raised:
        writer.undo()
    assert raised.value.current_hash == content_hash(b"typed by a person")
    undone = writer.undo(force=True)
    assert (tmp_path / "vault" / "a.md").read_bytes() == b"one"
    writer.undo(undone.revision_id)
    assert (tmp_path / "vault" / "a.md").read_bytes() == b"typed by a person"


def test_undoing_an_undo_does_it_again(writer, tmp_path):
    created = writer.create_note("a.md", b"one")
    writer.replace_note("a.md", b"two", expected_hash=created.hash)
    writer.undo()
    writer.undo()
    assert (tmp_path / "vault" / "a.md").read_bytes() == b"two"


def test_undo_of_nothing_or_of_an_unknown_id_is_not_found(writer):
    with pytest.raises(NotFound):
        writer.undo()
    with pytest.raises(NotFound):
        writer.undo("20260101-000000-00000000")


def test_a_torn_last_line_of_the_log_is_passed_over(writer, tmp_path):
    writer.create_note("a.md", b"one")
    log = tmp_path / "state" / "revisions" / "log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"id":"2026')
    writer.create_note("b.md", b"two")
    assert [each.path for each in writer.history()] == ["b.md", "a.md"]


def test_a_damaged_revision_is_refused_and_the_note_left_alone(writer, tmp_path):
    created = writer.create_note("a.md", b"one")
    writer.replace_note("a.md", b"two", expected_hash=created.hash)
    (tmp_path / "state" / "revisions" / "blobs" / content_hash(b"one")).write_bytes(b"rot")
    with pytest.raises(VaultError):
        writer.undo()
    assert (tmp_path / "vault" / "a.md").read_bytes() == b"two"


def test_revisions_older_than_thirty_days_are_forgotten_and_what_newer_ones_need_is_kept(
    writer, clock, tmp_path
):
    first = writer.create_note("a.md", b"one")
    second = writer.replace_note("a.md", b"two", expected_hash=first.hash)
    pass_days(tmp_path / "state", clock, 20)
    third = writer.replace_note("a.md", b"three", expected_hash=second.hash)
    pass_days(tmp_path / "state", clock, 20)
    assert len(writer.history()) == 3
    other = writer.create_note("b.md", b"the first change of a day forgets what is old")
    assert [each.id for each in writer.history()] == [other.revision_id, third.revision_id]
    assert writer.kept(content_hash(b"one")) is None
    assert writer.kept(content_hash(b"two")) == b"two"
    assert writer.undo(third.revision_id).hash == content_hash(b"two")


PATHS = st.sampled_from(["a.md", "b.md", "folder/c.md"])
# The writer refuses to append to UTF-16: its bytes would not be the note's.
NOT_UTF16 = st.binary(max_size=40).filter(lambda data: not data.startswith((b"\xff\xfe", b"\xfe\xff")))
STEPS = st.lists(
    st.tuples(PATHS, st.sampled_from(["write", "append", "delete"]), NOT_UTF16),
    min_size=1,
    max_size=8,
)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def step(writer: VaultWriter, root: Path, path: str, op: str, data: bytes) -> str:
    """One change; returns its revision, or "" when nothing changed."""
    there = root / path
    current = content_hash(there.read_bytes()) if there.exists() else ""
    if op == "append":
        return writer.append_note(path, data).revision_id
    if op == "write":
        return writer.replace_note(path, data, expected_hash=current).revision_id
    return writer.delete_note(path, expected_hash=current).revision_id if current else ""


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_undoing_all_changes_backwards_passes_through_every_earlier_vault(steps):
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        root = Path(folder) / "vault"
        root.mkdir()
        with VaultWriter(root, Path(folder) / "state", FakeClock()) as writer:
            done = []
            for path, op, data in steps:
                before = contents(root)
                revision = step(writer, root, path, op, data)
                if revision:
                    done.append((revision, before))
            for revision, before in reversed(done):
                writer.undo(revision)
                assert contents(root) == before


def without(word: bytes):
    def change(data: bytes) -> bytes | None:
        if b"both " + word in data:
            return None
        return b"".join(line for line in data.splitlines(keepends=True) if word not in line)

    return change


def test_kept_bytes_are_rewritten_as_if_a_line_had_never_been(tmp_path):
    root, state = tmp_path / "vault", tmp_path / "state"
    root.mkdir()
    writer = VaultWriter(root, state, FakeClock(0.0))
    one = writer.create_note("a.md", b"one\n")
    two = writer.replace_note("a.md", b"one\nsecret\n", expected_hash=one.hash)
    three = writer.replace_note("a.md", b"one\nsecret\nthree\n", expected_hash=two.hash)
    writer.replace_note("a.md", b"one\nthree\n", expected_hash=three.hash)
    assert writer.rewrite_revisions(without(b"secret")) == 2
    assert {revision.id for revision in writer.history()} == {one.revision_id, three.revision_id}
    assert not any(b"secret" in data for data in writer.all_kept())
    writer.undo(three.revision_id)
    assert (root / "a.md").read_bytes() == b"one\n"
    assert writer.rewrite_revisions(without(b"secret")) == 0


def test_undoing_what_was_dropped_says_so_and_changes_nothing(tmp_path):
    root, state = tmp_path / "vault", tmp_path / "state"
    root.mkdir()
    writer = VaultWriter(root, state, FakeClock(0.0))
    one = writer.create_note("a.md", b"both secret\n")
    two = writer.replace_note("a.md", b"plain\n", expected_hash=one.hash)
    writer.rewrite_revisions(without(b"secret"))
    with pytest.raises(NotFound):
        writer.undo(two.revision_id)
    assert (root / "a.md").read_bytes() == b"plain\n"
    assert one.hash not in (state / "revisions" / "log.jsonl").read_text(encoding="utf-8")


@pytest.mark.promise("P9")
@pytest.mark.parametrize("jump_days", [40, 4_000, -40, -20_000])
def test_one_command_under_a_wrong_clock_forgets_no_revision(tmp_path: Path, jump_days: int) -> None:
    (tmp_path / "vault").mkdir()
    clock = FakeClock(1_800_000_000.0)

    def command(name: str) -> None:
        with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
            writer.create_note(f"{name}.md", name.encode())

    for day in range(5):
        command(f"day {day}")
        clock.advance(86_400)
    clock.advance(jump_days * 86_400)
    command("wrong")
    clock.advance(-jump_days * 86_400)
    for day in range(5, 10):
        command(f"day {day}")
        clock.advance(86_400)
    with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
        assert len(writer.history(limit=None)) == 11
        for revision in writer.history(limit=None):
            writer.undo(revision.id)
    assert not list((tmp_path / "vault").rglob("*.md"))


@pytest.mark.promise("P9")
def test_revisions_are_forgotten_a_week_after_a_month_of_use(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    clock = FakeClock(1_800_000_000.0)
    for day in range(60):
        with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
            writer.create_note(f"{day}.md", b"x%d" % day)
        clock.advance(86_500)
    with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
        assert 37 <= len(writer.history(limit=None)) <= 40
