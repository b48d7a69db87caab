"""The documents about the command line say what the program does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_runs import Cli

from hindbrain.base import errors
from hindbrain.edge.commands import NAMES
from hindbrain.edge.commands.watch import _tell
from hindbrain.edge.output import Output
from hindbrain.edge.reference import reference
from hindbrain.index.follow import FollowEvent
from hindbrain.vault.write import VaultWriter
from workbench import Vault

_DOCS = Path(__file__).parents[2] / "docs"
_OPEN = frozenset(("why", "left_out_by_code", "value", "default"))  # whose keys or kinds are data


def _examples() -> dict[str, Any]:
    text = (_DOCS / "json.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {
        name: json.loads(found[1])
        for name, body in sections
        if (found := re.search(r"```json\n(.*?)```", body, re.DOTALL))
    }


def _shape(value: Any, name: str = "") -> Any:
    """Keys and kinds of values; a list is the shape of its first element."""
    if name in _OPEN:
        return "open"
    if isinstance(value, dict):
        return {key: _shape(item, key) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, int | float) else "text"


def _agree(shown: Any, written: Any) -> bool:
    """Is what is printed of the shape that is written down? What may be empty or null may be so in either."""
    if "NoneType" in (shown, written):
        return True
    if isinstance(shown, dict) and isinstance(written, dict):
        return shown.keys() == written.keys() and all(_agree(shown[key], written[key]) for key in shown)
    if isinstance(shown, list) and isinstance(written, list):
        return not shown or not written or _agree(shown[0], written[0])
    return bool(shown == written)


def test_the_page_of_commands_is_the_one_that_the_program_makes() -> None:
    assert (_DOCS / "cli.md").read_text(encoding="utf-8") == reference(), (
        "run: python -m hindbrain.edge.reference > docs/cli.md"
    )


def test_every_command_has_a_shape_that_is_written_down() -> None:
    assert set(_examples()) == {*NAMES, "error", "version"}


def test_every_code_of_an_error_is_written_down() -> None:
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.HindbrainError)
    }
    section = (_DOCS / "json.md").read_text(encoding="utf-8").partition("## error")[2].partition("```json")[0]
    assert codes == set(re.findall(r"`([a-z_]+)`", section)) - {"code"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("init", ["init"]),
        ("sync", ["sync", "--verify"]),
        ("search", ["search", "plan"]),
        ("search", ["search", "xylophone", "--keyword"]),
        ("read", ["read", "Broken"]),
        ("status", ["status"]),
        ("doctor", ["doctor", "--fix"]),
        ("history", ["history"]),
        ("undo", ["undo"]),
        ("config", ["config"]),
        ("demo", ["demo"]),
        ("completion", ["completion", "fish"]),
        ("error", ["read", "nowhere"]),
        ("version", ["--version"]),
    ],
)  # fmt: skip
def test_json_has_the_shape_that_is_written_down(cli: Cli, notes: Vault, name: str, words: list[str]) -> None:
    notes.write("Broken.md", "---\ntags: [open\n---\ntext\n")
    notes.write("Blob.md", b"\0\1\2" * 500)
    notes.write("Tea (conflicted copy 2026-01-01).md", "old")
    cli("sync")
    state = Path(cli("status", "--json").data["vault"]["state"])
    from hindbrain.base.clock import SystemClock

    with VaultWriter(notes.root, state, SystemClock()) as writer:
        writer.append_note("Tea.md", b"More.\n")
    ran = cli.bare(*words, "--json", *([] if name == "version" else ["--vault", str(notes.root)]))
    shown, written = _shape(ran.data), _shape(_examples()[name])
    assert _agree(shown, written), f"{shown}\n{written}"


def test_an_event_of_the_watcher_has_the_shape_that_is_written_down(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _tell(FollowEvent("error", 1.0, None, "busy", "held"), Output(json=True))
    (line,) = capsys.readouterr().out.splitlines()
    assert _agree(_shape(json.loads(line)), _shape(_examples()["watch"]))
