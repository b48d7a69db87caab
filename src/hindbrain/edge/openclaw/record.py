"""What installations changed, so that it can be taken back: `openclaw/installed.json` in the state folder.

Holds our own members of openclaw.json and what stood there before, never the rest of that file; and what our
settings were before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.config import Value
from hindbrain.base.errors import ConfigError
from hindbrain.base.files import make_folder, replace_file
from hindbrain.edge.openclaw.edits import Edit, Form, edit_data, edit_from

FOLDER = "openclaw"  # in the state folder
FILE = "installed.json"


class Record(NamedTuple):
    """One installation into one openclaw.json."""

    form: Form
    file: str  # the openclaw.json
    edits: tuple[Edit, ...]
    parents: tuple[tuple[str, ...], ...]  # objects and lists that came with them
    backup: str = ""  # a copy of the file as it was before; "" when there was none
    before: str = ""  # hash of the file before; "" when there was no file
    after: str = ""  # hash of the file with the edits; "" when it was changed in between by others
    folder: str = ""  # the folder in the vault that was chosen for the agent's notes; "": it had one


class Former(NamedTuple):
    """A setting of ours that installations changed; they share our settings."""

    name: str
    had: bool  # did the settings file say it?
    before: Value
    after: Value


def hashed(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def read_records(state: Path) -> list[Record]:
    """Each installation; ConfigError when the file is not what we wrote."""
    return _read(state)[0]


def read_former(state: Path) -> list[Former]:
    return _read(state)[1]


def record_of(state: Path, file: Path) -> Record | None:
    """The installation into this openclaw.json."""
    return next((one for one in read_records(state) if one.file == str(file)), None)


def write_record(state: Path, file: Path, record: Record | None) -> None:
    """`record` takes the place of what is known of that openclaw.json; None: nothing is installed there."""
    records, former = _read(state)
    kept = [one for one in records if one.file != str(file)]
    _write(state, [*kept, record] if record else kept, former)


def write_former(state: Path, former: Sequence[Former]) -> None:
    _write(state, read_records(state), former)


def _read(state: Path) -> tuple[list[Record], list[Former]]:
    file = state / FOLDER / FILE
    try:
        data = json.loads(file.read_bytes())
        records = [_from(one) for one in data["installations"]]
        return records, [_former_from(one) for one in data["settings"]]
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{str(file)!r}, which says what was installed, can't be read ({error}); a copy of openclaw.json "
            "from before lies beside that file (openclaw.json.bak-...)"
        ) from error


def _write(state: Path, records: Sequence[Record], former: Sequence[Former]) -> None:
    place = state / FOLDER / FILE
    if not records and not former:
        place.unlink(missing_ok=True)
        with suppress(OSError):  # a copy of the plugin is in it, or it was not there
            place.parent.rmdir()
        return
    data = {
        "installations": [_data(one) for one in records],
        "settings": [one._asdict() for one in former],
    }
    try:
        make_folder(place.parent)
        replace_file(place, json.dumps(data, indent=2).encode("ascii"))
    except OSError as error:
        raise ConfigError(f"{str(place)!r} can't be written: {error.strerror}") from error


def _data(record: Record) -> dict[str, Any]:
    return {**record._asdict(), "edits": [edit_data(one) for one in record.edits]}


def _from(data: Any) -> Record:
    if data["form"] not in ("slot", "beside", "mcp"):
        raise ValueError(f"there is no form {data['form']!r}")
    return Record(
        data["form"],
        str(data["file"]),
        tuple(edit_from(one) for one in data["edits"]),
        tuple(tuple(path) for path in data["parents"]),
        str(data["backup"]),
        str(data["before"]),
        str(data["after"]),
        str(data["folder"]),
    )


def _former_from(data: Any) -> Former:
    before, after = (tuple(one) if isinstance(one, list) else one for one in (data["before"], data["after"]))
    return Former(str(data["name"]), bool(data["had"]), before, after)
