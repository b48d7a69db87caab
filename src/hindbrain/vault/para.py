"""Where a note stands in a PARA vault (Projects, Areas, Resources, Archive), told from its path alone.

Pure. Knows nothing of files or layouts; paths are vault-relative, with "/" or a backslash between parts.
"""

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

Category: TypeAlias = Literal["project", "area", "resource", "archive", ""]

# "Projects", "1-Projects", "1. Projects", "01 - Projects", "_archive", "📁 Areas" are all in use.
_LABEL = re.compile(r"[\W\d_]*+(projects?|areas?|resources?|archives?|archived)[\W_]*", re.IGNORECASE)
_LONGEST_LABEL = 40  # a longer folder name is no PARA label, and is not worth a match
_BY_STEM: dict[str, Category] = {"pro": "project", "are": "area", "res": "resource", "arc": "archive"}


def para_of(path: str) -> tuple[Category, str]:
    """Return the PARA category of a note and the folder right below it ("" when there is none).

    The outermost PARA folder counts: a project in the archive is archived.
    """
    folders = path.replace("\\", "/").split("/")[:-1]
    for depth, folder in enumerate(folders):
        category = _category(folder)
        if category:
            below = folders[depth + 1] if depth + 1 < len(folders) else ""
            return category, below
    return "", ""


def is_para_vault(paths: Iterable[str]) -> bool:
    """Say whether at least three of the four PARA folders stand side by side in the same folder."""
    siblings: dict[str, set[Category]] = {}
    for path in paths:
        parent = ""
        for folder in path.replace("\\", "/").split("/")[:-1]:
            category = _category(folder)
            if category:
                found = siblings.setdefault(parent, set())
                found.add(category)
                if len(found) >= 3:
                    return True
                break
            parent = f"{parent}/{folder}"
    return False


def _category(folder: str) -> Category:
    if len(folder) > _LONGEST_LABEL:
        return ""
    match = _LABEL.fullmatch(folder)
    return _BY_STEM[match[1][:3].lower()] if match else ""
