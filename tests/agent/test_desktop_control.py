"""The desktop tools on a real X server: a window records what reaches it, and the screen is looked at."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from hindbrain.agent.tools.desktop import hands, x_keyboard
from hindbrain.agent.tools.desktop.reach import desktop_missing
from hindbrain.agent.tools.desktop.tools import desktop_tools
from hindbrain.agent.tools.tool import Result, Toolbox
from hindbrain.base.errors import Busy, UsageError
from hindbrain.models.chat import ToolCall

if shutil.which("Xvfb") is None:
    pytest.skip("Xvfb is not installed (Debian: apt-get install xvfb)", allow_module_level=True)

BLUE = (0x33, 0x66, 0xCC)
LEFT, TOP, WIDE, HIGH = 100, 120, 300, 200  # where the window is, in pixels of the screen
MODIFIERS = range(0xFFE1, 0xFFEF)  # keysyms of shift, control and the like
SHIFT, LOCK, CONTROL, ALT, SUPER = 1, 2, 4, 8, 64  # bits of an event's state


class Seen(NamedTuple):
    """One event of the window, as it arrived."""

    kind: str  # press, release, motion, key
    what: object  # the button, or the keysym
    x: int = 0  # on the screen
    y: int = 0
    state: int = 0


class Window:
    """A window with the focus that takes down what is done to it."""

    def __init__(self, display: Any, *, focus: bool) -> None:
        from Xlib import X

        self._display = display
        screen = display.screen()
        events = (
            X.KeyPressMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask | X.ExposureMask
        )
        self._window = screen.root.create_window(
            LEFT, TOP, WIDE, HIGH, 0, screen.root_depth,
            background_pixel=BLUE[0] << 16 | BLUE[1] << 8 | BLUE[2], event_mask=events,
        )  # fmt: skip
        self._window.set_wm_class("recorder", "Recorder")
        self._window.map()
        display.sync()
        if focus:
            self._window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.seen()

    def seen(self) -> list[Seen]:
        """What has come since the last look: whatever was sent before this call is in it."""
        self._display.sync()
        found = []
        while self._display.pending_events():
            event = self._read(self._display.next_event())
            if event is not None:
                found.append(event)
        return found

    def _read(self, event: Any) -> Seen | None:
        from Xlib import X

        if event.type == X.MappingNotify:
            self._display.refresh_keyboard_mapping(event)
        if event.type == X.KeyPress:
            keysym = self._display.keycode_to_keysym(event.detail, 1 if event.state & SHIFT else 0)
            return None if keysym in MODIFIERS else Seen("key", keysym, state=event.state)
        kinds = {X.ButtonPress: "press", X.ButtonRelease: "release", X.MotionNotify: "motion"}
        if event.type not in kinds:
            return None
        button = 0 if event.type == X.MotionNotify else event.detail
        return Seen(kinds[event.type], button, event.root_x, event.root_y, event.state)

    def buttons(self) -> list[tuple[str, object, int, int]]:
        return [event[:4] for event in self.seen() if event.kind in ("press", "release")]

    def typed(self) -> str:
        return "".join(_letter(event.what) for event in self.seen() if event.kind == "key")

    def toggle_caps_lock(self) -> None:
        from Xlib import XK, X
        from Xlib.ext.xtest import fake_input

        code = self._display.keysym_to_keycode(XK.string_to_keysym("Caps_Lock"))
        for kind in (X.KeyPress, X.KeyRelease):
            fake_input(self._display, kind, code)
        self.seen()

    @contextmanager
    def buttons_mean(self, *meanings: int) -> Iterator[None]:
        """The first ones of the mouse, as its owner has set them."""
        before = list(self._display.get_pointer_mapping())
        assert self._display.set_pointer_mapping([*meanings, *before[len(meanings) :]]) == 0
        try:
            yield
        finally:
            assert self._display.set_pointer_mapping(before) == 0

    def state(self) -> int:
        return self._display.screen().root.query_pointer().mask

    def held_keys(self) -> int:
        return sum(self._display.query_keymap())


def _letter(keysym: object) -> str:
    assert isinstance(keysym, int)
    if keysym >= 0x01000000:
        return chr(keysym - 0x01000000)
    return {0xFF0D: "\n", 0xFF09: "\t"}.get(keysym) or chr(keysym)


# A program of its own, with the usual ways of reading keys: tells what was typed before return was pressed.
EDITOR = """
import sys, time, tkinter
root = tkinter.Tk()
text = tkinter.Text(root)
text.pack()
def tell(_):
    sys.stdout.buffer.write(text.get("1.0", "end-1c").encode())
    root.destroy()
    return "break"
text.bind("<Return>", tell)
text.bind("<Key>", lambda _: time.sleep(float(sys.argv[1])))
def ready(_):
    root.winfo_pointerx()  # a round trip: the server has given the focus by then
    print("ready", flush=True)
text.bind("<FocusIn>", ready)
text.focus_force()
root.mainloop()
"""
EDITOR_S = 60  # after which it is ended
ALPHABETS = (
    "Съешь же ещё этих мягких французских булок, да выпей чаю · ΑΒΓΔΕΖΗΘ αβγδεζηθ · 日本語をタイプする · "
    "ÄÖÜäöüß€ – „quoted“ … → · 😀🎉"
)


def says_it_answers(window: Any) -> None:
    """As most programs do of theirs."""
    window.set_wm_protocols([window.display.get_atom("_NET_WM_PING")])
    window.display.flush()


class Desktop(NamedTuple):
    window: Window
    call: Callable[..., Result]


@contextmanager
def x_server(size: str, *options: str) -> Iterator[Any]:
    """A server on a free display. It ends with its last client, so it can't be left behind."""
    reading, writing = os.pipe()
    screen = ("-screen", "0", f"{size}x24")
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), *screen, "-nolisten", "tcp", "-terminate", *options],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with open(reading, encoding="ascii") as told:
        number = told.readline().strip()  # comes when the server is ready; empty when it has ended
    assert number, "Xvfb did not start"
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = f":{number}"
    from Xlib.display import Display

    display = Display()
    try:
        yield display
    finally:
        display.close()
        os.environ.pop("DISPLAY")
        if before is not None:
            os.environ["DISPLAY"] = before
        server.terminate()
        server.wait(timeout=20)


def _desktop(display: Any, *, focus: bool = True) -> Desktop:
    box = Toolbox(desktop_tools(os.environ))

    def call(name: str, **arguments: object) -> Result:
        tool, checked = box.checked(ToolCall("c1", name, arguments))
        return tool.handler(checked)

    return Desktop(Window(display, focus=focus), call)


@pytest.fixture(scope="module")
def display() -> Iterator[Any]:
    with x_server("1024x700") as opened:
        yield opened


@pytest.fixture
def desktop(display: Any) -> Desktop:
    return _desktop(display)


@pytest.fixture
def large() -> Iterator[Desktop]:
    with x_server("2560x1440") as opened:
        yield _desktop(opened)


def pixel(result: Result, x: int, y: int) -> tuple[int, ...]:
    from PIL import Image

    (image,) = result.images
    found = Image.open(io.BytesIO(image.data)).convert("RGB").getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def size_of(result: Result) -> tuple[int, int]:
    from PIL import Image

    return Image.open(io.BytesIO(result.images[0].data)).size


def test_everything_but_applescript_is_offered(display: Any) -> None:
    assert desktop_missing() == ""
    effects = {tool.name: tool.effect for tool in desktop_tools({})}
    assert effects.pop("take_screenshot") == "read"
    assert set(effects) == {
        "click", "right_click", "move_mouse", "drag", "scroll", "type_text", "press_key", "open_application",
    }  # fmt: skip
    assert set(effects.values()) == {"act"}


def test_a_server_that_lets_nobody_act_offers_nothing() -> None:
    with x_server("640x480", "-extension", "XTEST"):
        assert "XTEST" in desktop_missing()
        assert desktop_tools({}) == ()


def test_nothing_is_needed_that_must_be_compiled(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pynput", "evdev"):
        monkeypatch.setitem(sys.modules, package, None)  # importing it fails
    assert desktop_missing() == ""
    desktop.call("click", x=150, y=150)
    desktop.call("type_text", text="a")
    assert len(desktop.window.seen()) >= 3


@pytest.mark.parametrize(
    "text", ["hello Wörld ☕ 1+1", "~/a_b?c=\"d\" & 'e' <f>", "Ünï ČĎ 日本 😀", "a\tb\nc"]
)
def test_typed_text_arrives_exactly(desktop: Desktop, text: str) -> None:
    desktop.call("type_text", text=text)
    assert desktop.window.typed() == text


@contextmanager
def editor_in_front(display: Any, slow_s: float) -> Iterator[tuple[Desktop, Callable[[], str]]]:
    """And what it tells when return was pressed. After a while it is ended, so nothing can hang on it."""
    pytest.importorskip("tkinter", reason="this Python has no tkinter")
    desktop = _desktop(display, focus=False)
    desktop.call("move_mouse", x=1000, y=690)  # a Tk window under the mouse takes the focus for as long only
    command = [sys.executable, "-c", EDITOR, str(slow_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as editor:
        assert editor.stdout is not None
        said = editor.stdout
        late = threading.Timer(EDITOR_S, editor.kill)
        late.start()
        try:
            assert editor.stdout.readline() == b"ready\n"
            yield desktop, lambda: said.read().decode()
        finally:
            late.cancel()
            editor.kill()


# With more characters than there are spare keys, what a program sees that can't be asked is a matter of time:
# on a machine that does much else it may see the wrong ones.
@pytest.mark.parametrize(
    "text",
    [
        "hello Wörld ☕ 1+1",
        "if (a[0] != '{b}') return ~c % 3; # @d",
        pytest.param(ALPHABETS, marks=pytest.mark.slow),
    ],
)
def test_a_program_takes_typed_text_as_it_is(display: Any, text: str) -> None:
    with editor_in_front(display, slow_s=0) as (desktop, told):
        desktop.call("type_text", text=f"{text}\n")
        assert told() == text


def test_a_program_that_is_slow_takes_typed_text_as_it_is(display: Any) -> None:
    with editor_in_front(display, slow_s=0.02) as (desktop, told):
        says_it_answers(display.get_input_focus().focus)  # Tk does, but does not say so
        desktop.call("type_text", text=f"{ALPHABETS}\n")
        assert told() == ALPHABETS


def test_a_program_that_does_not_answer_is_told(
    display: Any, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(x_keyboard, "_ANSWER_S", 0.05)
    says_it_answers(display.get_input_focus().focus)  # and does not
    with pytest.raises(Busy):
        desktop.call("type_text", text=f"ab{ALPHABETS}")
    with pytest.raises(Busy):
        desktop.call("press_key", key="ŵ")
    assert desktop.window.typed() == ""


def test_caps_lock_turns_no_letter_around_and_stays_on(desktop: Desktop) -> None:
    desktop.window.toggle_caps_lock()
    try:
        desktop.call("type_text", text="aBc öÖ")
        events = [event for event in desktop.window.seen() if event.kind == "key"]
        assert "".join(_letter(event.what) for event in events) == "aBc öÖ"
        assert not any(event.state & LOCK for event in events)
        assert desktop.window.state() & LOCK
    finally:
        desktop.window.toggle_caps_lock()
    assert not desktop.window.state() & LOCK


def test_a_second_run_can_type_when_the_first_has_used_up_all_spare_keys(
    display: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _desktop(display)
    with monkeypatch.context() as hurried:  # what the first one's window makes of it does not matter
        hurried.setattr(x_keyboard, "_STROKE_S", 0.0)
        hurried.setattr(x_keyboard, "_SETTLE_S", 0.01)
        first.call("type_text", text=ALPHABETS)
    first.window.seen()
    second = _desktop(display)
    second.call("type_text", text="ŵ☂")
    assert second.window.typed() == "ŵ☂"


def test_a_click_reaches_the_place_that_was_named(desktop: Desktop) -> None:
    desktop.call("click", x=LEFT + 17, y=TOP + 23)
    assert desktop.window.buttons() == [("press", 1, 117, 143), ("release", 1, 117, 143)]


def test_a_left_handed_owner_is_clicked_and_scrolled_for_as_well(desktop: Desktop) -> None:
    with desktop.window.buttons_mean(3, 2, 1, 5, 4):
        desktop.call("click", x=150, y=150)
        desktop.call("right_click", x=150, y=150)
        desktop.call("drag", from_x=150, from_y=150, to_x=160, to_y=150)
        desktop.call("scroll", x=150, y=150, direction="up", amount=1)
        pressed = [button for kind, button, _, _ in desktop.window.buttons() if kind == "press"]
    assert pressed == [1, 3, 1, 4]


def test_a_button_that_is_switched_off_is_told(desktop: Desktop) -> None:
    with desktop.window.buttons_mean(1, 2, 0), pytest.raises(UsageError):
        desktop.call("right_click", x=150, y=150)
    assert not desktop.window.buttons()


def test_a_drag_that_fails_lets_the_button_go(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hands.time, "sleep", fail)
    with pytest.raises(KeyboardInterrupt):
        desktop.call("drag", from_x=110, from_y=130, to_x=350, to_y=300)
    assert [event[:2] for event in desktop.window.buttons()] == [("press", 1), ("release", 1)]
    assert not desktop.window.state() & 256


def test_a_double_click_is_two(desktop: Desktop) -> None:
    desktop.call("click", x=150, y=150, count=2)
    assert [event[:2] for event in desktop.window.buttons()] == [("press", 1), ("release", 1)] * 2


def test_the_right_button(desktop: Desktop) -> None:
    desktop.call("right_click", x=399, y=319)  # the window's last pixel
    assert desktop.window.buttons() == [("press", 3, 399, 319), ("release", 3, 399, 319)]


def test_moving_presses_nothing(desktop: Desktop) -> None:
    desktop.call("move_mouse", x=110, y=130)
    desktop.window.seen()
    desktop.call("move_mouse", x=222, y=233)
    events = desktop.window.seen()
    assert {event.kind for event in events} == {"motion"}
    assert events[-1][2:4] == (222, 233)


def test_a_drag_goes_from_one_point_to_the_other_with_the_button_down(desktop: Desktop) -> None:
    desktop.call("drag", from_x=110, from_y=130, to_x=350, to_y=300)
    events = desktop.window.seen()
    pressed = next(at for at, event in enumerate(events) if event.kind == "press")
    assert events[pressed][:4] == ("press", 1, 110, 130)
    assert events[-1][:4] == ("release", 1, 350, 300)
    between = events[pressed + 1 : -1]
    assert len(between) > 3
    assert all(event.kind == "motion" and event.state & 256 for event in between)


@pytest.mark.parametrize(("way", "button"), [("up", 4), ("down", 5), ("left", 6), ("right", 7)])
def test_the_wheel_turns_as_often_as_asked(desktop: Desktop, way: str, button: int) -> None:
    desktop.call("scroll", x=200, y=200, direction=way, amount=4)
    presses = [event for event in desktop.window.buttons() if event[0] == "press"]
    assert presses == [("press", button, 200, 200)] * 4


@pytest.mark.parametrize(
    ("held", "bits"),
    [
        (("control",), CONTROL),
        (("control", "shift"), CONTROL | SHIFT),
        (("option",), ALT),
        (("command",), SUPER),
    ],
)
def test_a_key_arrives_with_what_is_held_and_all_is_let_go(
    desktop: Desktop, held: tuple[str, ...], bits: int
) -> None:
    desktop.call("press_key", key="S", **dict.fromkeys(held, True))
    pressed = desktop.window.seen()[-1]
    assert pressed.state & (SHIFT | CONTROL | ALT | SUPER) == bits
    assert chr(int(str(pressed.what))).lower() == "s"
    assert desktop.window.held_keys() == 0


@pytest.mark.parametrize(
    ("key", "keysym"),
    [
        ("return", 0xFF0D), ("Enter", 0xFF0D), ("escape", 0xFF1B), ("tab", 0xFF09), ("page down", 0xFF56),
        ("backspace", 0xFF08), ("delete", 0xFFFF), ("left_arrow", 0xFF51), ("F5", 0xFFC2), ("x", ord("x")),
        ("7", ord("7")), ("+", ord("+")), ("é", 0xE9),
    ],
)  # fmt: skip
def test_keys_are_known_by_their_names(desktop: Desktop, key: str, keysym: int) -> None:
    desktop.call("press_key", key=key)
    assert [event.what for event in desktop.window.seen() if event.kind == "key"] == [keysym]


@pytest.mark.parametrize("key", ["ctrl+c", "hyper", "\x1b", "f99"])
def test_a_key_that_is_none_is_refused(desktop: Desktop, key: str) -> None:
    with pytest.raises(UsageError):
        desktop.call("press_key", key=key)
    assert desktop.window.seen() == []


def test_a_screenshot_shows_the_window_where_it_is(desktop: Desktop) -> None:
    desktop.call("move_mouse", x=900, y=600)
    result = desktop.call("take_screenshot")
    assert size_of(result) == (1024, 700)
    inside = [(LEFT, TOP), (LEFT + WIDE - 1, TOP + HIGH - 1), (LEFT + 150, TOP + 100)]
    outside = [(LEFT - 1, TOP), (LEFT, TOP - 1), (LEFT + WIDE, TOP + HIGH - 1)]
    assert {pixel(result, *point) for point in inside} == {BLUE}
    assert BLUE not in {pixel(result, *point) for point in outside}


def test_a_screenshot_names_the_application_and_is_trusted_least(desktop: Desktop) -> None:
    result = desktop.call("take_screenshot")
    assert result.app == "Recorder"
    assert result.source == "web"
    assert desktop.call("click", x=150, y=150).app == "Recorder"


@pytest.mark.parametrize(("x", "y"), [(1024, 10), (10, 700), (50_000, 50_000)])
def test_a_point_off_the_screen_is_refused(desktop: Desktop, x: int, y: int) -> None:
    for name, point in (
        ("click", {"x": x, "y": y}),
        ("scroll", {"x": x, "y": y, "direction": "up"}),
        ("drag", {"from_x": 150, "from_y": 150, "to_x": x, "to_y": y}),
    ):
        with pytest.raises(UsageError):
            desktop.call(name, **point)
    assert not desktop.window.buttons()


def test_points_of_a_smaller_picture_are_scaled_back_to_the_screen(large: Desktop) -> None:
    result = large.call("take_screenshot")
    assert size_of(result) == (1280, 720)
    assert pixel(result, 60, 70) == BLUE  # (120, 140) on the screen
    assert pixel(result, 201, 70) != BLUE  # (402, 140): past the window
    large.call("click", x=60, y=70)
    (_, _, x, y), _ = large.window.buttons()
    assert (x // 2, y // 2) == (60, 70)
    with pytest.raises(UsageError):
        large.call("click", x=1280, y=70)


def test_what_is_too_long_to_type_is_refused_before_the_first_letter(desktop: Desktop) -> None:
    with pytest.raises(UsageError):
        desktop.call("type_text", text="x" * 10_001)
    with pytest.raises(UsageError):
        desktop.call("type_text", text="abc\x1b[A")
    assert desktop.window.typed() == ""
