"""A person's editor in a process of its own: it takes no lock, and saves whenever it is told to.

It saves whole files, in the ways in which editors do: truncate and write, the same with a pause, write over
and cut, or a temp file and a rename.
"""

import os
import random
import time
from pathlib import Path

WAYS = ("truncate", "pause", "overwrite", "rename")
_LONGEST_WAIT_S = 0.004  # about one write of ours


def edit_text(number: int) -> bytes:
    return b"# typed by a person\n\nedit number %d!\n" % number + b"and more of it\n" * (number % 50)


class Editor:
    def __init__(self, note: Path, seed: int) -> None:
        go_reader, self._go = os.pipe()
        self._done, done_writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self._go)  # else it would wait for its own end of the pipe
                os.close(self._done)
                _serve(note, go_reader, done_writer, random.Random(seed))
            finally:
                os._exit(0)
        os.close(go_reader)
        os.close(done_writer)

    def start_saving(self) -> None:
        os.write(self._go, b"g")

    def wait(self) -> None:
        assert os.read(self._done, 1) == b"d", "the editor died"

    def close(self) -> None:
        os.close(self._go)
        os.waitpid(self.pid, 0)
        os.close(self._done)


def _serve(note: Path, go: int, done: int, chance: random.Random) -> None:
    number = 0
    while os.read(go, 1):
        _spin(chance.uniform(0, _LONGEST_WAIT_S))
        _save(note, edit_text(number), chance)
        number += 1
        os.write(done, b"d")


def _save(note: Path, data: bytes, chance: random.Random) -> None:
    way = chance.choice(WAYS)
    if way == "rename":
        temp = note.with_name(note.name + ".editor~")
        temp.write_bytes(data)
        temp.replace(note)
        return
    flags = os.O_WRONLY | os.O_CREAT
    fd = os.open(note, flags if way == "overwrite" else flags | os.O_TRUNC, 0o644)
    half = len(data) // 2
    os.write(fd, data[:half])
    if way == "pause":
        _spin(chance.uniform(0, 0.002))
    os.write(fd, data[half:])
    os.ftruncate(fd, len(data))
    os.close(fd)


def _spin(seconds: float) -> None:
    """Wait without giving the processor away, so that the moment is fine-grained."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
