"""What shall be forgotten, taken out of what the agent keeps beside the vault while work is going on.

That is the transcripts of runs that have not ended, commands that wait and how they ended, approvals and
messages. Knows nothing of memories: the caller says which texts hold what is to be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hindbrain.agent.gateway import FOLDER, RUN_LOCK
from hindbrain.base.errors import Busy
from hindbrain.context.purging import purge_lines
from hindbrain.vault.lock import FileLock

_WAIT_S = 10.0
_ENDINGS = (".json", ".jsonl", ".begun")


def purge_agent(state: Path, holds: Callable[[str], bool]) -> int:
    """Take out every text for which `holds` is true; returns how many files were changed.

    Busy while a run goes on: it would write down again what it has in mind.
    """
    folder = state / FOLDER
    if not folder.is_dir():
        return 0
    try:
        with FileLock(folder / RUN_LOCK).held(_WAIT_S):
            files = sorted(path for path in folder.rglob("*") if path.suffix in _ENDINGS and path.is_file())
            return sum(purge_lines(path, holds) for path in files)
    except Busy as error:
        raise Busy("a run goes on in this vault; forget when it is over, or cancel it") from error
