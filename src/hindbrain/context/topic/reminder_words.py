"""The words with which people ask to be reminded of something: one row per language.

A row holds pieces of patterns, matched without regard to case unless they say otherwise, against one sentence
without its date. `context.flush.reminders` joins them. To add a language, add a row, and its sentences in
tests/context/reminders.toml.
"""

from __future__ import annotations

from typing import NamedTuple

_NEVER = r"(?!)"


class ReminderWords(NamedTuple):
    language: str  # ISO 639-1
    stems: tuple[str, ...]  # lower case; a text without any of them is not looked at further
    asks: tuple[str, ...]  # whole sentences; group `rest`: what is to be done, `when`: put behind it
    days: tuple[tuple[str, int], ...]  # words for a day, as patterns, and how many days ahead it is
    weekdays: tuple[str, ...]  # Monday to Sunday, as patterns
    weekday: str  # how one is named as a date; {} stands for it
    polite: str = _NEVER  # before the request, or at its end
    dated: str = r"{}"  # how a date in figures is named; {} stands for it
    habit: str = _NEVER  # "every": no single day
    unclean: str = _NEVER  # words before a date with which it says more than when to remind
    goes_on: str = _NEVER  # the same behind it
    not_rest: str = _NEVER  # how no task begins: "it", "how"
    tidy: tuple[tuple[str, str], ...] = ()  # turns the rest into a title: pattern and replacement
    part_of_day: str = _NEVER  # behind a day; it stays in the title
    between: int = 5  # words between the request and a date that still belongs to it
    spaced: bool = True  # words are parted by spaces


_ENGLISH_WHEN = (
    r"(?P<when>(?:(?:every|each|next|in|this|at|by|on|around|before) [\w: ]{1,20}?|later|soon|again|daily"
    r"|weekly) )?"
)
_GERMAN_SEPARABLE = (
    r"ab|an|auf|aus|bei|ein|fest|her|herunter|hin|hoch|los|mit|nach|um|vor|vorbei|weg|weiter|zurück|zusammen"
)
_DUTCH_SEPARABLE = r"aan|af|door|in|klaar|langs|mee|na|op|over|terug|uit|voor|weg"
_SPANISH_INFINITIVE = r"(?=\w+(?:ar|er|ir|ír)(?:me|te|se|le|les|lo|la|los|las|nos)?\b)"

REMINDERS: tuple[ReminderWords, ...] = (
    ReminderWords(
        language="en",
        stems=("remind", "let me forget"),
        asks=(
            rf"(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to |i want you to )?"
            rf"remind me(?:,? please)?,? {_ENGLISH_WHEN}(?:to|that i (?:need|have) to) (?P<rest>\S.*)",
            rf"(?:set|make|add|create)(?: up)?(?: me)? a reminder (?:for me )?{_ENGLISH_WHEN}to"
            r" (?P<rest>\S.*)",
            r"(?:don't|do not) let me forget to (?P<rest>\S.*)",
        ),
        days=(("the day after tomorrow", 2), ("today", 0), ("tonight", 0), ("tomorrow", 1)),
        weekdays=("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        weekday=r"(?:(?:on|by|this|next|this coming) |(?<=remind me )){}",
        polite=r"please|pls|thanks|thank you|cheers",
        dated=r"(?:(?:on|by) )?{}",
        habit=r"\b(?:every|each|always|daily|weekly)\b",
        unclean=r"for|from|about|of|until|till|before|since|after|in|to|and|or|than|between",
        not_rest=r"know\b|(?:do|use|try) (?:it|that|this|so)\W*$|\w+ (?:it|this|that|them)\W*$",
        tidy=((r"^(?:please|also) ", ""),),
        part_of_day=r"morning|afternoon|evening|night",
        goes_on=r"'s\b",
        between=1,
    ),
    ReminderWords(
        language="de",
        stems=("erinner",),
        asks=(
            r"(?:erinnere? mich|erinnern sie mich)(?: bitte)?(?: (?:daran|dran))?,? (?P<rest>.+\bzu \w+n)",
            rf"(?:erinnere? mich|erinnern sie mich)(?: bitte)? (?:daran|dran),? (?P<rest>.*\b"
            rf"(?:{_GERMAN_SEPARABLE})zu\w+n)",
            r"(?:erinnere? mich|erinnern sie mich)(?: bitte)? (?:daran|dran),? dass ich"
            r" (?P<rest>.+ \w+n) (?:muss|soll|sollte|wollte|will)",
            r"(?:erinnere? mich|erinnern sie mich)(?: bitte)? (?P<rest>(?:an|ans) (?!was\b).+)",
            r"(?:kannst|könntest|würdest) du mich(?: bitte)?(?: (?:daran|dran))?(?: bitte)? erinnern,?"
            rf" (?P<rest>.+\bzu \w+n|.*\b(?:{_GERMAN_SEPARABLE})zu\w+n)",
            r"(?:kannst|könntest|würdest) du mich(?: bitte)? (?P<rest>(?:an|ans) (?!was\b).+) erinnern",
        ),
        days=(("übermorgen", 2), ("heute", 0), (r"(?-i:morgen)", 1)),
        weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
        weekday=r"(?:am|bis|bis zum|diesen|nächsten|kommenden|am kommenden|am nächsten) {}",
        polite=r"bitte|danke|vielen dank",
        dated=r"(?:(?:am|bis|bis zum) )?{}",
        habit=r"\b(?:jeden?|jede[srn]?|immer|täglich|wöchentlich)\b",
        unclean=r"für|von|vom|ab|seit|vor|nach|und|oder|bis",
        not_rest=r"(?:an|ans) (?:das|es|ihn|sie|dies\w*)\W*$|(?:das|es) \w+ ?zu \w+\W*$|es zu tun|das zu tun",
        tidy=(
            (r" zu (\w+n)$", r" \1"),
            (rf"\b({_GERMAN_SEPARABLE})zu(\w+n)$", r"\1\2"),
            (r"^((?:an|ans) .*)$", r"\1 denken"),
        ),
        part_of_day=r"früh|vormittag|mittag|nachmittag|abend|nacht",
    ),
    ReminderWords(
        language="fr",
        stems=("rappel",),
        asks=(
            r"(?:rappelle|rappelez)-moi(?: bien)? (?:de |d')(?P<rest>\w.*)",
            r"(?:(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|tu (?:peux|pourrais)) me rappeler"
            r" (?:de |d')(?P<rest>\w.*)",
        ),
        days=(("après-demain", 2), ("aujourd'hui", 0), ("demain", 1)),
        weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
        weekday=r"(?:(?:ce|pour|d'ici) )?{}(?: prochain)?",
        polite=r"s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp|merci",
        dated=r"(?:le )?{}",
        habit=r"\b(?:chaque|tous les|toutes les|toujours)\b",
        unclean=r"de|du|depuis|avant|après|le|et|ou|pour|jusqu'à|dès",
        not_rest=r"(?:quoi|ce que|cela|ça)\b|le faire\b",
        part_of_day=r"matin|midi|après-midi|soir",
    ),
    ReminderWords(
        language="es",
        stems=("recuérd", "recuerd", "recordarme", "recordame"),
        asks=(
            rf"(?:recuérdame|recuerdame|recuérdeme|recordame),? (?:de |que tengo que |que debo )?"
            rf"{_SPANISH_INFINITIVE}(?P<rest>\w.*)",
            rf"(?:puedes|podrías|puede|podría) recordarme (?:de |que tengo que )?"
            rf"{_SPANISH_INFINITIVE}(?P<rest>\w.*)",
        ),
        days=(("pasado mañana", 2), ("hoy", 0), ("mañana", 1)),
        weekdays=("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
        weekday=r"(?:el|este|el próximo) {}",
        polite=r"por favor|porfa|gracias",
        dated=r"(?:el )?{}",
        habit=r"\b(?:cada|todos los|todas las|siempre)\b",
        unclean=r"de|del|desde|antes|después|la|para|hasta|y|o",
        not_rest=r"hacer(?:lo|la)\b|hacer eso",
        part_of_day=r"por la (?:mañana|tarde|noche)|temprano",
    ),
    ReminderWords(
        language="pt",
        stems=("lembr",),
        asks=(
            r"(?:me lembr[ae]|lembr[ae]-me|lembr[ae] me) de (?=\w+[aeiô]r(?:-\w+)?\b|pôr\b)(?P<rest>\w.*)",
            r"(?:você )?(?:pode|poderia|podes|podias) (?:me lembrar|lembrar-me) de"
            r" (?=\w+[aeiô]r(?:-\w+)?\b|pôr\b)(?P<rest>\w.*)",
        ),
        days=(("depois de amanhã", 2), ("hoje", 0), ("amanhã", 1)),
        weekdays=(
            "segunda(?:-feira)?", "terça(?:-feira)?", "quarta(?:-feira)?", "quinta(?:-feira)?",
            "sexta(?:-feira)?", "sábado", "domingo",
        ),
        weekday=r"(?:na|no|nesta|neste|na próxima|no próximo) {}",
        polite=r"por favor|por gentileza|obrigad[oa]",
        dated=r"(?:(?:em|no dia) )?{}",
        habit=r"\b(?:cada|toda|todo|todas as|todos os|sempre)\b",
        unclean=r"de|da|do|desde|antes|para|até|e|ou",
        not_rest=r"fazer isso|fazê-lo",
        part_of_day=r"de manhã|à tarde|à noite|cedo",
    ),
    ReminderWords(
        language="it",
        stems=("ricord",),
        asks=(
            r"ricordami,? (?:di |che devo )(?P<rest>\w.*)",
            r"(?:puoi|potresti|può|potrebbe) ricordarmi (?:di |che devo )(?P<rest>\w.*)",
        ),
        days=(("dopodomani", 2), ("oggi", 0), ("domani", 1)),
        weekdays=("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
        weekday=r"(?:(?:questo|questa|entro|per) )?{}(?: prossim[oa])?",
        polite=r"per favore|per cortesia|per piacere|grazie",
        dated=r"(?:il )?{}",
        habit=r"\b(?:ogni|tutti i|tutte le|sempre)\b",
        unclean=r"di|del|della|da|dal|il|la|prima|dopo|per|fino a|e|o",
        not_rest=r"farlo\b|fare questo",
        part_of_day=r"mattina|pomeriggio|sera|notte",
    ),
    ReminderWords(
        language="nl",
        stems=("herinner",),
        asks=(
            r"herinner (?:me|mij)(?: er)? ?(?:eraan|aan)?,? om (?P<rest>.*\bte \w+n)",
            r"herinner (?:me|mij) eraan,? (?P<rest>.*\bte \w+n)",
            r"herinner (?:me|mij) eraan,? dat ik (?P<rest>.+ moet \w+n|.+ \w+n moet)",
            r"(?:kun|kan|wil|zou) (?:je|jij) (?:me|mij) eraan (?:willen )?herinneren,? (?:om )?"
            r"(?P<rest>.*\bte \w+n)",
        ),
        days=(("overmorgen", 2), ("vandaag", 0), ("morgen", 1)),
        weekdays=("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
        weekday=r"(?:(?:op|aanstaande|komende|volgende) )?{}",
        polite=r"alsjeblieft|alstublieft|aub|bedankt|dank je",
        dated=r"(?:op )?{}",
        habit=r"\b(?:elke?|iedere?|altijd)\b",
        unclean=r"voor|van|sinds|tot|na|en|of|de",
        not_rest=r"(?:het|dat|dit) te doen",
        tidy=(
            (rf" ({_DUTCH_SEPARABLE}) te (\w+n)$", r" \1\2"),
            (r" te (\w+n)$", r" \1"),
            (r" moet (\w+n)$", r" \1"),
            (r" (\w+n) moet$", r" \1"),
        ),
        part_of_day=r"vroeg|ochtend|middag|avond",
    ),
    ReminderWords(
        language="pl",
        stems=("przypomn", "przypomin"),
        asks=(
            r"przypomnij mi,? (?P<rest>(?:\w+ ){0,2}\w+(?:ć|c)(?: się)?\b(?: .*)?)",
            r"przypomnij mi,? (?P<rest>żeby[mś]?\b .+)",
            r"(?:czy )?(?:możesz|mógłbyś|mogłabyś) mi przypomnieć,? (?P<rest>żeby[mś]?\b .+)",
        ),
        days=(("pojutrze", 2), ("dzisiaj|dziś", 0), ("jutro", 1)),
        weekdays=("poniedziałek", "wtorek", "środę", "czwartek", "piątek", "sobotę", "niedzielę"),
        weekday=r"(?:w|we|w przyszły|w przyszłą|w ten|w tę) {}",
        polite=r"proszę|prosze|dziękuję|dzięki",
        habit=r"\b(?:każd\w+|co tydzień|codziennie|zawsze)\b",
        unclean=r"do|od|na|przed|po|z|i|lub",
        part_of_day=r"rano|po południu|wieczorem",
    ),
    ReminderWords(
        language="ru",
        stems=("напомни",),
        asks=(
            r"напомни(?:те)?(?: мне)?,? (?P<rest>(?:[\w-]+ ){0,2}\w+(?:ть|ти|чь)(?:ся)?\b.*)",
            r"(?:ты |вы )?(?:не )?(?:можешь|можете|мог бы|могла бы|могли бы) напомнить мне,?"
            r" (?P<rest>(?:[\w-]+ ){0,2}\w+(?:ть|ти|чь)(?:ся)?\b.*)",
        ),
        days=(("послезавтра", 2), ("сегодня", 0), ("завтра", 1)),
        weekdays=("понедельник", "вторник", "среду", "четверг", "пятницу", "субботу", "воскресенье"),
        weekday=r"(?:в|во|в следующий|в следующую|в эту|в этот) {}",
        polite=r"пожалуйста|спасибо",
        habit=r"\b(?:кажд\w+|всегда|ежедневно)\b",
        unclean=r"на|до|с|к|от|после|и|или",
        not_rest=r"(?:как|что|где|когда|почему|кто)\b",
        part_of_day=r"утром|днём|днем|вечером",
    ),
    ReminderWords(
        language="uk",
        stems=("нагада",),
        asks=(
            r"нагада(?:й|йте)(?: мені)?,? (?P<rest>(?:[\w'-]+ ){0,2}\w+ти(?:ся|сь)?\b.*)",
            r"(?:чи )?(?:ти |ви )?(?:можеш|можете|міг би|могла б|могли б) нагадати мені,?"
            r" (?P<rest>(?:[\w'-]+ ){0,2}\w+ти(?:ся|сь)?\b.*)",
        ),
        days=(("післязавтра", 2), ("сьогодні", 0), ("завтра", 1)),
        weekdays=("понеділок", "вівторок", "середу", "четвер", "п'ятницю", "суботу", "неділю"),
        weekday=r"(?:в|у|в наступний|у наступну|в цю|у цю) {}",
        polite=r"будь ласка|прошу|дякую",
        habit=r"\b(?:кожн\w+|щодня|щотижня|завжди)\b",
        unclean=r"на|до|з|від|після|і|й|або",
        not_rest=r"(?:як|що|де|коли|чому|хто)\b",
        part_of_day=r"вранці|зранку|вдень|ввечері|увечері",
    ),
    ReminderWords(
        language="zh",
        stems=("提醒我",),
        asks=(
            r"(?:(?:你)?(?:能|可以|能不能|可不可以))?(?:记得|到时候)?提醒我(?:一下)?[，,]?"
            r"(?P<rest>.{2,}?)(?:吗|嗎|吧|哦|啊)?",
        ),
        days=(("大后天|大後天", 3), ("(?<!大)(?:后天|後天)", 2), ("今天", 0), ("明天", 1)),
        weekdays=("一", "二", "三", "四", "五", "六", "日|天"),
        weekday=r"(?:这|這|本|下)?(?:个|個)?(?:周|週|星期|礼拜|禮拜){}",
        polite=r"请|請|麻烦你?|麻煩你?|谢谢|謝謝",
        habit=r"每|总是|經常|经常",
        unclean=r"到|从|從|在|和|或|前",
        not_rest=r"什么|什麼|甚麼|怎|为什么|為什麼|如何|哪|谁|誰|一下|这|這|那|的",
        tidy=((r"^要", ""),),
        part_of_day=r"早上|上午|中午|下午|晚上",
        goes_on=r"的",
        spaced=False,
    ),
    ReminderWords(
        language="ja",
        stems=("リマインド", "思い出させて", "リマインダー"),
        asks=(
            r"(?P<rest>.{2,}?)(?:ように|のを|ことを|[をと、]|って)?(?:リマインドして|思い出させて"
            r"|リマインダーを(?:設定|セット)して)(?:おいて)?(?:ください|下さい|ね|ほしい|くれる|くれます|か|もらえる"
            r"|もらえます)*",
        ),
        days=(("明後日|あさって", 2), ("今日", 0), ("明日|あした", 1)),
        weekdays=("月", "火", "水", "木", "金", "土", "日"),
        weekday=r"(?:今週の|次の)?{}曜日?に?",
        polite=r"お願いします|お願い|ありがとう(?:ございます)?",
        habit=r"毎|いつも",
        unclean=r"から|の|と|か",
        not_rest=r"これ|それ|あれ|何|どう",
        part_of_day=r"の(?:朝|夜|夕方)|朝|夜",
        goes_on=r"の|から|まで",
        spaced=False,
    ),
    ReminderWords(
        language="ko",
        stems=("라고 ",),
        asks=(
            r"(?:나한테 |나에게 |저에게 )?(?P<rest>(?!.*(?:뭐|무엇|누구|어디|언제|왜|어떻게)).+라고)"
            r" (?:다시 |꼭 )?(?:알려|상기시켜|일깨워|리마인드해)"
            r" ?(?:줘|주세요|줘요|줄래|줄래요|주실래요|줄 수 있어)",
        ),
        days=(("모레", 2), ("오늘", 0), ("내일", 1)),
        weekdays=("월", "화", "수", "목", "금", "토", "일"),
        weekday=r"(?:이번 주 |이번주 )?{}요일(?:에)?",
        polite=r"부탁해|부탁해요|제발|고마워|감사합니다",
        habit=r"매일|매주|항상|마다",
        unclean=_NEVER,
        tidy=((r"(?<=[가-힣])(?:으라고|라고)$", "기"),),
        part_of_day=r"아침에?|오전에?|오후에?|저녁에?|밤에?",
        goes_on=r"의|까지|부터",
    ),
    ReminderWords(
        language="tr",
        stems=("hatırlat",),
        asks=(
            r"(?:bana )?(?P<rest>.*\w+m[ae](?:y[ıi]|m[ıi]))(?: bana)? (?:hatırlat|hatırlatın|hatırlatır mısın"
            r"|hatırlatır mısınız|hatırlatabilir misin)",
        ),
        days=(("öbür gün", 2), ("bugün", 0), ("yarın", 1)),
        weekdays=("pazartesi", "salı", "çarşamba", "perşembe", "cuma", "cumartesi", "pazar"),
        weekday=r"(?:(?:bu|gelecek|önümüzdeki) )?{} günü",
        polite=r"lütfen|teşekkürler|sağ ol",
        habit=r"\b(?:her|hep|daima)\b",
        unclean=r"ve|veya",
        not_rest=r"(?:bunu|onu|şunu) ",
        tidy=((r"(\w+?m)([ae])(?:y[ıi]|m[ıi])$", r"\1\2k"),),
        part_of_day=r"sabah|öğlen|akşam|gece",
        goes_on=r"için",
    ),
)  # fmt: skip
