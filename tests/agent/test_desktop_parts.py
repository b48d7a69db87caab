"""What of the desktop needs no screen: geometry, applications, scripts, and a machine that has none."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.tools.desktop.applescript import check_script
from hindbrain.agent.tools.desktop.applications import installed, open_application
from hindbrain.agent.tools.desktop.screen import Screen, shrink
from hindbrain.agent.tools.desktop.x_keyboard import first_stretch
from hindbrain.base.errors import NotFound, Refused, UsageError

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs .desktop files")
_SIZES = st.integers(1, 8_000)


@given(st.builds(Screen, st.integers(-4_000, 4_000), st.integers(-4_000, 4_000), _SIZES, _SIZES), st.data())
def test_every_point_of_the_picture_is_a_point_of_the_screen(screen: Screen, data: st.DataObject) -> None:
    wide, high = screen.shown
    assert wide <= 1280
    x, y = data.draw(st.integers(0, wide - 1)), data.draw(st.integers(0, high - 1))
    across, down = screen.place(x, y)
    assert screen.left <= across < screen.left + screen.width
    assert screen.top <= down < screen.top + screen.height


@given(st.integers(1, 1280), st.integers(1, 2_000), st.data())
def test_a_picture_that_is_not_scaled_has_the_screens_own_points(
    wide: int, high: int, data: st.DataObject
) -> None:
    x, y = data.draw(st.integers(0, wide - 1)), data.draw(st.integers(0, high - 1))
    assert Screen(0, 0, wide, high).place(x, y) == (x, y)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_a_smaller_picture_has_its_size_and_keeps_an_even_colour(
    wide: int, high: int, to_wide: int, to_high: int
) -> None:
    picture = np.full((high, wide, 3), (0x33, 0x66, 0xCC), dtype=np.uint8)
    smaller = shrink(picture, to_wide, to_high)
    assert smaller.shape == (min(high, to_high), min(wide, to_wide), 3)
    assert (smaller == (0x33, 0x66, 0xCC)).all()


def test_each_point_is_the_mean_of_what_it_covers() -> None:
    picture = np.zeros((2, 4, 3), dtype=np.uint8)
    picture[:, 1] = 200
    assert shrink(picture, 2, 1)[0, :, 0].tolist() == [100, 0]


@given(st.lists(st.integers(1, 12)), st.frozensets(st.integers(1, 12)), st.integers(0, 6))
def test_a_stretch_is_the_longest_that_enough_codes_can_be_lent_for(
    keysyms: list[int], known: frozenset[int], most: int
) -> None:
    stretch = first_stretch(keysyms, known, most)
    assert stretch == keysyms[: len(stretch)]
    assert len(set(stretch) - known) <= most
    rest = keysyms[len(stretch) :]
    assert not rest or len({*stretch, rest[0]} - known) > most


def test_without_a_display_nothing_is_offered_and_the_reason_is_told() -> None:
    program = (
        "import sys\n"
        "from hindbrain.agent.tools.desktop.tools import desktop_tools\n"
        "from hindbrain.agent.tools.desktop.reach import desktop_missing\n"
        "early = [name for name in ('mss', 'Xlib', 'pynput', 'numpy') if name in sys.modules]\n"
        "import json\n"
        "print(json.dumps([early, len(desktop_tools({})), desktop_missing()]))\n"
    )
    blind = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=blind,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    early, offered, missing = json.loads(done.stdout)
    assert early == []
    if sys.platform.startswith("linux"):
        assert offered == 0
        assert missing


@pytest.mark.parametrize("package", ["mss", "pynput" if sys.platform in ("darwin", "win32") else "Xlib"])
def test_without_the_packages_the_reason_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    from hindbrain.agent.tools.desktop.reach import desktop_missing

    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install mss" in desktop_missing()


def entry(folder: Path, name: str, **values: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}={value}" for key, value in ({"Type": "Application"} | values).items()]
    text = "\n".join(["[Desktop Entry]", *lines, "", "[Desktop Action New]", "Name=Other", "Exec=false", ""])
    (folder / f"{name}.desktop").write_text(text, encoding="utf-8")


@linux_only
def test_an_application_is_opened_by_its_name_without_our_keys(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = tmp_path / "program.py"
    program.write_text(
        "import json, os, sys\n"
        "with open(sys.argv[1], 'w') as out:\n"
        "    out.write(json.dumps([sys.argv[2:], dict(os.environ)]))\n",
        encoding="utf-8",
    )
    entry(
        tmp_path / "apps", "org.example.Editor", Name="Fine Editor",
        Exec=f'"{sys.executable}" "{program}" "{pipe}" --new-window %U',
    )  # fmt: skip
    environ = {"PATH": os.environ["PATH"], "DISPLAY": ":9", "OPENAI_API_KEY": "sk-1", "GH_TOKEN": "t"}
    assert open_application("fine editor", environ, [tmp_path / "apps"]) == "Fine Editor"
    ready, _, _ = select.select([reading], [], [], 30)
    assert ready, "the application did not start"
    with open(reading, encoding="utf-8") as told:
        os.set_blocking(reading, True)
        arguments, seen = json.load(told)
    assert arguments == ["--new-window"]
    assert seen["DISPLAY"] == ":9"
    assert not {"OPENAI_API_KEY", "GH_TOKEN"} & set(seen)


@linux_only
def test_only_what_a_menu_would_offer_can_be_opened(tmp_path: Path) -> None:
    entry(tmp_path, "good", Name="Good", Exec="true")
    entry(tmp_path, "hidden", Name="Hidden", Exec="true", NoDisplay="true")
    entry(tmp_path, "shell", Name="Shell", Exec="true", Terminal="true")
    entry(tmp_path, "link", Name="Link", Exec="true", Type="Link")
    entry(tmp_path, "torn", Name="Torn", Exec='"true')
    assert [app.name for app in installed([tmp_path, tmp_path / "gone"])] == ["Good"]
    for name in ("Hidden", "poweroff", "sh"):
        with pytest.raises(NotFound):
            open_application(name, {}, [tmp_path])


@linux_only
@pytest.mark.parametrize("name", ["/bin/sh", "../x", "-a", "http://example.com", "a\nb", "C:\\x.exe"])
def test_an_application_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        open_application(name, {}, [tmp_path])


@pytest.mark.parametrize(
    "script",
    ['do shell script "rm -rf ~"', 'DO  SHELL\tSCRIPT "x"', 'do ¬\n shell ¬\n script "x"', 'run script "x"'],
)
def test_a_script_that_starts_a_shell_is_refused(script: str) -> None:
    with pytest.raises(Refused):
        check_script(script)


def test_an_ordinary_script_is_taken() -> None:
    check_script('tell application "Mail" to make new outgoing message with properties {subject:"Shell"}')
