"""The nightly job of OpenClaw's own memory, which stays behind when another plugin takes the memory slot.

It would ask the model every night for something that nobody does any more. OpenClaw's database is read, never
written: its own program removes the job, and makes it anew when its own memory has the slot again.
"""

from __future__ import annotations

import subprocess

from hindbrain.edge.openclaw.place import Openclaw, Program, read_rows

NAME = "Memory Dreaming Promotion"
_KEY = "memory-core:memory-dreaming-promotion"
_REMOVE_S = 60.0


def dreaming_jobs(found: Openclaw) -> list[str] | None:
    """The ids of such jobs; None when that can't be told, as of a version that keeps them elsewhere."""
    jobs = "SELECT job_id FROM cron_jobs WHERE declaration_key = ? OR name = ? ORDER BY job_id"
    rows = read_rows(found, jobs, _KEY, NAME)
    return None if rows is None else [str(row[0]) for row in rows]


def remove_line(job: str) -> str:
    """What a person types to have it removed."""
    return f"openclaw cron rm {job}"


def remove_job(found: Openclaw, program: Program, job: str) -> str:
    """Let OpenClaw's program remove it, through its gateway; returns what went wrong ("")."""
    environ = {
        **found.place.environ,
        "OPENCLAW_STATE_DIR": str(found.folder),
        "OPENCLAW_CONFIG_PATH": str(found.file),
    }
    try:
        done = subprocess.run(
            [str(program.path), "cron", "rm", job, "--json"], env=environ, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=_REMOVE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_REMOVE_S:.0f} s"
    except OSError as error:
        return f"it could not be started ({error.strerror})"
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).decode("utf-8", "replace")
    return " ".join(said.split())[:200] or f"it ended with code {done.returncode}"
