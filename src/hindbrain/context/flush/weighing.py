"""What the rules found and what the model found, made one list: nothing twice, and nothing lost.

Pure. What the rules are sure of stays unless the model says all of it in its own words. What they doubt is
the model's to decide where there is one that works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.context.flush.by_model import Dropped, ModelFinds
from hindbrain.context.flush.rules import Candidate

_COVERED = 0.8  # of a text's words in what the model says of the same words of the conversation
_WORD = re.compile(r"[^\W_]+")


class Weighed(NamedTuple):
    candidates: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...] = ()


def weigh(by_rules: Sequence[Candidate], finds: ModelFinds | None) -> Weighed:
    """`finds` None: there is no model."""
    if finds is None:
        return Weighed(tuple(by_rules))
    kept: list[Candidate] = list(finds.candidates)
    dropped = list(finds.dropped)
    for candidate in by_rules:
        if _is_covered(candidate, finds.candidates):
            continue
        if candidate.sure or finds.failure:
            kept.append(candidate)
        else:
            dropped.append(Dropped(candidate.text, "doubtful, and the model did not find it worth keeping"))
    return Weighed(tuple(kept), tuple(dropped))


def _is_covered(candidate: Candidate, finds: Sequence[Candidate]) -> bool:
    """Does what is surely stored say all of it? What waits for a person"
    " may be refused, and covers nothing."""
    said = _words(candidate.evidence)
    same = [find for find in finds if find.sure and _overlap(said, _words(find.evidence))]
    told = {word for find in same for word in _words(find.text)}
    wanted = _words(candidate.text)
    return bool(same) and sum(word in told for word in wanted) >= _COVERED * len(wanted)


def _overlap(one: list[str], other: list[str]) -> bool:
    first, second = f" {' '.join(one)} ", f" {' '.join(other)} "
    return first in second or second in first


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
