"""What runs teach about one application: what works, what does not, what is used most. Pure.

An action is known by its tool and its arguments; a value that the command brought, an address, a number, an
id, a long text, or what only one run has is `{name}` instead. Approaches went well in at least 3 runs and
80 % of the runs that tried them; issues failed in at least 2.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.learn.recording.shapes import shaped, shown_shape
from hindbrain.learn.recording.wording import is_deed, item_id, plain
from hindbrain.memory.notes.scribe import file_name
from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.path_rules import same_note_key

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Action, Episode

LEAST_GOOD, GOOD_SHARE, LEAST_BAD = 3, 0.8, 2
MOST_LINES = 10  # in each section
MOST_VALUES = 5
APPROACHES, ISSUES, PATTERNS = "Reliable Approaches", "Known Issues", "User Patterns"
_HIGH, _MEDIUM = 20, 5  # runs
_FEW_VALUES, _OFTEN = 20, 0.05  # of one argument; share of the runs that used it
_MOST_ERROR, _MOST_NAME = 100, 60  # characters
_NEWEST = 2_000  # runs that are looked at: applications change
_SITE = re.compile(
    r"(?:https?://)?(?:www\.)?((?:[\w-]+\.)+[a-z]{2,}|localhost)(:\d+)?(?:[/?#]\S*)?", re.IGNORECASE
)
_FILE = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]?(?:[\w. -]+[/\\])*[\w -]+\.\w{1,5}|(?:~|/)[\w./ -]+")


_NOTHING = re.compile(r"\{\w+\}")  # a command line of which nothing is the same from run to run


class Finding(NamedTuple):
    """One line about an application."""

    id: str
    text: str  # plain text; actions between backticks
    section: str


class AppKnowledge(NamedTuple):
    key: str  # equal for names that differ in nothing but case or signs
    app: str
    runs: int
    last: float  # the end of the last run; seconds since the epoch
    source: str
    findings: tuple[Finding, ...]

    @property
    def confidence(self) -> str:
        return "high" if self.runs >= _HIGH else "medium" if self.runs >= _MEDIUM else "low"


class _Tried(NamedTuple):
    """What became of one action in one run."""

    went_well: bool
    failed: str  # its error; "" when it did not fail
    judged: bool  # the run's end is known


def find_apps(episodes: Sequence[Episode], keys: Container[str] | None = None) -> list[AppKnowledge]:
    """What is known of each application that runs were in, by name. `keys`: only of these."""
    by_app: dict[str, list[tuple[Episode, list[Action]]]] = defaultdict(list)
    names: dict[str, str] = {}
    for episode in episodes[-_NEWEST:]:
        if episode.outcome == "unknown":
            continue
        for app, actions in _by_app(episode).items():
            names.setdefault(_key(app), app)
            by_app[_key(app)].append((episode, actions))
    wanted = sorted(key for key in by_app if keys is None or key in keys)
    return [_knowledge(key, names[key], by_app[key]) for key in wanted]


def apps_of(episode: Episode) -> set[str]:
    """The applications of a run, as they are compared."""
    return {_key(app) for app in _by_app(episode)}


@lru_cache(maxsize=1024)
def _key(app: str) -> str:
    """Equal for two names that would give one note."""
    return same_note_key(file_name(app))


def _by_app(episode: Episode) -> dict[str, list[Action]]:
    """The deeds of a run by the application they were in; without one, the run's own."""
    found: dict[str, list[Action]] = {}
    for action in episode.actions:
        app = action.app or episode.app
        if app and is_deed(action):
            found.setdefault(app, []).append(action)
    return {name: actions for app, actions in found.items() if (name := plain(app, _MOST_NAME))}


def _knowledge(key: str, app: str, used: Sequence[tuple[Episode, list[Action]]]) -> AppKnowledge:
    shared = _shared_values(used)
    own = app.casefold()
    tried: dict[Action, list[_Tried]] = defaultdict(list)
    for episode, actions in used:
        for shape, same in _signatures(actions, episode, shared, own).items():
            bad = next((one.said or "no answer" for one in same if not one.ok), "")
            well = episode.outcome == "success" and not bad
            known = episode.outcome == "success" or episode.failed
            tried[shape].append(_Tried(well, bad, known))
    findings = [*_approaches(key, tried), *_issues(key, tried), *_patterns(key, used)]
    source = lowest({episode.source for episode, _ in used} | {"tool"})
    last = max(episode.ended for episode, _ in used)
    return AppKnowledge(key, app, len(used), last, source, tuple(findings))


def _shared_values(used: Sequence[tuple[Episode, list[Action]]]) -> set[tuple[str, str, str]]:
    """(tool, argument, value) that at least two runs have in common.

    Of an argument with many values only those that come often: the others are what one task was about.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for _, actions in used:
        counts.update({(one.name, key, value) for one in actions for key, value in one.arguments})
    uses: Counter[tuple[str, str]] = Counter()
    values: Counter[tuple[str, str]] = Counter()
    for (tool, key, _), count in counts.items():
        uses[tool, key] += count
        values[tool, key] += 1
    return {
        place
        for place, count in counts.items()
        if count >= LEAST_BAD and (values[place[:2]] <= _FEW_VALUES or count >= _OFTEN * uses[place[:2]])
    }


def _signatures(
    actions: Iterable[Action], episode: Episode, shared: set[tuple[str, str, str]], own: str
) -> dict[Action, list[Action]]:
    """The actions by how they are known; the name of the application itself is always told."""
    said = episode.command.casefold().replace(own, "")
    found: dict[Action, list[Action]] = {}
    for action in actions:
        shape = shaped(action, said)
        arguments = tuple(
            (
                key,
                value if value.casefold() == own or (action.name, key, value) in shared else "{" + key + "}",
            )
            for key, value in shape.arguments
        )
        found.setdefault(shape._replace(arguments=arguments), []).append(action)
    return found


def _approaches(app: str, tried: dict[Action, list[_Tried]]) -> list[Finding]:
    found: list[tuple[int, str, int]] = []
    for shape, runs in tried.items():
        if _NOTHING.fullmatch(_shown(shape)):
            continue
        good = sum(one.went_well for one in runs)
        judged = sum(one.judged for one in runs)
        if good >= LEAST_GOOD and good >= GOOD_SHARE * judged:
            found.append((good, _shown(shape), judged))
    best = sorted(found, key=lambda one: (-one[0], one[1]))[:MOST_LINES]
    return [
        Finding(
            item_id("k", app, "works", shown),
            f"`{shown}` went well in {good} of {plural(judged, 'run')}",
            APPROACHES,
        )
        for good, shown, judged in best
    ]


def _issues(app: str, tried: dict[Action, list[_Tried]]) -> list[Finding]:
    found: list[tuple[int, str, str]] = []
    for shape, runs in tried.items():
        if _NOTHING.fullmatch(_shown(shape)):
            continue
        if sum(bool(one.failed) for one in runs) >= LEAST_BAD:
            errors = Counter(plain(one.failed, _MOST_ERROR) for one in runs if one.failed)
            common = min(errors, key=lambda error: (-errors[error], error))
            found.append((sum(errors.values()), _shown(shape), common))
    worst = sorted(found, key=lambda one: (-one[0], one[1]))[:MOST_LINES]
    return [
        Finding(
            item_id("k", app, "fails", shown), f"`{shown}` failed in {plural(times, 'run')}: {error}", ISSUES
        )
        for times, shown, error in worst
    ]


def _shown(shape: Action) -> str:
    """Without the backticks of a command line, which are added where it is told."""
    return shown_shape(shape).strip("`")


def _patterns(app: str, used: Sequence[tuple[Episode, list[Action]]]) -> list[Finding]:
    """The sites and files that actions named most, in at least two runs."""
    sites: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for _, actions in used:
        values = {value.strip() for one in actions for _, value in one.arguments if len(value) <= 200}
        hosts = {_site(value) for value in values}
        sites.update(hosts - {""})
        files.update(value for value in values if not _site(value) and _FILE.fullmatch(value))
    lines = (("visits", "Most visited", sites), ("files", "Most used files", files))
    return [
        Finding(item_id("k", app, name), f"{words}: {told}", PATTERNS)
        for name, words, counts in lines
        if (told := _most(counts))
    ]


def _site(value: str) -> str:
    match = _SITE.fullmatch(value)
    if match is None or (_FILE.fullmatch(value) and match[1].rpartition(".")[2].lower() in _ENDINGS):
        return ""
    return f"{match[1].lower()}{match[2] or ''}"


# Ends of file names that are no top-level domains worth the name.
_ENDINGS = frozenset(
    ("txt", "md", "pdf", "csv", "json", "py", "js", "ts", "html", "htm", "css", "xml", "yml", "yaml", "toml",
     "doc", "docx", "xls", "xlsx", "ppt", "pptx", "png", "jpg", "jpeg", "gif", "svg", "zip", "gz",
     "log", "sh", "rs")
)  # fmt: skip


def _most(counts: Counter[str]) -> str:
    best = sorted((one for one in counts.items() if one[1] >= LEAST_BAD), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{value} ({plural(count, 'run')})" for value, count in best[:MOST_VALUES])
