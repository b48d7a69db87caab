"""A passage as a person would say it: without the fields and ids of our lines. Pure."""

import re

_OUR_LINE = re.compile(r"^.*[ \t]\^[aciklmprt]-[a-z0-9-]++[ \t]*+$", re.MULTILINE)
_FIELD = re.compile(r"[ \t]*+\[[a-z]++::(?:[^\[\]\n]|\[\[[^\[\]\n]*+\]\])*+\]")
_CUES = re.compile(r"\[cues::([^\[\]\n]*+)\]")


def spoken(text: str) -> str:
    """What a prompt is shown."""
    return _OUR_LINE.sub(lambda line: _without_fields(line[0]), text) if " ^" in text else text


def sought(text: str) -> str:
    """What is sought by words and by meaning: as `spoken`, and with the cues of memories."""
    if "[cues::" not in text:
        return spoken(text)
    return _OUR_LINE.sub(lambda line: _without_fields(_CUES.sub(r"\1", line[0])), text)


def _without_fields(line: str) -> str:
    return _FIELD.sub("", line.rpartition("^")[0]).rstrip()
