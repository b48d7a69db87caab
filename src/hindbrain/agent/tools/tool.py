"""What the agent can do: a tool as data, and the box that checks a call and carries it out.

Knows no tool. Whether a call may be carried out is decided before (safety); this only says what it would do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.memory.tools.tool import Arguments, Param, check_arguments, failure_text, input_schema
from hindbrain.models.chat import Image, ToolCall, ToolSpec

# read: changes nothing · keep: adds to the memory, under its own rules · act: changes something else, here or
# elsewhere: files, programs, the screen, messages
Effect: TypeAlias = Literal["read", "keep", "act"]


class Result(NamedTuple):
    """What a call came to."""

    text: str
    failed: bool = False
    images: tuple[Image, ...] = ()
    app: str = ""  # the application in front; "" when it is not known
    source: str = "tool"  # whose word the text is, see vault.origin.SOURCES


class ActionTool(NamedTuple):
    """One tool."""

    name: str
    doc: str
    params: tuple[Param, ...]
    effect: Effect
    handler: Callable[[Arguments], Result]
    side_by_side: bool = False  # may run beside others of the same answer
    # What a call would do, told to the person who approves it; "" is the call as it stands.
    shown: Callable[[Arguments], str] = lambda _: ""
    # The call in full, with what was left out filled in: this is judged, approved and carried out.
    settled: Callable[[Arguments], Arguments] = lambda given: given
    # The same with whose words the conversation holds by then, for a tool that keeps that beside the text.
    sourced: Callable[[Arguments, str], Arguments] = lambda given, _: given


class Toolbox:
    """The tools of one run, by name."""

    def __init__(self, tools: Iterable[ActionTool]) -> None:
        self.tools = {tool.name: tool for tool in tools}

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(tool.name, tool.doc, input_schema(tool)) for tool in self.tools.values())

    def checked(self, call: ToolCall) -> tuple[ActionTool, Arguments]:
        """The tool and its clean arguments; UsageError that tells the model what to mend."""
        tool = self.tools.get(call.name)
        if tool is None:
            raise UsageError(f"there is no tool {call.name!r}; there are: {', '.join(self.tools)}")
        if call.unreadable:
            raise UsageError(f"the arguments of {call.name!r} are no JSON object: {call.unreadable[:200]!r}")
        return tool, tool.settled(check_arguments(tool, call.arguments))

    def run(self, tool: ActionTool, arguments: Arguments) -> Result:
        """Never raises but for what ends a program: a failure is a result that the model sees."""
        try:
            return tool.handler(arguments)
        except HindbrainError as error:
            return Result(failure_text(error), failed=True)
        except Exception as error:  # noqa: BLE001  a tool's bug must not end the run
            return Result(failure_text(error), failed=True)


def plain(arguments: Arguments) -> dict[str, Any]:
    """Checked arguments as JSON has them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
