"""What the agent's writing replaced: kept for 30 days outside the workspace, where its owner finds it.

A folder for each time, named by the moment (UTC), with the file in it under its path of the workspace.
"""

from __future__ import annotations

import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindbrain.base.clock import Clock
from hindbrain.base.files import make_folder
from hindbrain.base.passed_time import passed_time
from hindbrain.vault.atomic import PRIVATE_FOLDER, Folder

_KEPT = timedelta(days=30)
_MOMENT = "%Y%m%d-%H%M%S"
_NAME = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}")


class Replaced:
    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def keep(self, path: str, data: bytes) -> Path:
        """Keep a file's bytes, durable before this returns; says where. `path`: of the workspace, with "/".

        Raises OSError.
        """
        make_folder(self._folder)
        self._drop_old()
        moment = f"{self._now():{_MOMENT}}-{os.urandom(4).hex()}"
        *parents, name = path.split("/")
        with Folder.open(self._folder, [moment, *parents], create=True, mode=PRIVATE_FOLDER) as folder:
            folder.write_temp(name, data, mode=0o600)
            folder.sync()
            return folder.path / name

    def _drop_old(self) -> None:
        passed = datetime.fromtimestamp(passed_time(self._folder.parent, self._clock), UTC)
        oldest = f"{passed - _KEPT:{_MOMENT}}" if passed.year > 1970 else ""
        for place in self._folder.iterdir():
            match = _NAME.fullmatch(place.name)
            if match and match[1] < oldest:
                shutil.rmtree(place, ignore_errors=True)  # what resists is tried again the next time

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)
