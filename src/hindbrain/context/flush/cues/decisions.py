"""What was decided, alone or together."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import Cue

_DECIDES = (
    r"(?:(?:have |'ve |has |had )?(?:all |finally |just |now |already |together |unanimously )*"
    r"(?:decided|agreed|settled on|opted for|opted to|voted (?:to|for)"
    r"|chosen|chose|(?:went|gone) with(?! (?:my|our|her|him|them|some"
    r"|a|friends|family|you)\b))"
    r"|(?:are|'re|am|'m|is) (?:all |now |definitely )*(?:going with(?!"
    r" (?:my|our|her|him|them|some|a|friends|family|you)\b)|switching"
    r" (?:from|to)|moving (?:from|to)(?= \S+ to)|sticking with|staying"
    r" with|migrating (?:from|to)|dropping support))"
)

DECISIONS: tuple[Cue, ...] = (
    Cue(
        "decided",
        "decision",
        rf"^(?:(?:after|following|as of) [^,]{{3,80}}?,? |so,? |in the end,?"
        rf" |yesterday,? |today,? )?(?:we|I|the team|my team|our team|everyone)(?:"
        rf" |(?='))(?:both |all )?{_DECIDES} (?P<rest>\S+ .*|\S{{3,}})",
        importance=0.8,
    ),
    Cue(
        "let's, not",
        "decision",
        r"^(?:so |then |now )*(?:let's|we(?:'ll| will| shall)) (?P<rest>(?:go with|use|stick with|switch"
        r" to|stay with|pick|choose|adopt|keep|move to|do|go for|take|build"
        r"|write)\b.* (?:instead of|rather than|over|not) .*)",
        "decided",
        importance=0.8,
    ),
    Cue(
        "let's take the one",  # of those that were just shown, mostly
        "decision",
        r"^(?:so |then |now )*let's (?P<rest>(?:go with|use|pick|choose|go for|take) (?:the|my|one)\b .*)",
        "decided",
        sure=False,
        needs_name=True,
    ),
    Cue(
        "let's",
        "decision",
        r"^(?:so |then |now )*let's (?P<rest>(?:go with|use|stick with|switch"
        r" to|stay with|pick|choose|adopt|move to|go for|drop)\b .*)",
        "decided",
        importance=0.7,
        needs_name=True,
    ),
    Cue(
        "we will not",
        "decision",
        r"^(?:so |then |now )*(?:let's not|we(?:'ll| will) not|we won't) "
        r"(?P<rest>(?:use|support|adopt|switch to|migrate to|move to|go with|depend on)\b .*)",
        "against",
        importance=0.7,
        needs_name=True,
    ),
    Cue(
        "we will use",
        "decision",
        r"^(?:so |then )?we(?:'ll| will| shall) (?P<rest>(?:use|go with|stick"
        r" with|stay with|adopt|support|drop|ship|switch to|migrate to)\b"
        r" .*)",
        "decided",
        importance=0.7,
        needs_name=True,
    ),
)
