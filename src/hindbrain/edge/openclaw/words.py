"""The words in which users of OpenClaw say what they want of an Obsidian memory, and our settings for them.

One table. `hindbrain openclaw install` takes over what openclaw.json says in these words, and the docs show
it. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hindbrain.base.config import SETTINGS, Config, Value

FOLDER = "folder of the layout"  # a vault's own, in its .hindbrain/layout.toml
ITSELF = ""  # read by the plugin
_OBSIDIAN = ("agents", "defaults", "memorySearch", "obsidian")
_PROVIDERS = (
    "auto",
    "builtin",
    "openai",
    "ollama",
    "gemini",
    "voyage",
    "onnx",
    "sentence-transformers",
    "none",
)
_LEFT_OUT = (".obsidian", ".trash", ".git")  # whatever the setting says


class CanNotBe(Exception):
    """The value is none that we know to use; the text says what would be one."""


class Word(NamedTuple):
    """One word: what it is here, and how its value is turned into ours."""

    name: str  # "embedding.model": below `embedding`
    setting: str  # ours; FOLDER or ITSELF where it is none
    turn: Callable[[Any], Value]
    doc: str


class Said(NamedTuple):
    """A word that openclaw.json says."""

    word: Word
    where: str
    value: Any
    ours: Value | None  # None: it can't be used
    problem: str = ""


class Difference(NamedTuple):
    """A setting of ours that is not what openclaw.json says."""

    setting: str
    now: Value
    said: Said
    by: str  # where ours comes from: default, file, environment


def _text(value: Any) -> Value:
    if not isinstance(value, str):
        raise CanNotBe("a text")
    return value.strip()


def _flag(value: Any) -> Value:
    if not isinstance(value, bool):
        raise CanNotBe("true or false")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise CanNotBe("a list of texts")
    return tuple(one.strip() for one in value if one.strip())


def _folders(value: Any) -> Value:
    return tuple(one for one in _texts(value) if one.strip("/") not in _LEFT_OUT)


def _tags(value: Any) -> Value:
    return tuple(one.lstrip("#") for one in _texts(value))


def _provider(value: Any) -> Value:
    name = "builtin" if value == "local" else value
    if name not in _PROVIDERS:
        raise CanNotBe(f"one of local, {', '.join(_PROVIDERS)}")
    return str(name)


def _model(value: Any) -> Value:
    name = _text(value)
    if str(name).lower().endswith(".gguf"):
        raise CanNotBe("the name of a model that the provider has; GGUF files are not read here")
    return name


def _dimension(value: Any) -> Value:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CanNotBe("a whole number")
    return value


WORDS: tuple[Word, ...] = (
    Word("vaultPath", "vault.path", _text, "the vault; our setting is set where it is empty"),
    Word("targetFolder", FOLDER, _text, "the folder in the vault for the agent's notes"),
    Word("excludeFolders", "vault.exclude", _folders, "folders that are left out"),
    Word("flushTags", "flush.tags", _tags, "tags of the notes that a flush begins"),
    Word("preserveLocal", ITSELF, _flag, "the flush is kept in the agent's own folder `memory` as well"),
    Word("embedding.provider", "embedding.provider", _provider, "`local` is `builtin` here"),
    Word("embedding.model", "embedding.model", _model, "the model's name"),
    Word("embedding.dimensions", "embedding.dimension", _dimension, "length of the vectors"),
)


def words_said(members: Mapping[str, Any], config_of_plugin: Mapping[str, Any]) -> list[Said]:
    """What openclaw.json says, in the plugin's own settings or, failing that, where the words come from."""
    elsewhere: Any = members
    for name in _OBSIDIAN:
        elsewhere = elsewhere.get(name) if isinstance(elsewhere, dict) else None
    said: list[Said] = []
    for word in WORDS:
        for table, where in ((config_of_plugin, "config"), (elsewhere, ".".join(_OBSIDIAN))):
            value = _value(table, word.name)
            if value is not None:
                said.append(_turned(word, where, value))
                break
    return said


def differences(said: list[Said], config: Config) -> list[Difference]:
    """The settings that would have to change for ours to be what is said."""
    found: list[Difference] = []
    known = {setting.name for setting in SETTINGS}
    for one in said:
        name = one.word.setting
        if one.ours is None or name not in known or config.values[name] == one.ours:
            continue
        if name == "vault.path" and config.text(name):
            continue  # the plugin asks for its own vault; the setting is for everybody else
        found.append(Difference(name, config.values[name], one, config.sources[name]))
    return found


def words_table() -> str:
    """The table for the docs."""
    rows = ["| in openclaw.json | here | |", "|---|---|---|"]
    for word in WORDS:
        here = {FOLDER: "`folder` of the vault's layout", ITSELF: "the plugin itself"}.get(word.setting)
        rows.append(f"| `{word.name}` | {here or f'`{word.setting}`'} | {word.doc} |")
    return "\n".join(rows) + "\n"


def _value(table: Any, name: str) -> Any:
    for part in name.split("."):
        table = table.get(part) if isinstance(table, dict) else None
    return table


def _turned(word: Word, where: str, value: Any) -> Said:
    try:
        return Said(word, where, value, word.turn(value))
    except CanNotBe as wrong:
        return Said(word, where, value, None, f"{word.name} ({where}) is {value!r}; it should be {wrong}")
