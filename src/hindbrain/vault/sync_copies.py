"""Names that sync tools and editors leave in a vault: conflict copies, temporary files, cloud placeholders.

Pure, on names alone. Precision before recall: a note that is wrongly taken for a copy would not be found,
while a copy that is wrongly taken for a note is merely found twice.
"""

import re

# Each ends right before the suffix; group "stem" is the note that it is a copy of.
_CONFLICT = re.compile(
    r"""(?P<stem>.+?)
    (?: \s?\((?:[^()]*\s)?conflicted\ copy\b[^()]*\d{4}[^()]*(?:\(\d+\))?\)  # Dropbox, Nextcloud, Obsidian
      | \s?\((?:case|unicode\ encoding|selective\ sync)\ conflict(?:\ \d+)?\)  # Dropbox
      | \.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?                       # Syncthing
      | _conflict-\d{8}-\d{6}                                              # ownCloud
      | -(?:DESKTOP|LAPTOP)-[A-Z0-9]{7,8}(?:-\d+)?                         # OneDrive, Windows' own host names
      | \ \(conflict\ \d{4}-\d{2}-\d{2}\ \d{6}(?:\ \d+)?\)                 # our writer
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# "Chapter 2.md" beside "Chapter.md" is more often a chapter than a copy by iCloud: worth a word, not a skip.
_MAYBE_COPY = re.compile(r"(?P<stem>.+?)(?: [2-9]| ?\([1-9]\))")
_TEMPORARY = re.compile(
    r"\.hindbrain-tmp-|\.#|~\$|~syncthing~|\.syncthing\.|#.*#$|.*(?:~|\.tmp|\.crdownload)$"
)
_COPY_ENDS = frozenset("23456789)")
_ICLOUD = re.compile(r"\.(?P<note>.+)\.icloud")


def may_be_copy(stem: str) -> bool:
    """A quick look that spares nearly every note the closer ones below."""
    return stem[-1:] in _COPY_ENDS or "onflict" in stem or "TOP-" in stem


def conflict_original(stem: str) -> str | None:
    """The stem of the note that `stem` is a sync tool's conflict copy of, or None."""
    match = _CONFLICT.fullmatch(stem)
    return match["stem"] if match else None


def possible_original(stem: str) -> str | None:
    """The stem of the note that `stem` might be a copy of; a guess, for a remark and nothing more."""
    match = _MAYBE_COPY.fullmatch(stem)
    return match["stem"] if match else None


def is_temporary(name: str) -> bool:
    """Is this a file that some program is about to rename or to throw away?"""
    return _TEMPORARY.match(name) is not None


def placeholder_for(name: str) -> str | None:
    """The name of the note that iCloud has taken off this disk and left ".name.icloud" for, or None."""
    match = _ICLOUD.fullmatch(name)
    return match["note"] if match else None
