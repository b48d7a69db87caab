"""Runs of a browser that a careless agent keeps failing with: what the tests of lessons share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindbrain.learn.runs.episode import Action, Episode
from workbench import NOW

SITES = ("github.com", "example.org", "python.org", "wikipedia.org", "arxiv.org", "bbc.com", "lwn.net")
DAY = 86_400.0


def act(name: str, *values: str, ok: bool = True, said: str = "", **more: str) -> Action:
    """`act("press_key", "l", command="true")`: the first argument is called `text`."""
    return Action(name, (*(("text", value) for value in values), *more.items()), ok=ok, said=said)


CLICK = act("click", "URL bar")
KEYS = act("press_key", "l", command="true")
MISSED = "typed into the page, the URL bar was not focused"


def run(number: int, command: str, outcome: Any = "failed", *actions: Action, **more: Any) -> Episode:
    """Runs are an hour apart, the one with the number 0 a day before the clock of the tests."""
    started = more.pop("started", NOW - DAY + 3600 * number)
    return Episode(
        f"r-20260514-{number:06d}-aaaa", command, outcome, started, started + 45, actions=actions, **more
    )


def browsing(number: int, *, way: Action = CLICK, ok: bool = False, **more: Any) -> Episode:
    """Open one of the sites in Chrome, by a click that misses or by the keys that work."""
    site = SITES[number % len(SITES)]
    steps = (act("open_application", "Chrome"), way, act("type_text", site), act("press_key", "return"))
    more.setdefault("reason", "" if ok else MISSED)
    outcome = "success" if ok else "failed"
    return run(number, f"open {site} in Chrome", outcome, *steps, app="Chrome", **more)


def missed(*numbers: int) -> list[Episode]:
    return [browsing(number) for number in numbers]


def worked(*numbers: int) -> list[Episode]:
    return [browsing(number, way=KEYS, ok=True) for number in numbers]


def in_order(*some: Sequence[Episode]) -> list[Episode]:
    return sorted((episode for runs in some for episode in runs), key=lambda episode: episode.ended)
