"""Times in words that a person reads at a glance. Pure but for the local time zone."""

_STEPS = ((90.0, 1.0, "s"), (5_400.0, 60.0, "min"), (129_600.0, 3_600.0, "h"))


def span_text(seconds: float) -> str:
    """12 ms, 3 s, 40 min, 5 h, 12 days."""
    if seconds < 1:
        return f"{max(0.0, seconds) * 1000:.0f} ms"
    for limit, unit_s, name in _STEPS:
        if seconds < limit:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def age_text(then: float, now: float) -> str:
    """How old something is that happened at `then`, seconds since the epoch; 0 is never."""
    if not then:
        return "never brought up to date"
    age = now - then
    return "just made" if age < 2 else f"{span_text(age)} old"


def moment_text(seconds: float) -> str:
    """A moment in local time, to the minute."""
    from hindbrain.base.clock import local_time

    return f"{local_time(seconds):%Y-%m-%d %H:%M}"
