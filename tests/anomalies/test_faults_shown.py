"""P29: each fault shows in `status`, in `doctor` and in one line of the command that met it.

Through real commands. A dead provider is not in the table: `doctor` and `sync` name it, `status` shows only
that vectors are pending.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.anomalies.agents import environ

NOTES = 60


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def hindbrain(place: Path, *words: str) -> Ran:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain", words[0], "--vault", str(place / "vault"), *words[1:]],
        env=environ(place), capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.fixture
def vault(place: Path) -> Path:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for number in range(NOTES):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nzebra {number}\n", encoding="utf-8")
    hindbrain(place, "init")
    assert hindbrain(place, "sync").code == 0
    return root


def _index(place: Path) -> Path:
    (index,) = (place / "state").rglob("index.db")
    return index


def _damage_a_page(place: Path) -> None:
    data = bytearray(_index(place).read_bytes())
    data[4_096:8_192] = b"\xff" * 4_096
    _index(place).write_bytes(data)


def _replace_by_garbage(place: Path) -> None:
    _index(place).write_bytes(b"no database " * 1_000)


def _lose_a_quarter(place: Path) -> None:
    for number in range(NOTES // 4):
        (place / "vault" / f"{number}.md").unlink()


def _add_a_binary(place: Path) -> None:
    (place / "vault" / "1.md").write_bytes(bytes(range(256)) * 100)


class Fault(NamedTuple):
    make: Callable[[Path], None]
    line: str  # in the command's one line
    status: str  # in what `status` prints
    doctor: str  # the check of `doctor` that is not well


FAULTS = (
    Fault(_damage_a_page, "(index_damaged)", "(index_damaged)", "index"),
    Fault(_replace_by_garbage, "(index_damaged)", "(index_damaged)", "index"),
    Fault(_lose_a_quarter, "(brake)", "15 notes brake", "notes"),
    Fault(_add_a_binary, "(unreadable)", "1 note unreadable", "notes"),
)


@pytest.mark.promise("P29")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.make.__name__)
def test_a_fault_shows_in_status_in_doctor_and_in_one_line(place: Path, vault: Path, fault: Fault) -> None:
    fault.make(place)
    met = hindbrain(place, "sync")
    assert met.code == 1
    assert sum(fault.line in line for line in met.err.splitlines()) == 1
    shown = hindbrain(place, "status")
    assert fault.status in shown.out + shown.err
    examined = hindbrain(place, "doctor").out
    assert [
        row for row in examined.splitlines() if row.split()[:2] in (["!", fault.doctor], ["x", fault.doctor])
    ]


@pytest.mark.promise("P29")
def test_a_sound_vault_shows_no_fault(place: Path, vault: Path) -> None:
    assert hindbrain(place, "status").err == ""
    examined = hindbrain(place, "doctor")
    assert examined.code == 0
    assert not [row for row in examined.out.splitlines() if row.split()[:1] in (["!"], ["x"])]
