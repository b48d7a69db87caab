"""Who is who."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import NAME, Cue

_KIN = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?"
    r"|mother|mom|mum|father|dad|brother|sister|son|daughter"
    r"|grandmother|grandfather|grandma|grandpa|aunt|uncle|cousin|niece"
    r"|nephew|boss|manager|supervisor|colleague"
    r"|co-?worker|doctor|dentist|therapist|lawyer|accountant|landlord"
    r"|roommate|flatmate|neighbou?r|best friend|friend"
    r"|teacher|professor|advisor|mentor|coach|assistant|designer|team"
    r" lead|tech lead|lead|cto|ceo|pm|product owner"
    r"|project manager|scrum master|contact|client|recruiter|vet|pediatrician"
    r"|cofounder|co-founder|business partner|twin)"
)

PEOPLE: tuple[Cue, ...] = (
    Cue(
        "kin of name",
        "contact",
        rf"^(?P<rest>{NAME} is (?:my|our) (?:[\w-]+ ){{0,3}}{_KIN}\b.*)",
        importance=0.7,
    ),
    Cue(
        "kin named",
        "contact",
        rf"^(?:my|our) (?:\w+ ){{0,2}}?{_KIN}(?:'s name)? (?:is|is called|is"
        rf" named) (?P<rest>(?:called |named )?{NAME}(?![\w ]* (?:working"
        rf"|broken)).*)",
        importance=0.7,
    ),
    Cue(
        "kin name does",
        "contact",
        rf"^(?:my|our) (?:\w+ ){{0,2}}?{_KIN},? {NAME},? (?P<rest>(?:is|lives"
        rf"|works|has|loves|likes|hates|moved|starts|studies|was born|got)\b.*)",
        importance=0.6,
    ),
    Cue(
        "reach",
        "contact",
        rf"^{NAME}['’]s (?:e-?mail(?: address)?|(?:phone |mobile )?number"
        rf"|phone|birthday|address|handle|office) is (?P<rest>\S.*)",
        "plain",
        importance=0.7,
    ),
    Cue(
        "role of name",
        "contact",
        rf"^(?P<rest>{NAME} is (?:the|our|their|head|lead|in charge) (?:[\w-]+"
        rf" ){{0,4}}(?:of|for|at) .*)",
        "plain",
        importance=0.6,
        sure=False,
    ),
    Cue(
        "owner of",
        "contact",
        rf"^(?P<rest>{NAME} is (?:the|our) (?:[\w-]+ ){{0,2}}(?:{_KIN}|owner"
        rf"|maintainer|architect|founder) (?:of|for|at) .*)",
        "plain",
        importance=0.6,
    ),
)
