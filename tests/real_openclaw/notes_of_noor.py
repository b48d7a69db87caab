"""Noor's vault: notes of her own, and the manual of her editor beside them for a search to choose from."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from tests.real_openclaw.rig import Rig

CORE = "Noor restores clocks in Ghent and answers letters on Sundays"
FACT = "the spare key hangs behind the barometer"
QUESTION = "Where is the spare key of the workshop?"
LATER_FACT = "Maarten wants the Vulliamy dial back before Saint Nicholas"
LATER_QUESTION = "When does Maarten want his Vulliamy dial back?"
UNRELATED = "Write a limerick about a badger that juggles"
PREFERENCE = "I prefer tea over coffee in the mornings, always."
KEPT = "tea over coffee in the mornings"  # of it, however it is put in the vault
MANUAL = "Editor manual"

_NOTES = {
    "Places/Workshop.md": (
        "# Workshop\n\n## Keys\n\nOf the workshop "
        f"{FACT}, the other one is with the baker.\n\n## Heating\n\nThe stove wants beech, never pine.\n"
    ),
    "Projects/Vienna regulator.md": (
        "# Vienna regulator\n\nThe suspension spring is 0.12 mm. It gained four seconds in a week.\n"
    ),
    "People/Ilse.md": "# Ilse\n\nIlse plays the viola and moved to Bruges in March.\n",
    "Recipes/Broth.md": "# Broth\n\nRoast the bones for forty minutes, then simmer with leek and bay leaf.\n",
    "Garden/Beds.md": "# Beds\n\nGarlic goes into the north bed in November, beans after it in June.\n",
    "Journal/2026-05-02.md": "Walked along the Leie. The new loupe arrived, it is too strong.\n",
    "Finance/Taxes.md": "# Taxes\n\nThe receipts of the workshop are in the third drawer.\n",
}
LATER_NOTE = ("People/Maarten.md", f"# Maarten\n\n{LATER_FACT}. He pays in cash.\n")


def furnish(rig: Rig) -> None:
    """Set the vault up as its owner would, write the notes, and make the index."""
    ran = rig.hindbrain("init", str(rig.vault), "--layout", "obsidian")
    assert ran.code == 0, ran
    [profile] = rig.vault.rglob("User Profile.md")
    profile.write_text(profile.read_text(encoding="utf-8") + f"\n- {CORE}\n", encoding="utf-8")
    for note, text in _NOTES.items():
        rig.write(note, text)
    _add_manual(rig.vault / MANUAL)
    ran = rig.hindbrain("sync")
    assert ran.code == 0, ran


def _add_manual(folder: Path) -> None:
    """173 real notes where the test data is there; without them the vault is small, and everything holds."""
    data = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    archive = data / "vault_obsidian_help.tar.gz"
    if archive.exists():
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
