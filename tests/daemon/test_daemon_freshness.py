"""The daemon answers from what is on disk at the moment of the request."""

from __future__ import annotations

from daemon_runs import InProcess, wait_until

from workbench import Vault


def paths_found(in_process: InProcess, vault: Vault, query: str) -> list[str]:
    reply = in_process.ask("search", vault.root, {"query": query})
    return [hit["path"] for hit in reply["result"]["hits"]] if reply["ok"] else []


def test_a_change_made_just_before_the_request_is_seen(in_process: InProcess, notes: Vault) -> None:
    in_process.start()
    wait_until(lambda: paths_found(in_process, notes, "tea"))
    served = in_process.daemon.vaults.served()[0]
    wait_until(lambda: served.serving.keeper.pending_changes() is not None)

    for word in ("zeppelin", "airship", "balloon"):
        notes.write(f"New/{word}.md", f"# {word}\n\nThe {word} lands at noon.\n")
        assert paths_found(in_process, notes, word)[0] == f"New/{word}.md"
    notes.edit("Tea.md", "70 degrees", "eighty celsius")
    (hit, *_) = in_process.ask("search", notes.root, {"query": "green tea brewed"})["result"]["hits"]
    assert "eighty celsius" in hit["text"]
    notes.remove("New/zeppelin.md")
    assert "New/zeppelin.md" not in paths_found(in_process, notes, "zeppelin")
