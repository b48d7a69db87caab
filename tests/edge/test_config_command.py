"""`hindbrain config`: settings are shown with their source, and changed without touching anything else."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from command_runs import Cli
from encoder_models import write_model
from hindbrain.base.config import SETTINGS, Value
from hindbrain.base.errors import ConfigError
from hindbrain.edge.toml_edit import set_key, unset_key


def _file() -> Path:
    return Path(os.environ["HINDBRAIN_CONFIG"])


def _write(text: str) -> None:
    _file().parent.mkdir(exist_ok=True)
    _file().write_bytes(text.encode())


def test_every_setting_is_shown_with_what_it_is(cli: Cli) -> None:
    ran = cli.bare("config")
    assert all(setting.name in ran.out and setting.doc in ran.out for setting in SETTINGS)
    assert [row["name"] for row in cli.bare("config", "--json").data["settings"]] == [
        s.name for s in SETTINGS
    ]


def test_a_value_is_written_shown_and_taken_out_again(cli: Cli) -> None:
    assert cli.bare("config", "search.k", "7").code == 0
    assert cli.bare("config", "search.k").out == "7\n"
    assert cli.bare("config", "search.k", "--json").data["source"] == "file"
    assert cli.bare("config", "--unset", "search.k").code == 0
    assert cli.bare("config", "search.k", "--json").data["source"] == "default"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vault.exclude", "Private, *.tmp.md"),
        ("vault.templates", "yes"),
        ("search.diversity", "0.5"),
        ("vault.path", '/C:\\Users\\M "x" # é'),
    ],
)
def test_every_kind_of_value_can_be_set(cli: Cli, name: str, value: str) -> None:
    assert cli.bare("config", name, value).code == 0
    shown = cli.bare("config", name, "--json").data["value"]
    expected = {"vault.exclude": ["Private", "*.tmp.md"], "vault.templates": True, "search.diversity": 0.5}
    assert shown == expected.get(name, value)


@pytest.mark.parametrize(
    "words",
    [
        ["search.k", "many"],
        ["serch.k"],
        ["serch.k", "3"],
        ["vault.templates", "perhaps"],
        ["--unset", "nothing.here"],
    ],
)
def test_a_wrong_name_or_value_changes_nothing(cli: Cli, words: list[str]) -> None:
    _write("[search]\nk = 3\n")
    assert cli.bare("config", "--json", *words).error == "config"
    assert _file().read_bytes() == b"[search]\nk = 3\n"


def test_an_encoder_is_a_word_or_the_folder_of_a_model(cli: Cli, tmp_path: Path) -> None:
    for value in ("off", "auto", str(write_model(tmp_path / "model"))):
        assert cli.bare("config", "encoder.path", value).code == 0
        assert cli.bare("config", "encoder.path").out == f"{value}\n"
    (tmp_path / "empty").mkdir()
    for wrong in ("empty", "absent"):
        assert cli.bare("config", "--json", "encoder.path", str(tmp_path / wrong)).error == "config"
    assert cli.bare("config", "encoder.path").out == f"{tmp_path / 'model'}\n"


def test_comments_and_order_stay(cli: Cli) -> None:
    before = (
        "# mine\r\n\r\n[search]  # how\r\n  k = 3  # few # really\r\nprofile = 'rrf'\r\n"
        "\r\n[vault]\r\npath = '/x'\r\n"
    )
    _write(before)
    cli.bare("config", "search.k", "5")
    assert _file().read_bytes() == before.replace("k = 3", "k = 5").encode()


def test_a_list_over_several_lines_is_replaced_whole() -> None:
    text = '[vault]\nexclude = [\n  "a", # first\n  "b",\n]\npath = "/x"\n'
    assert set_key(text, "vault.exclude", ("c",)) == '[vault]\nexclude = ["c"]\npath = "/x"\n'
    assert unset_key(text, "vault.exclude") == '[vault]\npath = "/x"\n'


def test_a_dotted_key_is_changed_where_it_stands() -> None:
    assert set_key("search.k = 3\n[vault]\n", "search.k", 5) == "search.k = 5\n[vault]\n"


def test_what_can_not_be_edited_by_line_is_refused() -> None:
    with pytest.raises(ConfigError):
        set_key("search = {k = 3}\n", "search.k", 5)


def test_a_broken_file_is_an_error_that_names_it(cli: Cli) -> None:
    _write("[search\n")
    ran = cli.bare("config", "search.k", "5", "--json")
    assert (ran.code, ran.error) == (1, "config")
    assert _file().read_bytes() == b"[search\n"


def test_a_variable_that_goes_before_the_file_is_mentioned(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_SEARCH_K", "4")
    ran = cli.bare("config", "search.k", "5")
    assert "HINDBRAIN_SEARCH_K" in ran.err
    assert "4" in ran.out


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights on Windows")
def test_a_settings_file_that_is_a_link_stays_one(cli: Cli, tmp_path: Path) -> None:
    _file().parent.mkdir()
    real = tmp_path / "dotfiles.toml"
    real.write_text("[search]\nk = 3\n", encoding="utf-8")
    real.chmod(0o600)
    _file().symlink_to(real)
    cli.bare("config", "search.k", "5")
    assert _file().is_symlink() and "k = 5" in real.read_text(encoding="utf-8")
    assert real.stat().st_mode & 0o777 == 0o600


_VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.lists(st.text("ab\"'#[]\\ é\n", max_size=5), max_size=3).map(tuple),
)
_LINE = st.sampled_from(
    ["# note", "", "[search]", "k = 1", "[vault]", 'path = "#x"', "[learn]", "daily_tokens = 5 # t"]
)


@given(lines=st.lists(_LINE, max_size=8), value=_VALUES)
def test_setting_a_key_sets_it_and_changes_no_other(lines: list[str], value: Value) -> None:
    text = "\n".join(lines) + "\n"
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    edited = set_key(text, "search.k", value)
    after = tomllib.loads(edited)
    assert after["search"].pop("k") == (list(value) if isinstance(value, tuple) else value)
    before.setdefault("search", {}).pop("k", None)
    assert after == before
    assert set(lines) - set(edited.split("\n")) <= {"k = 1"}


def test_a_schedule_that_is_no_cron_expression_is_refused_when_it_is_set(cli: Cli) -> None:
    ran = cli("config", "consolidation.schedule", "nightly")
    assert ran.code == 1 and "(config)" in ran.err and "0 3 * * *" in ran.err
    assert cli("config", "consolidation.schedule", "30 4 * * 1").code == 0
    assert cli("config", "consolidation.schedule", "").code == 0  # never by itself


def test_a_relative_path_means_the_same_from_every_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w" / "para").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    ran = cli.bare("config", "vault.path", "w/para")
    assert ran.out == f"vault.path = {tmp_path / 'w' / 'para'}\n"
    assert "warning" not in ran.err and "hindbrain sync" not in ran.err
    assert tomllib.loads(_file().read_text("utf-8"))["vault"]["path"] == str(tmp_path / "w" / "para")
    assert "warning" in cli.bare("config", "embedding.path", "no/model").err
    assert "hindbrain sync" in cli.bare("config", "chunk.tokens", "100").err
    assert "hindbrain sync" not in cli.bare("config", "embedding.timeout_s", "9").err
    cli.bare("config", "vault.path", "~/notes")
    assert cli.bare("config", "vault.path").out == "~/notes\n"

    _write('[vault]\npath = "../w/para"\n')
    assert cli.bare("config", "vault.path").out == f"{tmp_path / 'w' / 'para'}\n", "from the file's folder"
    monkeypatch.setenv("HINDBRAIN_VAULT_PATH", "w/para")
    assert cli.bare("config", "vault.path").out == f"{tmp_path / 'w' / 'para'}\n", "from the current folder"


def test_a_value_that_is_not_used_is_shown_as_such(cli: Cli) -> None:
    _write("[search]\nk = 99\n")
    (line,) = (line for line in cli.bare("config").out.splitlines() if line.startswith("search.k "))
    assert "99" in line and "NOT USED" in line and "from 1 to 50" in line
