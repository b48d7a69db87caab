"""P22: a memory that was purged is nowhere any more: not in notes, index, logs, queue or revisions.

The judge reads raw bytes, and what they unpack to. It is shown first that it finds the words where they are.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.anomalies import oracle

from hindbrain.app import App
from hindbrain.base.errors import HindbrainError, NotFound, UsageError
from hindbrain.context.capture.spool import append_event
from hindbrain.context.flush.notes import Kept, write_session_note
from hindbrain.context.flush.tally import Tally
from hindbrain.context.turn import SessionKey
from hindbrain.index.embedding_cache import MEMORY_FILE
from hindbrain.index.store import IndexStore
from hindbrain.memory.forgetting.purge import Purged, unfinished
from hindbrain.memory.inbox.inbox import Proposal
from hindbrain.memory.storage.queue import Waiting
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from hindbrain.models.fake import FakeEncoder
from hindbrain.search.query import SearchQuery
from workbench import NOW, Vault

# Beginnings that no stemmer cuts, in other cases than the texts have.
WORDS = ("quokkalin", "zanzibarit")
FIRST = "Quokkalina keeps the zanzibarite ledger in Lund"
THEN = "Quokkalina keeps the zanzibarite ledger in Oslo, with Bob's cat"
# Where the judge must find them before, or it is blind.
PLACES = (
    "fact.md",
    "Inbox.md",
    "fact (conflict",
    "Else (conflict",
    "queue.jsonl",
    "queue-unreadable.jsonl",
    "usage.jsonl",
    "inbox.jsonl",
    "unpacked",
    "a note's text",
    "terms of passage_fts",
    "queries",
    "sessions/",
    "receipts.jsonl",
    "spool/",
    "flushed/",
    "Agent/Sessions/",
)
MakeApp = Callable[..., App]


@pytest.fixture
def open_app(vault: Vault, make_app: MakeApp) -> Callable[[], App]:
    return lambda: make_app(vault.root)


def use(app: App, name: str, **args: object) -> dict[str, object]:
    return dict(call(app.memory, tool_named(name), args).data)


def traces_in(folder: Path, words: Sequence[str] = WORDS) -> list[str]:
    """Every file below that holds one of the words, as it is or in what it unpacks to."""
    return sorted(
        f"{path.relative_to(folder)}: {kind}"
        for path in folder.rglob("*")
        if path.is_file()
        for kind, data in readings_of(path)
        if any(word.encode() in data.lower() for word in words)
    )


def readings_of(path: Path) -> Iterator[tuple[str, bytes]]:
    data = path.read_bytes()
    yield "bytes", data
    if path.parent.name == "blobs":
        yield "unpacked", zlib.decompress(data)
    if path.suffix == ".jsonl":
        yield (
            "as JSON",
            b"\n".join(repr(json.loads(line)).encode() for line in data.split(b"\n") if is_json(line)),
        )
    if path.name == "index.db":
        yield from index_readings(path)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def index_readings(path: Path) -> Iterator[tuple[str, bytes]]:
    db = apsw.Connection(str(path))
    try:
        for (data,) in db.execute("SELECT data FROM note_text"):
            yield "a note's text", zlib.decompress(data)
        for table in ("passage_fts", "note_fts"):
            db.execute(f"CREATE VIRTUAL TABLE temp.v_{table} USING fts5vocab('main', '{table}', 'row')")
            yield (
                f"terms of {table}",
                " ".join(t for (t,) in db.execute(f"SELECT term FROM v_{table}")).encode(),
            )
        yield "queries", " ".join(q for (q,) in db.execute("SELECT query FROM access_log")).encode()
    finally:
        db.close()


def live_with(app: App, vault: Vault) -> str:
    """Store the words in all the ways there are; returns the id of the memory."""
    app.writer.put_state_file("layout.toml", b'base = "obsidian"\nfolder = "Agent"\n')
    vault.write("Plan.md", "# Plan\n\nNothing yet.\n")
    app.sync()
    use(app, "remember", fact="The rent is due in May", importance=0.9)
    stored = use(app, "remember", fact=FIRST)
    app.memory.settle(idle=True)
    app.sync()
    memory_id = str(stored["id"])
    use(app, "recall", topic="who keeps the Quokkalina keeps the zanzibarite ledger in Lund thing")
    app.memory.search(SearchQuery(FIRST))
    app.memory.record_accesses()
    app.record_access("Plan.md", FIRST)
    app.record_access("Plan.md", "zanzibarite?")
    app.record_access("Plan.md", "what is the plan")
    use(app, "memory_update", memory_id=memory_id, content=THEN)
    app.sync()
    use(app, "vault_append", path="Plan.md", content=f"As somebody said: {THEN}.")
    app.sync()
    app.writer.undo()
    app.sync()
    use(app, "remember", fact="The dentist is in the Main Street", importance=0.9)
    app.memory.inbox.hold(Proposal("", FIRST, source="web", reason="from the web"))
    app.memory.queue.add(Waiting("m-0000again", THEN, NOW))
    note = (vault.root / "Agent/Memory/fact.md").read_bytes()
    for name in ("Agent/Memory/fact", "Agent/Else"):
        vault.write(f"{name} (conflict 2026-02-20 141503).md", note)
    session = SessionKey("claude-code", "s1")
    app.context.turn(session, f"is it true that {FIRST}?")
    app.context.turn(session, f"{'Say it plainly and without any doubt, '.ljust(60, 'y')} {FIRST}?")  # cut
    append_event(app.state, {"host": "claude-code", "session": "s1", "event": "stop", "prompt": THEN})
    Tally(app.state).add(session, [Kept(THEN, "fact")])
    write_session_note(app.memory, session, [Kept(THEN, "fact"), Kept("We use Go", "decision")])
    (app.state / "queue-unreadable.jsonl").write_text('{"text": "Quokkalina kee\n', encoding="utf-8")
    app.close()
    return memory_id


def purge_in(app: App, memory_id: str) -> Purged:
    with closing(app):
        return app.purge(memory_id)


@pytest.mark.promise("P22")
def test_after_a_purge_no_file_of_ours_holds_the_words(
    open_app: Callable[[], App], vault: Vault, tmp_path: Path
) -> None:
    app = open_app()
    memory_id = live_with(app, vault)
    before = " ".join(traces_in(tmp_path))
    for place in PLACES:
        assert place in before
    done = purge_in(open_app(), memory_id)
    assert done.complete
    assert done.revisions > 0
    assert done.elsewhere == ()
    assert traces_in(tmp_path) == []
    assert unfinished(app.state) == []


NAME = "Zyxelmoor"
# Every file that keeps words of conversations, runs or questions, below the state folder or the vault.
KEEPERS = (
    "spool/event.json",
    "spool/event.bad",
    "captured/one.jsonl",
    "heard/one.jsonl",
    "capture-aside/one.json",
    "capture-troubles.json",
    "flushed/one.jsonl",
    "agent/runs/r-1/transcript.jsonl",
    "agent/approvals/a-1234.json",
    "agent/outbox/one.json",
    ".hindbrain/runs/imported/claude-code.jsonl",
    ".hindbrain/usage.jsonl",
    "sessions/",
    "receipts.jsonl",
    "index.db",
)


def speak_of(app: App, asked: str) -> None:
    """Leave a question about the memory, in other words than its own, in every file that keeps such."""
    host = {"host": "claude-code", "session": "claude", "id": "claude", "event": "stop", "cwd": "/claude"}
    told = {
        "spool/event.json": {**host, "prompt": asked, "messages": [{"role": "user", "text": asked}]},
        "captured/one.jsonl": {**host, "said": asked, "failures": {"open": [{"why": asked}]}},
        "heard/one.jsonl": {"type": "message", "message": {"role": "user", "content": asked}},
        "capture-aside/one.json": {"error": asked, "events": [{**host, "answer": asked}]},
        "capture-troubles.json": {"at": 1.0, "problems": [asked]},
        "flushed/one.jsonl": [asked, "fact"],
        "agent/runs/r-1/transcript.jsonl": {"kind": "said", "text": asked, "arguments": {"name": asked}},
        "agent/approvals/a-1234.json": {"asked": {"id": "a-1234", "shown": asked}},
        "agent/outbox/one.json": {"key": "claude", "text": asked},
    }
    for name, value in told.items():
        (app.state / name).parent.mkdir(parents=True, exist_ok=True)
        (app.state / name).write_text(json.dumps(value) + "\n", encoding="utf-8")
    (app.state / "spool/event.bad").write_text(f'{{"prompt": "{asked}', encoding="utf-8")
    app.context.turn(SessionKey("claude-code", "claude"), asked)
    app.writer.append_state_line(
        "runs/imported/claude-code.jsonl", json.dumps({"event": "run_created", "command": asked})
    )
    app.record_access("Plan.md", asked)


@pytest.mark.promise("P22")
def test_a_name_that_only_the_memory_has_is_in_no_file_after_a_purge(
    open_app: Callable[[], App], vault: Vault, tmp_path: Path
) -> None:
    with closing(open_app()) as app:
        vault.write("Plan.md", "# Plan\n\nBuy a keypad.\n")
        vault.write("Kites.md", "# Sundays\n\nThe dragon flies high above the meadow in Lund.\n")
        app.sync()
        stored = use(app, "remember", fact=f"Claude says the {NAME} keypad is behind the kites")
        app.memory.settle(idle=True)
        app.sync()
        speak_of(app, f"what do {NAME}s cost in Lund?")
        app.context.turn(SessionKey("claude-code", "claude"), "what is the plan for May?")
        app.context.turn(SessionKey("claude-code", "claude"), "which dragon flies high above the meadow?")
    before = " ".join(traces_in(tmp_path, [NAME.lower()]))
    for file in KEEPERS:
        assert file in before
    assert purge_in(open_app(), str(stored["id"])).complete
    assert traces_in(tmp_path, [NAME.lower()]) == []
    kept = json.loads((app.state / "spool/event.json").read_bytes())
    assert (kept["host"], kept["session"], kept["cwd"]) == ("claude-code", "claude", "/claude")
    receipts = (app.state / "receipts.jsonl").read_bytes()
    assert b"the plan for May" in receipts and b'"path":"Kites.md"' in receipts  # a place says nothing of it
    assert b"the plan for May" in b"".join(
        file.read_bytes() for file in (app.state / "sessions").glob("*.jsonl")
    )


@pytest.mark.promise("P22")
def test_what_was_purged_is_not_learned_again_and_everything_else_is_as_it_was(
    open_app: Callable[[], App], vault: Vault
) -> None:
    memory_id = live_with(open_app(), vault)
    purge_in(open_app(), memory_id)
    with closing(open_app()) as app:
        with pytest.raises(HindbrainError) as refused:
            app.memory.remember(THEN)
        assert refused.value.code == "refused"
        texts = [item.text for item in app.memory.book.items() if "(conflict" not in item.path]
        assert texts == ["The rent is due in May", "The dentist is in the Main Street"]
        assert app.memory.queue.pending() == []
        assert "Nothing yet." in (vault.root / "Plan.md").read_text(encoding="utf-8")
        assert "what is the plan" in (vault.root / ".hindbrain/usage.jsonl").read_text(encoding="utf-8")
        report = app.sync(verify=True)
        assert report.clean
        assert {hit.path for hit in app.search(SearchQuery("dentist")).hits} >= {"Agent/Memory/fact.md"}


def test_other_changes_of_the_note_can_still_be_undone(open_app: Callable[[], App], vault: Vault) -> None:
    memory_id = live_with(open_app(), vault)
    purge_in(open_app(), memory_id)
    with closing(open_app()) as app:
        history = app.writer.history("Agent/Memory/fact.md")
        assert len(history) == 2  # the rent, the dentist; of the purged one nothing is left
        undone = app.writer.undo(history[0].id)
        assert not undone.merged  # what is kept goes on as if the purged one had never been
        assert [item.text for item in app.memory.book.items() if "(conflict" not in item.path] == [
            "The rent is due in May"
        ]


def test_a_memory_that_was_forgotten_before_can_be_purged(
    open_app: Callable[[], App], vault: Vault, tmp_path: Path
) -> None:
    memory_id = live_with(open_app(), vault)
    with closing(open_app()) as app:
        app.memory.forget(memory_id)
    assert purge_in(open_app(), memory_id).complete
    assert traces_in(tmp_path) == []


def test_other_notes_that_say_the_same_are_named_and_left_alone(
    open_app: Callable[[], App], vault: Vault
) -> None:
    memory_id = live_with(open_app(), vault)
    own = vault.write("My diary.md", f"# Diary\n\nToday: {THEN.upper()}!\n")
    before = own.read_bytes()
    done = purge_in(open_app(), memory_id)
    assert done.complete
    assert done.elsewhere == ("My diary.md",)
    assert own.read_bytes() == before


def test_a_memory_of_one_word_takes_no_sentence_with_it(open_app: Callable[[], App], vault: Vault) -> None:
    with closing(open_app()) as app:
        stored = use(app, "remember", fact="Quokkalina", importance=0.9)
        written = use(app, "vault_append", path="Plan.md", content="Ask Quokkalina about the boat.")
    done = purge_in(open_app(), str(stored["id"]))
    assert done.complete
    assert done.elsewhere == ()
    with closing(open_app()) as app:
        last = app.writer.history(str(written["path"]))[0]
        kept = app.writer.kept(last.after_hash)
        assert kept is not None
        assert b"Quokkalina" in kept


def test_an_open_reader_of_the_old_index_is_told_and_the_next_run_ends_it(
    open_app: Callable[[], App], vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.index.schema._BUSY_MS", 50)
    app = open_app()
    memory_id = live_with(app, vault)
    reader = IndexStore(app.index_path)
    with reader.snapshot():
        reader.generation()
        done = purge_in(open_app(), memory_id)
        assert not done.complete
        assert unfinished(app.state) == [memory_id]
    reader.close()
    assert purge_in(open_app(), memory_id).complete
    assert traces_in(tmp_path) == []


@pytest.mark.parametrize("unknown", ["m-nobody00", "../../etc/passwd", ""])
def test_an_id_that_nobody_has_is_an_error_and_leaves_nothing(
    open_app: Callable[[], App], unknown: str
) -> None:
    app = open_app()
    with pytest.raises((NotFound, UsageError)):
        purge_in(app, unknown)
    assert unfinished(app.state) == []


@pytest.mark.promise("P22")
@pytest.mark.skipif(sys.platform == "win32", reason="faults are injected through fork and kill")
def test_a_purge_that_was_killed_anywhere_can_be_run_again_to_its_end(
    vault: Vault, tmp_path: Path, make_app: MakeApp
) -> None:
    import shutil

    from tests.anomalies.killer import CHANGES_FILES, NEVER, Faults, kill, run_forked

    state = tmp_path / "state"
    app = make_app(vault.root)
    memory_id = live_with(app, vault)
    shutil.copytree(tmp_path / "state", tmp_path / "kept state")
    shutil.copytree(vault.root, tmp_path / "kept vault")
    counting = Faults(NEVER, kill)
    with counting.active():
        purge_in(make_app(vault.root), memory_id)
    numbers = [n for n, name in enumerate(counting.calls, start=1) if name in CHANGES_FILES]
    for at in numbers[:: max(1, len(numbers) // 20)]:
        for there, kept in ((state, "kept state"), (vault.root, "kept vault")):
            shutil.rmtree(there)
            shutil.copytree(tmp_path / kept, there)

        def dying(at: int = at) -> None:
            with Faults(at, kill).active():
                purge_in(make_app(vault.root), memory_id)

        run_forked(dying)
        assert purge_in(make_app(vault.root), memory_id).complete, f"killed at call {at}"
        assert traces_in(state) + traces_in(vault.root) == [], f"killed at call {at}"
        oracle.nothing_is_left_over(vault.root, app.state)


@pytest.mark.promise("P22")
def test_vectors_of_memories_go_with_a_purge(open_app: Callable[[], App], vault: Vault) -> None:
    memory_id = live_with(open_app(), vault)
    with closing(open_app()) as app:
        app.encodes = "when idle"
        app.__dict__["encoder"] = FakeEncoder(16)
        app.context.pack("where is the ledger kept?")
        while app.encode_pending(60.0):
            pass
        file = app.state / MEMORY_FILE
        assert file.exists()
        app.purge(memory_id)
        assert not file.exists()
