"""Which layout `init` gives a vault: what its owner asks for, what the vault has, what it looks like.

Decides and writes nothing. Knows nothing of how a result is printed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.edge.parser import nearest
from hindbrain.memory.policy.protected import check_layout
from hindbrain.vault.first_notes import has_notes_of_its_own
from hindbrain.vault.layout import (
    LAYOUT_FILE,
    LAYOUTS,
    OWN_FOLDER,
    Layout,
    built_in,
    check_folder,
    default_folder,
    detect,
    parse_layout,
    recognise,
    render_layout,
    settled,
    stored_layout,
)


class LayoutChoice(NamedTuple):
    """The layout, the table to keep in the vault (None: it has it), and whether to make its first notes."""

    layout: Layout
    table: bytes | None
    make_notes: bool
    as_is: bool  # the folder was made by its own program, and nothing is added
    differs: tuple[str, ...] = ()  # "role: old path -> new path", when the vault had another layout
    left_behind: tuple[str, ...] = ()  # those of them that have notes at the old place


def choose_layout(root: Path, wanted: str, folder: str | None, *, whole: bool = False) -> LayoutChoice:
    """`wanted`: a built-in name, a TOML file, or "". `whole`: the folder is the agent's, whatever is in it.

    Raises UsageError for a name that is neither, ConfigError for a table that can't be used.
    """
    had = stored_layout(root)
    new = whole or not has_notes_of_its_own(root)
    table: bytes | None
    if wanted and wanted not in LAYOUTS:
        own, table = _from_file(wanted, folder, new=new)
        layout = settled(own, root)
    else:
        layout = _built_in(root, wanted, folder, had, new=new)
        table = None if layout is had else render_layout(layout)
    check_layout(layout)
    if table is not None and had and table == (root / ".hindbrain" / LAYOUT_FILE).read_bytes():
        table = None
    differs = _differences(had, layout) if had else {}
    left = [text for role, text in differs.items() if had and had.notes_of(role, root)]
    as_is = _is_opened_as_it_is(layout, root)
    make_notes = (bool(wanted) or new) and not as_is
    return LayoutChoice(layout, table, make_notes, as_is, tuple(differs.values()), tuple(left))


def check_wanted(wanted: str, folder: str | None) -> None:
    """Raises what `choose_layout` would raise for arguments that fit no vault."""
    if wanted not in LAYOUTS:
        _from_file(wanted, folder, new=True)
    check_folder(folder or "")


def _built_in(root: Path, wanted: str, folder: str | None, had: Layout | None, *, new: bool) -> Layout:
    if had and folder is None and wanted in ("", had.name):
        return had
    name = wanted or (had.name if had else "") or ("obsidian" if new else detect(root).name)
    if name not in LAYOUTS:
        raise UsageError(f"the layout {name!r} is written in a file; change `folder` there")
    if folder is not None:
        return settled(_with_owner_days(built_in(name, check_folder(folder)), root), root)
    found = recognise(name, root)
    if found:
        return found
    own = built_in(name, "" if new and name != "para" else default_folder(name, root))
    return settled(_with_owner_days(own, root), root)


def _with_owner_days(layout: Layout, root: Path) -> Layout:
    """Where the whole vault is the agent's, it shares the owner's daily notes as Obsidian names them."""
    from hindbrain.vault.obsidian import ObsidianSettings, read_obsidian

    settings = read_obsidian(root)
    named = settings.daily_template
    if layout.folder or not named or named == ObsidianSettings().daily_template:
        return layout  # a format of Obsidian's own default is no choice of the owner's
    return replace(layout, roles={**layout.roles, "daily": (named,)})


def _from_file(wanted: str, folder: str | None, *, new: bool) -> tuple[Layout, bytes]:
    file = Path(wanted).expanduser()
    try:
        data = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        if file.suffix == ".toml":
            raise NotFound(f"the layout {wanted!r} can't be read: {error.strerror}") from error
        hint = nearest(wanted, LAYOUTS) or f"; there are {', '.join(LAYOUTS)}, or give a TOML file"
        raise UsageError(f"no layout {wanted!r}{hint}") from error
    layout = parse_layout(data, str(file))
    if _says_folder(data):
        if folder is not None and check_folder(folder) != layout.folder:
            raise UsageError(
                f"{wanted!r} says folder = {layout.folder!r}; change it there, or leave --folder out"
            )
        return layout, data
    place = check_folder(folder) if folder is not None else "" if new else OWN_FOLDER
    data = f'folder = "{place}"\n'.encode() + data
    return parse_layout(data, str(file)), data


def _says_folder(data: bytes) -> bool:
    import tomllib

    return "folder" in tomllib.loads(data.decode().replace("\r\n", "\n"))


def _is_opened_as_it_is(layout: Layout, root: Path) -> bool:
    from hindbrain.vault.layout_table import built_in_table

    if layout.name not in LAYOUTS or not built_in_table(layout.name).as_is:
        return False
    return recognise(layout.name, root) is not None


def _differences(had: Layout, now: Layout) -> dict[str, str]:
    before, after = _places(had), _places(now)
    return {
        role: f"{role}: {before[role]} -> {after.get(role, 'nowhere')}"
        for role in before
        if before[role] != after.get(role)
    }


def _places(layout: Layout) -> dict[str, str]:
    folder = f"{layout.folder}/" if layout.folder else ""
    return {role: folder + paths[0] for role, paths in layout.roles.items()}
