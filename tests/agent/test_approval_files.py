"""An approval of a call holds by two records and by what was shown; writing one of them approves nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.agent.safety.approval import Asked
from hindbrain.agent.safety.waiting import Waiting
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import NotFound
from hindbrain.memory.inbox.approval_log import ApprovalLog
from hindbrain.vault.write import VaultWriter
from workbench import Vault

ASKED = Asked("a-7f3k2a", "r-1", "write_file", {"path": "out.txt"}, "Make the file 'out.txt'", "a stranger")


@pytest.fixture
def log(vault: Vault, tmp_path: Path, clock: FakeClock) -> Iterator[ApprovalLog]:
    writer = VaultWriter(vault.root, tmp_path / "writer", clock)
    yield ApprovalLog(vault.root, lambda: writer, clock)
    writer.close()


@pytest.fixture
def waiting(tmp_path: Path, clock: FakeClock, log: ApprovalLog) -> Waiting:
    return Waiting(tmp_path / "state", clock, log)


def rewrite(tmp_path: Path, **fields: object) -> None:
    (file,) = (tmp_path / "state" / "agent" / "approvals").glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | fields), "utf-8")


@pytest.mark.promise("P17")
@pytest.mark.parametrize("decision", ["allow", "run"])
def test_a_file_that_says_approved_is_no_approval(waiting: Waiting, tmp_path: Path, decision: str) -> None:
    waiting.ask(ASKED)
    rewrite(tmp_path, decision=decision, by="owner", answered=1.0)
    assert waiting.use(ASKED) == "wait"
    assert [one.asked.id for one in waiting.pending()] == [ASKED.id], "its owner is still asked"


@pytest.mark.promise("P17")
def test_what_was_shown_is_what_is_approved(waiting: Waiting, tmp_path: Path) -> None:
    """The file that a person reads says something harmless; the call is another one."""
    waiting.ask(ASKED)
    rewrite(tmp_path, shown="List a folder")
    (question,) = waiting.pending()
    waiting.answer(ASKED.id, "allow", "owner", shown=question.asked.digest)
    waiting.note(question.asked, "allow", "owner")
    assert waiting.use(ASKED) == "wait"
    assert waiting.ask(ASKED).asked.shown == ASKED.shown
    assert [one.asked.shown for one in waiting.pending()] == [ASKED.shown]


def test_a_call_that_was_swapped_while_it_was_read_is_not_approved(waiting: Waiting, tmp_path: Path) -> None:
    waiting.ask(ASKED)
    other = ASKED._replace(arguments={"path": "/etc/passwd"})
    rewrite(tmp_path, arguments=other.arguments, digest=other.digest)
    with pytest.raises(NotFound):
        waiting.answer(ASKED.id, "allow", "owner", shown=ASKED.digest)


def test_an_approval_counts_once_and_is_written_down(waiting: Waiting, log: ApprovalLog) -> None:
    waiting.ask(ASKED)
    waiting.note(
        waiting.answer(ASKED.id, "allow", "telegram:ada", shown=ASKED.digest).asked, "allow", "telegram:ada"
    )
    assert waiting.use(ASKED) == "allow"
    assert waiting.use(ASKED) == "wait"
    (entry,) = log.read()
    assert (entry.what, entry.decision, entry.how, entry.who) == ("call", "accepted", "telegram", "ada")
