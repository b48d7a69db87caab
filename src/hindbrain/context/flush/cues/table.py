"""All cues in the order of trying, compiled: the first that fits decides what a sentence is about."""

from __future__ import annotations

import re
from functools import cache

from hindbrain.context.flush.cues.asked import ASKED
from hindbrain.context.flush.cues.cue import Cue
from hindbrain.context.flush.cues.decisions import DECISIONS
from hindbrain.context.flush.cues.life import LIFE
from hindbrain.context.flush.cues.other_languages import OTHER_LANGUAGES
from hindbrain.context.flush.cues.people import PEOPLE
from hindbrain.context.flush.cues.tastes import TASTES
from hindbrain.context.flush.cues.work import WORK

CUES: tuple[Cue, ...] = (*ASKED, *TASTES, *DECISIONS, *PEOPLE, *WORK, *LIFE, *OTHER_LANGUAGES)


@cache
def compiled() -> tuple[tuple[Cue, re.Pattern[str]], ...]:
    return tuple((cue, re.compile(cue.pattern, re.IGNORECASE)) for cue in CUES)
