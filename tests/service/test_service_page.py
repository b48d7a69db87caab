"""The examples of docs/service.md, run as they stand there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from service_runs import PATIENCE_S, SHIPPED, ServiceRun

from hindbrain.edge.service.service import _STATUS

_PAGE = Path(__file__).parents[2] / "docs" / "service.md"
_BLOCK = re.compile(r"^```(bash|json)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MADE_UP = "~/.local/share/hindbrain/service-token"


def _examples() -> list[tuple[str, dict[str, Any]]]:
    """Commands that ask, and the answer that stands below each."""
    blocks = _BLOCK.findall(_PAGE.read_text(encoding="utf-8"))
    return [
        (text.strip(), json.loads(below))
        for (kind, text), (_, below) in pairwise(blocks)
        if kind == "bash" and text.startswith("ask ")
    ]


def test_every_route_has_an_example_and_a_row() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert {command.split()[1] for command, _ in _examples()} == set(SHIPPED)
    for name, route in SHIPPED.items():
        label = f"GET {name}" if route.method == "GET" else name
        assert re.search(rf"^\| `{label}` \|.*\| {route.patience_s:g} s \|$", page, re.MULTILINE), name


def test_every_status_of_an_error_is_in_the_table() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    for kind, status in _STATUS:
        assert re.search(rf"^\| .*{status}.* \| .*`{kind.code}`.* \|", page, re.MULTILINE), kind


@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("bash"), reason="needs curl and bash")
def test_the_examples_do_what_the_page_says(served: ServiceRun) -> None:
    blocks = [text for kind, text in _BLOCK.findall(_PAGE.read_text(encoding="utf-8")) if kind == "bash"]
    (preamble,) = [text for text in blocks if text.startswith("token=")]
    preamble = preamble.replace(_MADE_UP, f"'{served.state / 'service-token'}'").replace(
        "8739", str(served.port)
    )
    for command, answer in _examples():
        ran = subprocess.run(
            ["bash", "-c", f"{preamble}\n{command}"], capture_output=True, timeout=PATIENCE_S, check=True
        )
        told = json.loads(ran.stdout)
        assert set(told) == set(answer), command
        for name, value in answer.items():
            assert type(told[name]) is type(value), (command, name)
        if command.startswith(("ask read", "ask said", "ask event", "ask card")):
            assert told == answer, command
