"""What a person likes and does by preference."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import Cue

_ADVERB = (
    r"(?:really |strongly |much |generally |usually |always |still |absolutely"
    r" |personally |also |definitely |just |normally |typically |mostly"
    r" |especially |truly )*"
)

TASTES: tuple[Cue, ...] = (
    Cue(
        "favourite",
        "preference",
        r"^my (?:all-time |absolute )?favou?rite (?!so far|one\b|part\b|thing\b)(?:[\w-]+"
        r" ){1,5}?(?:is|are) (?P<rest>.*)",
        importance=0.6,
    ),
    Cue("rather than", "preference", r"^I(?:'d| would) rather (?P<rest>.* than .*)", importance=0.6),
    Cue("prefers", "preference", rf"^I {_ADVERB}prefer (?P<rest>.*)", importance=0.7),
    Cue(
        "we prefer",
        "preference",
        r"^we (?:always |never |usually )*prefer (?P<rest>.*)",
        "plain",
        importance=0.7,
    ),
    Cue(
        "likes",
        "preference",
        rf"^I {_ADVERB}(?:love|adore|enjoy|hate|dislike|detest|can't stand"
        rf"|cannot stand|don't like|do not like|don't enjoy|like) (?P<rest>(?!to"
        rf" think|to know|to believe|to hear|to see|I\b|that\b|how\b|when\b"
        rf"|what\b|where\b|being able|knowing|hearing|seeing|having|talking"
        rf"|working on|to\W*$|to too|everything|all of|the\b).*)",
        importance=0.5,
    ),
    Cue(
        "does without",
        "preference",
        r"^I (?:don't|do not|never|no longer) (?:eat|drink|use|wear|smoke"
        r"|fly|drive|watch) (?P<rest>.*)",
        importance=0.6,
    ),
    Cue(
        "usually",
        "preference",
        r"^I (?:usually|always|normally|typically|mostly|only|generally) (?:drink"
        r"|eat|use|take|wear|write|cook|buy|order|pay|travel|fly|book|work"
        r" with|work from|sleep|read) (?P<rest>.*)",
        importance=0.5,
    ),
    Cue(
        "instead of",
        "preference",
        r"^(?:for (?:[\w.+#-]+ ){1,4},? ?)?I use (?P<rest>.* (?:instead of"
        r"|rather than|over) .*)",
        importance=0.6,
    ),
)
