"""Facts about a person: what they are called, where they live, what they do, have and plan."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import CAP, DATE, WEEKDAY, Cue

_OWN = (
    r"(?:(?:first |last |full |user |middle )?name|e-?mail(?: address)?"
    r"|(?:phone|mobile|cell)(?: number)?|(?:home |work |postal )?address"
    r"|birthday|date of birth|time ?zone|(?:native |first |second )?language"
    r"|job(?: title)?|role|company|employer|team"
    r"|budget for [\w ]{2,40}|(?:work |old |new |main )?(?:laptop|computer"
    r"|phone|car|bike|keyboard|camera|printer|monitor)"
    r"|editor|shell|os|operating system|(?:\w+ )?(?:handle|username|user"
    r" name|account name)|blood type|height|weight|age"
    r"|shoe size|diet|(?:main |long-term )?goal(?=.*\d)(?: for [\w ]{2,30})?|hometown"
    r"|nationality|major|degree|school|university"
    r"|(?:wedding )?anniversary|wedding|hobby|hobbies|salary|(?:dog|cat|pet|horse|parrot|rabbit)(?:'s name)?"
    r"|(?:[\w']+ )?(?:flight|train|appointment|exam|interview)(?: to [\w"
    r" ]{2,30})?|license plate|doctor's appointment)"
)
_PLACE_OR_THING = (
    r"(?:an? |the |\d|on |at |in |from |between |called |named |around"
    r" |under |next |to \w|(?-i:[A-ZÀ-Þ\"“'`@+€$£#])|[\w-]+-\w+[.]?$)"
)
_ROLE = (
    r"(?:\w+(?:er|or|ist|ian|eer|yst|ect)|nurse|student|teacher|chef|pilot"
    r"|coach|freelancer|consultant|assistant|intern"
    r"|founder|cto|ceo|pm|postdoc|parent|dad|mom|mother|father|vegan|vegetarian"
    r"|native speaker|veteran|beginner|accountant|sergeant)"
)

LIFE: tuple[Cue, ...] = (
    Cue(
        "own",
        "fact",
        rf"^my {_OWN}(?: is| are|'s) (?:now |actually )?(?P<rest>{_PLACE_OR_THING}.*)",
        importance=0.7,
    ),
    Cue(
        "own mail",
        "fact",
        r"^my (?:work |private )?e-?mail(?: address)? is (?P<rest>\S+@\S+.*)",
        importance=0.7,
    ),
    Cue(
        "is from",
        "fact",
        rf"^I(?:'m| am) (?:currently |now |originally )?(?:based in|from|living"
        rf" in|located in) (?P<rest>{CAP}.*)",
        importance=0.7,
    ),
    Cue(
        "state of a person",
        "fact",
        r"^I(?:'m| am) (?:also )?(?P<rest>(?:a )?(?:vegetarian|vegan|allergic"
        r" to \w+|lactose intolerant|gluten[- ]intolerant|coeliac|celiac|diabetic"
        r"|colou?r-?blind|left-handed|married|divorced|widowed|retired|deaf"
        r"|dyslexic|autistic|pregnant|\d{1,2} years old)\b.*)",
        importance=0.8,
    ),
    Cue(
        "profession",
        "fact",
        rf"^I(?:'m| am) (?:currently |also )?an? (?!(?:\w+ )?(?:fan|bit|little"
        rf"|lot)\b)(?P<rest>(?:[\w.+#-]+ ){{0,4}}?{_ROLE}(?:[.!]*$|,? (?:at"
        rf"|for|in|with|from|based|working|speciali[sz]ing|living|and|who)\b.*))",
        importance=0.7,
    ),
    Cue(
        "studies",
        "fact",
        r"^I(?:'m| am) (?:currently )?(?P<rest>(?:studying|majoring in|training"
        r" for|learning|writing my (?:thesis|dissertation)|doing a (?:phd"
        r"|master)) \S.*)",
        importance=0.6,
    ),
    Cue(
        "lives",
        "fact",
        r"^I (?:currently |now |also )?(?:live|reside) (?:in|near|on|at|with)"
        r" (?P<rest>(?!(?:the|a) (?:city|town|village|suburbs?|countryside)\b).*)",
        importance=0.7,
        needs_name=True,
    ),
    Cue(
        "works",
        "fact",
        rf"^I (?:currently |now |also )?(?:work|teach|study|volunteer|intern)"
        rf" (?P<rest>(?:at|for|as|in|with|from|part-time|full-time|remotely"
        rf"|night|nights|on {WEEKDAY})\b.*)",
        importance=0.7,
    ),
    Cue(
        "came to",
        "fact",
        rf"^I (?:was born|grew up|moved|relocated|emigrated|graduated|was raised)"
        rf" (?P<rest>(?:to|from|in|at|here from|back to) (?:the )?{CAP}.*)",
        importance=0.6,
    ),
    Cue(
        "speaks",
        "fact",
        rf"^I (?:can )?(?:speak|play the|own an?|drive an?|run an?) (?P<rest>(?:{CAP}"
        rf"|\w+).*)",
        importance=0.5,
    ),
    Cue("drives", "fact", r"^I (?:drive|own|ride) (?P<rest>an? .*)", importance=0.5),
    Cue(
        "has",
        "fact",
        r"^I(?: have|'ve got| have got) (?P<rest>(?:an? |one |two |three "
        r"|four |five |\d+ |no |type )(?:[\w-]+ ){0,3}?(?:kids?|child(?:ren)?"
        r"|sons?|daughters?|brothers?|sisters?|siblings?|dogs?|cats?|pets?"
        r"|horses?|rabbits?|parrots?|twins|retriever|poodle|labrador|diabetes"
        r"|asthma|adhd|dyslexia|epilepsy|migraines?|allerg(?:y|ies)|phd|degree"
        r"|bachelor|master|pension|driver's licen[cs]e)\b.*)",
        importance=0.7,
    ),
    Cue(
        "has been for",
        "fact",
        r"^I(?:'ve| have) been (?!meaning|thinking|wanting|trying|looking"
        r"|wondering|considering|planning|having|getting|feeling|struggling"
        r"|dealing)(?P<rest>.* (?:for|since) (?:\w+ ){0,3}(?:years?|months?"
        r"|decades?|\d{4}).*)",
        importance=0.5,
    ),
    Cue(
        "uses",
        "fact",
        r"^I (?:mainly |mostly |also |still )?use (?P<rest>.*)",
        importance=0.5,
        needs_name=True,
    ),
    Cue(
        "has an event",
        "action",
        rf"^I(?: have|'ve got) (?:an?|my) (?P<rest>(?:[\w-]+ ){{0,3}}(?:interview"
        rf"|appointment|exam|meeting|flight|deadline|presentation|call|surgery"
        rf"|date|wedding|trip|test|checkup)\b.*{DATE}.*)",
        importance=0.6,
    ),
    Cue(
        "habit",
        "pattern",
        rf"^(?:(?:every|each) (?:morning|day|week|evening|night|weekend|month"
        rf"|year|summer|winter|{WEEKDAY}),? I (?P<rest>(?!get\b|have this"
        rf"|see\b)\w+ .*)|I (?P<rest2>(?:go|run|cook|swim|train|meditate|read"
        rf"|walk|cycle|practi[cs]e|call|visit|write|do|play|take|meet|have)"
        rf" .*\bevery (?:morning|day|week|evening|night|weekend|month|year"
        rf"|summer|winter|other day|{WEEKDAY})\b.*))",
        importance=0.5,
    ),
)
