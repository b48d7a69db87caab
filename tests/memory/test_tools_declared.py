"""The tools as they are declared: names and arguments of the reference documents, in sets that are cheap."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.memory.tasks.task_line import PRIORITIES, STATUSES
from hindbrain.memory.tools import DEFAULT_SET, TOOL_SETS, TOOLS, tool_named, tools_of
from hindbrain.memory.tools.tool import Tool, input_schema, listed_tool

# name -> the arguments that must be given, and those that may
REFERENCE = {
    "vault_read": ({"path"}, {"heading", "block", "line_start", "line_end"}),
    "vault_write": ({"path", "content"}, {"hash"}),
    "vault_append": ({"path", "content"}, {"heading"}),
    "vault_search": ({"query"}, {"directory", "limit"}),
    "vault_list": (set(), {"directory"}),
    "task_create": ({"title"}, {"details", "priority", "project"}),
    "task_update": ({"title", "status"}, {"notes"}),
    "task_list": (set(), {"status", "project"}),
    "remember": ({"fact"}, {"category", "importance", "tags", "cues", "replaces", "source"}),
    "recall": ({"topic"}, {"limit"}),
    "memory_search": ({"query"}, {"max_results", "memory_types", "time_range_days"}),
    "memory_get": ({"path"}, {"from", "lines"}),
    "memory_read": ({"file_path"}, {"line_start", "line_end"}),
    "memory_write": ({"content"}, {"category", "importance", "tags", "cues", "replaces"}),
    "memory_update": ({"memory_id"}, {"content", "importance", "cues"}),
    "memory_forget": ({"memory_id"}, set()),
    "memory_status": (set(), set()),
}


def test_names_and_arguments_are_those_of_the_reference() -> None:
    declared = {
        tool.name: (
            set(schema.get("required", ())),
            set(schema["properties"]) - set(schema.get("required", ())),
        )
        for tool in TOOLS
        for schema in [input_schema(tool)]
    }
    assert declared == REFERENCE


def test_core_is_the_default_and_has_seven_tools() -> None:
    assert DEFAULT_SET == "core"
    assert set(TOOL_SETS["core"]) == {
        "recall", "remember", "vault_read", "vault_append", "task_create", "task_update", "task_list",
    }  # fmt: skip
    assert [tool.name for tool in tools_of("core")] == list(TOOL_SETS["core"])


def test_every_tool_is_in_a_set_and_every_set_has_known_tools() -> None:
    assert (
        set(TOOL_SETS["all"]) == {tool.name for tool in TOOLS} == set().union(*map(set, TOOL_SETS.values()))
    )
    assert all(name in REFERENCE for names in TOOL_SETS.values() for name in names)


@pytest.mark.parametrize("name", ["Core", "", "everything"])
def test_an_unknown_set_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        tools_of(name)


def test_an_unknown_tool_is_met_with_the_nearest() -> None:
    assert tool_named("recall").name == "recall"
    with pytest.raises(UsageError, match="'vault_read'"):
        tool_named("vault_raed")


def test_statuses_and_priorities_are_those_of_tasks() -> None:
    schema = input_schema(tool_named("task_update"))["properties"]["status"]
    assert tuple(schema["enum"]) == STATUSES
    assert set(input_schema(tool_named("task_create"))["properties"]["priority"]["enum"]) == set(PRIORITIES)
    assert input_schema(tool_named("task_list"))["properties"]["status"]["enum"][0] == "all"


@pytest.mark.promise("P18")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_tool_lets_an_agent_speak_as_its_user_or_approve(tool: Tool) -> None:
    schema = json.dumps(input_schema(tool))
    assert '"user"' not in schema
    assert not {"accept", "approve", "inbox"} & set(tool.name.split("_"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_words_are_few_and_in_plain_characters(tool: Tool) -> None:
    assert 0 < len(tool.doc) <= 160 and tool.doc.endswith(".")
    assert all(len(param.doc) <= 90 for param in tool.params)
    assert tool.doc.isascii()


@pytest.mark.parametrize(("set_name", "most"), [("core", 3_240), ("all", 8_280)])
def test_a_set_stays_within_its_budget(set_name: str, most: int) -> None:
    """900 and 2,300 tokens at 3.6 characters each, which is more than any of today's tokenizers counts."""
    listed = [listed_tool(tool) for tool in tools_of(set_name)]
    assert len(json.dumps({"tools": listed}, separators=(",", ":"))) <= most


def test_declaring_tools_loads_nothing_heavy() -> None:
    code = "import sys, hindbrain.memory.tools; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, encoding="utf-8"
    )
    heavy = {"numpy", "apsw", "re2", "mcp", "hindbrain.vault.parse", "hindbrain.memory.service"}
    assert not heavy & set(ran.stdout.split())
