"""Where fault tests put their files."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Memory instead of a disk where there is some: thousands of fsyncs, and no power is cut here."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory, prefix="hindbrain-test-") as folder:
        yield Path(folder)
