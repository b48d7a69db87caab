"""`take_screenshot`, `click`, `type_text` and the like: the desktop as tools.

What is on a screen may be anybody's word, a web page's above all, so a screenshot is trusted as little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from hindbrain.agent.tools.desktop.applescript import run_script
from hindbrain.agent.tools.desktop.applications import open_application
from hindbrain.agent.tools.desktop.front import app_in_front
from hindbrain.agent.tools.desktop.hands import Hands
from hindbrain.agent.tools.desktop.keys import KEY_NAMES, MODIFIERS
from hindbrain.agent.tools.desktop.reach import desktop_missing
from hindbrain.agent.tools.desktop.screen import find_screen, take_picture
from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.memory.tools.tool import Arguments, Param

_ON_SCREEN = "web"  # the source of what a screen shows
_MOST_TYPED = 10_000  # characters: at a few hundred a second
_MOST_STEPS = 50


def desktop_tools(environ: Mapping[str, str]) -> tuple[ActionTool, ...]:
    """Those that work here; none where `desktop_missing` says why. `environ`: for opened applications."""
    if desktop_missing():
        return ()
    hands = Hands()
    tools = [_screenshot(), *_pointing(hands), *_typing(hands), _opening(environ)]
    return (*tools, _scripting()) if sys.platform == "darwin" else tuple(tools)


def _screenshot() -> ActionTool:
    def look(_: Arguments) -> Result:
        screen = find_screen()
        wide, high = screen.shown
        app = app_in_front()
        said = f"The screen, {wide} wide and {high} high" + (f"; {app!r} is in front" if app else "")
        return Result(f"{said}.", images=(take_picture(screen),), app=app, source=_ON_SCREEN)

    return ActionTool(
        "take_screenshot",
        "See the screen. Points for the other tools are pixels of this picture, from its top left.",
        (),
        "read",
        look,
    )


def _pointing(hands: Hands) -> tuple[ActionTool, ...]:
    def click(args: Arguments) -> str:
        count = args.get("count", 1)
        hands.click(args["x"], args["y"], count=count)
        return f"Clicked{'' if count == 1 else f' {count} times'} at ({args['x']}, {args['y']})."

    def right_click(args: Arguments) -> str:
        hands.click(args["x"], args["y"], right=True)
        return f"Clicked with the right button at ({args['x']}, {args['y']})."

    def move(args: Arguments) -> str:
        hands.move(args["x"], args["y"])
        return f"Moved to ({args['x']}, {args['y']})."

    def drag(args: Arguments) -> str:
        hands.drag(args["from_x"], args["from_y"], args["to_x"], args["to_y"])
        return f"Dragged from ({args['from_x']}, {args['from_y']}) to ({args['to_x']}, {args['to_y']})."

    def scroll(args: Arguments) -> str:
        hands.scroll(args["x"], args["y"], args["direction"], args.get("amount", 3))
        return f"Scrolled {args['direction']} at ({args['x']}, {args['y']})."

    count = Param("count", "integer", "2 is a double click", minimum=1, maximum=3)
    ways = Param("direction", "string", "", required=True, choices=("up", "down", "left", "right"))
    amount = Param("amount", "integer", "Steps of the wheel, default 3", minimum=1, maximum=_MOST_STEPS)
    return (
        _act("click", "Click with the left button.", (*_point(), count), click),
        _act("right_click", "Click with the right button.", _point(), right_click),
        _act("move_mouse", "Move the mouse, without a click.", _point(), move),
        _act("drag", "Drag with the left button.", (*_point("from_"), *_point("to_")), drag),
        _act("scroll", "Turn the wheel at a point.", (*_point(), ways, amount), scroll),
    )


def _typing(hands: Hands) -> tuple[ActionTool, ...]:
    def type_text(args: Arguments) -> str:
        text = args["text"].replace("\r\n", "\n")
        if len(text) > _MOST_TYPED:
            raise UsageError(
                f"{len(text):,} characters are too many to type; at most {_MOST_TYPED:,} at once"
            )
        if odd := next((char for char in text if char < " " and char not in "\n\t"), ""):
            raise UsageError(f"{odd!r} is no text; press_key presses keys")
        hands.type(text)
        return f"Typed {plural(len(text), 'character')}."

    def press_key(args: Arguments) -> str:
        held = tuple(name for name in MODIFIERS if args.get(name))
        hands.press(args["key"], held)
        return f"Pressed {'+'.join((*held, args['key']))}."

    held = tuple(Param(name, "boolean", "") for name in MODIFIERS)
    text = Param("text", "string", "", required=True)
    key = Param("key", "string", KEY_NAMES, required=True)
    return (
        _act("type_text", "Type text into what has the focus; a line break is return.", (text,), type_text),
        _act("press_key", "Press a key, with others held if need be.", (key, *held), press_key),
    )


def _opening(environ: Mapping[str, str]) -> ActionTool:
    def start(args: Arguments) -> str:
        return f"Opened {open_application(args['name'], environ)!r}."

    name = Param("name", "string", "As in the system's menu, e.g. Firefox", required=True)
    return _act("open_application", "Open an application.", (name,), start)


def _scripting() -> ActionTool:
    def script(args: Arguments) -> Result:
        good, said = run_script(args["script"])
        return Result(said or ("Done." if good else "It failed."), failed=not good, app=app_in_front())

    text = Param("script", "string", "", required=True)
    doc = "Run AppleScript, to work with applications by their own commands."
    return ActionTool("run_applescript", doc, (text,), "act", script)


def _point(prefix: str = "") -> tuple[Param, Param]:
    """Two coordinates, in pixels of the screenshot."""
    across = Param(f"{prefix}x", "integer", "", required=True, minimum=0)
    return across, Param(f"{prefix}y", "integer", "", required=True, minimum=0)


def _act(name: str, doc: str, params: tuple[Param, ...], do: Callable[[Arguments], str]) -> ActionTool:
    """A tool that says what it did, and which application is in front after it."""
    return ActionTool(name, doc, params, "act", lambda args: Result(do(args), app=app_in_front()))
