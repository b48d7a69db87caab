"""Quiet hours: when a message that is not urgent waits. Pure."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.base.errors import ConfigError

_TIME = r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*"
_SPAN = re.compile(f"{_TIME}-{_TIME}", re.ASCII)


class QuietHours(NamedTuple):
    """From one time of the day to another, in minutes after midnight, local time; it may span midnight."""

    start: int
    end: int

    def ends_at(self, now: float) -> float:
        """When the quiet that reigns at `now` ends, in seconds since the epoch; 0 when it is not quiet."""
        here = local_time(now).replace(tzinfo=None)  # what the wall clock shows
        minute = here.hour * 60 + here.minute
        if self.start < self.end:
            quiet = self.start <= minute < self.end
        else:
            quiet = minute >= self.start or minute < self.end
        if not quiet:
            return 0.0
        end = here.replace(hour=self.end // 60, minute=self.end % 60, second=0, microsecond=0)
        if minute >= self.end:
            end += timedelta(days=1)
        # Of an hour that comes twice, when clocks are set back, the later one; one that is skipped is past.
        return max(end.replace(fold=1).timestamp(), now)


def read_quiet_hours(text: str) -> QuietHours:
    """ "22:00-07:00". Raises ConfigError for anything else."""
    found = _SPAN.fullmatch(re.sub(r"-\s*24:00\s*$", "-00:00", text))
    if found is None:
        raise ConfigError(f'quiet = {text!r} is no span of the day; write it as "22:00-07:00"')
    hours = [int(part) for part in found.groups()]
    span = QuietHours(hours[0] * 60 + hours[1], hours[2] * 60 + hours[3])
    if span.start == span.end:
        raise ConfigError(f"quiet = {text!r} begins when it ends; leave it out to be never quiet")
    return span
