"""A long run in a small window goes on: what matters least is trimmed first, then the model sums up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.app import App
from hindbrain.base.errors import ModelDown
from hindbrain.context.tokens import count_tokens
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatRequest, Watch
from hindbrain.models.chat_fake import calls
from workbench import Vault

WINDOW = 6_000
SUMMARY = "So far the harbour, the mill and the lighthouse were read; the mill burned down in 1911."


class Reader:
    """Reads one file after the other, then says that it is done. Sums up when it is asked to."""

    name = "reader"
    calls_tools = True

    def __init__(self, files: Sequence[str], summary: str | Exception = SUMMARY) -> None:
        self._files = list(files)
        self._summary = summary
        self.worked: list[ChatRequest] = []
        self.summed_up: list[tuple[int, ChatRequest]] = []  # after so many requests

    def answer(self, request: ChatRequest, _: Watch = NOBODY) -> ChatAnswer:
        if not request.tools:
            self.summed_up.append((len(self.worked), request))
            if isinstance(self._summary, Exception):
                raise self._summary
            return ChatAnswer(self._summary)
        self.worked.append(request)
        if not self._files:
            return ChatAnswer("Read them all.\nTASK_COMPLETE")
        name = self._files.pop(0)
        return calls("read_file", path=name)._replace(
            calls=tuple(
                call._replace(id=f"c{len(self.worked)}") for call in calls("read_file", path=name).calls
            )
        )

    def results(self, at: int) -> list[str]:
        return [message.text for message in self.worked[at].messages if message.role == "tool"]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "agent.toml").write_text(f"[limits]\nwindow = {WINDOW}\niterations = 60\n", encoding="utf-8")
    return folder


def _run(cli: Cli, monkeypatch: pytest.MonkeyPatch, chat: Reader, command: str) -> str:
    Stage(monkeypatch).nobody()
    monkeypatch.setattr(App, "chat", chat, raising=False)
    ran = cli("run", command, "--no-memory")
    assert ran.code == 0, ran.err
    assert ran.out == "Read them all.\n"
    return ran.err


def test_old_results_are_cleared_first_and_then_the_model_sums_up(
    cli: Cli, vault: Vault, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"log{number}.txt" for number in range(40)]
    for number, name in enumerate(names):
        (work / name).write_text(
            f"Log {number}. " + f"The wind came from the west on day {number}. " * 40, encoding="utf-8"
        )
    chat = Reader(names)
    told = _run(cli, monkeypatch, chat, "read all the logs of the harbour")
    assert len(chat.worked) == 41
    for request in chat.worked:
        assert sum(count_tokens(message.text) for message in request.messages) < WINDOW
        assert any("read all the logs" in message.text for message in request.messages)
    first = chat.summed_up[0][0]
    assert any("tool result cleared" in text for text in chat.results(first - 1))
    assert SUMMARY not in str(chat.worked[first - 1].messages) and SUMMARY in str(chat.worked[first].messages)
    assert SUMMARY in str(chat.worked[-1].messages)
    assert len(chat.summed_up) < 10  # not at each step
    assert "west on day 39" in chat.results(-1)[-1]
    assert "summary" in told


def test_a_model_that_can_not_sum_up_costs_the_run_nothing(
    cli: Cli, vault: Vault, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"log{number}.txt" for number in range(40)]
    for number, name in enumerate(names):
        (work / name).write_text(
            f"Log {number}. " + f"The wind came from the west on day {number}. " * 40, encoding="utf-8"
        )
    chat = Reader(names, ModelDown("no summaries here"))
    told = _run(cli, monkeypatch, chat, "read all the logs of the harbour")
    assert len(chat.summed_up) == 1  # it is not asked again
    assert "Earlier in this conversation" in str(chat.worked[-1].messages)
    assert "no summaries here" in told


def test_what_is_far_from_the_command_is_cleared_before_what_is_near(
    cli: Cli, vault: Vault, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "japan.txt").write_text(
        "Vacation in Japan: Kyoto in April, trains by pass. " * 20, encoding="utf-8"
    )
    for number in range(12):
        (work / f"budget{number}.txt").write_text(
            f"Groceries cost {number} euros a week. " * 30, encoding="utf-8"
        )
    chat = Reader(["japan.txt", *(f"budget{number}.txt" for number in range(12))])
    _run(cli, monkeypatch, chat, "plan my vacation in Japan")
    cleared = [at for at in range(len(chat.worked)) if "cleared" in str(chat.results(at))]
    assert cleared
    results = chat.results(cleared[0])
    assert "Kyoto" in results[0]
    assert "cleared" in results[1]
