"""The form under which notes are looked up by name. Pure, and light to import: every search needs it."""

import re

_WORDS = re.compile(r"\w+")


def name_key(name: str) -> str:
    """Return the form under which a name is looked up: its words, folded, one space between them."""
    return " ".join(_WORDS.findall(name.casefold()))


def link_key(target: str) -> str:
    """Return the form under which a link's target is looked up: the last part of its path, without `.md`."""
    name = target.rpartition("/")[2]
    return name_key(name.removesuffix(".md"))
