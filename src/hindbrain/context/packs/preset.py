"""Presets: which slots a pack has, what each may cost, and how it is rendered. Data files beside this module.

An owner's own preset is a file of the same shape in the folder `presets` beside the settings: not in a vault,
since what an agent can write must not decide what enters a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import ConfigError
from hindbrain.context.packs.rendering import FORMS, Form

BUILT_IN = ("turn", "compact", "agent", "full", "start", "card")
# What each slot holds; those that do not depend on the query are stable, and stand first in a prompt.
SLOTS: Mapping[str, str] = {
    "core": "who the user is, and what matters in every session",
    "profile": "the user's profile and preferences",
    "tasks": "open tasks",
    "status": "what was done last, how it ended, and what is open",
    "recent": "what happened last",
    "history": "how the last runs ended",
    "memories": "what is remembered and the prompt needs",
    "relevant": "what notes say about the prompt",
    "apps": "knowledge of the applications that the prompt names",
    "template": "the way of doing such a task that worked before",
    "lessons": "mistakes to avoid",
    "skills": "skills that fit the prompt",
}
STABLE = frozenset(("core", "profile", "tasks"))
_MOST_BYTES = 65_536
_LEAST, _MOST = 50, 2_000_000  # tokens


class SlotRule(NamedTuple):
    """One slot of a preset."""

    name: str
    tokens: int


class Preset(NamedTuple):
    """The slots in the order of their priority: what does not fit is dropped from the last."""

    name: str
    budget: int  # tokens
    slots: tuple[SlotRule, ...]
    characters: int = 0  # the most that the rendered text may have; 0: no limit but the tokens
    notes: int = 0  # the most notes that a slot found by the prompt may quote; 0: any
    form: Form = "xml"

    def within(self, budget: int) -> Preset:
        """The same with another budget in all; slots keep theirs and are dropped from the last."""
        characters = min(self.characters, 4 * budget) if self.characters else 0
        return self._replace(budget=budget, characters=characters)


def load_preset(name: str, own: Path) -> Preset:
    """A built-in preset, or the owner's in the folder `own`. ConfigError names the presets there are."""
    if name in BUILT_IN:
        return built_in(name)
    file = own / f"{name}.toml"
    if not name.replace("-", "").replace("_", "").isalnum() or not file.is_file():
        there = dict.fromkeys((*BUILT_IN, *sorted(found.stem for found in own.glob("*.toml"))))
        raise ConfigError(f"there is no preset {name!r}; there are: {', '.join(there)}")
    return _read(name, file)


@cache
def built_in(name: str) -> Preset:
    return _read(name, Path(__file__).parent / "presets" / f"{name}.toml")


def _read(name: str, file: Path) -> Preset:
    import tomllib

    try:
        table = tomllib.loads(file.read_bytes()[:_MOST_BYTES].decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"the preset {str(file)!r} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the preset {str(file)!r} is not valid TOML: {error}") from error
    return parse_preset(name, table, str(file))


def parse_preset(name: str, table: Mapping[str, object], file: str) -> Preset:
    known = {"title", "budget", "characters", "notes", "form", "slots"}
    if "least_confidence" in table:
        raise ConfigError(
            f"'least_confidence' in {file} is no longer a key of a preset; remove it: the setting "
            "context.false_rate holds for all presets"
        )
    if unknown := set(table) - known:
        raise ConfigError(
            f"{sorted(unknown)[0]!r} in {file} is no key of a preset ({', '.join(sorted(known))})"
        )
    rules = table.get("slots")
    if not isinstance(rules, list) or not rules:
        raise ConfigError(f"the preset {file} has no [[slots]]; give at least one")
    slots = tuple(_slot(rule, file) for rule in rules)
    if len({slot.name for slot in slots}) < len(slots):
        raise ConfigError(f"a slot stands twice in {file}")
    form = table.get("form", "xml")
    if form not in FORMS:
        raise ConfigError(f"form is {form!r} in {file}; choose one of: {', '.join(FORMS)}")
    return Preset(
        name,
        _number(table.get("budget", sum(slot.tokens for slot in slots)), "budget", file, _LEAST),
        slots,
        _number(table.get("characters", 0), "characters", file, 0),
        _number(table.get("notes", 0), "notes", file, 0),
        form,
    )


def _slot(rule: object, file: str) -> SlotRule:
    if not isinstance(rule, dict) or set(rule) != {"name", "tokens"}:
        raise ConfigError(f"a slot in {file} has exactly two keys, name and tokens; this one is {rule!r}")
    if rule["name"] not in SLOTS:
        raise ConfigError(f"no slot {rule['name']!r} (in {file}); choose from: {', '.join(SLOTS)}")
    return SlotRule(rule["name"], _number(rule["tokens"], f"tokens of {rule['name']}", file, 1))


def _number(value: object, what: str, file: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise ConfigError(f"{what} is {value!r} in {file}; give a whole number from {least:,} to {_MOST:,}")
    return value
