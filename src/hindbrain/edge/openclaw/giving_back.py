"""Settings of ours that an installation changed: noted before, given back when no plugin needs them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindbrain.base.config import Config, Value
from hindbrain.edge.openclaw.choosing import SettingChange
from hindbrain.edge.openclaw.record import Former

_WHY = "as it was before"


def noted(former: Sequence[Former], changes: Iterable[SettingChange], config: Config) -> list[Former]:
    """What is known once these changes are made; of one that was changed before, what was there first."""
    known = {one.name: one for one in former}
    for change in changes:
        first = known.get(change.name)
        if first is not None and first.after == change.before:
            known[change.name] = first._replace(after=change.after)
        else:
            in_file = config.sources[change.name] == "file"
            known[change.name] = Former(change.name, in_file, change.before, change.after)
    return list(known.values())


def changes_back(former: Iterable[Former], config: Config) -> list[SettingChange]:
    """What makes the settings what they were; one that its owner has changed since is left."""
    return [
        SettingChange(one.name, one.after, one.before, _WHY)
        for one in former
        if config.sources[one.name] == "file" and config.values[one.name] == one.after
    ]


def changed_since(former: Iterable[Former], config: Config) -> list[str]:
    """Settings that are neither what an installation made them nor what they were before."""
    return [one.name for one in former if config.values[one.name] not in (one.after, one.before)]


def in_the_file(back: Iterable[SettingChange], former: Iterable[Former]) -> dict[str, Value | None]:
    """What to write; None: it was not in the file."""
    had = {one.name for one in former if one.had}
    return {one.name: one.after if one.name in had else None for one in back}
