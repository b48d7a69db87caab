"""Templates that have proved themselves are proposed as skills, through the inbox, once. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from hindbrain.learn.templates.template import Step, Template
from hindbrain.memory.inbox.inbox_note import Proposal

LEAST_RATE, LEAST_RUNS = 0.9, 10


def proposals(templates: Iterable[Template]) -> list[Proposal]:
    """For each that succeeded in 90 % of ten runs or more. Its id is its first run's, whatever its name."""
    return [
        Proposal(
            f"p-{_digest(template.evidence[0] if template.evidence else template.path)}",
            template.title,
            source=template.source,
            kind="skill",
            template=template.path,
            success=round(template.success_rate, 2),
            runs=template.runs,
            digest=steps_digest(template.steps),
        )
        for template in templates
        if template.path and template.runs >= LEAST_RUNS and template.success_rate >= LEAST_RATE
    ]


def steps_digest(steps: Iterable[Step]) -> str:
    """What a person is asked about: other steps need another yes."""
    return _digest(
        "\n".join(step.shown for step in steps), size=16
    )  # long: nobody shall find others that fit


def _digest(text: str, *, size: int = 4) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
