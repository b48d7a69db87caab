"""The vault that Ada has: a handful of notes on her own things, for a search to choose from."""

from __future__ import annotations

from desk import Desk

CORE = "Ada keeps a small observatory in Evora and answers letters on Sundays"
FACT = "the second Tuesday of each month"
QUESTION = "When does the Heron release ship?"
UNRELATED = "Write a limerick about a badger that juggles"
REMEDY = "heron cert renew --staging"
BROKEN_COMMAND = "sh deploy-heron.sh"
BROKEN_OUTPUT = "E4711: certificate of heron staging has expired"
PREFERENCE = "I prefer tabs over spaces in Makefiles, always."
KEPT = "tabs over spaces in Makefiles"  # of it, however it is put in the vault

_NOTES = {
    "Projects/Heron.md": (
        f"# Heron\n\n## Release\n\nThe Heron release ships on {FACT}, signed with the key in the binder.\n\n"
        "## Team\n\nInês writes the firmware, Tomé the ground station.\n"
    ),
    "Runbooks/Heron staging.md": (
        "# Heron staging\n\n## E4711: certificate of heron staging has expired\n\n"
        f"When the deploy script says E4711, run `{REMEDY}` and deploy again.\n"
    ),
    "Projects/Telescope.md": "# Telescope\n\nThe primary mirror has 406 mm; collimate it after each move.\n",
    "Garden/Beds.md": "# Beds\n\nGarlic goes into the north bed in November, beans after it in June.\n",
    "Recipes/Broth.md": "# Broth\n\nRoast the bones for forty minutes, then simmer with leek and bay leaf.\n",
    "People/Rui.md": "# Rui\n\nRui repairs bicycles in Montemor and likes jazz from the sixties.\n",
    "Journal/2026-05-02.md": "Walked to the aqueduct. Saw two storks. The new eyepiece arrived.\n",
    "Books/Almanac.md": "# Almanac\n\nSunrise tables for the Alentejo, 1911 edition, found at the market.\n",
    "Finance/Taxes.md": "# Taxes\n\nThe receipts of the observatory are in the third drawer.\n",
}


def furnish(desk: Desk) -> None:
    """Set the vault up as its owner would, write the notes, bring the index up to date."""
    ran = desk.hindbrain("init", str(desk.vault), "--layout", "obsidian")
    assert ran.code == 0, ran
    [profile] = desk.vault.rglob("User Profile.md")
    profile.write_text(profile.read_text(encoding="utf-8") + f"\n- {CORE}\n", encoding="utf-8")
    for note, text in _NOTES.items():
        desk.write(note, text)
    ran = desk.hindbrain("sync")
    assert ran.code == 0, ran
    script = desk.place.project / "deploy-heron.sh"
    script.write_text(f"echo '{BROKEN_OUTPUT}' >&2\nexit 3\n", encoding="utf-8")
