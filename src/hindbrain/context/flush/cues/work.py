"""Projects, tools, dates, things to do, and what holds again and again."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import CAP, DATE, DAY, WEEKDAY, Cue

_INFRA = (
    r"(?:(?:production|prod|staging|dev|development|test|main|primary"
    r"|backup|internal|public|legacy|new|local|remote) )*"
    r"(?:database|db|server|servers|cluster|ci|pipeline|repo|repository"
    r"|monorepo|backend|frontend|api|stack|sprint|sprints"
    r"|team|office|customers|clients|users|company|release|releases|stand-?up"
    r"|budget|product|website|site|domain|app|cdn"
    r"|queue|cache|registry|deployments?|deploys?|infrastructure|tests?"
    r"|code ?base|style guide|branch|default branch"
    r"|retro|planning|fiscal year|warehouse|headquarters|hq|codebase|services?"
    r"|logs?|bucket|vpn|wiki|tracker|bug tracker)"
)
_EVENT = (
    r"(?:deadline|due date|release|launch|demo|meeting|conference|wedding"
    r"|exam|flight|appointment|beta|interview|delivery"
    r"|lease|contract|trip|party|presentation|submission|kick-?off|go-live"
    r"|review|audit|workshop|holiday|vacation|move"
    r"|freeze|code freeze|sprint|course|semester|subscription|trial|visa"
    r"|passport|warranty|concert|surgery|marathon)"
)

WORK: tuple[Cue, ...] = (
    Cue(
        "project called",
        "project",
        r"^(?:the|our|my) (?:[\w-]+ ){0,2}(?:project|product|app|company"
        r"|startup|start-up|book|novel|game|podcast|blog|band|side project)"
        r" is (?P<rest>(?:called|named) \S.*|an? \S+ \S.*)",
        importance=0.6,
    ),
    Cue(
        "makes called",
        "project",
        rf"^(?:I(?:'m| am)|we(?:'re| are)) (?:currently |now )?(?:working on"
        rf"|building|writing|developing|making|designing|launching) (?P<rest>(?:an?"
        rf"|our|my) .*\b(?:called|named) {CAP}.*)",
        importance=0.6,
    ),
    Cue("project is", "project", rf"^(?P<rest>Project {CAP} (?:is|will|has) .*)", "plain", importance=0.6),
    Cue(
        "our",
        "fact",
        rf"^our {_INFRA} (?:is|are|runs on|run on|runs|uses|use|lives? (?:in"
        rf"|at|on)|(?:is|are) hosted (?:on|at|in)|ends?|starts?|listens on"
        rf"|consists of|(?:has|have)(?= (?:an? |\d|two|three|four|five|six"
        rf"|ten|no )[\w ]+)) (?:mostly |mainly |only )?(?P<rest>\S.*)",
        "plain",
        importance=0.6,
    ),
    Cue(
        "we use",
        "fact",
        r"^(?:(?:for|in) [\w ]{2,40},? )?(?:here )?we (?:always |only |currently"
        r" |mainly )*(?:use|run|deploy|host|ship|release) (?P<rest>.*)",
        "plain",
        importance=0.6,
        needs_name=True,
    ),
    Cue(
        "we are",
        "fact",
        r"^we(?:'re| are) (?P<rest>an? (?:team|group|company|family|start-?up"
        r"|agency|couple) of .*)",
        "plain",
        importance=0.6,
    ),
    Cue(
        "port",
        "fact",
        r"^(?:the|our) (?:[\w-]+ ){1,4}(?:listens|runs) on (?P<rest>(?:port"
        r" )?\S*\d.*)",
        "plain",
        importance=0.6,
    ),
    Cue(
        "on a day",
        "fact",
        rf"^(?:the|our|my) (?:[\w'’-]+ ){{0,4}}?{_EVENT}(?: (?:for|of|to|with)"
        rf" [\w'’ -]{{2,50}}?)? (?:is|are|was moved to|moved to|has moved to"
        rf"|has been moved to|ends|starts|begins|expires|is scheduled for|is"
        rf" due|is set for|will be)(?: now| on| at| in| by| for| until| every"
        rf"| scheduled for)* (?P<rest>(?:every )?(?:second )?{DATE}.*)",
        importance=0.7,
    ),
    Cue(
        "asks for help by",  # mostly what the agent shall do now
        "action",
        rf"^(?:I|we) (?:need to|have to|must) (?P<rest>(?:change|cancel|book"
        rf"|find|get|know|check|return|exchange|modify"
        rf"|update|set up|make|create|remember|see|look)\b.*{DAY}.*)",
        sure=False,
    ),
    Cue(
        "must by",
        "action",
        rf"^(?:(?:next|this) \w+,? |tomorrow,? |on {WEEKDAY},? )?(?:I|we)"
        rf" (?:really |still )?(?:need to|have to|must|'ve got to|have got"
        rf" to) (?P<rest>.*\b(?:by|before|until|on|at|tomorrow|tonight|next"
        rf"|this)\b.*{DAY}.*|.*\b(?:tomorrow|next week)\b.*)",
        importance=0.7,
    ),
    Cue(
        "must then",
        "action",
        r"^(?:next (?:week|month|monday|tuesday|wednesday|thursday|friday)"
        r"|tomorrow),? (?:I|we) (?:need to|have to|must) (?P<rest>.*)",
        importance=0.7,
    ),
    Cue(
        "do not forget",
        "action",
        rf"^(?:please )?(?:don't forget|remember|make sure I remember) to (?P<rest>.*{DATE}.*)",
        "rest",
        importance=0.7,
    ),
    Cue(
        "only works when",
        "pattern",
        r"^(?:the|our) [\w ./-]{2,60}? (?:only (?:works?|pass(?:es)?|builds?"
        r"|runs?|starts?|compiles?)|(?:doesn't|does not|don't|do not|won't"
        r"|will not) (?:work|pass|build|run|start|compile)|fails?|breaks?)"
        r" (?P<rest>(?:if|when|unless|without|after|until|while) .*)",
        "plain",
        importance=0.7,
    ),
    Cue(
        "fix for",
        "pattern",
        r"^the (?:fix|solution|workaround|root cause|cause|trick) (?:for|of"
        r"|to|behind) (?P<rest>(?:the |our |a )?\w.* (?:was|is|were) \S.*)",
        "plain",
        importance=0.7,
    ),
    Cue("whenever", "pattern", r"^whenever (?P<rest>(?:the|our|a)\b[^,]{3,80}, .*)", "plain", importance=0.6),
    Cue(
        "how to",
        "pattern",
        r"^to (?:reset|build|run|deploy|start|test|install|release|restart"
        r"|debug|publish) (?P<rest>[^,]{3,80}?,? (?:you have to|you need to"
        r"|you must|we have to|run|use)\b .*)",
        "plain",
        importance=0.7,
    ),
    Cue(
        "go through",
        "pattern",
        r"^(?:releases?|deploy(?:ment)?s|migrations?|hotfix(?:es)?|changes"
        r"|merges|builds) (?:always|never|only|usually) (?P<rest>\S.*)",
        "plain",
        importance=0.6,
    ),
)
