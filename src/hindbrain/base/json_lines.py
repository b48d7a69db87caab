"""A log of ours with one JSON object in each line: what a crash cut tells nothing and costs only itself.

Knows nothing of what lines say. Who counts the damaged ones, or keeps them, reads the lines itself.
"""

import json
from collections.abc import Iterator
from pathlib import Path


def read_objects(file: Path) -> Iterator[dict[str, object]]:
    """The objects, oldest first; none when there is no such file. What is no object is passed over.

    Raises OSError for a file that is there and can't be read.
    """
    try:
        with open(file, "rb") as lines:
            for line in lines:
                if (told := as_object(line)) is not None:
                    yield told
    except FileNotFoundError:
        return


def as_object(line: bytes) -> dict[str, object] | None:
    """None for an empty line, one that a crash cut, one that is nested too deep or is something else."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None
