"""Commands tell what they did to whom the owner named, after their own result and never in its way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.http_listener import Listener, listening

from command_runs import Cli
from hindbrain.app import App
from hindbrain.learn.consolidation.consolidator import Consolidated
from hindbrain.vault.lock import FileLock
from workbench import Vault


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture
def owners_file(tmp_path: Path) -> Path:
    """Beside the settings of these tests."""
    file = tmp_path / "settings" / "agent.toml"
    file.parent.mkdir(exist_ok=True)
    return file


@pytest.fixture
def told(owners_file: Path, listener: Listener) -> Listener:
    """The owner wants to be told of everything, at one address."""
    owners_file.write_text(
        f'[events]\n"sync-complete" = ["{listener.url}/sync"]\nconsolidated = ["{listener.url}/done"]\n',
        encoding="utf-8",
    )
    return listener


@pytest.fixture
def consolidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is something to consolidate."""

    class StandIn:
        def consolidate(self, dry_run: bool = False) -> Consolidated:
            return Consolidated((("archive", "a line about Tea"),), facts=2, diff="x" * dry_run)

    monkeypatch.setattr(App, "learning", StandIn(), raising=False)


def test_a_sync_tells_its_figures_and_one_that_changed_nothing_tells_nothing(
    cli: Cli, notes: Vault, told: Listener
) -> None:
    assert cli("sync").code == 0
    (posted,) = told.posted
    assert posted.path == "/sync"
    assert (posted.body["files"], posted.body["modified"], posted.body["deleted"]) == (4, 4, 0)
    assert posted.body["vaultPath"] == str(notes.root)
    assert "Tea" not in str(posted.body) and "boat" not in str(posted.body)
    assert cli("sync").code == 0
    assert len(told.posted) == 1


def test_a_consolidation_is_told_and_a_dry_run_is_not(
    cli: Cli, notes: Vault, told: Listener, consolidates: None
) -> None:
    assert cli("consolidate", "--dry-run").code == 0
    assert told.posted == []
    assert cli("consolidate").code == 0
    (posted,) = told.posted
    assert posted.path == "/done" and (posted.body["event"], posted.body["facts"]) == ("consolidated", 2)
    assert "Tea" not in str(posted.body)


@pytest.mark.promise("P29", "P13")
def test_a_receiver_that_is_down_fails_no_sync_and_shows_in_doctor_until_it_is_told(
    cli: Cli, notes: Vault, told: Listener
) -> None:
    told.status = 503
    ran = cli("sync", "--json")
    assert ran.code == 0 and ran.data["indexed"] == 4 and ran.err.count("warning:") == 1
    doctor = cli("doctor", "--json")
    (finding,) = (found for found in doctor.data["findings"] if found["name"] == "events")
    assert finding["state"] == "doubtful" and doctor.code == 0


@pytest.mark.promise("P29", "P13")
def test_a_receiver_that_hangs_is_left_alone_after_a_moment(
    cli: Cli, notes: Vault, told: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.edge.serving.telling._PATIENCE_S", 0.2)
    told.hangs = True
    ran = cli("sync", "--json")  # would take as long as the receiver hangs, if it waited for it
    assert ran.code == 0 and ran.data["indexed"] == 4
    assert not told.let_go.is_set() and ran.err.count("warning:") == 1


@pytest.mark.promise("P29")
@pytest.mark.parametrize("text", ['[events]\n"sync-complete" = ["nobody"]\n', "[events\n"])
def test_a_wrong_file_fails_no_sync_and_is_told(cli: Cli, notes: Vault, owners_file: Path, text: str) -> None:
    owners_file.write_text(text, encoding="utf-8")
    ran = cli("sync")
    assert ran.code == 0 and ran.err.count("warning:") == 1
    (finding,) = (found for found in cli("doctor", "--json").data["findings"] if found["name"] == "events")
    assert finding["state"] == "wrong"


def test_a_disk_that_takes_no_more_fails_no_sync_and_is_told(
    cli: Cli, notes: Vault, told: Listener, tmp_path: Path
) -> None:
    assert cli("sync").code == 0
    (folder,) = (tmp_path / "state").glob("*/agent/events")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.write_text("a file where a folder should be", encoding="utf-8")
    notes.write("New.md", "new")
    ran = cli("sync")
    assert ran.code == 0 and "warning:" in ran.err


@pytest.mark.parametrize("text", ["", "[limits]\niterations = 3\n"])
def test_who_wants_to_be_told_nothing_pays_nothing(
    cli: Cli, notes: Vault, owners_file: Path, text: str
) -> None:
    if text:
        owners_file.write_text(text, encoding="utf-8")
    code = (
        "import sys; from hindbrain.edge.main import main; main(sys.argv[1:]);"
        "print('loaded', *(name for name in sys.modules if name.startswith('hindbrain.agent')))"
    )
    words = [sys.executable, "-c", code, "sync", "--vault", str(notes.root)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120, encoding="utf-8")
    assert ran.returncode == 0 and ran.stdout.splitlines()[-1] == "loaded", ran.stderr


def test_what_waits_from_before_goes_with_the_next_command(
    cli: Cli, notes: Vault, told: Listener, tmp_path: Path, consolidates: None
) -> None:
    assert cli("sync").code == 0
    (folder,) = (tmp_path / "state").glob("*/agent")
    with FileLock(folder / "events-sending.lock").held(0):  # another process sends just now
        assert cli("consolidate").code == 0
        (waiting,) = (
            file
            for file in (folder / "events").iterdir()
            if "consolidated" in file.read_text(encoding="utf-8")
        )
    assert len(told.posted) == 1 and waiting.exists()
    assert cli("sync").code == 0
    assert [posted.path for posted in told.posted] == ["/sync", "/done"]
