"""Consolidation as a whole: facts, archive, proof, the way back, dry runs; on a real App."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.learn.consolidating import (
    consolidator,
    day,
    desk_of,
    everything_below,
    make_own,
    mark_ours,
    notes_of,
    write_day,
)

from hindbrain.app import App
from hindbrain.base.errors import Busy, ModelDown, NoteUnreadable, WriteFailed
from hindbrain.learn.consolidation.consolidator import LOCK, last_consolidated
from hindbrain.learn.consolidation.processed import CONSOLIDATED
from hindbrain.learn.consolidation.steps import Parts
from hindbrain.learn.consolidation.watching import MARKER, Watch
from hindbrain.learn.pages.desk import Desk
from hindbrain.memory.items.book import MemoryBook
from hindbrain.models.chat_fake import ScriptedChat
from hindbrain.vault.lock import FileLock
from workbench import NOW, Vault

MakeApp = Callable[..., App]
CADDY = "- [09:00] We decided to use Caddy instead of nginx"


@pytest.fixture
def app(vault: Vault, make_app: MakeApp) -> App:
    make_own(vault.root)
    return make_app(vault.root, embedding_provider="none")


def texts(app: App) -> list[str]:
    return [item.text for item in app.memory.book.items()]


def test_old_days_become_facts_and_recent_ones_wait(app: App) -> None:
    write_day(app.root, 10, CADDY)
    write_day(app.root, 7, "- We decided to use Go instead of Rust")
    done = consolidator(app).consolidate()
    assert texts(app) == ["We decided to use Caddy instead of nginx"]
    assert done.facts == 1
    assert done.proof.holds
    assert done.problems == ()
    item = app.memory.book.items()[0]
    assert (item.category, item.source) == ("decision", "agent")


def test_a_fact_has_the_day_of_its_event_and_a_link_that_follows_the_note_into_the_archive(app: App) -> None:
    recent = write_day(app.root, 10, "- We decided to use Go instead of Rust")
    old = write_day(app.root, 40, CADDY)

    assert consolidator(app).consolidate().proof.holds

    facts = {item.created: item for item in app.memory.book.items()}
    assert sorted(facts) == [day(40), day(10)]
    assert facts[day(10)].day_note == recent.removesuffix(".md")
    moved = facts[day(40)].day_note
    assert moved != old.removesuffix(".md") and (app.root / f"{moved}.md").exists()
    line = next(
        line for line in (app.root / facts[day(40)].path).read_text("utf-8").split("\n") if "Caddy" in line
    )
    assert f"[created:: {day(40)}] [day:: [[{moved}]]]" in line


def test_a_link_to_an_archived_day_that_a_crash_left_behind_is_put_right(app: App) -> None:
    write_day(app.root, 40, CADDY)
    consolidator(app).consolidate()
    item = app.memory.book.items()[0]
    note = app.root / item.path
    stale = note.read_text("utf-8").replace(item.day_note, f"Daily/{day(40)}")
    note.write_bytes(stale.encode())

    assert consolidator(app).consolidate().proof.holds

    assert app.memory.book.items()[0].day_note == item.day_note


def test_a_second_consolidation_changes_nothing(app: App) -> None:
    write_day(app.root, 40, CADDY, "- [10:00] Fixed the boiler")
    write_day(app.root, 10, "- Important: the boiler key is with Anna Berg")
    consolidator(app).consolidate()
    before = everything_below(app.root)
    done = consolidator(app).consolidate()
    assert everything_below(app.root) == before
    assert (done.facts, done.archived) == (0, 0)


def test_the_newer_decision_replaces_the_older_one(app: App) -> None:
    write_day(app.root, 20, "- Decided: the favourite editor is vim")
    write_day(app.root, 10, "- Decided: the favourite editor is emacs")
    done = consolidator(app).consolidate()
    items = app.memory.book.items()
    assert [(item.text.rpartition(" ")[2], bool(item.superseded)) for item in items] == [
        ("vim", True),
        ("emacs", False),
    ]
    assert done.superseded == 1


def test_a_day_that_was_changed_is_looked_at_again(app: App) -> None:
    write_day(app.root, 10, CADDY)
    consolidator(app).consolidate()
    write_day(app.root, 10, CADDY, "- We decided to use Go instead of Rust")
    assert consolidator(app).consolidate().facts == 1
    assert len(texts(app)) == 2


def test_a_fact_that_its_owner_deleted_does_not_come_back(app: App, make_app: MakeApp) -> None:
    write_day(app.root, 10, CADDY)
    consolidator(app).consolidate()
    app.memory.settle(idle=True)
    note = app.root / "Decisions" / "Decision Log.md"
    kept = [line for line in note.read_text(encoding="utf-8").split("\n") if "Caddy" not in line]
    note.write_text("\n".join(kept), encoding="utf-8")
    (app.root / ".hindbrain" / CONSOLIDATED).unlink()
    again = make_app(app.root, embedding_provider="none")
    consolidator(again).consolidate()
    assert texts(again) == []


@pytest.mark.promise("P18")
def test_what_strangers_say_in_a_daily_note_waits_for_a_person(app: App) -> None:
    write_day(app.root, 10, f"{CADDY} [source:: web]")
    done = consolidator(app).consolidate()
    assert (done.facts, done.held) == (0, 1)
    assert texts(app) == []
    assert [proposal.source for proposal in app.memory.inbox.pending()] == ["web"]
    assert consolidator(app).consolidate().held == 0
    assert len(app.memory.inbox.pending()) == 1


@pytest.mark.promise("P12")
def test_a_model_that_fails_costs_no_fact(app: App) -> None:
    write_day(app.root, 40, CADDY)
    done = consolidator(app, Parts(chat=lambda: ScriptedChat([ModelDown("no route")]))).consolidate()
    assert texts(app) == ["We decided to use Caddy instead of nginx"]
    assert len(done.problems) == 1


@pytest.mark.promise("P12")
def test_a_day_whose_facts_could_not_be_stored_stays(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise WriteFailed("no space")

    path = write_day(app.root, 40, CADDY)
    with monkeypatch.context() as patch:
        patch.setattr(app.memory, "remember", lambda *_, **__: full())
        done = consolidator(app).consolidate()
    assert (app.root / path).exists()
    assert len(done.problems) == 1
    assert consolidator(app).consolidate().archived == 1
    assert texts(app) == ["We decided to use Caddy instead of nginx"]


def test_a_day_that_cannot_be_read_is_named_and_stops_no_other(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write_day(app.root, 41, CADDY)
    write_day(app.root, 40, "- We decided to use Go instead of Rust")
    real = app.memory.notebook.find

    def torn(path: str) -> object:
        if path == bad:
            raise NoteUnreadable(f"{path!r} is damaged")
        return real(path)

    monkeypatch.setattr(app.memory.notebook, "find", torn)
    done = consolidator(app).consolidate()
    assert done.facts == 1
    assert any(bad in problem for problem in done.problems)
    assert (app.root / bad).exists()


def test_no_fact_is_stored_while_memories_cannot_be_read(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    write_day(app.root, 40, CADDY)
    app.memory.remember("Ada lives in Lund", source="agent", importance=0.9)
    real = app.memory.notebook.read

    def torn(path: str) -> object:
        if path.startswith("Memory/"):
            raise NoteUnreadable("damaged")
        return real(path)

    fresh = MemoryBook(app.memory.notebook, app.memory.layout, app.root)
    with monkeypatch.context() as patch:
        patch.setattr(app.memory.notebook, "read", torn)
        patch.setattr(app.memory, "book", fresh)
        done = consolidator(app).consolidate()
    assert (done.facts, done.archived) == (0, 0)
    assert any("Memory/fact.md" in problem for problem in done.problems)
    assert consolidator(app).consolidate().facts == 1


def test_days_of_more_than_a_month_move_into_the_archive_byte_for_byte(app: App) -> None:
    path = write_day(app.root, 31, CADDY, "- a line with  blanks \t ")
    crlf = (app.root / path).read_bytes().replace(b"\n", b"\r\n") + b"\xff no UTF-8"
    (app.root / path).write_bytes(crlf)
    mark_ours(app.root, path, crlf.decode("utf-8", "replace"))
    recent = write_day(app.root, 30, CADDY)
    assert consolidator(app).consolidate().archived == 1
    assert not (app.root / path).exists()
    assert (app.root / "Archive" / path).read_bytes() == crlf
    assert (app.root / recent).exists()


def test_a_note_in_the_archive_is_never_replaced(app: App) -> None:
    path = write_day(app.root, 40, CADDY)
    other = app.root / "Archive" / path
    other.parent.mkdir(parents=True)
    other.write_text("an older day of that name\n", encoding="utf-8")
    consolidator(app).consolidate()
    assert other.read_text(encoding="utf-8") == "an older day of that name\n"
    assert b"Caddy" in (app.root / "Archive" / "Daily" / f"{day(40)} 2.md").read_bytes()


@pytest.mark.parametrize(
    "link",
    ["[[Daily/{day}]]", "![[Daily/{day}#Events|that day]]", "[that day](Daily/{day}.md)"],
)
def test_a_day_that_somebody_links_to_by_its_path_stays(app: App, link: str) -> None:
    path = write_day(app.root, 40, CADDY)
    (app.root / "Mine.md").write_text(f"See {link.format(day=day(40))}.\n", encoding="utf-8")
    consolidator(app).consolidate()
    assert (app.root / path).exists()


def test_a_day_that_is_linked_to_by_its_name_alone_moves(app: App) -> None:
    path = write_day(app.root, 40, CADDY)
    (app.root / "Mine.md").write_text(f"See [[{day(40)}]].\n", encoding="utf-8")
    consolidator(app).consolidate()
    assert not (app.root / path).exists()


def test_in_a_vault_of_its_owner_only_the_agents_folder_is_touched(vault: Vault, make_app: MakeApp) -> None:
    vault.write("Mine.md", "# Mine\n")
    theirs = write_day(vault.root, 40, CADDY)
    sessions = vault.write(f"Sessions/{day(200)} therapy.md", "# mine\n")
    ours = write_day(vault.root, 40, CADDY, folder="Agent/Daily")
    app = make_app(vault.root, embedding_provider="none")
    consolidator(app).consolidate()
    assert (vault.root / theirs).exists()
    assert sessions.exists()
    assert not (vault.root / ours).exists()
    assert (vault.root / "Agent/Archive/Daily" / f"{day(40)}.md").exists()


def test_old_notes_of_sessions_move_and_others_in_that_folder_stay(app: App) -> None:
    folder = app.root / "Sessions"
    folder.mkdir()
    text = "---\ntype: session\n---\n# Session\n"
    for name in (f"{day(91)} harbor b7a39e.md", f"{day(89)} harbor b7a39f.md"):
        (folder / name).write_text(text, encoding="utf-8")
        mark_ours(app.root, f"Sessions/{name}", text)
    # It says that it is a session, and we did not write it.
    (folder / f"{day(92)} harbor b7a39d.md").write_text(text, encoding="utf-8")
    (folder / f"{day(200)} therapy.md").write_text("# mine\n", encoding="utf-8")
    consolidator(app).consolidate()
    assert sorted(file.name[:10] for file in folder.iterdir()) == [day(200), day(92), day(89)]
    assert (app.root / "Archive/Sessions" / f"{day(91)} harbor b7a39e.md").exists()


def test_a_second_consolidation_at_the_same_time_is_told_to_wait(app: App) -> None:
    with FileLock(app.state / LOCK).held(0), pytest.raises(Busy):
        consolidator(app).consolidate()


def test_the_last_time_is_known_afterwards(app: App) -> None:
    assert last_consolidated(app.state) == 0.0
    consolidator(app).consolidate()
    assert last_consolidated(app.state) == NOW


def test_a_step_that_fails_keeps_no_other_from_being_done(app: App) -> None:
    def broken(_: Desk) -> str:
        raise ModelDown("no route")

    write_day(app.root, 40, CADDY)
    done = consolidator(app, Parts(learn=broken)).consolidate()
    assert done.facts == 1
    assert len(done.problems) == 1


# The proof, and the way back


def losing(path: str, line: bytes) -> Callable[[Desk], str]:
    """A step with a mistake in it: it takes a line of somebody else away."""

    def learn(desk: Desk) -> str:
        desk.edit(path, lambda page: None if page is None else page.data.replace(line, b""))
        return ""

    return learn


@pytest.mark.promise("P1")
def test_a_step_that_loses_a_line_is_taken_back_with_all_the_others(app: App, make_app: MakeApp) -> None:
    write_day(app.root, 40, CADDY)
    app.memory.remember("Ada lives in Lund", source="agent", importance=0.9)
    mine = app.root / "Mine.md"
    mine.write_bytes(b"# Mine\r\n- keep me\r\n- and me\r\n")
    before = notes_of(app.root)
    done = consolidator(app, Parts(learn=losing("Mine.md", b"- keep me\r\n"))).consolidate()
    assert not done.proof.holds
    assert done.proof.rolled_back
    assert [(lost.path, lost.line) for lost in done.proof.lost] == [("Mine.md", "- keep me")]
    assert any("- keep me" in problem for problem in done.problems)
    assert notes_of(app.root) == before
    assert not (app.state / MARKER).exists()
    # Nothing of it counts as deleted by a person: the next one does it all.
    again = make_app(app.root, embedding_provider="none")
    again.memory.settle(idle=True)
    assert consolidator(again).consolidate().facts == 1
    assert sorted(texts(again)) == ["Ada lives in Lund", "We decided to use Caddy instead of nginx"]


def test_an_acknowledged_memory_survives_the_way_back(app: App, make_app: MakeApp) -> None:
    """Somebody's memory comes into its note together with what is taken back."""

    def learn(desk: Desk) -> str:
        app.memory.remember("Ada lives in Lund", source="agent", importance=0.9)
        return losing("Mine.md", b"- keep me\n")(desk)

    (app.root / "Mine.md").write_bytes(b"- keep me\n- and me\n")
    assert not consolidator(app, Parts(learn=learn)).consolidate().proof.holds
    again = make_app(app.root, embedding_provider="none")
    again.memory.settle(idle=True)
    assert texts(again) == ["Ada lives in Lund"]


def test_what_learning_noted_of_its_notes_is_taken_back_with_them(app: App) -> None:
    app.writer.append_state_line("recorded.jsonl", '{"run":"r-a"}')

    def learn(desk: Desk) -> str:
        app.writer.append_state_line("recorded.jsonl", '{"run":"r-b"}')
        app.writer.append_state_line("lessons.jsonl", '{"id":"l-a"}')
        return losing("Mine.md", b"- keep me\n")(desk)

    (app.root / "Mine.md").write_bytes(b"- keep me\n- and me\n")
    assert consolidator(app, Parts(learn=learn)).consolidate().proof.rolled_back
    assert (app.root / ".hindbrain/recorded.jsonl").read_text(encoding="utf-8") == '{"run":"r-a"}\n'
    assert (app.root / ".hindbrain/lessons.jsonl").read_text(encoding="utf-8") == ""


def test_the_way_back_refuses_no_proposal(app: App) -> None:
    write_day(app.root, 10, f"{CADDY} [source:: web]")
    (app.root / "Mine.md").write_bytes(b"- keep me\n- and me\n")
    parts = Parts(summarise=losing("Mine.md", b"- keep me\n"))
    assert consolidator(app, parts).consolidate().proof.rolled_back
    assert app.memory.settle(idle=True).refused == 0
    assert len(app.memory.inbox.pending()) == 1


def test_a_lesson_of_ours_may_get_other_figures_but_not_one_that_a_person_reworded(app: App) -> None:
    def rewritten(desk: Desk) -> str:
        desk.edit("L.md", lambda _: b"- Save first [failures:: 4] ^l-00000001\n")
        return ""

    desk = desk_of(app)
    desk.own.note("L.md", ["^l-00000001 Save first"])
    for line, holds in (
        (b"- Save first [failures:: 3] ^l-00000001\n", True),
        (b"- Mine now ^l-00000001\n", False),
    ):
        (app.root / "L.md").write_bytes(line)
        done = consolidator(app, Parts(learn=rewritten), desk).consolidate()
        assert done.proof.holds is holds


def test_what_a_person_writes_meanwhile_is_neither_blamed_nor_undone(app: App) -> None:
    mine, other = app.root / "Mine.md", app.root / "Other.md"
    mine.write_bytes(b"- keep me\n\n# Rest\n\n- far away\n")
    other.write_bytes(b"- a\n- b\n")

    def learn(desk: Desk) -> str:
        losing("Mine.md", b"- keep me\n")(desk)
        mine.write_bytes(mine.read_bytes() + b"- typed by hand\n")
        other.write_bytes(b"- a\n")  # a person deletes a line of theirs
        return ""

    done = consolidator(app, Parts(learn=learn)).consolidate()
    assert [lost.path for lost in done.proof.lost] == ["Mine.md"]
    assert mine.read_bytes() == b"- keep me\n\n# Rest\n\n- far away\n- typed by hand\n"
    assert other.read_bytes() == b"- a\n"


def test_lines_of_our_own_may_go(app: App) -> None:
    def learn(said: str) -> Callable[[Desk], str]:
        def put(desk: Desk) -> str:
            desk.put_section("Learned.md", "Runs", [f"- {said}"], first_text="# Learned\n")
            return ""

        return put

    assert consolidator(app, Parts(learn=learn("3 runs"))).consolidate().proof.holds
    assert consolidator(app, Parts(learn=learn("4 runs"))).consolidate().proof.holds
    assert b"3 runs" not in (app.root / "Learned.md").read_bytes()


@pytest.mark.parametrize("loses", [True, False])
def test_a_consolidation_that_was_killed_is_proved_or_taken_back_by_the_next(app: App, loses: bool) -> None:
    mine = app.root / "Mine.md"
    mine.write_bytes(b"- keep me\n- and me\n")
    desk = desk_of(app)
    app.memory.notebook.watcher = Watch(app.state, app.clock)
    desk.edit("Copy.md", lambda _: b"- keep me\n" if not loses else b"- another\n")
    desk.edit("Mine.md", lambda _: b"- and me\n")
    app.memory.notebook.watcher = None  # killed here: nobody proved it
    app.writer.append_note("Mine.md", b"- by another program\n")
    done = consolidator(app).consolidate()
    assert done.proof.holds is not loses
    assert mine.read_bytes() == (b"- keep me\n" if loses else b"") + b"- and me\n- by another program\n"
    assert (app.root / "Copy.md").exists() is not loses
    assert consolidator(app).consolidate().proof.holds


_EVENT = st.sampled_from(
    [
        "- [09:00] We decided to use Caddy instead of nginx",
        "- Important: the key is with Anna Berg",
        "- [10:00] Checked 3 mails",
        "- [10:00] Checked 4 mails",
        "typed by hand, with no mark",
        "  - a line below",
        "> a quote",
        "```\n- code\n```",
        "- [ ] buy milk",
        "### 08:15 - Gmail Check\n- **Decisions**: Keep the old address of the office",
    ]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days=st.dictionaries(st.integers(1, 400), st.lists(_EVENT, max_size=5), max_size=6))
@pytest.mark.promise("P1")
def test_whatever_days_hold_no_line_is_lost_and_twice_is_once(
    days: dict[int, list[str]], make_app: MakeApp, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("vault") / "own"
    root.mkdir()
    make_own(root)
    for ago, lines in days.items():
        write_day(root, ago, *lines)
    before = notes_of(root)
    app = make_app(root, embedding_provider="none", state_folder=str(root.parent / "state"))
    assert consolidator(app).consolidate().proof.holds
    after = notes_of(root)
    for path, data in before.items():
        assert data in (after.get(path), after.get(f"Archive/{path}"))
    consolidator(app).consolidate()
    assert notes_of(root) == after
    app.close()


# Dry runs


def test_a_dry_run_shows_what_would_happen_and_writes_nothing(app: App) -> None:
    write_day(app.root, 40, CADDY)
    write_day(app.root, 10, "- Important: the boiler key is with Anna Berg")
    app.memory.remember("The office plant is a ficus", source="agent", importance=0.2)
    app.memory.settle(idle=True)
    note = app.root / "Memory" / "fact.md"
    note.write_text(note.read_text(encoding="utf-8").replace(day(0), day(300)), encoding="utf-8")

    def learn(desk: Desk) -> str:
        desk.put_section("Learned.md", "Runs", ["- 3 runs"], first_text="# Learned\n")
        return "3 runs"

    parts = Parts(learn=learn, chat=lambda: ScriptedChat(["a dry run asks nobody"]))
    folders = (app.root, app.state)
    before = everything_below(*folders)
    done = consolidator(app, parts).consolidate(dry_run=True)
    assert everything_below(*folders) == before
    assert (done.facts, done.archived, done.stale) == (2, 1, 1)
    assert f"rename Daily/{day(40)}.md -> Archive/Daily/{day(40)}.md" in done.diff
    assert "+ remember: We decided to use Caddy instead of nginx" in done.diff
    assert "+- 3 runs" in done.diff
    assert "+- The office plant is a ficus" in done.diff
    consolidator(app, parts).consolidate()
    assert len(texts(app)) == 2


def test_a_dry_run_of_a_fresh_vault_makes_no_folder(vault: Vault, make_app: MakeApp, tmp_path: Path) -> None:
    write_day(vault.root, 40, CADDY, folder="Agent/Daily", ours=False)
    app = make_app(vault.root, embedding_provider="none")
    before = everything_below(vault.root)
    own = consolidator(app)
    state = app.state.exists()
    own.consolidate(dry_run=True)
    assert everything_below(vault.root) == before
    assert app.state.exists() == state
    assert not (vault.root / ".hindbrain").exists()
