"""A setting is checked when it is set and when it is loaded, and a bad one can be repaired."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.base.config import SETTINGS, load_config, setting_named
from hindbrain.base.errors import ConfigError
from workbench import Vault

BAD = [
    ("search.k", "99999"),
    ("search.k", "0"),
    ("chunk.tokens", "-5"),
    ("chunk.overlap", "-1"),
    ("search.profile", "nope"),
    ("search.diversity", "1.5"),
    ("search.diversity", "nan"),
    ("vault.max_note_mb", "-1"),
    ("embedding.provider", "magic"),
    ("embedding.batch_size", "0"),
    ("embedding.timeout_s", "inf"),
    ("writes.batch_size", "0"),
    ("writes.immediate_importance", "8"),
    ("chat.provider", "parrot"),
    ("service.port", "70000"),
    ("learn.daily_tokens", "-1"),
    ("context.preset", "nothing-like-it"),
]


def file() -> Path:
    return Path(os.environ["HINDBRAIN_CONFIG"])


def write(text: str) -> None:
    file().parent.mkdir(exist_ok=True)
    file().write_bytes(text.encode())


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_out_of_range_is_refused_when_it_is_set(cli: Cli, name: str, value: str) -> None:
    ran = cli.bare("config", name, value)
    assert (ran.code, "(config)" in ran.err) == (1, True)
    assert name in ran.err and value in ran.err
    assert not file().exists()


@pytest.mark.parametrize(("name", "value"), [row for row in BAD if row[0] != "context.preset"])
def test_a_value_out_of_range_is_refused_when_it_is_loaded(name: str, value: str, tmp_path: Path) -> None:
    variable = "HINDBRAIN_" + name.upper().replace(".", "_")
    with pytest.raises(ConfigError) as caught:
        load_config({variable: value}, tmp_path / "none.toml")
    assert variable in str(caught.value) and value in str(caught.value)
    section, _, key = name.partition(".")
    literal = value if setting_named(name).least is not None else f'"{value}"'
    (tmp_path / "config.toml").write_text(f"[{section}]\n{key} = {literal}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config({}, tmp_path / "config.toml")
    assert name in str(caught.value) and "config.toml" in str(caught.value)
    assert setting_named(name).allowed in str(caught.value)


def test_every_default_may_be_set_and_every_number_has_a_range() -> None:
    for setting in SETTINGS:
        if isinstance(setting.default, int | float) and not isinstance(setting.default, bool):
            assert setting.least is not None and setting.most is not None, setting.name
            assert setting.least <= setting.default <= setting.most
        if setting.choices:
            assert setting.default in setting.choices


def test_choices_are_what_the_program_knows() -> None:
    from hindbrain.models.chat_services import SERVICES
    from hindbrain.models.remote import PROVIDERS
    from hindbrain.search.profiles import PROFILES

    assert set(setting_named("search.profile").choices) == set(PROFILES)
    assert set(setting_named("chat.provider").choices) == {"", "none", *SERVICES}
    assert set(PROVIDERS) < set(setting_named("embedding.provider").choices)


def test_a_bad_file_is_one_clear_error_for_every_command(cli: Cli, notes: Vault) -> None:
    write("[search]\nk = 99999\n")
    for words in (["search", "tea"], ["status"], ["remember", "Tea is green"], ["recall", "tea"], ["sync"]):
        ran = cli(*words)
        assert ran.code == 1
        assert ran.err.count("search.k") == 1 and "(config)" in ran.err and "Traceback" not in ran.err
        assert "99999" in ran.err and "1 to 50" in ran.err


def test_config_stays_usable_to_repair_a_bad_value(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    write('[search]\nk = 99999\nprofile = "nope"\n[chunk]\ntokens = "many"\n[gone]\nlong_ago = 1\n')
    shown = cli.bare("config")
    assert shown.code == 1
    assert all(name in shown.err for name in ("search.k", "search.profile", "chunk.tokens", "gone.long_ago"))
    assert cli.bare("config", "search.k").code == 1
    assert cli.bare("config", "vault.exclude").code == 0  # this one is fine
    assert cli.bare("config", "search.k", "7").code == 0
    assert cli.bare("config", "--unset", "search.profile").code == 0
    assert cli.bare("config", "--unset", "gone.long_ago").code == 0
    assert cli("search", "tea").code == 1
    assert cli.bare("config", "chunk.tokens", "120").code == 0
    assert cli("search", "tea").code == 0
    assert cli.bare("config").code == 0
    monkeypatch.setenv("HINDBRAIN_SEARCH_K", "-3")
    ran = cli.bare("config", "--json")
    assert ran.code == 1 and "HINDBRAIN_SEARCH_K" in str(ran.data["problems"])
