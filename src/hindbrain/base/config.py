"""The settings: one table, read from one TOML file and the environment. Nothing else reads either.

Order: environment (HINDBRAIN_ and the name in capitals, dots as underscores), then the file, then the
default. A vault holds no settings but its layout, which says where in the vault the agent's notes are: what a
sync tool or an agent can write must not decide anything beyond it.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hindbrain.base.errors import ConfigError

Value: TypeAlias = str | int | float | bool | tuple[str, ...]

KEY_NAMES = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "VOYAGE_API_KEY",
    "HINDBRAIN_EMBEDDING_KEY",
    "HINDBRAIN_CHAT_KEY",
)


class Setting(NamedTuple):
    """One row of the table. A number has a range; a text may have choices, else any text will do."""

    name: str
    default: Value
    doc: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    is_path: bool = False  # of a folder: absolute once it is loaded, or below `~`
    words: tuple[str, ...] = ()  # that a path may be instead
    of_index: bool = False  # decides what an index holds, so that a change counts after a sync

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return f"one of {', '.join(choice or 'empty' for choice in self.choices)}"
        if self.is_path:
            return ", ".join((*self.words, "the path of a folder"))
        kinds = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
        kind = kinds.get(type(self.default), "a list of texts")
        if self.least is None or self.most is None:
            return kind
        return f"{kind} from {_plain(self.least)} to {_plain(self.most)}"


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


SETTINGS = (
    Setting(
        "vault.path",
        "",
        "the vault to use where none is found from the current folder upwards",
        is_path=True,
    ),
    Setting(
        "vault.exclude",
        (),
        "folders or .gitignore patterns to leave out, besides .obsidian, .trash, .git and templates",
        of_index=True,
    ),
    Setting("vault.templates", False, "index the notes in template folders too", of_index=True),
    Setting(
        "vault.max_note_mb", 20, "of a larger note only the beginning is indexed", 1, 1_000, of_index=True
    ),
    Setting(
        "state.folder",
        "",
        "where indexes and revisions are kept; empty: the system's place for application data",
        is_path=True,
    ),
    Setting(
        "chunk.tokens",
        120,
        "length above which a passage is cut; above 200, sections are packed into chunks (400, 600)",
        20,
        4_000,
        of_index=True,
    ),
    Setting(
        "chunk.overlap",
        0,
        "tokens that a chunk may repeat from the one before, in whole paragraphs or list items (80, 60); "
        "above 0, sections are packed into chunks whatever chunk.tokens is",
        0,
        2_000,
        of_index=True,
    ),
    Setting(
        "embedding.provider",
        "auto",
        "what makes vectors; auto: the service that the other settings name, else the built-in embedder",
        choices=(
            "auto",
            "builtin",
            "openai",
            "ollama",
            "gemini",
            "voyage",
            "onnx",
            "sentence-transformers",
            "none",
        ),
        of_index=True,
    ),
    Setting("embedding.model", "", "model name; empty: the provider's usual one", of_index=True),
    Setting("embedding.base_url", "", "address of an OpenAI-compatible or Ollama server", of_index=True),
    Setting(
        "embedding.path",
        "",
        "folder of a local model (onnx, sentence-transformers)",
        is_path=True,
        of_index=True,
    ),
    Setting("embedding.dimension", 0, "length of the vectors; 0: the model's own", 0, 65_536, of_index=True),
    Setting("embedding.batch_size", 50, "texts in one request", 1, 10_000),
    Setting("embedding.timeout_s", 60.0, "seconds to wait for one request", 0.1, 3_600),
    Setting("embedding.max_retries", 3, "tries after the first one that failed", 0, 20),
    Setting(
        "encoder.path",
        "auto",
        "the model that reads the best passages of a search again; auto: all-MiniLM-L6-v2 where its wheel is "
        "installed; off: none; else the folder of a model",
        is_path=True,
        words=("auto", "off"),
    ),
    Setting(
        "search.k",
        10,
        "hits that a search or a recall returns when no number is asked for; a context pack takes what fits "
        "its budget instead",
        1,
        50,
    ),
    Setting(
        "search.profile",
        "default",
        "how signals become a score",
        choices=("default", "rrf", "linear", "multi-factor", "keyword-recency"),
    ),
    Setting(
        "search.diversity", 0.0, "0: by score alone; towards 1: away from what is already in the list", 0, 1
    ),
    Setting(
        "search.min_score",
        0.0,
        "least confidence of a hit; 0 cuts nothing off, 0.3 leaves out what is only vaguely related",
        0,
        1,
    ),
    Setting(
        "search.rrf_k", 60, "k of the profile rrf; a higher one makes the first ranks count less", 1, 1_000
    ),
    Setting(
        "search.candidate_multiplier",
        3,
        "passages looked at for each hit wanted (of at least 10), by words and as many by meaning",
        1,
        50,
    ),
    Setting(
        "writes.batch_size",
        10,
        "memories that wait before they are written into their notes together",
        1,
        1_000,
    ),
    Setting(
        "writes.batch_interval_seconds", 30.0, "the longest that a memory waits for others", 0, 1_000_000
    ),
    Setting("writes.immediate_importance", 0.8, "memories of this importance and above do not wait", 0, 1),
    Setting(
        "context.preset",
        "turn",
        "the pack that a prompt gets in an agent host: turn, compact, agent or your own",
    ),
    Setting(
        "context.false_rate",
        0.05,
        "share of generic prompts (small talk, plain coding and writing tasks) that may get notes; lower is "
        "stricter, 1 lets in whatever is found",
        0,
        1,
    ),
    Setting(
        "context.topic_threshold",
        0.0,
        "likeness to the prompts before, below which the topic has changed and old excerpts are released; "
        "0: as measured for the embedder (0.12 built-in, 0.04 by words alone, 0.3 others)",
        0,
        1,
    ),
    Setting(
        "chat.provider",
        "",
        "the chat model's service, or openai for any server of its shape; empty or none: rules do its work",
        choices=("", "none", "openai", "anthropic", "gemini", "ollama"),
    ),
    Setting("chat.model", "", "the chat model that extracts what is worth remembering"),
    Setting("chat.base_url", "", "address of the server that has it; empty: the provider's own"),
    Setting("flush.daily", False, "note in the daily note what was remembered of a conversation"),
    Setting(
        "flush.tags",
        ("agent/memory", "auto-generated"),
        "tags of a daily note that begins with what an agent kept of a conversation",
    ),
    Setting("hooks.daemon", True, "a session in an agent host starts `hindbrain up` when it does not run"),
    Setting(
        "service.port",
        0,
        "the port on which `hindbrain up` serves plugins, on 127.0.0.1 (8739); 0: none",
        0,
        65_535,
    ),
    Setting(
        "consolidation.schedule",
        "0 2 * * *",
        "when `hindbrain up` tidies the memory, as a cron expression, besides every 4 hours; empty: never",
    ),
    Setting("consolidation.age_threshold_days", 7, "daily notes that are older become memories", 1, 3_650),
    Setting(
        "consolidation.importance_threshold",
        0.6,
        "an event of a daily note becomes a memory from this importance on",
        0,
        1,
    ),
    Setting(
        "consolidation.max_daily_logs",
        30,
        "days that a daily note of the agent stays before it moves into the archive",
        1,
        36_500,
    ),
    Setting(
        "learn.daily_tokens",
        20_000,
        "tokens a day that learning may spend on the chat model, where there is one",
        0,
        100_000_000,
    ),
)
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_BY_NAME = {setting.name: setting for setting in SETTINGS}


class Config(NamedTuple):
    """The values in force. `sources` says where each comes from: default, file or environment."""

    values: Mapping[str, Value]
    sources: Mapping[str, str]
    file: Path
    keys: Mapping[str, str]  # secrets of services, by the name of their variable
    problems: Mapping[str, str] = {}  # what is wrong, by setting; only `survey_config` gives any
    refused: Mapping[str, object] = {}  # values that are not used, by setting; their defaults stand in

    def text(self, name: str) -> str:
        return str(self.values[name])

    def number(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def fraction(self, name: str) -> float:
        value = self.values[name]
        assert isinstance(value, int | float)
        return float(value)

    def flag(self, name: str) -> bool:
        return bool(self.values[name])

    def list(self, name: str) -> tuple[str, ...]:
        value = self.values[name]
        assert isinstance(value, tuple)
        return value


def load_config(environ: Mapping[str, str] | None = None, file: Path | None = None) -> Config:
    """Read the settings. Raises ConfigError naming the setting, its value and what it may be."""
    config = survey_config(environ, file)
    if config.problems:
        first = next(iter(config.problems.values()))
        more = f" (and {len(config.problems) - 1} more: hindbrain config)" if len(config.problems) > 1 else ""
        raise ConfigError(first + more)
    return config


def survey_config(environ: Mapping[str, str] | None = None, file: Path | None = None) -> Config:
    """As `load_config`, but a wrong value is one of `problems` and its default stands in: for repairs."""
    environ = os.environ if environ is None else environ
    file = file or config_file(environ)
    written = _read_file(file)
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    problems: dict[str, str] = {}
    refused: dict[str, object] = {}
    for setting in SETTINGS:
        name, variable = setting.name, variable_of(setting.name)
        values[name], sources[name] = setting.default, "default"
        try:
            if variable in environ:
                sources[name] = "environment"
                values[name] = located(setting, parse_value(setting, environ[variable], variable))
            elif name in written:
                sources[name] = "file"
                value = _checked(setting, written[name], f"{name} in {file}")
                values[name] = located(setting, value, file.parent)
        except ConfigError as error:
            problems[name] = str(error)
            refused[name] = environ.get(variable, written.get(name))
    for name in written:
        try:
            setting_named(name)
        except ConfigError as error:
            problems[name] = f"{error} ({file})"
    keys = {name: environ[name] for name in KEY_NAMES if environ.get(name)}
    return Config(values, sources, file, keys, problems, refused)


def config_file(environ: Mapping[str, str]) -> Path:
    """HINDBRAIN_CONFIG, else `config.toml` where the system keeps settings of applications."""
    named = environ.get("HINDBRAIN_CONFIG")
    if named:
        return Path(named).expanduser()
    if plain := _plain_place(environ, "XDG_CONFIG_HOME", ".config"):
        return plain / "config.toml"
    from platformdirs import user_config_path

    return user_config_path("hindbrain", appauthor=False) / "config.toml"


def state_folder(config: Config) -> Path:
    """Where indexes and revisions lie: never inside a vault, since a sync tool would damage a live index."""
    named = config.text("state.folder")
    if named:
        return Path(named).expanduser()
    if plain := _plain_place(os.environ, "XDG_DATA_HOME", ".local/share"):
        return plain
    from platformdirs import user_data_path

    return user_data_path("hindbrain", appauthor=False)


def _plain_place(environ: Mapping[str, str], variable: str, usual: str) -> Path | None:
    """Our folder where the XDG rules place it; None elsewhere. What platformdirs says, without its 40 ms."""
    if not sys.platform.startswith("linux") or environ.get("ANDROID_DATA"):
        return None
    named, home = environ.get(variable, "").strip(), environ.get("HOME", "")
    if named:
        return Path(named) / "hindbrain"
    return Path(home) / usual / "hindbrain" if home else None


def setting_named(name: str) -> Setting:
    try:
        return _BY_NAME[name]
    except KeyError:
        from difflib import get_close_matches

        near = get_close_matches(name, _BY_NAME, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "; hindbrain config lists them all"
        raise ConfigError(f"there is no setting {name!r}{hint}") from None


def variable_of(name: str) -> str:
    return "HINDBRAIN_" + name.upper().replace(".", "_")


def parse_value(setting: Setting, text: str, where: str) -> Value:
    """Turn what a person typed into a value of the setting. `where`: what to call it in an error."""
    value: object = text
    with suppress(ValueError, KeyError):  # what can't be read stays text, which the check refuses
        if isinstance(setting.default, bool):
            value = _FLAGS[text.lower()]
        elif isinstance(setting.default, int):
            value = int(text)
        elif isinstance(setting.default, float):
            value = float(text)
        elif isinstance(setting.default, tuple):
            value = [part.strip() for part in text.split(",") if part.strip()]
    return _checked(setting, value, where)


def located(setting: Setting, value: Value, base: Path | str = "") -> Value:
    """The value; a relative path is made absolute from `base`, else from the current folder. `~` stays."""
    if not setting.is_path or not isinstance(value, str) or not value or value.startswith("~"):
        return value
    if value in setting.words:
        return value
    return os.path.abspath(os.path.join(base, value))  # noqa: PTH100, PTH118


def _checked(setting: Setting, given: object, where: str) -> Value:
    value = _of_kind(setting.default, given)
    fits = value is not None
    if fits and setting.least is not None and setting.most is not None:
        fits = isinstance(value, int | float) and setting.least <= value <= setting.most
    if value is None or not fits or (setting.choices and value not in setting.choices):
        raise ConfigError(f"{where} is {given!r}; it must be {setting.allowed}")
    return value


def _of_kind(default: Value, given: object) -> Value | None:
    """The value, if it is of the default's kind."""
    if isinstance(default, tuple):
        is_texts = isinstance(given, list) and all(isinstance(item, str) for item in given)
        return tuple(given) if is_texts and isinstance(given, list) else None
    if isinstance(default, float) and isinstance(given, int) and not isinstance(given, bool):
        return float(given)
    return given if type(given) is type(default) and isinstance(given, str | int | float | bool) else None


def _read_file(file: Path) -> dict[str, object]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"the settings {str(file)!r} can't be read: {error.strerror}") from error
    import tomllib

    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the settings {str(file)!r} are not valid TOML: {error}") from error
    found: dict[str, object] = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            raise ConfigError(f"{section!r} in {str(file)!r} stands outside a section such as [vault]")
        for key, value in table.items():
            found[f"{section}.{key}"] = value
    return found
