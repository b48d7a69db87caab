"""When a conversation is flushed: shortly before its window would be compacted. Pure.

Once in each cycle is enough: the session's ledger knows whether it was done since the last compaction.
"""

RESERVE = 20_000  # tokens that a host keeps free for its answer
SOFT_THRESHOLD = 4_000  # tokens before that: the flush itself needs some


def flush_point(window: int) -> int:
    """The number of tokens from which on a window should be flushed: window - reserve - soft threshold.

    A window that is hardly larger than the reserve would always be due: half of it may fill first.
    """
    return max(window - RESERVE - SOFT_THRESHOLD, window // 2)


def is_due(tokens: int, window: int, *, flushed: bool) -> bool:
    """Is it time, with that many tokens in the window? `flushed`: it was done since the last compaction."""
    return not flushed and window > 0 and tokens >= flush_point(window)
