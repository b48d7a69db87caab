"""docs/openclaw.md says what the code says."""

from __future__ import annotations

import json
from pathlib import Path

from hindbrain.edge.openclaw.place import OLDEST, TESTED
from hindbrain.edge.openclaw.plugin_copy import known_words
from hindbrain.edge.openclaw.words import words_table

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "openclaw.md").read_text(encoding="utf-8")


def test_the_words_that_are_understood_are_the_table_of_the_page() -> None:
    assert words_table() in _PAGE


def test_every_word_of_the_plugin_is_explained() -> None:
    assert not [word for word in known_words("slot") if f"`{word}" not in _PAGE and f".{word}." not in _PAGE]


def test_the_versions_that_were_tested_are_named() -> None:
    shown = [".".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in (*TESTED, OLDEST)]
    assert not [one for one in shown if one not in _PAGE]


def test_the_plugin_is_of_this_program() -> None:
    from hindbrain import __version__
    from hindbrain.edge.openclaw.plugin_copy import source_files

    files = source_files("slot")
    assert json.loads(files["package.json"])["version"] == __version__
    assert f'VERSION = "{__version__}"' in bytes(files["service.js"]).decode()
