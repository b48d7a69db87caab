"""The commands about learning: learn, consolidate, lessons, templates, skills, stats."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.app import App
from hindbrain.context.packs.learned import Match, Matches
from hindbrain.edge.output import Output
from hindbrain.edge.stats_text import bars, plain_lines, show_panels
from hindbrain.learn.consolidation.consolidator import Consolidated
from hindbrain.learn.consolidation.proof import Lost, Proof
from hindbrain.learn.lessons.book import LessonsWritten
from hindbrain.learn.lessons.guards import Heeded, KnownGuards
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.recording.recorder import Recorded
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.skills.loading import Loaded
from hindbrain.learn.skills.skill import Skill
from hindbrain.learn.stats.counting import stats_of
from hindbrain.learn.stats.figures import Stats
from hindbrain.learn.templates.book import TemplatesWritten
from hindbrain.learn.templates.template import Slot, Step, Template
from workbench import NOW, Vault

LESSON = Lesson(
    "l-7f3k2a9q", "Do not `click(URL bar)`; `press_key(l, command: true)` worked", ("open github.com",),
    avoid="click(URL bar)", prefer="press_key(l)", reason="bar not found", app="Chrome", failures=4,
    successes=5, heeded=3, in_vain=1, confidence=0.86, evidence=("r-a", "r-b"), worked=("r-c",), last=NOW,
)  # fmt: skip
URGENT = Lesson("l-zzzzzzzz", "Save \x1b[31mbefore closing", ("close it",), confidence=0.5, state="escalated")
OLD = Lesson("l-00000000", "Use the old menu", (), confidence=0.2, state="retired")
TEMPLATE = Template(
    "Send email", "Send email to {recipient}", r"\bsend\b.*\bemail\b",
    (
        Step("open_application", (("name", "Mail"),)),
        Step("type_text", (("text", "{recipient}"),), many=True),
    ),
    (Slot("recipient", ("Ada", "Bob"), before=("to",)),),
    commands=("send an email to Ada",), runs=8, successes=7, avg_iterations=3.5,
    path="Learning/Templates/Send email.md", evidence=("r-a",),
)  # fmt: skip
SKILL = Skill("deploy", "How we deploy", "", "1. make deploy", "Skills/deploy.md")


class StandIn:
    """What `App.learning` answers with, as a test likes it."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.learned: Any = None
        self.consolidated: Any = None
        self.matched = Matches()
        self.known_lessons: list[Lesson] = []
        self.known_templates: list[Template] = []
        self.loaded = Loaded()
        self.calls: list[object] = []
        self.runs = SimpleNamespace(episodes=lambda last=0: self.episodes[-last:])

    def learn(self, dry_run: bool = False) -> Any:
        self.calls.append(("learn", dry_run))
        return self.learned

    def consolidate(self, dry_run: bool = False) -> Any:
        self.calls.append(("consolidate", dry_run))
        return self.consolidated

    def lessons(self) -> list[Lesson]:
        return self.known_lessons

    def templates(self) -> list[Template]:
        return self.known_templates

    def skills(self) -> Any:
        return self.loaded

    def guards(self) -> KnownGuards:
        return KnownGuards()

    def heeded(self) -> dict[str, Heeded]:
        return {}

    def matches(self, command: str) -> Matches:
        self.calls.append(command)
        return self.matched

    def stats(self, days: int = 0) -> Stats:
        return stats_of(
            self.episodes, days=days, now=NOW, lessons=self.known_lessons, templates=self.known_templates
        )


@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setattr(App, "learning", stand_in, raising=False)
    return stand_in


def _learned(*, diff: str = "", problems: Sequence[str] = (), proposals: int = 0, **recorded: Any) -> Any:
    new = bool(recorded)
    return SimpleNamespace(
        recorded=Recorded(**recorded),
        lessons=LessonsWritten(added=(LESSON.id,), retired=("l-x",), held=("l-y",))
        if new
        else LessonsWritten(),
        templates=TemplatesWritten(updated=("a", "b", "c")) if new else TemplatesWritten(),
        proposals=proposals,
        diff=diff,
        problems=tuple(problems),
    )


def _consolidated(proof: Proof, *problems: str, diff: str = "") -> Any:
    steps = (("learn", "2 new lessons"), ("archive", ""))
    return Consolidated(steps, facts=3, superseded=1, archived=2, proof=proof, diff=diff, problems=problems)


def _match(title: str, id_: str = "^l-7f3k2a9q", path: str = "Learning/Lessons.md") -> Match:
    return Match(id_, path, title, "text", 3, 4, 0.823456, why="command 0.82, app")


def _runs(count: int, **more: Any) -> list[Episode]:
    """Every third failed, for the same reason."""
    return [
        Episode(
            f"r-{at:04}", "open github.com", "success" if at % 3 else "failed", NOW - (count - at) * 90_000,
            NOW - (count - at) * 90_000 + 60, iterations=4, reason="" if at % 3 else "the bar was not found",
        )._replace(**more)
        for at in range(count)
    ]  # fmt: skip


# learn


def test_learn_says_what_is_new_and_what_to_look_at(cli: Cli, learning: StandIn) -> None:
    learning.episodes = _runs(3)
    learning.known_lessons = [LESSON]
    learning.learned = _learned(runs=12, corrections=1, issues=2, apps=1, proposals=1)
    ran = cli("learn")
    assert ran.code == 0
    assert ran.out.split("\n") == [
        "recorded: 12 runs, 1 correction, 2 new issues, 1 note of an application",
        "lessons: 1 new, 1 retired",
        f"  + {LESSON.text} (l-7f3k2a9q)",
        "templates: 3 with new figures",
        "",
    ]
    assert "hindbrain inbox" in ran.err and "1 left out" in ran.err
    assert learning.calls == [("learn", False)]


def test_learn_without_runs_says_where_they_come_from(cli: Cli, learning: StandIn) -> None:
    learning.learned = _learned()
    ran = cli("learn")
    assert (ran.code, ran.out) == (0, "")
    assert "hindbrain runs import" in ran.err
    learning.episodes = _runs(1)
    assert "nothing new" in cli("learn").err


def test_a_dry_run_prints_the_diff_and_nothing_else(cli: Cli, learning: StandIn) -> None:
    diff = "--- a/Home.md\n+++ b/Home.md\n@@ -1 +1,2 @@\n # Home\n+a line with \x1b[31mcolour"
    learning.learned = _learned(diff=diff)
    ran = cli("learn", "--dry-run")
    assert ran.out == diff.replace("\x1b", "\ufffd") + "\n"
    assert "nothing was written" in ran.err
    assert learning.calls == [("learn", True)]
    assert cli("learn", "--dry-run", "--json").data["diff"] == diff


def test_what_could_not_be_learned_is_a_failure(cli: Cli, learning: StandIn) -> None:
    learning.learned = _learned(problems=["Home.md can't be read"], runs=1)
    ran = cli("learn", "--json")
    assert ran.code == 1
    assert ran.data["problems"] == ["Home.md can't be read"]
    assert ran.data["lessons"]["added"] == ["l-7f3k2a9q"]
    assert ran.data["templates"]["updated"] == ["a", "b", "c"]
    assert ran.data["recorded"]["runs"] == 1


# consolidate


def test_consolidate_tells_its_steps_and_the_proof_last(cli: Cli, learning: StandIn) -> None:
    learning.consolidated = _consolidated(Proof(changes=14, moved=2))
    ran = cli("consolidate")
    assert ran.code == 0
    assert ran.out.split("\n")[:2] == ["learn    2 new lessons", "archive  nothing to do"]
    assert ran.err.startswith("proof: no line of yours was lost; 14 changes looked at")


def test_a_proof_that_fails_names_the_lines_and_is_a_failure(cli: Cli, learning: StandIn) -> None:
    proof = Proof(False, 3, 0, (Lost("Home.md", "- mine"),), rolled_back=True, report=("step archive",))
    learning.consolidated = _consolidated(proof)
    ran = cli("consolidate")
    assert ran.code == 1
    assert "Home.md: - mine" in ran.err and "everything was taken back" in ran.err
    told = cli("consolidate", "--json")
    assert told.code == 1
    assert told.data["proof"]["lost"] == [{"path": "Home.md", "line": "- mine"}]
    assert told.data["steps"][0] == {"name": "learn", "said": "2 new lessons"}


def test_a_dry_consolidation_proves_nothing_and_says_so(cli: Cli, learning: StandIn) -> None:
    learning.consolidated = _consolidated(Proof(), diff="+ remember: Ada sails")
    ran = cli("consolidate", "--dry-run")
    assert ran.out.startswith("+ remember: Ada sails\n\nlearn")
    assert "nothing was written" in ran.err and "proof" not in ran.err
    assert learning.calls == [("consolidate", True)]


# lessons


def test_lessons_are_listed_with_what_recurs_first(cli: Cli, learning: StandIn) -> None:
    learning.known_lessons = [OLD, LESSON, URGENT]
    ran = cli("lessons")
    assert [line for line in ran.out.split("\n") if "l-" in line] == [
        "! l-zzzzzzzz  Save \ufffd[31mbefore closing",
        "  l-7f3k2a9q  Do not `click(URL bar)`; `press_key(l, command: true)` worked",
    ]
    assert "confidence 0.86 · 4 failed, 5 went well · heeded 3, in vain 1 · Chrome" in ran.out
    assert "--all" in ran.err
    assert "l-00000000" in cli("lessons", "--all").out
    assert [one["id"] for one in cli("lessons", "--json").data["lessons"]] == ["l-zzzzzzzz", "l-7f3k2a9q"]


def test_lessons_that_fit_a_command_come_with_the_reason(cli: Cli, learning: StandIn) -> None:
    learning.known_lessons = [LESSON]
    learning.matched = Matches(lessons=(_match("a title"),), problems=("Lessons.md can't be read",))
    ran = cli("lessons", "open", "example.org")
    assert ran.out.startswith("0.82  Do not `click(URL bar)`")
    assert "because: command 0.82, app" in ran.out
    assert "can't be read" in ran.err
    assert learning.calls == ["open example.org"]
    assert cli("lessons", "open x", "--json").data["fitting"][0]["score"] == 0.8235
    issue = _match("", "^i-aaaaaaaa")._replace(text="## 2026-02-20\n\n- **Command:** open x")
    learning.matched = Matches(lessons=(issue,))
    assert cli("lessons", "open x").out.startswith("0.82  2026-02-20\n      i-aaaaaaaa · because:")
    learning.matched = Matches()
    assert "none of 1 lesson fits 'open x'" in cli("lessons", "open x").err


def test_one_lesson_is_shown_with_its_evidence(cli: Cli, learning: StandIn) -> None:
    learning.known_lessons = [LESSON, URGENT]
    for name in ("l-7f3k2a9q", "^l-7f3k2a9q", "l-7f"):
        ran = cli("lessons", "show", name)
        assert "avoid    click(URL bar)" in ran.out
        assert "failed   r-a, r-b" in ran.out
    assert cli("lessons", "show", "l-7f3k2a9q", "--json").data["worked"] == ["r-c"]


def test_lessons_that_are_not_there_are_met_kindly(cli: Cli, learning: StandIn) -> None:
    assert "hindbrain runs import" in cli("lessons").err
    learning.episodes = _runs(1)
    assert "hindbrain learn" in cli("lessons").err
    learning.known_lessons = [LESSON]
    ran = cli("lessons", "show", "l-7f3k2a9x")
    assert ran.code == 1
    assert "did you mean 'l-7f3k2a9q'?" in ran.err
    assert cli("lessons", "show").code == 2
    assert cli("lessons", "open x", "--all").code == 2


# templates


def test_templates_are_listed_and_shown_with_their_steps(cli: Cli, learning: StandIn) -> None:
    learning.known_templates = [TEMPLATE]
    ran = cli("templates")
    assert ran.out.startswith("Send email to {recipient}   Learning/Templates/Send email.md\n")
    assert "7 of 8 runs went well · 3.5 iterations · 2 steps" in ran.out
    shown = cli("templates", "show", "send", "email").out
    assert "1. open_application(Mail)\n" in shown
    assert "2. type_text({recipient})   as often as needed\n" in shown
    assert "{recipient}  from the command: “Ada”" in shown


def test_a_template_is_filled_in_for_a_command(cli: Cli, learning: StandIn) -> None:
    learning.known_templates = [TEMPLATE]
    ran = cli("templates", "show", "Send email", "--for", "send an email to Eve", "--json")
    assert ran.data["filled"] == ["open_application(Mail)", "type_text(Eve)"]
    assert ran.data["success_rate"] == 0.875
    assert ran.data["steps"][1] == {"text": "type_text({recipient})", "many": True}


def test_templates_that_fit_come_with_the_reason(cli: Cli, learning: StandIn) -> None:
    learning.known_templates = [TEMPLATE]
    learning.matched = Matches(templates=(_match("Send email", TEMPLATE.path, TEMPLATE.path),))
    ran = cli("templates", "send a mail")
    assert ran.out.startswith(f"0.82  Send email   {TEMPLATE.path}\n")
    assert "because: command 0.82, app" in ran.out
    assert cli("templates", "send a mail", "--json").data["fitting"][0]["path"] == TEMPLATE.path


def test_templates_that_are_not_there_are_met_kindly(cli: Cli, learning: StandIn) -> None:
    assert "hindbrain runs import" in cli("templates").err
    other = TEMPLATE._replace(
        name="Send letter", title="Send a letter", path="Learning/Templates/Send letter.md"
    )
    learning.known_templates = [TEMPLATE, other]
    assert "did you mean 'Send email'?" in cli("templates", "show", "Sedn email").err
    assert cli("templates", "show", "send", "--json").error == "ambiguous"
    assert cli("templates", "show").code == 2
    assert cli("templates", "--for", "x").code == 2
    assert "none of 2 templates fits" in cli("templates", "dance").err


# skills


def test_skills_are_listed_with_what_is_wrong_with_others(cli: Cli, learning: StandIn) -> None:
    assert "there are no skills in" in cli("skills").err
    learning.loaded = Loaded((SKILL,), ("Skills/x.md has no description",))
    ran = cli("skills")
    assert ran.out == "deploy   Skills/deploy.md\n    How we deploy\n"
    assert "no description" in ran.err
    data = cli("skills", "--json").data
    assert data["skills"][0]["name"] == "deploy" and len(data["problems"]) == 1
    learning.matched = Matches(skills=(_match("deploy", SKILL.path, SKILL.path),))
    assert cli("skills", "deploy it").out.startswith("0.82  deploy   Skills/deploy.md\n")


# stats


def test_stats_are_plain_lines_in_a_pipe(cli: Cli, learning: StandIn) -> None:
    learning.episodes = _runs(30)
    learning.known_lessons = [LESSON]
    ran = cli("stats")
    assert ran.code == 0
    lines = ran.out.split("\n")
    assert lines[0] == "Runs (all runs; a bar is a week)"
    assert lines[2].startswith("  went well      67% (20 of 30)")
    assert "failed again   30% of runs (9 of 10 failures)" in ran.out
    assert "│" not in ran.out and "\x1b" not in ran.out


def test_panels_fit_eighty_columns_and_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {
        "injected": ("^m-a", "Learning/Templates/A very long name of a template " * 3 + ".md"),
        "tokens": 900,
    }
    stats = stats_of([*_runs(30), *_runs(30, **more)], lessons=[LESSON], background={"lessons": 10})
    for columns in (80, 50):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = Output()
        out.stdout = io.StringIO()
        show_panels(stats, out)
        lines = out.stdout.getvalue().split("\n")
        assert max(map(len, lines)) == columns
        for row in ("went well", "failed again", "lessons", "like for like"):
            assert any(row in line for line in lines), (row, columns)


def test_a_line_of_bars_shows_low_high_and_nothing() -> None:
    assert bars([0.0, 0.5, 1.0, None], top=1.0) == "▁▅█·"
    assert bars([None, 0.0]) == "·▁"
    assert bars([2.0, 4.0]) == "▅█"
    assert bars([]) == ""


def test_stats_of_nothing_say_where_runs_come_from(cli: Cli, learning: StandIn) -> None:
    ran = cli("stats")
    assert (ran.code, ran.out) == (0, "")
    assert "hindbrain runs import" in ran.err
    assert list(plain_lines(Stats())) == []
    data = cli("stats", "--json").data
    assert data["runs"]["success"] is None and data["periods"] == []


def test_stats_of_some_days_as_data(cli: Cli, learning: StandIn) -> None:
    learning.episodes = _runs(30)
    data = cli("stats", "--days", "7", "--json").data
    assert data["days"] == 7
    assert data["runs"]["runs"] == 6
    assert data["runs"]["known"] == 6  # known from before these days
    assert cli("stats", "--days", "-1").code == 2


def test_the_picture_is_written_where_it_is_wanted(
    cli: Cli, learning: StandIn, tmp_path: Path, vault: Vault
) -> None:
    learning.episodes = _runs(30)
    target = tmp_path / "runs.svg"
    ran = cli("stats", "--plot", str(target))
    assert ran.code == 0 and str(target) in ran.err
    drawn = ET.fromstring(target.read_text(encoding="utf-8"))
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 3
    for wrong in (tmp_path / "runs.png", vault.root / "runs.svg", tmp_path / "nowhere" / "runs.svg"):
        assert cli("stats", "--plot", str(wrong)).code == 2
        assert not wrong.exists()


@pytest.mark.parametrize("name", ["learn", "consolidate", "lessons", "templates", "skills", "stats"])
def test_options_that_do_not_exist_are_named(cli: Cli, learning: StandIn, name: str) -> None:
    ran = cli(name, "--jsn")
    assert ran.code == 2 and "'--json'" in ran.err


def test_starting_a_command_about_learning_loads_no_learning() -> None:
    """The modules themselves import what they need when they are called."""
    import subprocess

    code = (
        "import sys, importlib\n"
        "for name in ('learn','consolidate','lessons','templates','skills','stats'):\n"
        "    importlib.import_module(f'hindbrain.edge.commands.{name}')\n"
        "heavy = [m for m in ('numpy','rich','difflib','hindbrain.learn.service') if m in sys.modules]\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_guards_that_an_owner_wrote_by_hand_are_listed_and_a_malformed_one_is_named(
    cli: Cli, vault: Vault
) -> None:
    vault.write("Rules/Push.md", '---\ntype: lesson\nguard: "Bash: git push .*--force"\n---\n# No force\n')
    vault.write("Rules/Wrong.md", "---\ntype: lesson\nguard: never use rm\n---\n# No rm\n")
    vault.write("Rules/Web.md", '---\ntype: lesson\nsource: web\nguard: "Bash: ls"\n---\n# Web\n')
    assert cli("init", str(vault.root)).code == 0
    assert cli("sync").code == 0

    def state() -> dict[str, tuple[bool, str]]:
        guards = cli("lessons", "--json").data["guards"]
        return {guard["id"]: (guard["in_force"], guard["problem"]) for guard in guards}

    def found() -> dict[str, str]:
        findings = cli("doctor", "--json").data["findings"]
        (finding,) = [one for one in findings if one["name"] == "guards"]
        return {"state": finding["state"], "detail": finding["detail"]}

    assert state()["Rules/Push.md"] == (False, "")
    assert state()["Rules/Wrong.md"][1]
    assert "Rules/Web.md" not in state()  # not its owner's word
    assert "Rules/Wrong.md" in found()["detail"] and found()["state"] == "doubtful"
    cli("learn")
    assert state()["Rules/Push.md"] == (True, "")
    shown = cli("lessons").out
    assert "Bash: git push .*--force" in shown and "never use rm" in shown and "not checked" in shown
    vault.write("Rules/Wrong.md", '---\ntype: lesson\nguard: "Bash: rm -rf"\n---\n# No rm\n')
    assert cli("sync").code == 0
    assert found() == {
        "state": "doubtful",
        "detail": "the guard of 'Rules/Wrong.md' is not in force yet; run: hindbrain learn",
    }
    cli("learn")
    assert found() == {"state": "ok", "detail": "2 guards before tool calls"}
