"""Makes a folder a vault: its id, its layout, the layout's first notes. What there is stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.edge.layout_choice import LayoutChoice
    from hindbrain.vault.first_notes import FirstNotes

_README = """\
# .hindbrain

This folder belongs to Hindbrain, which searches the notes around it and keeps your agents' memory in them.
Keep it with the notes.

- `vault-id` tells this vault from others, wherever it is moved or synced to.
- `layout.toml` says in which notes the agents' memory, tasks and days are kept. You may change it.
- `usage.jsonl` (when it is there) lists which notes were opened through Hindbrain; it helps to rank them.
- Other `.jsonl` files are logs of what can't be told from the notes, such as what you refused or deleted and
  do not want to be proposed again.

No note is changed by anything in here, and the search index is kept elsewhere. If you delete this folder,
your notes are as they were; `hindbrain init` then makes this a vault again, without these memories of use.
"""


def make_vault(app: App, id_: str = "") -> Path | None:
    """Give the folder an id, the one it had if `id_` says so. Returns the vault around it, if any."""
    import uuid

    from hindbrain.vault.discover import find_vault

    around = find_vault(app.root.parent)
    if not (app.root / ".hindbrain" / "README.md").exists():
        app.writer.put_state_file("README.md", _README.encode())
    # The id comes last: with it the vault is made.
    app.writer.put_state_file("vault-id", f"{id_ or uuid.uuid4().hex}\n".encode())
    return around


def arrange(app: App, choice: LayoutChoice) -> FirstNotes:
    """Record the layout, then make its first notes."""
    from hindbrain.vault.first_notes import FirstNotes, make_first_notes
    from hindbrain.vault.layout import LAYOUT_FILE

    if choice.table is not None:
        app.writer.put_state_file(LAYOUT_FILE, choice.table, undoable=True)
    if not choice.make_notes:
        return FirstNotes()
    # Another layout begins with notes of its own; of the same one, what was moved is not made again.
    layout = choice.layout if choice.differs else app.following(choice.layout)
    return make_first_notes(layout, app.root, app.writer, today=app.clock.today().isoformat())
