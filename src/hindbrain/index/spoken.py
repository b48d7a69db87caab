"""A passage as a person would say it: without the fields and ids of our lines. Pure."""

import re

_OUR_LINE = re.compile(r"^.*[ \t]\^[aciklmprt]-[a-z0-9-]++[ \t]*+$", re.MULTILINE)
_FIELD = re.compile(r"[ \t]*+\[[a-z]++::[^\[\]\n]*+\]")


def spoken(text: str) -> str:
    """What is sought by words and by meaning, and what a prompt is shown."""
    return _OUR_LINE.sub(_without_fields, text) if " ^" in text else text


def _without_fields(line: re.Match[str]) -> str:
    return _FIELD.sub("", line[0].rpartition("^")[0]).rstrip()
