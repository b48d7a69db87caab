"""What runs teach of an application: what works, what fails, what is used; a person's lines stay theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recording_runs import Book, do, run

from hindbrain.app import App
from hindbrain.learn.recording.app_knowledge import APPROACHES, ISSUES, PATTERNS, AppKnowledge, find_apps
from hindbrain.learn.runs.episode import Action, Episode
from hindbrain.vault.parse import parse_note
from workbench import Vault

FOCUS = do("press_key", "l", command="true", app="Chrome")
MISS = do("click", "bookmark bar", app="Chrome", ok=False, said="Element not found at (10, 60)")


def visit(number: int, site: str, *steps: Action, outcome: Any = "success", ago: float = 0) -> Episode:
    typed = do("type_text", site, app="Chrome")
    ago = ago or 10_000 - 100 * number
    return run(number, f"Go to {site}", outcome, ago=ago, app="Chrome", actions=(*steps, typed), iterations=2)


def told(app: AppKnowledge, section: str) -> list[str]:
    return [finding.text for finding in app.findings if finding.section == section]


@pytest.fixture
def book(vault: Vault, make_app: Callable[..., App]) -> Book:
    return Book(vault, make_app(vault.root))


def test_what_went_well_in_three_runs_is_a_reliable_approach() -> None:
    runs = [visit(n, f"site{n}.org", FOCUS) for n in range(3)]
    (app,) = find_apps(runs)
    assert told(app, APPROACHES) == [
        "`press_key(l, command: true)` went well in 3 of 3 runs",
        "`type_text({target})` went well in 3 of 3 runs",
    ]
    assert find_apps(runs[:2])[0].findings == ()


def test_an_approach_needs_four_of_five() -> None:
    good = [visit(n, f"site{n}.org", FOCUS) for n in range(4)]
    bad = [visit(n, f"site{n}.org", FOCUS, outcome="failed") for n in (4, 5)]
    assert told(find_apps([*good, bad[0]])[0], APPROACHES)[0].endswith("went well in 4 of 5 runs")
    assert told(find_apps([*good, *bad])[0], APPROACHES) == []
    assert told(find_apps([*good[:3], bad[0]])[0], APPROACHES) == []
    unsure = [one._replace(outcome="unknown") for one in bad]
    assert told(find_apps([*good, *unsure])[0], APPROACHES)[0].endswith("went well in 4 of 4 runs")


def test_what_failed_twice_is_a_known_issue_with_the_first_words_of_its_error() -> None:
    runs = [visit(n, f"site{n}.org", MISS, outcome="failed") for n in range(2)]
    assert told(find_apps(runs)[0], ISSUES) == [
        "`click(bookmark bar)` failed in 2 runs: Element not found at (10, 60)"
    ]
    assert told(find_apps(runs[:1])[0], ISSUES) == []


def test_sites_and_files_that_are_used_most_are_patterns() -> None:
    sites = ["github.com", "https://github.com/x/y", "claude.ai", "claude.ai", "claude.ai", "once.org"]
    runs = [visit(n, site) for n, site in enumerate(sites)]
    saves = [do("save", "~/notes/plan.md", app="Chrome"), do("click", "OK", app="Chrome")]
    runs += [run(20 + n, "Save it", app="Chrome", actions=tuple(saves)) for n in range(2)]
    assert told(find_apps(runs)[0], PATTERNS) == [
        "Most visited: claude.ai (3 runs), github.com (2 runs)",
        "Most used files: ~/notes/plan.md (2 runs)",
    ]


@pytest.mark.parametrize(("count", "confidence"), [(3, "low"), (5, "medium"), (19, "medium"), (20, "high")])
def test_confidence_grows_with_runs(count: int, confidence: str) -> None:
    assert find_apps([visit(n, f"site{n}.org") for n in range(count)])[0].confidence == confidence


def test_names_that_would_be_one_note_are_one_application() -> None:
    runs = [visit(n, "a.org") for n in range(4)]
    runs = [one._replace(app=name, actions=(do("click", "x"),)) for one, name in zip(
        runs, ("Chrome", "chrome", "CHROME", "Chrome?"), strict=True)]  # fmt: skip
    assert [(app.app, app.runs) for app in find_apps(runs)] == [("Chrome", 4)]


def test_the_note_has_the_schema_of_the_reference(book: Book) -> None:
    runs = [visit(n, "github.com", FOCUS) for n in range(3)]
    runs += [visit(n, "x.org", MISS, outcome="failed") for n in (5, 6)]
    assert book.record(*runs).apps == 1
    text = book.text("apps", name="Chrome")
    note = parse_note(text, stem="Chrome")
    assert {key: note.frontmatter[key] for key in ("type", "app", "updated", "confidence", "source")} == {
        "type": "app-knowledge", "app": "Chrome", "updated": "2026-05-15", "confidence": "medium",
        "source": "tool",
    }  # fmt: skip
    assert [(one.level, one.text) for one in note.headings] == [
        (1, "Chrome"), (2, APPROACHES), (2, ISSUES), (2, PATTERNS),
    ]  # fmt: skip
    assert "- `press_key(l, command: true)` went well in 3 of 3 runs ^k-" in text
    assert "- `click(bookmark bar)` failed in 2 runs: Element not found at (10, 60) ^k-" in text
    assert "- Most visited: github.com (3 runs), x.org (2 runs) ^k-" in text


def test_lines_and_changes_of_a_person_stay_and_ours_are_brought_up_to_date(book: Book, vault: Vault) -> None:
    runs = [visit(n, f"site{n}.org", FOCUS) for n in range(3)]
    book.record(*runs)
    path = book.desk().path("apps", name="Chrome")
    lines = book.text("apps", name="Chrome").split("\n")
    at = next(i for i, line in enumerate(lines) if "type_text" in line)
    lines[at] = lines[at].replace("went well", "is fine")
    lines.insert(at, "- Cmd+T opens a tab")
    lines[lines.index("confidence: low")] = "confidence: certain"
    vault.write(path, "\n".join(lines))
    book.record(*runs, visit(3, "site3.org", FOCUS))
    text = book.text("apps", name="Chrome")
    assert "went well in 4 of 4 runs" in text and "went well in 3 of 3" not in text
    assert text.count("type_text") == 1 and "`type_text({target})` is fine in 3 of 3 runs" in text
    assert "- Cmd+T opens a tab" in text and "confidence: certain" in text


def test_a_line_or_a_note_that_its_owner_deleted_does_not_come_back(book: Book, vault: Vault) -> None:
    runs = [visit(n, f"site{n}.org", FOCUS) for n in range(6)]
    book.record(*runs[:3])
    path = book.desk().path("apps", name="Chrome")
    text = book.text("apps", name="Chrome")
    vault.write(path, "\n".join(line for line in text.split("\n") if "press_key" not in line))
    book.record(*runs[:4])
    assert "press_key" not in book.text("apps", name="Chrome")
    assert "`type_text({target})` went well in 4 of 4 runs" in book.text("apps", name="Chrome")
    vault.remove(path)
    book.record(*runs)
    assert not (vault.root / path).exists()


def test_what_we_took_back_ourselves_may_be_said_again(book: Book) -> None:
    good = [visit(n, f"site{n}.org", FOCUS) for n in range(3)]
    bad = [visit(n, f"site{n}.org", FOCUS, outcome="failed") for n in (3, 4)]
    better = [visit(n, f"site{n}.org", FOCUS) for n in range(5, 12)]
    book.record(*good)
    book.record(*good, *bad)
    assert "press_key" not in book.text("apps", name="Chrome")
    book.record(*good, *bad, *better)
    assert "`press_key(l, command: true)` went well in 10 of 12 runs" in book.text("apps", name="Chrome")


def test_an_own_note_of_that_name_keeps_its_frontmatter(book: Book, vault: Vault) -> None:
    path = book.desk().path("apps", name="Chrome")
    vault.write(path, b"My browser.\r\n\r\n## Known Issues\r\n\r\n- slow\r\n")
    book.record(*(visit(n, f"site{n}.org", MISS, outcome="failed") for n in range(2)))
    data = (vault.root / path).read_bytes()
    assert data.startswith(b"My browser.\r\n\r\n## Known Issues\r\n\r\n- slow\r\n- `click(bookmark bar)`")
    assert b"[source:: tool]" in data and b"\n" not in data.replace(b"\r\n", b"")


def test_a_name_that_no_file_may_have_still_gives_a_note(book: Book) -> None:
    runs = [one._replace(app='../CON: a|b?', actions=(do("click", "x"),)) for one in
            (visit(n, "a.org") for n in range(3))]  # fmt: skip
    recorded = book.record(*runs)
    assert recorded.apps == 1 and not recorded.problems


def test_own_tools_and_looking_teach_nothing(book: Book) -> None:
    steps = tuple(do(name, "x", app="Chrome") for name in ("take_screenshot", "vault_read", "memory_search"))
    assert find_apps([run(n, "Look", app="Chrome", actions=steps) for n in range(4)]) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("google-chrome.md", "# Browser\n\n- mine\n"),
        ("browser.md", "---\napp: Google Chrome\n---\n# Browser\n\n- mine\n"),
        ("browser.md", "# Google-Chrome\n\n- mine\n"),
    ],
)
def test_a_note_that_is_about_the_app_already_gets_the_findings(book: Book, path: str, text: str) -> None:
    folder = book.desk().folder("apps")
    book.vault.write(f"{folder}/{path}", text)
    book.vault.write(f"{folder}/Chromium.md", "# Chromium\n")
    typed = do("type_text", "github.com", app="Google Chrome")
    book.record(*(run(n, "Go to it", app="Google Chrome", actions=(typed,), iterations=2) for n in range(3)))
    notes = {file.name: file.read_text("utf-8") for file in (book.vault.root / folder).iterdir()}
    assert sorted(notes) == ["Chromium.md", path]
    assert text.strip() in notes[path] and "went well in 3 of 3 runs" in notes[path]
    assert notes["Chromium.md"] == "# Chromium\n"
