"""Two errors are the same, or only sound alike; and how often known fixes are told rightly."""

from __future__ import annotations

import pytest
from benchmarks.fixes import conversation, read_data

from hindbrain.context.capture.error_match import is_on_error, likeness
from hindbrain.context.capture.failures import FailureTracker
from hindbrain.context.capture.fix_text import fix_line
from hindbrain.context.capture.known_fixes import fitting, read_fix
from hindbrain.vault.items.item import MemoryItem

SAME = [
    ("Error: listen EADDRINUSE: address already in use :::3000",
     "Error: listen EADDRINUSE: address already in use ::1:80"),
    ("bash: pnpm: command not found", "zsh: command not found: pnpm"),
    ("npm error ERESOLVE unable to resolve dependency tree",
     "npm ERR! ERESOLVE unable to resolve dependency tree"),
    ("ERROR: failed to solve: copy file range failed: no space left on device",
     "failed to register layer: write /usr/lib/libLLVM.so: no space left on device"),
    ("main.go:9:2: no required module provides package github.com/spf13/cobra; to add it:",
     "cmd/api/x.go:14:2: no required module provides package github.com/go-chi/chi/v5; to add it:"),
    ("ModuleNotFoundError: No module named 'httpx'", "ModuleNotFoundError: No module named 'httpx'"),
]  # fmt: skip
OTHER = [
    ("ModuleNotFoundError: No module named 'httpx'", "ModuleNotFoundError: No module named 'yaml'"),
    ("bash: pnpm: command not found", "bash: terraform: command not found"),
    ("error TS7016: Could not find a declaration file for module 'express'",
     "error TS2322: Type 'a' is not assignable"),
    ("src/a.c:4:10: fatal error: zlib.h: No such file or directory",
     "b.c:1:10: fatal error: png.h: No such file or directory"),
    ("bash: ./deploy.sh: Permission denied",
     "cp: cannot create regular file '/mnt/backup.tar': Permission denied"),
    ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:6379"),
    ('FATAL:  role "ada" does not exist', 'FATAL:  database "ada_dev" does not exist'),
    ("sqlite3.OperationalError: database is locked",
     "sqlite3.OperationalError: unable to open database file"),
    ("AssertionError: assert 3 == 4", "AssertionError: assert 7 == 8"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "line"), SAME)
def test_paths_numbers_and_prefixes_make_no_other_error(known: str, line: str) -> None:
    assert likeness(known, line, same_program=True) > 0.5


@pytest.mark.parametrize(("known", "line"), OTHER)
def test_errors_that_sound_alike_are_not_the_same(known: str, line: str) -> None:
    assert likeness(known, line, same_program=False) == 0.0
    assert likeness(line, known, same_program=False) == 0.0


def test_the_name_in_the_cure_is_the_one_that_counts() -> None:
    known = "Could not find a declaration file for module 'express'; it implicitly has an 'any' type"
    other = known.replace("express", "lodash")
    cure = "ran `npm install -D @types/express`"
    assert likeness(known, other, same_program=True, cure=cure) == 0.0
    assert likeness(known, known, same_program=True, cure=cure) > 0.5


def test_a_note_is_on_an_error_when_it_has_its_code_or_most_of_its_words() -> None:
    line = "KafkaError{code=LEADER_NOT_AVAILABLE,val=5}"
    assert is_on_error("The broker says LEADER_NOT_AVAILABLE until the topic is made.", [line])
    assert not is_on_error("The broker of the flat wants three months' rent.", [line])
    assert not is_on_error(
        "Errors of the night are looked at first.", ["Error: the night job could not be started"]
    )


def test_known_fixes_are_told_again_and_hardly_ever_wrongly() -> None:
    """All of `benchmarks.fixes`, without a vault."""
    data = read_data()
    known = [
        fix
        for case in data.cases
        for solved in FailureTracker().feed(conversation(case))
        if (fix := read_fix(MemoryItem(case.name, fix_line(solved)))) is not None
    ]
    again = [one for case in data.cases for one in case.again]
    told = [fitting(known, one.command, one.error) for one in again]
    right = [bool(found) and found[0].fix.item.id == one.case for one, found in zip(again, told, strict=True)]
    false = [bool(fitting(known, one.command, one.error)) for one in data.silent]
    assert sum(right) >= 0.85 * len(again)
    assert sum(false) <= 0.02 * len(data.silent)
