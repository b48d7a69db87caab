"""The certain few in German, French, Spanish and Chinese; they are quoted as they were said."""

from __future__ import annotations

from hindbrain.context.flush.cues.cue import CAP, Cue


def _quoted(name: str, category: str, pattern: str, importance: float = 0.6) -> Cue:
    return Cue(name, category, pattern, "quoted", importance=importance)


OTHER_LANGUAGES: tuple[Cue, ...] = (
    _quoted(
        "de: prefers",
        "preference",
        r"^ich (?:bevorzuge|mag|liebe|hasse|trinke (?:immer|nur|keinen?)|esse"
        r" (?:immer|nur|keine?n?)|nutze immer|verwende immer) (?P<rest>(?!das\b"
        r"|es\b|dies|den ersten|die zweite).*)",
        0.6,
    ),
    _quoted(
        "de: standing",
        "preference",
        # "nie" begins a Polish sentence, too: a German one ends in its verb
        r"^(?:(?:bitte )?(?:immer|(?:nie|niemals)(?=.*(?:en|ern|eln|tun)\W*$)) (?!wenn|noch|mehr|wieder"
        r"|dieser|das|der|die)(?:auf |mit |in |\w+ )(?P<rest>.*)|(?:ab (?:jetzt|sofort)"
        r"|von nun an|künftig|in zukunft) (?P<rest2>\S+ .*))",
        0.8,
    ),
    _quoted("de: called", "preference", rf"^nenn(?:e)? mich (?P<rest>{CAP})[.!]*$", 0.8),
    _quoted(
        "de: person",
        "fact",
        rf"^(?:ich (?:wohne|lebe|arbeite) (?:in|bei|als|am) (?P<rest>{CAP}.*)"
        rf"|ich heiße (?P<rest2>{CAP}.*)|(?:mein|meine) (?:hund|katze|name"
        rf"|e-?mail|e-?mail-adresse|geburtstag|frau|mann|telefonnummer) (?:heißt"
        rf"|ist) .*)",
        0.7,
    ),
    _quoted(
        "de: kin",
        "contact",
        rf"^(?:mein|meine|unser|unsere) (?:\w*(?:leiter|leiterin|chef|chefin"
        rf"|ärztin|arzt|bruder|schwester|tochter|sohn|kollege|kollegin)) (?:heißt"
        rf"|ist) (?P<rest>(?:herr |frau )?{CAP}.*)",
        0.7,
    ),
    _quoted(
        "de: decided",
        "decision",
        r"^(?:wir haben (?:uns )?(?P<rest>.*(?:entschieden|beschlossen|geeinigt)\b.*)"
        r"|ich habe (?:mich )?(?P<rest2>.*(?:entschieden|beschlossen)\b.*)"
        r"|lass(?:t)? uns (?P<rest3>.* (?:statt|anstatt|anstelle) .*))",
        0.8,
    ),
    _quoted(
        "de: remind",
        "action",
        r"^(?:bitte )?erinnere? mich (?:\w+ ){0,2}?(?:daran|an) ?,? ?(?P<rest>.*)",
        0.7,
    ),
    _quoted(
        "fr: prefers",
        "preference",
        r"^(?:je préfère|j'aime|j'adore|je déteste|je n'aime pas) (?P<rest>(?!ça"
        r"|cela|celui|celle|bien ça).*)",
        0.6,
    ),
    _quoted(
        "fr: standing",
        "preference",
        r"^(?:s'il te plaît,? )?(?:utilise|réponds|écris|mets|garde|fais)(?:-moi)?"
        r" (?:toujours|jamais) (?P<rest>.*)|^(?:désormais|à partir de maintenant"
        r"|dorénavant),? (?P<rest2>.*)",
        0.8,
    ),
    _quoted(
        "fr: person",
        "fact",
        rf"^(?:j'habite (?:à|en|au) (?P<rest>{CAP}.*)|je m'appelle (?P<rest2>{CAP}.*)"
        rf"|je travaille (?:chez|à|comme) (?P<rest3>\S.*)|je suis (?:végétarienne?"
        rf"|allergique .*))",
        0.7,
    ),
    _quoted(
        "fr: decided",
        "decision",
        r"^(?:nous avons|on a|j'ai) (?:décidé|choisi|convenu) (?P<rest>(?:de"
        r"|d'|que|pour) ?.*)",
        0.8,
    ),
    _quoted("fr: remind", "action", r"^rappelle-moi (?:\w+ )?(?:de |d')(?P<rest>.*)", 0.7),
    _quoted(
        "es: prefers",
        "preference",
        r"^(?:yo )?(?:prefiero|me gusta|me encanta|odio|no me gusta) (?P<rest>(?!eso\b"
        r"|esto\b|así\b).*)",
        0.6,
    ),
    _quoted(
        "es: standing",
        "preference",
        r"^(?:por favor,? )?(?:usa|responde|escribe|utiliza) siempre (?P<rest>.*)"
        r"|^(?:a partir de ahora|de ahora en adelante),? (?P<rest2>.*)",
        0.8,
    ),
    _quoted(
        "es: person",
        "fact",
        rf"^(?:vivo en (?P<rest>{CAP}.*)|me llamo (?P<rest2>{CAP}.*)|trabajo"
        rf" (?:en|como|para) (?P<rest3>\S.*)|soy (?:vegetarian[oa]|alérgic[oa]"
        rf" .*))",
        0.7,
    ),
    _quoted("es: decided", "decision", r"^(?:hemos|he) (?:decidido|acordado|elegido) (?P<rest>.*)", 0.8),
    _quoted("es: remind", "action", r"^recuérdame (?P<rest>.*)", 0.7),
    _quoted(
        "zh: prefers",
        "preference",
        r"^我(?:更|很|最|比较)?(?:喜欢|偏好|讨厌|不喜欢)(?P<rest>(?!这|那|哪|它).+)",
        0.6,
    ),
    _quoted(
        "zh: standing",
        "preference",
        r"^(?:请)?(?:以后|从现在起|从今以后|今后)(?:都|请|要|不要|别|一律)(?P<rest>.+)|^(?:请)?(?:总是"
        r"|永远不要|千万不要)(?P<rest2>.+)",
        0.8,
    ),
    _quoted(
        "zh: person",
        "fact",
        r"^(?:我叫|我的名字(?:是|叫)|我住在|我在.{1,12}工作|我是一名|我对.{1,8}过敏)(?P<rest>.*)",
        0.7,
    ),
    _quoted("zh: decided", "decision", r"^(?:我们|我)(?:已经)?(?:决定|商定|选择)(?:了)?(?P<rest>.{2,})", 0.8),
    _quoted("zh: remind", "action", r"^(?:请)?提醒我(?P<rest>.+)", 0.7),
)
