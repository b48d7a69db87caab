"""Vault to index: what is taken in, what is left out, and what is said about it."""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy, NotFound
from hindbrain.index.progress import Progress
from hindbrain.models.fake import FakeEmbedder
from hindbrain.search.query import SearchQuery
from hindbrain.vault.lock import FileLock
from hindbrain.vault.path_rules import NotePath
from index_oracle import assert_equals_vault, assert_sound, index_content, rows
from workbench import NOW, Bench, MakeBench

TWO_SECTIONS = "# One\n\nalpha wrote this paragraph\n\n# Two\n\nbeta wrote the other one\n"


def test_a_vault_is_taken_in_whole(bench: Bench) -> None:
    bench.vault.write("a.md", TWO_SECTIONS)
    bench.vault.write("deep/er/b.md", "gamma\n")
    report = bench.sync()
    assert (report.files, report.indexed, report.embedded, report.pending) == (2, 2, 3, 0)
    assert report.clean
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)


def test_editing_one_paragraph_embeds_only_that_passage(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("a.md", TWO_SECTIONS)
    remote.sync()
    embedder.calls.clear()
    remote.vault.edit("a.md", "beta", "gamma")
    report = remote.sync()
    (text,) = embedder.texts()
    assert text.endswith("# Two\n\ngamma wrote the other one")
    assert (report.indexed, report.pending) == (1, 0)
    assert_equals_vault(remote.app.index_path, remote.vault.root, all_embedded=True)


def test_a_paragraph_on_top_embeds_only_itself(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("a.md", TWO_SECTIONS)
    remote.sync()
    embedder.calls.clear()
    remote.vault.write("a.md", "new on top\n\n" + TWO_SECTIONS, at=NOW - 60)
    remote.sync()
    assert len(embedder.texts()) == 1


def test_a_second_sync_does_nothing(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("a.md", TWO_SECTIONS)
    remote.sync()
    before = rows(remote.app.index_path, "SELECT * FROM passage")
    embedder.calls.clear()
    report = remote.sync()
    assert (report.indexed, report.unchanged, report.embedded, embedder.calls) == (0, 1, 0, [])
    assert rows(remote.app.index_path, "SELECT * FROM passage") == before


def test_a_file_that_is_only_touched_is_not_indexed_again(plain: Bench) -> None:
    file = plain.vault.write("a.md", "text\n")
    plain.sync()
    os.utime(file, (NOW - 5, NOW - 5))
    assert plain.sync().indexed == 0


@pytest.mark.promise("P7")
def test_a_change_within_the_same_tick_of_the_clock_is_seen(plain: Bench) -> None:
    plain.vault.write("a.md", "old words\n", at=NOW)
    plain.sync()
    plain.vault.write("a.md", "new words\n", at=NOW)  # same size, same time, same inode
    assert plain.sync().indexed == 1
    assert_equals_vault(plain.app.index_path, plain.vault.root)


@pytest.mark.promise("P7")
def test_a_change_that_keeps_size_and_time_is_seen_by_a_sync_that_verifies(plain: Bench) -> None:
    plain.vault.write("a.md", "old words\n")
    plain.sync()
    plain.vault.write("a.md", "new words\n")
    assert plain.sync(verify=True).indexed == 1
    assert plain.paths("new") == ["a.md"]


def test_a_renamed_note_is_found_under_its_new_name_only(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("old.md", "# Title\n\nabout zebras\n")
    remote.vault.write("other.md", "something\n")
    remote.sync()
    embedder.calls.clear()
    remote.vault.rename("old.md", "folder/new.md")
    report = remote.sync()
    assert report.missing.moved == (("old.md", "folder/new.md"),)
    assert remote.paths(SearchQuery("zebras", mode="keyword")) == ["folder/new.md"]
    assert embedder.texts() == []  # the title is in the text, so the vectors are those of before
    assert_equals_vault(remote.app.index_path, remote.vault.root, all_embedded=True)


def test_a_deleted_note_leaves_nothing_behind(bench: Bench) -> None:
    bench.vault.write("a.md", "# A\n\n#tag zebras [[b]]\n")
    bench.vault.write("b.md", "text\n")
    bench.sync()
    bench.vault.remove("a.md")
    assert bench.sync().removed == 1
    assert bench.paths(SearchQuery("zebras", mode="keyword")) == []
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)


def test_what_becomes_excluded_leaves_the_index(make_bench: MakeBench) -> None:
    before = make_bench()
    before.vault.write("Private/a.md", "secret\n")
    before.vault.write("b.md", "open\n")
    before.sync()
    after = make_bench(vault_exclude="Private")
    after.sync()
    assert set(index_content(after.app.index_path)) == {"b.md"}


@pytest.mark.promise("P8")
def test_many_deletions_at_once_freeze_until_they_are_confirmed(plain: Bench) -> None:
    for i in range(20):
        plain.vault.write(f"n{i}.md", f"note {i}\n")
    plain.sync()
    for i in range(10):
        plain.vault.remove(f"n{i}.md")
    report = plain.sync()
    assert report.missing.frozen
    assert not report.clean
    assert report.removed == 0
    assert len(index_content(plain.app.index_path)) == 20
    assert plain.sync(confirm=True).removed == 10
    assert_equals_vault(plain.app.index_path, plain.vault.root)


@pytest.mark.promise("P8")
def test_an_empty_mount_point_removes_nothing(plain: Bench) -> None:
    for i in range(3):
        plain.vault.write(f"n{i}.md", f"note {i}\n")
    plain.sync()
    aside = plain.vault.root.with_name("aside")
    plain.vault.root.rename(aside)
    plain.vault.root.mkdir()
    report = plain.sync(confirm=True)
    assert report.suspicious
    assert not report.clean
    assert len(index_content(plain.app.index_path)) == 3


@pytest.mark.promise("P8")
def test_a_vault_that_is_gone_removes_nothing(plain: Bench) -> None:
    plain.vault.write("a.md", "note\n")
    plain.sync()
    plain.vault.root.rename(plain.vault.root.with_name("aside"))
    with pytest.raises(NotFound):
        plain.sync(confirm=True)
    assert set(index_content(plain.app.index_path)) == {"a.md"}


@pytest.fixture
def failing_open(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Let the system refuse to open a file of some name. (A test may run as root, whom no mode stops.)"""

    def refuse(name: str, number: int) -> None:
        real = os.open

        def fake(path: object, *args: object, **kwargs: object) -> int:
            if isinstance(path, str) and path.endswith(name):
                raise OSError(number, os.strerror(number), path)
            return real(path, *args, **kwargs)  # type: ignore[arg-type]

        monkeypatch.setattr("os.open", fake)

    return refuse


@pytest.mark.promise("P8")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ETIMEDOUT])
def test_a_note_that_can_not_be_read_is_named_and_kept_as_it_was(
    plain: Bench, failing_open: Callable[[str, int], None], number: int
) -> None:
    plain.vault.write("a.md", "zebras\n")
    plain.vault.write("b.md", "lions\n")
    plain.sync()
    plain.vault.edit("a.md", "zebras", "giraffes")
    plain.vault.edit("b.md", "lions", "tigers")
    failing_open("a.md", number)
    report = plain.sync()
    assert [(item.path, item.code) for item in report.failed] == [("a.md", "unreadable")]
    assert not report.clean
    assert plain.paths("zebras") == ["a.md"]
    assert plain.paths("tigers") == ["b.md"]
    assert ("a.md", "unreadable") in {row[:2] for row in rows(plain.app.index_path, "SELECT * FROM report")}


def test_single_notes_that_can_not_be_read_are_named(
    plain: Bench, failing_open: Callable[[str, int], None]
) -> None:
    plain.vault.write("a.md", "zebras\n")
    plain.vault.write("b.md", "lions\n")
    failing_open("a.md", errno.EIO)
    report = plain.syncer().sync_paths([NotePath("a.md"), NotePath("b.md"), NotePath("gone.md")], None)
    assert [(item.path, item.code) for item in report.failed] == [
        ("a.md", "unreadable"),
        ("gone.md", "not_found"),
    ]
    assert report.indexed == 1


def test_a_binary_file_with_a_notes_name_is_named_and_left_out(plain: Bench) -> None:
    plain.vault.write("a.md", b"\x89PNG\r\n\0\0\0" + bytes(500))
    plain.vault.write("b.md", "text\n")
    report = plain.sync()
    assert [(item.path, item.code) for item in report.failed] == [("a.md", "unreadable")]
    assert set(index_content(plain.app.index_path)) == {"b.md"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_note_in_utf_16_is_no_binary_file(plain: Bench, encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    plain.vault.write("a.md", mark + "zebras in a note\n".encode(encoding))
    report = plain.sync()
    assert report.failed == ()
    assert set(index_content(plain.app.index_path)) == {"a.md"}


def test_of_a_huge_note_the_beginning_is_indexed_and_that_is_said(make_bench: MakeBench) -> None:
    huge = make_bench(vault_max_note_mb="1")
    huge.vault.write(
        "a.md", "zebras come first\n\n" + "filler words go on and on\n\n" * 50_000 + "giraffes\n"
    )
    report = huge.app.syncer.sync(None)
    assert [item.path for item in report.noticed] == ["a.md", "a.md"]
    assert [item.reason for item in report.noticed] == ["too_large", "too_many_passages"]
    assert huge.paths("zebras") == ["a.md"]
    assert huge.paths("giraffes") == []


def test_a_name_in_another_unicode_form_is_one_note(plain: Bench) -> None:
    name = unicodedata.normalize("NFD", "Café Übung.md")
    plain.vault.write(name, "zebras\n")
    plain.sync()
    assert plain.paths("zebras") == [unicodedata.normalize("NFC", name)]
    assert plain.paths("Café Übung") == [unicodedata.normalize("NFC", name)]
    assert plain.sync().indexed == 0


def test_a_loop_of_symlinks_ends(plain: Bench) -> None:
    plain.vault.write("folder/a.md", "zebras\n")
    (plain.vault.root / "folder" / "loop").symlink_to(plain.vault.root / "folder", target_is_directory=True)
    (plain.vault.root / "self.md").symlink_to("self.md")
    plain.sync()
    assert set(index_content(plain.app.index_path)) == {"folder/a.md"}


def test_a_note_with_broken_frontmatter_is_searchable_and_named(plain: Bench) -> None:
    plain.vault.write("a.md", "---\ntitle: [unclosed\n  : : :\n\t- x\n---\n\nzebras here\n")
    plain.sync()
    assert plain.paths("zebras") == ["a.md"]
    ((path, problems),) = rows(plain.app.index_path, "SELECT path, problems FROM note")
    assert path == "a.md"
    assert problems.startswith("frontmatter")


@pytest.mark.parametrize("seconds", [2**33, 2**34 - 1, -(2**31)])
def test_a_file_from_a_far_century_is_indexed_like_any_other(plain: Bench, seconds: int) -> None:
    file = plain.vault.write("a.md", "zebras\n")
    plain.vault.write("b.md", "lions\n")
    try:
        os.utime(file, (seconds, seconds))
    except (OSError, OverflowError):
        pytest.skip("this file system knows no such time")
    report = plain.sync()
    assert report.failed == ()
    assert plain.paths("zebras") == ["a.md"]
    assert plain.sync().failed == ()


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    "value", [r'"\ud800"', r'"\udfff x"', r'"\0"', r'"\x00\uFFFF"', "!!python/object:os", "&a [*a]"]
)
def test_a_value_that_no_text_can_hold_harms_nobody(plain: Bench, value: str) -> None:
    properties = "\n".join(f"{name}: {value}" for name in ("title", "aliases", "tags", "type", "date"))
    plain.vault.write("a.md", f"---\n{properties}\n---\n\nzebras\n")
    plain.vault.write("b.md", "lions\n")
    report = plain.sync()
    assert plain.paths("lions") == ["b.md"]
    assert report.failed == ()
    assert plain.paths("zebras") == ["a.md"]


@pytest.mark.promise("P14")
def test_a_note_that_breaks_our_code_affects_only_itself(
    plain: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindbrain.index import reading

    real = reading.make_record

    def fragile(path: str, *rest: object) -> object:
        if path == "b.md":
            raise RecursionError("too deep")
        return real(path, *rest)  # type: ignore[arg-type]

    for name in "abc":
        plain.vault.write(f"{name}.md", f"zebras {name}\n")
    monkeypatch.setattr(reading, "make_record", fragile)
    report = plain.sync()
    assert [(item.path, item.code) for item in report.failed] == [("b.md", "internal")]
    assert sorted(plain.paths("zebras")) == ["a.md", "c.md"]
    assert_sound(plain.app.index_path)


@pytest.mark.promise("P14")
def test_a_note_that_fails_half_written_leaves_no_half_of_it(
    plain: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindbrain.index.writer import IndexWriter

    plain.vault.write("a.md", "zebras before\n")
    plain.sync()
    plain.vault.edit("a.md", "before", "after")
    plain.vault.write("b.md", "lions\n")
    real = IndexWriter._put_passages

    def fragile(self: IndexWriter, note_id: int, first: int, record: object) -> None:
        if record.path == "a.md":  # type: ignore[attr-defined]
            raise ValueError("a bug of ours")
        real(self, note_id, first, record)  # type: ignore[arg-type]

    monkeypatch.setattr(IndexWriter, "_put_passages", fragile)
    assert [item.code for item in plain.sync().failed] == ["internal"]
    assert plain.hits("zebras")[0].text == "zebras before"
    assert plain.paths("lions") == ["b.md"]
    assert_sound(plain.app.index_path)


# -- embedders -----------------------------------------------------------------------------------------------


def test_another_embedder_gives_every_passage_a_new_vector(make_bench: MakeBench) -> None:
    old, new = FakeEmbedder(64), FakeEmbedder(128)
    bench = make_bench(old)
    bench.vault.write("a.md", TWO_SECTIONS)
    bench.sync()
    bench.embedder = new
    (notice,) = bench.search("alpha paragraph").notices
    assert notice.startswith("vectors_of_another_embedder")
    assert bench.hits("alpha paragraph")[0].path == "a.md"
    bench.sync()
    assert len(new.texts()) == 2
    assert bench.search("alpha paragraph").mode == "hybrid"
    assert {len(codes) for (codes,) in rows(bench.app.index_path, "SELECT codes FROM vector")} == {128}


def test_going_back_to_the_first_embedder_asks_it_nothing(make_bench: MakeBench) -> None:
    old, new = FakeEmbedder(64), FakeEmbedder(128)
    bench = make_bench(old)
    bench.vault.write("a.md", TWO_SECTIONS)
    bench.sync()
    bench.embedder = new
    bench.sync()
    bench.embedder = old
    old.calls.clear()
    bench.sync()
    assert old.texts() == []
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)


@pytest.mark.parametrize("fault", ["down", "wrong_dim", "nan"])
def test_an_embedder_that_fails_midway_costs_no_text(
    remote: Bench, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr("hindbrain.index.embed._REMOTE_BATCH", 2)
    for i in range(5):
        remote.vault.write(f"n{i}.md", f"zebra number {i}\n")
    embed = embedder.embed_documents

    def fail_at_the_second_batch(texts: list[str]) -> object:
        if len(embedder.calls) == 1:
            embedder.fail(fault)  # type: ignore[arg-type]
        return embed(texts)

    monkeypatch.setattr(embedder, "embed_documents", fail_at_the_second_batch)
    report = remote.sync()
    assert report.embedder_error
    assert (report.indexed, report.embedded, report.pending) == (5, 2, 3)
    embedder.recover()
    assert len(remote.hits(SearchQuery("zebra", mode="keyword"))) == 5
    assert any("vectors_pending" in notice for notice in remote.search("zebra story").notices)
    monkeypatch.undo()
    assert remote.sync().pending == 0
    assert_equals_vault(remote.app.index_path, remote.vault.root, all_embedded=True)


def test_without_an_embedder_everything_is_pending_and_keyword_search_works(plain: Bench) -> None:
    plain.vault.write("a.md", TWO_SECTIONS)
    report = plain.sync()
    assert (report.embedded, report.pending, report.embedder_error) == (0, 2, "")
    assert plain.paths("beta") == ["a.md"]


def test_other_passage_sizes_make_the_index_anew(plain: Bench) -> None:
    plain.vault.write("a.md", "word " * 2_000)
    plain.sync()
    small = len(rows(plain.app.index_path, "SELECT 1 FROM passage"))
    report = plain.syncer(tokens=400, overlap=80).sync(None)
    assert report.indexed == 1
    assert len(rows(plain.app.index_path, "SELECT 1 FROM passage")) < small
    assert_equals_vault(plain.app.index_path, plain.vault.root)


def test_a_note_that_is_kept_from_being_cut_anew_is_cut_later(
    plain: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.vault.write("a.md", "word " * 2_000)
    plain.vault.write("b.md", "word " * 2_000)
    plain.sync()
    real = os.open

    def refuse(path: object, *args: object, **kwargs: object) -> int:
        if path == "a.md":
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return real(path, *args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr("os.open", refuse)
        assert len(plain.syncer(tokens=400).sync(None).failed) == 1
    assert plain.syncer(tokens=400).sync(None).indexed == 1
    ((a,), (b,)) = rows(plain.app.index_path, "SELECT passages FROM note ORDER BY path")
    assert a == b
    assert_equals_vault(plain.app.index_path, plain.vault.root)


# -- processes and progress --------------------------------------------------------------------------------


def test_a_second_sync_at_the_same_time_is_busy(plain: Bench) -> None:
    plain.vault.write("a.md", "text\n")
    with FileLock(plain.app.state / "index.lock").held(1.0), pytest.raises(Busy) as raised:
        plain.syncer(lock_timeout_s=0.05).sync(None)
    assert raised.value.code == "busy"
    assert plain.sync().indexed == 1


def test_a_listener_hears_how_far_it_is(bench: Bench) -> None:
    for i in range(3):
        bench.vault.write(f"n{i}.md", f"note {i}\n")
    heard: list[Progress] = []
    bench.syncer().sync(bench.embedder, heard.append)
    assert [item.phase for item in heard] == ["scan", "text", "vectors"]
    assert heard[-1] == Progress("vectors", 3, 3)


def test_single_notes_can_be_brought_up_to_date_and_nothing_is_removed(bench: Bench) -> None:
    bench.vault.write("a.md", "zebras\n")
    bench.vault.write("b.md", "lions\n")
    bench.sync()
    bench.vault.edit("a.md", "zebras", "giraffes")
    bench.vault.remove("b.md")
    report = bench.syncer().sync_paths([NotePath("a.md"), NotePath("b.md")], bench.embedder)
    assert (report.indexed, report.pending) == (1, 0)
    assert bench.paths(SearchQuery("giraffes", mode="keyword")) == ["a.md"]
    assert bench.paths(SearchQuery("lions", mode="keyword")) == ["b.md"]


def test_a_note_that_is_empty_for_a_moment_is_not_emptied_in_the_index(
    plain: Bench, clock: FakeClock
) -> None:
    plain.vault.write("a.md", "zebras\n")
    plain.sync()
    plain.vault.write("a.md", "", at=NOW - 10)
    report = plain.syncer().sync_paths([NotePath("a.md")], None)
    assert [item.code for item in report.failed] == ["unreadable"]
    assert plain.paths("zebras") == ["a.md"]
    clock.advance(20 * 365 * 86_400)  # it has stood empty for long: a scan believes it
    plain.sync()
    assert plain.paths("zebras") == []


def test_a_sync_and_a_search_write_nothing_into_the_vault(bench: Bench) -> None:
    bench.vault.write("a.md", TWO_SECTIONS)
    before = _listing(bench.vault.root)
    bench.sync()
    bench.search("alpha")
    assert _listing(bench.vault.root) == before


def _listing(root: Path) -> list[tuple[str, int, int]]:
    return sorted((str(p), p.lstat().st_size, p.lstat().st_mtime_ns) for p in root.rglob("*"))
