"""Could a query name a date at all? A cheap look that spares most queries the import of the date grammar.

It errs towards yes: what it lets through costs a few milliseconds, what it stops is never read.
"""

_CUES = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "day", "week", "month", "year", "quarter", "decade",
    "century", "ago", "morrow", "night", "eve", "morning", "noon", "spring", "summer", "autumn", "fall",
    "winter", "christmas", "easter", "halloween",
)  # fmt: skip


def may_name_a_date(text: str) -> bool:
    if not text.isascii():
        return True  # other scripts have signs of their own
    lower = text.lower()
    return any(map(str.isdecimal, lower)) or any(cue in lower for cue in _CUES)
