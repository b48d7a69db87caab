"""What an installation has to choose: the vault, the port, our settings, the folder for the agent's notes.

Looks, and changes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hindbrain.app import locate_vault
from hindbrain.base.config import Config, Value
from hindbrain.base.errors import Busy, ConfigError, HindbrainError, UsageError
from hindbrain.edge.openclaw.edits import Form
from hindbrain.edge.openclaw.words import FOLDER, Said, differences
from hindbrain.edge.opening import check_vault

USUAL_PORT = 8739
_OTHER_PORTS = range(USUAL_PORT, USUAL_PORT + 20)


class SettingChange(NamedTuple):
    """One of our own settings."""

    name: str
    before: Value
    after: Value
    why: str


def choose_vault(config: Config, named: str, said: list[Said], file: Path) -> Path:
    """The vault: as named, else as openclaw.json (`file`) says, else ours."""
    word = next((str(one.ours) for one in said if one.word.name == "vaultPath" and one.ours), "")
    root = Path(word).expanduser().absolute() if word and not named else locate_vault(config, named=named)
    by = "--vault" if named else f"vaultPath in {str(file)!r}" if word else "the setting vault.path"
    check_vault(config, root, named_by=by)
    return root


def choose_settings(
    config: Config, said: list[Said], root: Path, form: Form, serving: int
) -> tuple[tuple[SettingChange, ...], list[str]]:
    changes: list[SettingChange] = []
    notes: list[str] = []
    if form == "mcp":
        return (), notes
    for one in differences(said, config):
        if one.by == "environment":
            notes.append(f"{one.setting} comes from the environment and stays {one.now!r}")
        else:
            why = f"{one.said.word.name} in openclaw.json"
            value = str(root) if one.setting == "vault.path" else one.said.ours
            assert value is not None
            changes.append(SettingChange(one.setting, one.now, value, why))
    if not config.text("vault.path") and all(one.name != "vault.path" for one in changes):
        changes.append(SettingChange("vault.path", "", str(root), "the vault that OpenClaw gets"))
    now, port = config.number("service.port"), _port(config, serving)
    if port != now:
        changes.append(SettingChange("service.port", now, port, "where the plugin asks"))
    return tuple(changes), notes


def _port(config: Config, serving: int) -> int:
    """The port of the settings; the usual one where there is none; another where that is somebody else's."""
    wanted = config.number("service.port") or USUAL_PORT
    if config.sources["service.port"] == "environment":
        if not config.number("service.port"):
            raise ConfigError("HINDBRAIN_SERVICE_PORT is 0, so that plugins are not served; unset it first")
        return wanted
    if serving == wanted or _is_free(wanted):
        return wanted
    free = next((port for port in _OTHER_PORTS if _is_free(port)), 0)
    if not free:
        raise Busy(f"the ports {_OTHER_PORTS[0]} to {_OTHER_PORTS[-1]} are all in use; set another one: "
                   "hindbrain config service.port N")  # fmt: skip
    return free


def _is_free(port: int) -> bool:
    from hindbrain.edge.http.address import LOOPBACK, Address, listen

    try:
        listen(Address(LOOPBACK, port)).close()
    except (Busy, UsageError):
        return False
    return True


def choose_folder(root: Path, said: list[Said]) -> tuple[str, list[str]]:
    """The folder for the agent's notes, where the vault has none yet; a vault that has one keeps it."""
    from hindbrain.vault.layout import check_folder as checked
    from hindbrain.vault.layout import stored_layout

    word = next((str(one.ours) for one in said if one.word.setting == FOLDER and one.ours), "")
    if not word:
        return "", []
    try:
        folder, layout = checked(word), stored_layout(root)
    except HindbrainError as error:
        return "", [f"targetFolder was not taken over: {error}"]
    if layout is None:
        return folder, []
    if layout.folder == folder:
        return "", []
    return "", [
        f"the vault keeps the agent's notes in {layout.folder or '.'!r}, openclaw.json says {folder!r}: to "
        f"change it: hindbrain init {str(root)!r} --layout {layout.name} --folder {folder!r} --switch"
    ]
