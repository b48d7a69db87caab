"""What a person asks to be kept: decisions, tasks and issues by their name, and standing wishes."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import NAME, Cue

_VERB = (
    r"(?:use|write|put|add|run|ask|commit|push|format|answer|reply|respond"
    r"|keep|name|prefer|avoid|include|make|check"
    r"|show|explain|start|end|give|create|delete|remove|install|touch"
    r"|edit|change|sign|cc|book|order|send|suggest"
    r"|recommend|mention|tell|speak|leave|squash|rebase|merge|mock|update"
    r"|tag|test|lint|cite|quote|round|sort|log"
    r"|document|comment|indent|wrap|store|save|spell|address|schedule"
    r"|assume|skip|do|be|force|deploy|import|export"
    r"|return|call|refer|review|verify|back up|confirm|plan|prefix|bump"
    r"|pin|follow|stick|talk|summari[sz]e|hardcode)"
)
# Not "this file": what is wished for a place that passes is no standing wish.
_WHERE = (
    r"(?:in|for|within|on) (?:this (?:repo(?:sitory)?|code ?base|project|team|company|vault|app|product)"
    r"|(?:our|my|all|any|every) [\w -]{2,25}?|(?-i:[A-Z])[\w+#.]*(?: [\w-]+){0,2}?)"
)

ASKED: tuple[Cue, ...] = (
    Cue(
        "decision:",
        "decision",
        r"^(?:final |our |the )*decision ?(?:is |was )?: ?(?P<rest>\S.*)",
        "decided",
        importance=0.8,
        announced=True,
    ),
    Cue(
        "to do in code",  # as comments in a program say it
        "action",
        r"^todo ?: ?(?P<rest>(?:add|implement|refactor|handle|fix|remove|move|rename|support|check)"
        r" (?!.*\b(?:by|before|on|until|tomorrow)\b).*)",
        "rest",
        sure=False,
        announced=True,
    ),
    Cue(
        "to do",
        "action",
        r"^(?:todo|to-do|to do|action items?|open action) ?: ?(?P<rest>\S.*)",
        "rest",
        importance=0.7,
        announced=True,
    ),
    Cue(
        "known issue",
        "issue",
        r"^known (?:issue|bug|problem)s? ?: ?(?P<rest>\S.*)",
        "rest",
        importance=0.6,
        announced=True,
    ),
    Cue(
        "standing order",
        "preference",
        rf"^(?:please )?(?:{_WHERE},? )?(?:please )?(?:always|never|don't ever|do not ever)"
        rf" (?P<rest>{_VERB}\b .*)",
        "wants",
        importance=0.8,
        standing=True,
    ),
    Cue(
        "from now on",
        "preference",
        r"^(?:from now on|going forward|in (?:the )?future|in general|as a"
        r" (?:general )?rule|by default|from here on(?: out)?|every time|whenever"
        r"|when you write [\w ]{1,30}? for me|when you (?:write|edit|change"
        r"|review|deploy)[^,]{1,40}),? "
        rf"(?:you [^,]{{2,60}}, ?)?(?P<rest>(?:please )?(?:always |never |do"
        rf" not |don't )?{_VERB}\b.*)",
        "wants",
        importance=0.8,
        standing=True,
    ),
    Cue(
        "ever after",
        "preference",
        rf"^(?:please )?(?P<rest>(?:always |never |do not |don't )?{_VERB}\b.*?),?"
        rf" (?:from now on|going forward|in (?:the )?future|by default|ever"
        rf"|every time|as a rule|ever again)[.!]*$",
        "wants",
        importance=0.8,
        standing=True,
    ),
    Cue(
        "not again",
        "preference",
        rf"^(?:please )?(?P<rest>(?:do not|don't) {_VERB}\b \S.*) (?:again"
        rf"|any ?more)[.!]*$",
        "wants",
        importance=0.8,
        standing=True,
    ),
    Cue(
        "stop",
        "preference",
        r"^(?:please )?(?P<rest>stop \w+ing \S.*)",
        "wants",
        sure=False,
        importance=0.7,
        standing=True,
    ),
    Cue(
        "wish",
        "preference",
        r"^I(?: always)? want (?P<rest>(?=.*\b(?:always|from now on|by default"
        r"|every|all)\b)(?!to\b|an?\b).*)",
        importance=0.7,
    ),
    Cue(
        "wish that never",
        "preference",
        r"^I(?:'d| would) (?:prefer|rather)(?: that)? you (?:always|never)"
        r" (?P<rest>.*)",
        importance=0.8,
        standing=True,
    ),
    Cue(
        "wish not",
        "preference",
        r"^I (?:don't|do not|never) want you to (?P<rest>.*\b(?:ever|without"
        r" asking|again|first)\b.*)",
        importance=0.8,
        standing=True,
    ),
    Cue("always want", "preference", r"^I (?:always|never) want (?P<rest>(?!to\b).*)", importance=0.7),
    Cue(
        "called",
        "preference",
        rf"^(?:please |just |you can )*call me (?P<rest>{NAME})[.!]*$",
        "named",
        importance=0.8,
    ),
)
