"""The daemon tells whom its owner named that a vault's index was made."""

from __future__ import annotations

from pathlib import Path

from daemon_runs import InProcess, wait_until
from tests.agent.http_listener import listening

from workbench import Vault


def test_the_daemon_tells_of_the_first_index_of_a_vault(
    notes: Vault, tmp_path: Path, in_process: InProcess
) -> None:
    (tmp_path / "settings").mkdir()
    with listening() as listener:
        file = tmp_path / "settings" / "agent.toml"
        file.write_text(f'[events]\n"sync-complete" = ["{listener.url}"]\n', encoding="utf-8")
        in_process.start()
        in_process.ask("ping", notes.root)
        wait_until(lambda: listener.posted)
        body = listener.posted[0].body
        assert (body["modified"], body["vaultPath"]) == (2, str(notes.root))
        in_process.end()
