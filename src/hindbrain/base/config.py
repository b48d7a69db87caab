"""The settings: one table, read from one TOML file and the environment. Nothing else reads either.

Order: environment (HINDBRAIN_ and the name in capitals, dots as underscores), then the file, then the
default. A vault holds no settings but its layout, which says where in the vault the agent's notes are: what a
sync tool or an agent can write must not decide anything beyond it.
"""

import os
import sys
from collections.abc import Mapping
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
    """One row of the table."""

    name: str
    default: Value
    doc: str


SETTINGS = (
    Setting("vault.path", "", "the vault to use where none is found from the current folder upwards"),
    Setting(
        "vault.exclude",
        (),
        "folders or .gitignore patterns to leave out, besides .obsidian, .trash, .git and templates",
    ),
    Setting("vault.templates", False, "index the notes in template folders too"),
    Setting("vault.max_note_mb", 20, "of a larger note only the beginning is indexed"),
    Setting(
        "state.folder",
        "",
        "where indexes and revisions are kept; empty: the system's place for application data",
    ),
    Setting(
        "chunk.tokens",
        120,
        "length above which a passage is cut; above 200, sections are packed into chunks (400, 600)",
    ),
    Setting("chunk.overlap", 0, "tokens that packed chunks share (80, 60)"),
    Setting(
        "embedding.provider",
        "auto",
        "auto, builtin, openai, ollama, gemini, voyage, onnx, sentence-transformers, none",
    ),
    Setting("embedding.model", "", "model name; empty: the provider's usual one"),
    Setting("embedding.base_url", "", "address of an OpenAI-compatible or Ollama server"),
    Setting("embedding.path", "", "folder of a local model (onnx, sentence-transformers)"),
    Setting("embedding.dimension", 0, "length of the vectors; 0: the model's own"),
    Setting("embedding.batch_size", 50, "texts in one request"),
    Setting("embedding.timeout_s", 60.0, "seconds to wait for one request"),
    Setting("embedding.max_retries", 3, "tries after the first one that failed"),
    Setting("search.k", 10, "hits to return"),
    Setting("search.profile", "default", "default, rrf, linear, multi-factor, keyword-recency"),
    Setting("search.diversity", 0.0, "0: by score alone; towards 1: away from what is already in the list"),
    Setting("writes.batch_size", 10, "memories that wait before they are written into their notes together"),
    Setting("writes.batch_interval_seconds", 30.0, "the longest that a memory waits for others"),
    Setting("writes.immediate_importance", 0.8, "memories of this importance and above do not wait"),
    Setting(
        "context.preset",
        "turn",
        "the pack that a prompt gets in an agent host: turn, compact, agent or your own",
    ),
    Setting(
        "chat.provider",
        "",
        "openai (and any server that speaks its shape), anthropic, gemini, ollama; empty: rules do its work",
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
        "service.port", 0, "the port on which `hindbrain up` serves plugins, on 127.0.0.1 (8739); 0: none"
    ),
    Setting(
        "consolidation.schedule",
        "0 2 * * *",
        "when `hindbrain up` tidies the memory, as a cron expression, besides every 4 hours; empty: never",
    ),
    Setting(
        "learn.daily_tokens",
        20_000,
        "tokens a day that learning may spend on the chat model, where there is one",
    ),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


class Config(NamedTuple):
    """The values in force. `sources` says where each comes from: default, file or environment."""

    values: Mapping[str, Value]
    sources: Mapping[str, str]
    file: Path
    keys: Mapping[str, str]  # secrets of services, by the name of their variable

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
    """Read the settings. Raises ConfigError naming the setting and what it may be."""
    environ = os.environ if environ is None else environ
    file = file or config_file(environ)
    written = _read_file(file)
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        variable = variable_of(setting.name)
        if variable in environ:
            values[setting.name] = parse_value(setting, environ[variable], variable)
            sources[setting.name] = "environment"
        elif setting.name in written:
            values[setting.name] = _checked(setting, written[setting.name], f"{setting.name} in {file}")
            sources[setting.name] = "file"
        else:
            values[setting.name], sources[setting.name] = setting.default, "default"
    keys = {name: environ[name] for name in KEY_NAMES if environ.get(name)}
    return Config(values, sources, file, keys)


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
    """Turn what a person typed into a value of the setting's type."""
    default = setting.default
    try:
        if isinstance(default, bool):
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                text.lower()
            ]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (ValueError, KeyError):
        raise ConfigError(f"{where} is {text!r}; it must be {_kind(default)}") from None
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text


def _checked(setting: Setting, value: object, where: str) -> Value:
    default = setting.default
    if (
        isinstance(default, tuple)
        and isinstance(value, list)
        and all(isinstance(item, str) for item in value)
    ):
        return tuple(value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is type(default) and isinstance(value, str | int | float | bool):
        return value
    raise ConfigError(f"{where} is {value!r}; it must be {_kind(default)}")


def _kind(default: Value) -> str:
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        tuple: "a list of texts",
    }
    return names[type(default)]


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
            found[setting_named(f"{section}.{key}").name] = value
    return found
