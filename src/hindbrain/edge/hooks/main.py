"""`hindbrain-hook HOST EVENT`: reads what a host sends, answers it, and is gone.

Whatever happens, the host gets one valid answer in time and the exit code 0: a memory that fails must not
stop a conversation. A thread watches the time, so that a hang on a disk or in a library holds nobody up;
nothing but the answer ever reaches standard output. Imports little: this runs at every prompt.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from hindbrain.edge.daemon.quick_json import loads
from hindbrain.edge.hooks.answers import Answer, is_too_long, rendered
from hindbrain.edge.hooks.hosts import HOSTS, PROGRAM, Event, Host, host_named
from hindbrain.edge.streams import open_missing_streams

TYPE_CHECKING = False  # typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hindbrain.edge.hooks.doing import Doing

OFF = "HINDBRAIN_HOOKS"  # "off": answer at once with nothing
_LARGEST = 16_000_000  # bytes of a payload
_CHUNK = 65_536
_LAST_WORDS_S = 0.1  # at most, for the log, when the time is up


def main(argv: Sequence[str] | None = None) -> None:
    """Never returns: ends the process, with 0 but for a person's mistake in the arguments."""
    open_missing_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in ("-h", "--help"):
        _write(1, (usage() + "\n").encode())
        os._exit(0)
    host = host_named(words[0]) if len(words) == 2 else None
    event = host.event(words[1]) if host else None
    if host is None or event is None:
        _say(f"{PROGRAM}: unknown: {' '.join(words)!r}\n{usage()}")
        _write(1, b"{}\n")
        os._exit(0)  # a host with a newer or an older table than ours goes on
    exchange = Exchange(host, event)
    exchange.watch()
    if os.environ.get(OFF, "").lower() not in ("off", "false", "no", "0"):
        exchange.run(read_payload)
    exchange.give(Answer())
    os._exit(0)  # without the interpreter's own tidying up, which takes as long as the answer did


def usage() -> str:
    rows = [f"  {PROGRAM} {host.name} {'|'.join(e.name for e in host.events)}" for host in HOSTS]
    return "usage: hosts call it, with a JSON object on standard input\n" + "\n".join(rows)


def read_payload(fd: int = 0) -> bytes:
    """All of it: up to the end, or to where a whole JSON object is there, since some hosts never close it."""
    data = bytearray()
    while len(data) <= _LARGEST:
        chunk = os.read(fd, _CHUNK)
        data += chunk
        if not chunk:
            break
        if chunk.rstrip()[-1:] == b"}":
            try:
                loads(data)
            except (ValueError, RecursionError):
                continue
            break
    return bytes(data)


class Exchange:
    """One event and its one answer."""

    def __init__(self, host: Host, event: Event) -> None:
        self.host = host
        self.event = event
        self.began = time.monotonic()
        self.doing: Doing | None = None  # once it has begun
        self._giving = _thread.allocate_lock()
        self._given = False
        self._out = _taken_stdout()

    def watch(self) -> None:
        """From now on the time is limited."""
        _thread.start_new_thread(self._give_up_late, ())

    def run(self, read: Callable[[], bytes]) -> None:
        """Answer what comes in. Never raises."""
        try:
            from hindbrain.edge.hooks.doing import Doing

            self.doing = doing = Doing(self.host, self.event, self.began)
            answer = doing.answer(read)
            if is_too_long(self.host, self.event, answer.text):
                doing.note = f"too_long: {len(answer.text)} characters were left out"
            self.give(answer)
            doing.finish(answer)
        except Exception as error:  # noqa: BLE001  an installation that is broken; the host goes on
            _say(f"{PROGRAM}: {type(error).__name__}: {error}")

    def give(self, answer: Answer) -> None:
        """Say it, if nothing was said yet."""
        with self._giving:
            if self._given:
                return
            self._given = True
            data = (rendered(self.host, self.event, answer) + "\n").encode("ascii")
            _write(self._out, data)
            os.close(self._out)

    def _give_up_late(self) -> None:
        time.sleep(max(0.0, self.event.deadline_s - (time.monotonic() - self.began)))
        told: list[str] = []
        if (doing := self.doing) is not None and not self._given:
            # In a thread of its own: what hangs may be the disk that this wants to write to.
            said = _thread.allocate_lock()
            said.acquire()
            _thread.start_new_thread(_say_late, (doing, told, said))
            said.acquire(timeout=_LAST_WORDS_S)
        self.give(Answer(told=told[0] if told else ""))
        os._exit(0)


def _say_late(doing: Doing, told: list[str], said: _thread.LockType) -> None:
    try:
        told.append(doing.late())
    finally:
        said.release()


def _taken_stdout() -> int:
    """Standard output, for the answer alone: what else is printed goes to standard error."""
    taken = os.dup(1)
    os.dup2(2, 1)
    return taken


def _say(text: str) -> None:
    _write(2, (text + "\n").encode("utf-8", "replace"))


def _write(fd: int, data: bytes) -> None:
    """Write all of it; a host that has stopped listening, or a full disk, is no reason to fail."""
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError:
        return


if __name__ == "__main__":
    main()
