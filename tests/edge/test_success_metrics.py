"""The five success metrics of the reference in `hindbrain stats`: journals and receipts in, one table out."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

import hindbrain.app
from command_runs import Cli
from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.context.receipts import Entered, Receipt, Receipts, Use
from hindbrain.edge.output import Output
from hindbrain.edge.stats_text import show_panels
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
)
from workbench import NOW, Vault

NAMES = [
    "repeated_failures", "known_task_iterations", "preference_adherence", "template_success", "relevance",
]  # fmt: skip
_DAY_S = 86_400.0
_BAR = "the URL bar was not found"
OPEN = "open github.com in the browser"
MAIL = "write a mail to Ada about the boat"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock(NOW)
    monkeypatch.setattr(hindbrain.app, "SystemClock", lambda: clock)
    return clock


class Journals:
    """Writes runs and receipts, one an hour, the last of them before the clock's now."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._runs: list[list[Event]] = []
        self._at = NOW - 30 * _DAY_S

    def wait(self, seconds: float) -> None:
        self._at += seconds

    def run(
        self, command: str, why_failed: str = "", *, iterations: int = 1, injected: Sequence[str] = (),
        rejected: str = "", steps: Iterable[tuple[str, dict[str, Any]]] = (), wait: float = 3_600,
    ) -> None:  # fmt: skip
        """It ends well unless it says why not; the next one begins `wait` seconds after its end."""
        run, at = f"r-{len(self._runs):04}", self._at
        events: list[Event] = [RunCreated(run, at, command, session="s1")]
        events += [ContextInjected(run, at, tuple(injected), 40)] if injected else []
        events += [IterationStarted(run, at + number, number) for number in range(1, iterations + 1)]
        events += [ToolExecuted(run, at + iterations, name, arguments) for name, arguments in steps]
        events += [VerificationRejected(run, at + iterations, rejected, 20)] if rejected else []
        end = at + iterations + 10
        score = 10 if why_failed else 95
        events.append(RunEnded(run, end, "fail" if why_failed else "complete", score, why_failed))
        self._runs.append(events)
        self._at = end + wait

    def receipt(self, *slots: str, used: Sequence[int] = ()) -> None:
        self._at += 60
        entered = tuple(Entered(slot, f"{slot}.md", tokens=20, lines=1) for slot in slots)
        receipt = Receipt(f"{self._at:.0f}", self._at, "own", "s1", "turn", "a prompt", "", entered=entered)
        receipts = Receipts(self.app.state)
        assert not receipts.add(receipt)
        assert not receipts.note_used(receipt, [Use(place, ("quoted",)) for place in used], self._at + 1)

    def keep(self) -> None:
        assert self.app.learning.runs.add_imported("test", self._runs).runs == len(self._runs)


@pytest.fixture
def journals(vault: Vault, make_app: Callable[..., App]) -> Journals:
    return Journals(make_app(vault.root))


def _metric(cli: Cli, name: str, *options: str) -> dict[str, Any]:
    metrics = cli("stats", "--json", *options).data["metrics"]
    assert [one["name"] for one in metrics] == NAMES
    found: dict[str, Any] = metrics[NAMES.index(name)]
    return found


def _row(cli: Cli, label: str) -> str:
    [line] = [line for line in cli("stats").out.split("\n") if line.strip().startswith(label)]
    return " ".join(line.split())


def test_without_enough_runs_each_metric_says_why_it_has_no_figure(cli: Cli, journals: Journals) -> None:
    assert [one["now"] for one in cli("stats", "--json").data["metrics"]] == [None] * 5
    for _ in range(2):
        journals.run(OPEN)
    journals.keep()
    for one in cli("stats", "--json").data["metrics"]:
        assert (one["now"], one["before"], one["now_count"]) == (None, None, 0)
        assert one["why"] and one["target"]
    lines = cli("stats").out.split("\n")
    table = lines[lines.index("Success metrics") + 1 :][:6]
    assert table[0].split() == ["now", "before", "target", "like", "for", "like"]
    assert table[1].split()[2:5] == ["-", "-", "none"]
    assert all(line.split().count("-") == 2 for line in table[1:])


def test_repeated_failures_are_compared_for_kinds_of_both_halves(cli: Cli, journals: Journals) -> None:
    for _ in range(4):
        journals.run(OPEN, _BAR)
    for _ in range(9):
        journals.run(OPEN)
    for _ in range(3):  # a new task of the later half has nothing before it
        journals.run(MAIL, "the mail server gave no answer")
    journals.keep()
    metric = _metric(cli, "repeated_failures")
    assert (metric["now"], metric["before"]) == (0.0, 0.4286)
    assert (metric["by"], metric["groups"], metric["now_count"], metric["before_count"]) == ("task", 1, 5, 7)
    assert _row(cli, "repeated failures") == "repeated failures 0% 43% none 5 runs against 7, 1 kind"


def test_failing_as_ever_is_no_rise(cli: Cli, journals: Journals) -> None:
    """More failures lie behind a later run; that it is like any of them is no change."""
    reasons = (_BAR, "Chrome crashed", "no connection to the network")
    for number in range(36):
        journals.run(OPEN, reasons[number // 2 % 3])
    journals.keep()
    metric = _metric(cli, "repeated_failures")
    assert abs(metric["now"] - metric["before"]) < 0.06
    periods = cli("stats", "--json").data["periods"]
    assert periods[0]["runs"]["repeated"] < periods[-1]["runs"]["repeated"], "as any failure before"


def test_new_tasks_alone_have_a_now_and_no_before(cli: Cli, journals: Journals) -> None:
    for _ in range(6):
        journals.run(OPEN, _BAR)
    for _ in range(6):
        journals.run(MAIL, "the mail server gave no answer")
    journals.keep()
    metric = _metric(cli, "repeated_failures")
    assert (metric["now"], metric["before"], metric["groups"]) == (1.0, None, 0)
    assert metric["why"]
    assert _row(cli, "repeated failures").startswith("repeated failures 100% - none 5 runs; ")


@pytest.mark.parametrize(("later", "now"), [(10, 3.3333), (4, 2.3333)])
def test_doing_more_short_tasks_is_no_gain_in_iterations(
    cli: Cli, journals: Journals, later: int, now: float
) -> None:
    for _ in range(3):
        journals.run(OPEN, iterations=10)
        journals.run(MAIL, iterations=2)
    journals.run(OPEN, iterations=later)
    for _ in range(5):
        journals.run(MAIL, iterations=2)
    journals.run("plan the week", iterations=40)  # not known
    journals.keep()
    metric = _metric(cli, "known_task_iterations")
    assert (metric["now"], metric["before"]) == (now, 3.3333)
    assert (metric["unit"], metric["groups"], metric["now_count"]) == ("iterations", 2, 6)


def test_a_preference_is_kept_to_unless_somebody_objects_for_it(cli: Cli, journals: Journals) -> None:
    id_ = cli("remember", "Prefers Chrome over Safari", "--category", "preference", "--json").data["id"]
    known = [f"^{id_}"]
    for _ in range(6):
        journals.run("open github.com", injected=known)
    journals.run("open github.com", "the window is wrong", injected=known, wait=60)  # corrected
    journals.run("open github.com in Chrome", injected=known)  # leaves nothing open
    journals.run("open github.com", injected=known, rejected="it was opened in Safari")  # rejected
    journals.run("open github.com", injected=known, rejected="the page was empty")  # for something else
    journals.run("open github.com", "the page was empty", injected=known, wait=600)
    journals.run("open github.com in Chrome")  # no correction: ten minutes later
    journals.run("open github.com", injected=known)
    journals.run("open github.com", injected=["^m-zzzzzzzz"])  # no preference
    journals.run("open github.com", injected=known)
    journals.keep()
    metric = _metric(cli, "preference_adherence")
    assert (metric["now_count"], metric["before_count"]) == (6, 6)
    assert (metric["now"], metric["before"]) == (0.6667, 1.0)
    assert _row(cli, "preference adherence").startswith("preference adherence 67% 100% all 6 runs")


def test_other_memories_in_a_prompt_are_no_preferences(cli: Cli, journals: Journals) -> None:
    id_ = cli("remember", "The office is in Lyon", "--category", "fact", "--json").data["id"]
    for _ in range(12):
        journals.run("open github.com", injected=[f"^{id_}"])
    journals.keep()
    assert _metric(cli, "preference_adherence")["now"] is None


def _steps(site: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("open_application", {"name": "Chrome"}),
        ("press_key", {"key": "l", "command": True}),
        ("type_text", {"text": site}),
        ("press_key", {"key": "return"}),
    ]


def test_a_template_is_judged_after_its_tenth_use(cli: Cli, journals: Journals) -> None:
    sites = ("github.com", "example.org", "python.org", "gitlab.com", "debian.org")
    for number in range(15):
        site = sites[number % 5]
        journals.run(f"open {site} in Chrome", "Chrome crashed" if number == 12 else "", steps=_steps(site))
    journals.keep()
    assert cli("learn").code == 0
    assert len(cli("templates", "--json").data["templates"]) == 1
    metric = _metric(cli, "template_success")
    assert (metric["now"], metric["before"]) == (0.8, 1.0)
    assert (metric["by"], metric["now_count"], metric["before_count"]) == ("template", 5, 10)
    assert _row(cli, "templates after 10 uses").startswith("templates after 10 uses 80% 100% over 85%")


def test_ten_uses_of_a_template_say_nothing_yet(cli: Cli, journals: Journals) -> None:
    for _ in range(10):
        journals.run("open github.com in Chrome", steps=_steps("github.com"))
    journals.keep()
    cli("learn")
    assert _metric(cli, "template_success")["now"] is None


def test_relevance_is_the_share_of_excerpts_used_in_slots_of_both_halves(
    cli: Cli, journals: Journals
) -> None:
    for _ in range(4):
        journals.receipt("relevant", "relevant")
    journals.receipt()  # a prompt that got nothing
    for _ in range(4):
        journals.receipt("relevant", "relevant", "profile", used=[0])  # no profile in the earlier half
    journals.run(OPEN)
    journals.keep()
    metric = _metric(cli, "relevance")
    assert (metric["now"], metric["before"]) == (0.5, 0.0)
    assert (metric["by"], metric["groups"], metric["now_count"], metric["before_count"]) == ("slot", 1, 8, 8)
    assert _row(cli, "relevance of injected") == (
        "relevance of injected 50% 0% over 80% 8 excerpts against 8, 1 slot"
    )


def test_days_leave_older_runs_out_of_now_and_keep_them_as_first_runs(cli: Cli, journals: Journals) -> None:
    for _ in range(8):
        journals.run(OPEN, iterations=9)
    journals.wait(20 * _DAY_S)
    for _ in range(5):
        journals.run(OPEN, iterations=3)
    journals.keep()
    metric = _metric(cli, "known_task_iterations", "--days", "14")
    assert (metric["now"], metric["before"], metric["now_count"]) == (3.0, 9.0, 5)
    assert _metric(cli, "repeated_failures", "--days", "14")["now"] is None, "halves of five runs are too few"
    assert _metric(cli, "known_task_iterations")["now_count"] == 10


@pytest.mark.parametrize("columns", [80, 50])
def test_the_table_fits_a_terminal(journals: Journals, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    for _ in range(16):
        journals.run(OPEN, iterations=3)
    journals.keep()
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Output()
    out.stdout = io.StringIO()
    show_panels(journals.app.learning.stats(), out)
    text = out.stdout.getvalue()
    assert max(map(len, text.split("\n"))) == columns
    panel = text.partition("Success metrics")[2].partition("╰")[0]
    assert "fewer" in panel
    assert len(panel.split("\n")) < 25, "no column is a letter wide"
