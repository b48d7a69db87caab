"""What instructions to an agent look like, as data: a name for the owner to read, and patterns.

The patterns meet text in lower case, in one line, without accents, emphasis and hidden characters. Gaps are
bounded, so that time stays linear. Facts about what people remember ("prefers short answers") pass.
"""

from __future__ import annotations

_AGENT = (
    r"(?:(?:ai|llm|language|email|chat|virtual|digital|helpful|automated) ){0,4}(?:ai|llm|assistants?"
    r"|agents?|chatbots?|bots?|language models?)"
)
_REPLY = r"(?:responses?|repl(?:y|ies)|answers?|outputs?|summar(?:y|ies)|messages?|completions?)"
_WORK = r"(?:code|implementation|solution|algorithm|program|project|script|codebase|codebase)"
_RULES = (
    r"(?:instructions?|prompts?|requests?|rules|guidelines?|commands?|directions?|directives?|training|orders"
    r"|restrictions|constraints|boundaries|safeguards|programming|polic(?:y|ies))"
)
_SAID = r"(?:inputs?|context|messages?|tasks?|conversations?|information|text|content)"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|initial|former|foregoing|pre-?existing|previously)"
_BEFORE = rf"(?:all|any|every|old|original|existing|other|your|my|past|{_EARLIER})"
_DROP = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:ting)?|forgotten(?: about)?|overrid(?:e|es|ing)"
    r"|bypass(?:es|ing)?|abandon|discard|neglect|violate|(?:do not|don't|stop) (?:follow|listen to|following)"
    r"|not subject to|regardless of)"
)

INSTRUCTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "overrides instructions",
        (
            rf"\b{_DROP} (?:(?:of|the|to) )?{_BEFORE}(?: [\w'-]+){{0,3}} {_RULES}\b",
            rf"\b{_DROP} (?:(?:the|all|any|your|of) )*{_EARLIER}(?: [\w'-]+){{0,2}} {_SAID}\b",
            rf"\b(?:ignore|disregard|forget|override) (?:the|these|those) (?:system prompt|{_RULES}|rules)\b",
            r"\b(?:ignore|disregard|forget) (?:everything|all|anything)(?: (?:you|above|before|that|i)\b"
            r"|[.,:;!]|$)",
            r"\byou (?:are|'re) free (?:from|of) (?:all|any|every)\b",
            r"\babandon all you used\b",
            r"\bin addition to the other instructions\b",
            r"\bnew (?:important |system |urgent |secret )*(?:instructions?|system prompt|directives?"
            r"|orders)\b",
            r"\b(?:your|a|the) (?:new|real|actual|only|next|first) (?:task|mission|goal|objective|directive"
            r"|role|instructions?)"
            r" (?:is|are|starts?|will)\b",
            r"\b(?:urgent|priority|important|critical|new) (?:new )?tasks?\b ?[:*!-]",
            r"\b(?:then|now|instead|input),? your task is (?:now )?to\b|\burgent new task\b"
            r"|\bemergency\W{0,3}please\b",
            r"\bthe mission, should you\b",
            r"\byou(?:'ve| have) been (?:re)?assigned (?:a|the|this|to)\b",
            r"\b(?:instructions|role|prompt|configuration) (?:has|have) been (?:updated|changed|replaced"
            r"|compromised)\b",
            r"\bforgot to ask you to\b|\bgave you your instructions\b",
            r"\b(?:ignoriere|vergiss|missachte) (?:alle|die|deine|samtliche)\b.{0,30}\b(?:anweisungen|regeln"
            r"|befehle)\b",
            r"\bignore[zr]? (?:toutes|les|tes|vos)\b.{0,30}\b(?:instructions|consignes|regles)\b",
            r"\b(?:ignora|olvida|descarta) (?:todas|las|tus|sus|cualquier)\b.{0,30}\b(?:instrucciones|reglas"
            r"|ordenes)\b",
            r"\b(?:ignora|dimentica) (?:tutte|le|ogni)\b.{0,30}\b(?:istruzioni|regole)\b",
            r"\b(?:ignore|esqueca|desconsidere) (?:todas|as|suas)\b.{0,30}\b(?:instrucoes|regras)\b",
            r"(?:忽略|无视|忽視|無視).{0,12}(?:指令|指示|提示|规则|規則|要求)",
            r"(?:以前の|これまでの|上記の).{0,10}(?:指示|命令).{0,6}無視",
        ),
    ),
    (
        "gives the agent a role",
        (
            r"\byou are (?:now )?(?:dan\b|(?:a |an )?no[- ]limits?\b|(?:a |an )?(?:unrestricted|uncensored"
            r"|unfiltered|omniscient)\b)",
            r"\byou are (?:now|no longer|currently) (?:a|an|in|the|operating|running|acting|able|free|my"
            r"|part)\b",
            r"\byou (?:are|'re) (?:operating|running) (?:in|as)\b",
            r"\b(?:developer|debug|god|admin|root|sudo|jailbreak|dan|maintenance|test) "
            r"mode\b(?=.{0,60}\b(?:you|your|enabled|activated|on|only|must|respond|output|available)\b)",
            r"\bdo anything now\b|\bdo[- ]anything ai\b|\bjailbroken\b",
            r"\b(?:without|no|free (?:from|of)|not subject to|bypass) (?:any |all )*(?:\w+ )?(?:restrictions"
            r"|limitations|constraints|guidelines|censorship|filters)\b(?=.{0,80}[:!]|.{0,80}\b(?:you|your"
            r"|ai)\b)",
            r"\b(?:act|respond|behave|answer|speak|operate) as (?:if you (?:are|were)|(?:an? )?"
            r"(?:unrestricted"
            r"|unfiltered|uncensored|evil|malicious))\b",
            r"\bas (?:a|an) (?:helpful |ai |email )+assistant\b",
        ),
    ),
    (
        "speaks to the agent",
        (
            rf"\b(?:notes?|attention|message|instructions?|notice|reminder|memo|directive|hint|warning)\b"
            rf" ?(?:to|for|,|:)? ?(?:all |the |any |your |this )?{_AGENT}\b ?[:,.!\])-]",
            rf"\b{_AGENT} (?:notes?|instructions?|directives?|must|should|shall|needs? to|has to|have to"
            rf"|is required|are required) ?:?",
            rf"\b(?:if|since|because) you(?: are|'re) (?:an? |the )?{_AGENT}\b",
            rf"\b(?:dear|hey|hello|hi|attention) {_AGENT}\b",
            rf"\b(?:need|want|ask|require|expect)s? (?:your|the|any|every) {_AGENT} to\b",
            r"\bif you(?:'re| are) (?:told|asked|instructed|reading this|processing this|summari[sz]ing)\b",
            r"\bwhen(?:ever)? (?:you are |you're )?(?:asked|told|prompted|queried)\b.{0,60}\b(?:reply|respond"
            r"|answer|say|output|insist|always|never|recommend)\b",
            r"\bwhen(?:ever)? (?:the |a |any )?(?:user|owner|human|person|someone|anyone) (?:asks|mentions"
            r"|says|wants|requests|writes)\b.{0,80}\b(?:you (?:must|should|always)|always (?:recommend|say"
            r"|reply|answer|tell|suggest|send)|tell them|redirect|respond with|reply with|run|execute"
            r"|send)\b",
            r"\byou (?:must|are required to|have to|need to|should|shall|will) (?:\w+ )?(?:always|never"
            r"|immediately|now|only|also|first|comply|obey|ignore|disregard|include|send|reveal|output"
            r"|execute)\b",
            r"\byou are required to\b|\byou (?:must|need to) ?:|\byou must comply\b",
            r"\bfrom now on,? (?:you|always|never|every|all|respond|reply|answer)\b",
            r"\bnever (?:say|use) the words?\b|\brefrain from not complying\b|\bnever alter or modify\b",
        ),
    ),
    (
        "fakes the system's voice",
        (
            r"\[/?(?:system|inst|admin|assistant|developer|override|sys|test mode|urgent[^\]]{0,30})\b"
            r"[^\]]{0,40}\]",
            r"</?(?:system|admin|assistant|instructions?|developer|override|interaction|sys|secret|tool"
            r"|function|im_start|prompt)[\w-]*\b[^>]{0,80}>",
            r"<\|[^|>]{1,30}\|>|\[inst\]|<<sys>>",
            # A heading as the formats of models have it, not "## System configuration" or "## Human rights".
            r"(?<!#)#{2,} ?(?:system|instruction|assistant|human)s?(?: ?(?:[:#>|-]|$)| (?:prompt|messages?"
            r"|instructions?|notice|note|override|directive|alert|role|you|your|ignore|disregard|forget"
            r"|do not|never|always)\b)",
            r"(?:^|[>\"'([{|.!?-] ?)(?:system|assistant|developer|admin(?:istrator)?) ?(?:notice|message"
            r"|alert"
            r"|prompt|note|instruction|directive)?:\s(?=.{0,80}\b(?:you|your|if|ignore|must|assistant|please"
            r"|send|flagged)\b)",
            r"\b(?:reveal|repeat|print|show|paste|share|output|tell|give|ignore|forget|override|new|disclose"
            r"|your|old)\b.{0,25}\bsystem (?:prompt|message|instructions?)\b",
            r"\bsystem[_ -](?:override|update|malfunction|notice|directive)\b|\badmin[_ -](?:override|message"
            r"|notice)\b|\b(?:override|security)[_ ](?:complete|disabled)\b",
            r"-{3,} ?(?:end|begin|start) of\b",
            r"\bthe system is experiencing errors\b|\bdebugging error\b|\bto enable debugging\b"
            r"|\bgrant (?:temporary )?admin",
            r"\b(?:for|strictly for) (?:testing|debugging|test|academic|audit|verification) purposes?\b"
            r"|\bthis is a (?:legitimate |authorized )?(?:test\b[.:!]|security|system|mandatory|compliance)",
            r"\b(?:experimental procedure|emergency protocol|breach protocol|special case"
            r"|immediate action required)\b ?:",
            r"\b(?:enable|activate|unlock) (?:experimental|hidden|secret|developer) (?:features?"
            r"|functionalit\w+|capabilit\w+|modes?)\b",
            r"\bprove (?:that )?you are (?:truly|really)\b",
            r"\btraining exercise\b.{0,40}\btask\b",
        ),
    ),
    (
        "dictates the agent's output",
        (
            rf"\b(?:include|add|append|insert|put|embed|incorporate|feature|mention|place|record|quote|repeat"
            rf"|write|use|weave|integrate|introduce|inject|attach|employ|merge|implement|utilize|adopt|deploy"
            rf"|leverage|ensure|provide|encode|encrypt|apply|render|convert|translate|replace|substitute"
            rf"|output"
            rf"|format|reverse|alter|modify|present|deliver|express|represent|compose|craft|construct|fill"
            rf"|scramble|mask|spell|omit|transpose|insert)\b[^.:\n]{{0,80}}\b(?:in|into|of|to|within|inside"
            rf"|throughout|for|using|at the (?:end|start|beginning) of|from|on) (?:all |every |each |any )?"
            rf"(?:of )?(?:your|its|their|future) (?:\w+ ){{0,2}}(?:{_REPLY}|{_WORK})\b",
            rf"\b(?:in|of|to) (?:all|every|each|any) (?:\w+ )?{_REPLY}\b(?=.{{0,80}}\b(?:so|to|during|confirm"
            rf"|verify|signal|by|as)\b|.{{0,20}}$)",
            rf"\bin your {_REPLY}, (?:mention|include|add|say|use|highlight|recommend|suggest)\b",
            rf"\b(?:in|inside|of) every {_REPLY} (?:you|it|they)\b",
            rf"\b(?:start|begin|end|finish|modify|enhance|adjust|display|preface|prefix|conclude|close"
            rf"|encrypt"
            rf"|encode|write|translate|reverse|scramble|provide|give|deliver|render|craft|format|convert"
            rf"|present|compose|express) (?:all |each |every )?(?:of )?your (?:\w+ )?{_REPLY}\b",
            rf"\byour (?:\w+ )?{_REPLY} (?:must|should|shall|has to|needs to|will|to be)\b",
            r"\b(?:respond|reply|answer) (?:to (?:all|every|any)|only with|with only|solely|by performing"
            r"|with ['\"])",
            rf"\b(?:generate|produce) a (?:response|reply) to answer\b|\bdo (?:so|this|the following) "
            rf"in your {_REPLY}\b",
            r"\b(?:following|below|subsequent|ensuing|provided|succeeding|given|next) (?:\w+ )?(?:code|string"
            r"|anchor|text|script|programming)(?: (?:snippets?|blocks?|sections?|excerpts?|fragments?|pieces?"
            r"|segments?|samples?|lines?))?\b(?=.{0,60}(?::|exactly|```))",
            r"\b(?:repeat|print|reveal|output|paste|share|show|disclose|leak|dump|recite|display)\b"
            r".{0,12}\b(?:your|the|all|previous)\b(?: \w+){0,3} (?:system prompt|prompt|system message"
            r"|configuration|unique id|initial instructions|instructions|guidelines|words above)\b",
            r"\bgo line by line on what you see above\b|\bwords above starting with\b",
            r"\brepeat the (?:word|words|sequence|phrase|sentence|exact)\b",
            r"!\[[^\]]{0,80}\]\(https?://[^)\s]{0,200}[?&][^)\s]{0,80}=\[?[a-z_$\{]",
            r"\b(?:no further context|without (?:any )?(?:further )?(?:context|explanation))\b",
        ),
    ),
    (
        "hides something from the owner",
        (
            r"\b(?:do not|don't|never|without|must not|should not) (?:\w+ )?(?:tell|telling|inform|informing"
            r"|notify|notifying|alert|alerting|mention|mentioning|ask|asking|reveal|revealing|warn|warning"
            r"|show|showing|let)\b(?: \w+){0,4} (?:the |your |any )?(?:user|owner|human|humans|operator"
            r"|person"
            r"|anyone|anybody)\b",
            r"\b(?:do not|don't|never) (?:mention|reveal|disclose|discuss|acknowledge) (?:this|these|that you"
            r"|the fact|any of this)\b",
            r"\b(?:silently|secretly|covertly|quietly|discreetly) (?:send|forward|add|include|execute|run"
            r"|delete|copy|upload|post|change|record|store|install)\b",
        ),
    ),
    (
        "asks to send data away",
        (
            r"\b(?:send|forward|e-?mail|upload|transmit|exfiltrate|copy|bcc|post|submit|leak|deliver)\b"
            r"[^.\n]{0,100}\b(?:records?|ssn|passwords?|tokens?|credentials?|secrets?|api[_ ]?keys?"
            r"|account (?:details|number)|personal (?:data|information)|conversation|chat history|private key"
            r"|session|cookies?|files?|memor(?:y|ies)|vault|notes)\b[^\n]{0,120}\b(?:to|at|via) (?:\S+@\S+"
            r"|https?://|[\w-]+@|this (?:address|url))",
            r"\bcurl\b[^|\n]{0,120}\|\s*(?:sudo )?(?:ba|z)?sh\b|\bwget\b[^|\n]{0,120}\|\s*(?:ba)?sh\b",
            r"\binclude your (?:api[_ ]?key|password|token|credentials?)\b",
            r"['\"](?:action|system_override|tool|function)['\"] ?: ?(?:true|['\"](?:send|execute|run|delete"
            r"|forward)\w*)",
        ),
    ),
)
