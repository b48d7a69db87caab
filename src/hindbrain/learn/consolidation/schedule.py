"""When consolidation is due: at start, every four hours, and at the times of a cron expression. Pure.

Local time, as people mean it when they write "0 3 * * *". In the hour that a clock is set back it may come
once too often, which changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.clock import local_time
from hindbrain.base.errors import ConfigError

if TYPE_CHECKING:
    from datetime import datetime

    from cronsim import CronSim

EVERY_S = 4 * 3600.0
AT_START_S = 600.0  # a start so soon after the last consolidation is none: programs are started in bursts


def is_due(cron: str, *, last: float, now: float, starting: bool = False) -> bool:
    """Is it time? `last`: when it was done, in seconds since the epoch; 0: never. `cron`: "" for none.

    ConfigError when the expression can't be understood.
    """
    times = check_cron(cron)
    if not 0 < last <= now:  # never, or the clock was set back
        return True
    waited_s = now - last
    if waited_s >= EVERY_S or (starting and waited_s >= AT_START_S):
        return True
    return times and next(_after(cron, last)) <= _wall_clock(now)


def check_cron(cron: str) -> bool:
    """Whether the expression names any time; False for "". ConfigError says what is wrong with it."""
    if not cron.strip():
        return False
    from cronsim import CronSimError

    try:
        next(_after(cron, 0.0))
    except CronSimError as error:
        raise ConfigError(
            f"{cron!r} is no cron expression ({str(error).lower()}); write minute, hour, day, month and "
            "weekday, such as '0 3 * * *' for three at night"
        ) from error
    except StopIteration:
        raise ConfigError(f"{cron!r} names a day that never comes; nothing would ever be done") from None
    return True


def _after(cron: str, seconds: float) -> CronSim:
    from cronsim import CronSim

    return CronSim(cron.strip(), _wall_clock(seconds))


def _wall_clock(seconds: float) -> datetime:
    return local_time(seconds).replace(tzinfo=None)
