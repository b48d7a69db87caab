"""Which folders the service takes for vaults: those that their owner has made one, or has opened."""

from __future__ import annotations

from pathlib import Path

from service_runs import ServiceRun

from workbench import Vault


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_folder_that_is_no_vault_is_not_served_and_left_alone(served: ServiceRun, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "Tea.md").write_text("# Tea\n", encoding="utf-8")
    before, state = tree(home), {path.name for path in served.state.iterdir()}
    for route, body in (
        ("search", {"query": "tea"}), ("read", {"path": "Tea.md"}), ("card", {}),
        ("save", {"text": "Likes tea"}), ("context", {"session": "s", "message": "tea"}), ("flush-plan", {}),
        ("event", {"session": "s", "event": "compacted"}),
    ):  # fmt: skip
        answer = served.ask(route, {**body, "vault": str(home)})
        assert (answer.status, answer.code) == (404, "not_found"), route
    assert tree(home) == before
    assert {path.name for path in served.state.iterdir()} == state


def test_another_vault_of_the_owner_is_served_by_its_name(served: ServiceRun, tmp_path: Path) -> None:
    other = Vault(tmp_path / "other")
    other.write(".obsidian/app.json", "{}")
    other.write("Rum.md", "# Rum\n\nDark rum is aged in oak.\n")
    answer = served.ask("read", {"path": "Rum.md", "vault": str(other.root)})
    assert answer.status == 200 and "oak" in answer.told["text"]
    assert not (other.root / ".hindbrain").exists()
