"""The words with which people ask for something to be remembered: one row per language.

A row holds pieces of patterns, matched without regard to case and with ’ written as '. At each space of a
request a polite word or a filler may stand: "merke? dir" also matches "merk bitte dir". `remember_requests`
joins the pieces. To add a language, add a row, and its sentences in tests/context/remember_requests.toml.
"""

from __future__ import annotations

from typing import NamedTuple

_NEVER = r"(?!)"


class RequestWords(NamedTuple):
    language: str  # ISO 639-1
    stems: tuple[str, ...]  # lower case; a text without any of them is not looked at further
    polite: str  # please, thanks: dropped around the request and at the end
    remember: str  # imperatives; `that`, a colon, or a clause about the speaker follows
    note: str  # also used for tasks ("note: buy milk"): `that`, or a colon and a clause about the speaker
    asks: str  # requests in the form of a question; they may end in a question mark
    that: str  # what joins the request and a clause
    this: str  # announces what follows a colon: "remember this: ..."
    own: str  # how a clause about the speaker begins, where nothing joins it
    it: str  # requests that mean what was said before: "merk dir das"
    asks_it: str  # the same in the form of a question
    forget: str  # the opposite; what was said before is not stored
    points: str = _NEVER  # how a clause begins that means something only the conversation shows
    you: str = _NEVER  # words for the agent: a wish, or advice from a manual; a person decides
    filler: str = _NEVER  # words without meaning inside a request
    lead: str = _NEVER  # words before a request: "hallo", "übrigens"
    ending: str = _NEVER  # a whole sentence that ends in the request; group `rest`, else it is kept as said
    # A clause that becomes a sentence when `verb` moves behind `subject`; "" where the orders are the same.
    verb_last: str = ""
    spaced: bool = True  # words are parted by spaces


# Verbs that may move from the end of a clause behind its subject. None that part ("aufstehe": "stehe auf").
_GERMAN_I = (
    r"bin|habe?|mag|will|kann|muss|darf|soll|möchte|heiße|heisse|wohne|lebe|arbeite|esse|trinke|vertrage"
    r"|spreche|brauche|hasse|liebe|bevorzuge|nutze|benutze|verwende|fahre|spiele|lese|trage|gehe|reise"
    r"|studiere|lerne"
)
_GERMAN_WE = (
    r"sind|haben|mögen|wollen|können|müssen|dürfen|möchten|wohnen|leben|arbeiten|essen|trinken|nutzen"
    r"|verwenden"
)
_GERMAN_MIDDLE = (  # one clause with one finite verb
    r"(?!.*[,;:])(?!.*\b[a-zäöüß]\w* (?:und|oder|aber)\b)(?!.*\b(?:und|oder|aber|weil"
    r"|wenn) [a-zäöüß])(?!.*\b(?:hätten?|würden?|wären?|haben?|werden?)\b.* ).+"
)
_DUTCH_I = (
    r"ben|heb|wil|kan|moet|mag|zal|heet|woon|leef|werk|eet|drink|spreek|gebruik|studeer|haat|rijd|lees|speel"
    r"|slaap"
)
_DUTCH_WE = r"zijn|hebben|willen|kunnen|moeten|mogen|wonen|leven|werken|eten|drinken|gebruiken"
_DUTCH_MIDDLE = (
    r"(?!.*[,;:])(?!.*\b(?:en|of|maar|omdat|als)\b)(?!.*\b(?:moet|kan|wil|mag|zal|ga|heb|ben|moeten|kunnen"
    r"|willen|mogen|zullen|gaan|hebben|zijn)\b.* ).+"
)

ENGLISH = RequestWords(
    language="en",
    stems=(
        "remember", "in mind", "forget", "future reference", "memor", "note to", "note for", "a note",
        "take note", "note down", "note it", "note this", "note that",
    ),
    polite=r"please|pls|thanks|thank you|cheers",
    remember=(
        r"remember|keep in mind|bear in mind|note to self|note for later|for future reference|memori[sz]e"
        r"|commit to memory|(?:save|store) (?:it )?(?:to|in) (?:your )?memory|i(?:'d"
        r"| would) like you to remember|i want you to remember"
    ),
    note=r"(?:don'?t|do not|never) forget|make a note|take note|(?:just )?note down",
    asks=r"(?:can|could|would|will) you (?:remember|keep in mind|bear in mind|make a note|memori[sz]e)",
    # "remember that function we wrote" means a thing; "remember to ..." is a task
    that=(
        r"that\b(?! ?(?:when|how|what|the time|time|to|me|us|function|bug|day|one|file|thing|part|guy|error"
        r"|issue|place)\b)"
    ),
    this=r"this|that|the following|one thing",
    own=r"(?:i|my)\b",
    it=(
        r"(?:so |and |but )?(?:remember|don'?t forget|keep in mind|make a note of|note) (?:it|this"
        r"|that)(?:,? (?:for me|for later|for next time|ok|okay))*"
    ),
    asks_it=(
        r"(?:can|could) you (?:remember|keep in mind|make a note of|note) (?:it|this|that)(?: for me"
        r"| for later)?"
    ),
    forget=r"(?:forget|don'?t remember|do not remember|don'?t store|don'?t save) (?:it|this|that)(?: again)?",
    filler=r"just|also|always",
    lead=r"ok(?:ay)?|hi|hey|hello|also|oh|btw|by the way",
)  # fmt: skip

OTHERS: tuple[RequestWords, ...] = (
    RequestWords(
        language="de",
        stems=("merk", "behalt", "notier", "speicher", "schreib", "denk", "vergiss", "vergess", "halte"),
        polite=r"bitte|danke|danke dir|vielen dank",
        remember=(
            r"merke? dir|merken sie sich|behalte? (?:im (?:hinter)?kopf|in erinnerung)"
            r"|ich möchte, dass du dir merkst"
        ),
        note=(
            r"(?:notiere?|speichere?)(?: dir)?|schreibe? dir auf|denke? (?:daran|dran)|denken sie daran"
            r"|vergiss nicht|vergessen sie nicht|halte? fest"
        ),
        asks=(
            r"(?:kannst|könntest|würdest) du dir (?:merken|notieren)|(?:können|könnten"
            r"|würden) sie sich (?:merken|notieren)|(?:kannst|könntest) du (?:notieren|speichern"
            r"|im kopf behalten)"
        ),
        that=r"da(?:ss|ß)\b",
        this=r"folgendes|das|dies|eins|eine sache",
        own=(
            r"(?:ich|wir|bei (?:mir|uns))\b|(?:mein|unser)e? [\w-]+ (?:ist|sind|heißt|heisst|hat|haben"
            r"|wohnt)\b"
        ),
        it=(
            r"(?:und |also )?(?:merke? dir das|merken sie sich das|merk's dir|(?:das )?bitte merken"
            r"|vergiss das nicht|behalte? das im (?:hinter)?kopf|notiere? dir das|denke? (?:daran|dran)"
            r"|(?:bitte )?nicht vergessen)"
        ),
        asks_it=r"(?:kannst|könntest) du dir das merken",
        forget=r"vergiss (?:das|es)(?: wieder)?|vergessen sie das|merke? dir das nicht|(?:das )?nicht merken",
        points=(
            r"(?:das|die|der) (?!(?-i:[A-ZÄÖÜ])|\w+ (?-i:[A-ZÄÖÜ]))|(?:dies\w*|er|sie|es|ihr|hier|dort)\b"
            r"|ich (?:dir|es dir|dir das)\b"
        ),
        you=r"\b(?:du|dir|dich|dein\w*|(?-i:Sie|Ihnen|Ihre?\w?))\b",
        filler=r"mal|doch|auch|einfach|gut|noch",
        lead=r"hallo|hi|hey|ok(?:ay)?|übrigens|ach ja|ach|und|also|noch was",
        verb_last=(
            rf"(?P<subject>ich) (?P<middle>{_GERMAN_MIDDLE}) (?P<verb>{_GERMAN_I})"
            rf"|(?P<subject4>wir) (?P<middle4>{_GERMAN_MIDDLE}) (?P<verb4>{_GERMAN_WE})"
            r"|(?P<subject2>(?i:mein|unser)e? [A-ZÄÖÜ][\w-]*) (?P<middle2>[A-ZÄÖÜ][\w-]*) (?P<verb2>heißt"
            r"|heisst)|(?P<subject3>(?i:mein|unser)e? [A-ZÄÖÜ][\w-]*) (?P<middle3>(?:am|ein|eine|kein|keine"
            r"|nicht|immer|jeden|vegan|allergisch)\b[^,;:]*) (?P<verb3>ist|hat|mag)"
        ),
    ),
    RequestWords(
        language="fr",
        stems=(
            "retien", "retenez", "retenir", "souv", "rappel", "garde ", "gardez ", "mémoris", "note que",
            "note qu'", "note bien", "note-le", "note ça", "notez", "noter", "oubli", "enregistre",
            "prends note", "prenez note",
        ),
        polite=r"s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp|merci",
        remember=(
            r"retiens|retenez|souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|garde[sz]? (?:en tête"
            r"|en mémoire|à l'esprit)|mémorise[sz]?"
        ),
        note=r"notez?|n'oublie[sz]? pas|enregistrez?|prends note|prenez note",
        asks=(
            r"(?:peux|pourrais)-tu (?:retenir|noter|mémoriser|te souvenir|te rappeler)|tu (?:peux"
            r"|pourrais) (?:retenir|noter|mémoriser|te souvenir)|(?:pouvez|pourriez)-vous (?:retenir|noter"
            r"|mémoriser|vous souvenir)"
        ),
        that=r"(?:du fait )?(?:que\b|qu')",
        this=r"ceci|ça|cela",
        own=r"(?:je|nous|on)\b|j'|(?:mon|ma|mes|notre|nos) [\w'-]+ (?:est|sont|s'appellent?|a|ont)\b",
        it=(
            r"(?:et )?(?:retiens-le|retenez-le|retiens ça|note-le|notez-le|note ça|souviens-t'en"
            r"|souvenez-vous-en|rappelle-t'en|(?:ne l'|n')oublie[sz]? pas(?: ça)?|garde[sz]? (?:ça"
            r"|cela) en (?:tête|mémoire))"
        ),
        asks_it=r"(?:peux|pourrais)-tu (?:le|t'en) (?:retenir|souvenir)",
        forget=r"oublie[sz]?(?: ça| cela|-le|-la)|ne (?:retiens|note|garde|retenez|notez) pas (?:ça|cela)",
        points=(
            r"c'|(?:ce|cela|ça|ceci|elle|ils|elles|celui|celle|ici|là)\b|il (?!y a\b|faut\b)|je (?:t'ai"
            r"|vous ai) (?:dit|parlé)"
        ),
        you=r"\b(?:tu|te|toi|ton|ta|tes|vous|votre|vos)\b|\bt'",
        filler=r"bien|donc|aussi",
        lead=r"bonjour|salut|ok|au fait|et|aussi|d'ailleurs",
    ),
    RequestWords(
        language="es",
        stems=(
            "recuerd", "recuérd", "recordar", "recordá", "acuérd", "acuerd", "en cuenta", "presente ",
            "en mente", "memori", "anota", "anote", "anót", "apunt", "apúnt", "guarda", "guarde", "guárd",
            "olvid", "olvíd", "toma nota", "tome nota",
        ),
        polite=r"por favor|porfa|gracias",
        remember=(
            r"recuerd[ae]|recordá|acu[eé]rdate|acu[eé]rdese|ten(?:ga)? (?:en cuenta|presente|en mente)"
            r"|memorice|memoriza"
        ),
        note=r"anot[ae]|apunt[ae]|guard[ae]|no (?:te |se )?olvide?s?|no olvidar|tom[ae] nota",
        asks=(
            r"(?:puedes|podrías|puede|podría) (?:recordar|anotar|apuntar|guardar|memorizar|tener en cuenta"
            r"|tener presente)"
        ),
        that=r"(?:de )?que\b",
        this=r"esto|lo siguiente",
        own=(
            r"(?:yo|prefiero|soy|somos|tengo|tenemos|vivo|vivimos|trabajo|trabajamos|estoy|me (?:llamo|gusta"
            r"|gustan|encanta)|no (?:me|como|bebo|puedo))\b|(?:mi|mis|nuestr[oa]) [\w-]+ (?:es|son"
            r"|se llaman?|está|tiene)\b"
        ),
        it=(
            r"(?:y )?(?:recuérdalo|recuerda (?:esto|eso)|anótalo|apúntalo|guárdalo|no lo olvides"
            r"|no te olvides|acuérdate(?: de (?:esto|eso))?|tenlo (?:en cuenta|presente))"
        ),
        asks_it=r"(?:puedes|podrías) (?:recordarlo|anotarlo)",
        forget=r"olvídalo|olvida (?:esto|eso)|no lo (?:recuerdes|guardes|anotes|apuntes)",
        points=(
            r"(?:eso|esto|él|ella|ellos|ellas|aquí|así)\b|(?:ya )?te (?:dije|he dicho|conté)"
            r"|es (?:importante|cierto|verdad|urgente|así)\b"
        ),
        you=r"\b(?:tú|te|ti|tu|tus|usted|ustedes)\b",
        filler=r"bien|también|siempre",
        lead=r"hola|oye|ok|por cierto|ah|y|además",
    ),
    RequestWords(
        language="pt",
        stems=(
            "lembr", "memori", "em mente", "presente ", "anota", "anote", "guarda", "guarde", "esque",
            "toma nota", "tome nota",
        ),
        polite=r"por favor|por gentileza|obrigad[oa]|faz favor",
        remember=(
            r"lembre-se|lembra-te|lembre|lembra|se lembre|te lembra|memorize|memoriza|(?:tenha"
            r"|tem) (?:em mente|presente)|guarde na memória"
        ),
        note=r"anot[ae]|guard[ae]|não (?:se )?esqueça|não (?:te )?esqueças|não (?:se )?esquece|tom[ae] nota",
        asks=(
            r"(?:você )?(?:pode|poderia|podes|podias|consegue) (?:se lembrar|lembrar-se|lembrar-te|lembrar"
            r"|memorizar|anotar|guardar)"
        ),
        that=r"(?:de )?que\b",
        this=r"isto|isso|disto|disso|o seguinte",
        own=(
            r"(?:eu|prefiro|sou|somos|tenho|temos|moro|vivo|trabalho|estou|me chamo|nós|não (?:como|bebo"
            r"|gosto|posso))\b|(?:o meu|a minha|meu|minha|nosso|nossa) [\w-]+ (?:é|são|se chama|chama-se"
            r"|está|tem)\b"
        ),
        it=(
            r"(?:e )?(?:lembre-se disso|lembra-te disso|lembra disso|lembre disso|anot[ae] isso"
            r"|guard[ae] isso|não (?:se )?esqueça(?: disso)?|não (?:te )?esqueças(?: disso)?"
            r"|memoriz[ae] isso|tenha isso em mente)"
        ),
        asks_it=r"(?:você )?(?:pode|poderia) (?:se lembrar disso|lembrar disso|anotar isso)",
        forget=r"esque[çc]a(?: isso| disso)|esquece(?: isso)?|não (?:guarde|lembre|anote|memorize) isso",
        points=(
            r"(?:isso|isto|aquilo|ele|ela|eles|elas|aqui)\b|(?:eu )?(?:já )?(?:te|lhe) (?:falei|disse"
            r"|contei)|é (?:importante|verdade|urgente|assim)\b"
        ),
        you=r"\b(?:você|vocês|te|ti|teus?|tuas?)\b",
        filler=r"bem|também|sempre",
        lead=r"olá|oi|ok|aliás|a propósito|ah|e|também",
    ),
    RequestWords(
        language="it",
        stems=(
            "ricord", "a mente", "in mente", "presente ", "memorizz", "annota ", "annotati ", "annotar",
            "annotalo", "segna", "salva", "dimentic", "scord", "prendi nota",
        ),
        polite=r"per favore|per cortesia|per piacere|grazie",
        remember=(
            r"ricordati|ricorda|ricordatevi|si ricordi|tien[i] (?:a mente|presente|in mente)"
            r"|tenga (?:a mente|presente)|memorizza"
        ),
        note=(
            r"annotati|annota|segnati|segna|salva|non (?:dimenticare|dimenticarti|scordare|scordarti)"
            r"|prendi nota"
        ),
        asks=(
            r"(?:puoi|potresti|può|potrebbe) (?:ricordare|ricordarti|ricordarsi|memorizzare|annotare"
            r"|annotarti|segnarti|tenere a mente|tenere presente)"
        ),
        that=r"(?:del fatto )?(?:che\b|ch')",
        this=r"questo|quanto segue|una cosa",
        own=(
            r"(?:io|preferisco|sono|siamo|ho|abbiamo|vivo|abito|lavoro|mi (?:chiamo|piace|piacciono)"
            r"|non (?:mangio|bevo|mi))\b|(?:il mio|la mia|i miei|le mie|mio|mia|il nostro"
            r"|la nostra) [\w-]+ (?:è|sono|si chiama|ha)\b"
        ),
        it=(
            r"(?:e )?(?:ricordalo|ricordatelo|ricordati (?:di )?(?:questo|ciò)|tienilo (?:a mente|presente)"
            r"|segnatelo|annotalo|non (?:dimenticarlo|dimenticartelo|scordarlo|scordartelo)|memorizzalo)"
        ),
        asks_it=r"(?:puoi|potresti) (?:ricordarlo|ricordartelo|segnartelo)",
        forget=(
            r"dimenticalo|dimentica (?:questo|quello|tutto)|lascia perdere|non (?:ricordarlo|salvarlo"
            r"|memorizzarlo)"
        ),
        points=(
            r"(?:questo|quello|ciò|lui|lei|loro|qui|lì)\b|te l'ho detto|ti ho detto|è (?:importante|vero"
            r"|urgente|così)\b"
        ),
        you=r"\b(?:tu|ti|te|tuo|tua|tuoi|tue|voi|vostr\w)\b",
        filler=r"bene|anche|sempre",
        lead=r"ciao|ehi|ok|comunque|a proposito|ah|e|inoltre",
    ),
    RequestWords(
        language="nl",
        stems=("onthou", "gedachten", "rekening", "noteer", "noteren", "schrijf", "vergeet", "vergeten",
               "denk", "bewaar"),
        polite=r"alsjeblieft|alstublieft|aub|a\.u\.b\.|bedankt|dank je|dankjewel",
        remember=r"onthoudt?|onthou|houd? in gedachten|houd? er rekening mee|ik wil dat je onthoudt",
        note=r"noteer|schrijf op|vergeet niet|denk eraan|denk er aan|bewaar",
        asks=(
            r"(?:kun|kan|wil|zou|kunt|wilt) (?:je|jij|u) (?:willen )?(?:onthouden|noteren"
            r"|in gedachten houden)"
        ),
        # "onthoud dat wachtwoord" means a thing
        that=r"dat (?=(?:ik|wij|we|mijn|ons|onze|de|het|een|er|bij|in|op|elke?|(?-i:[A-Z])\w*)\b)",
        this=r"dit|dat|het volgende|één ding",
        own=r"(?:ik|wij|we)\b|(?:mijn|onze?) [\w-]+ (?:is|zijn|heet|heten|heeft|woont)\b",
        it=(
            r"(?:en )?(?:onthoud (?:dat|dit|het)|vergeet (?:dat|het|dit) niet|niet vergeten|noteer (?:dat"
            r"|dit)|schrijf dat op)"
        ),
        asks_it=r"(?:kun|kan|wil) (?:je|u) (?:dat|dit) onthouden",
        forget=r"vergeet (?:dat|het|dit)(?: maar| weer)?|onthoud (?:dat|dit|het) niet|niet onthouden",
        points=(
            r"(?:dit|dat|hij|zij|ze|hier|daar)\b|het \w+ (?:is|was)\W*$|ik (?:je|het je|dat)\b"
        ),
        you=r"\b(?:je|jij|jou|jouw|jullie|u|uw)\b",
        filler=r"goed|even|maar|ook|wel",
        lead=r"hallo|hoi|hey|ok(?:é|ay)?|trouwens|oh|en|ook",
        verb_last=(
            rf"(?P<subject>ik) (?P<middle>{_DUTCH_MIDDLE}) (?P<verb>{_DUTCH_I})"
            rf"|(?P<subject3>we|wij) (?P<middle3>{_DUTCH_MIDDLE}) (?P<verb3>{_DUTCH_WE})"
            r"|(?P<subject2>(?:mijn|onze?) [\w-]+) (?P<middle2>[A-Z][\w-]*) (?P<verb2>heet)"
        ),
    ),
    RequestWords(
        language="pl",
        stems=("pamięta", "zapisz", "zapisać", "zanot", "zapom", "uwadze"),
        polite=r"proszę|prosze|dziękuję|dzięki",
        remember=r"zapamiętaj|zapamiętajcie|pamiętaj|pamiętajcie|miej (?:na uwadze|w pamięci)",
        note=r"zapisz|zanotuj|nie (?:zapomnij|zapominaj)",
        asks=(
            r"(?:czy )?(?:możesz|mógłbyś|mogłabyś|może pan|może pani) (?:zapamiętać|zapisać|zanotować"
            r"|pamiętać)"
        ),
        that=r"(?:o tym, )?(?:że|iż)\b",
        this=r"to|jedno|następującą rzecz",
        own=(
            r"(?:ja|jestem|jesteśmy|mam|mamy|mieszkam|pracuję|lubię|wolę|nie (?:jem|piję|lubię|mogę|mam"
            r"|jestem))\b|(?:mój|moja|moje|nasz|nasza|nasze) [\w-]+ (?:to|jest|ma|nazywa się|mieszka)\b"
        ),
        it=(
            r"(?:i )?(?:zapamiętaj to|pamiętaj o tym|nie zapomnij(?: o tym| tego)?|zapisz to|zanotuj to"
            r"|zapamiętaj)"
        ),
        asks_it=r"(?:czy )?(?:możesz|mógłbyś|mogłabyś) to zapamiętać",
        forget=r"zapomnij(?: o tym| to)|nie (?:zapamiętuj|zapisuj) tego",
        points=r"(?:to|on|ona|ono|oni|one|tutaj|tu|tam)\b|(?:ci )?(?:mówił[ea]m|powiedział[ea]m)",
        you=r"\b(?:ty|ci|ciebie|tobie|tw[oó]\w+|możesz|musisz|masz)\b",
        filler=r"sobie|dobrze|też|także",
        lead=r"cześć|hej|ok|a propos|przy okazji|i|a",
    ),
    RequestWords(
        language="ru",
        stems=("запомн", "помни", "виду", "учти", "запиши", "записа", "забуд", "забыва", "заметку", "сохрани",
               "запоминай"),
        polite=r"пожалуйста|плиз|спасибо",
        remember=r"запомни(?:те)?|помни(?:те)?|имей(?:те)? в виду|учти(?:те)?|возьми(?:те)? на заметку",
        note=r"запиши(?:те)?|сохрани(?:те)?|не (?:забудь(?:те)?|забывай(?:те)?)",
        asks=(
            r"(?:ты |вы )?(?:не )?(?:можешь|можете|мог бы|могла бы|могли бы|могли бы вы"
            r"|мог бы ты) (?:запомнить|записать)"
        ),
        that=r"что\b",
        this=r"это|следующее|вот что",
        own=r"(?:я|мы|у меня|у нас|мне|меня)\b|(?:мой|моя|моё|мое|мои|наш|наша|наше|наши)\b",
        it=(
            r"(?:и )?(?:запомни(?:те)? это|это запомни(?:те)?|запомни(?:те)?|не забудь(?:те)?(?: об этом"
            r"| это)?|имей(?:те)? (?:это )?в виду|запиши(?:те)? это|учти(?:те)?(?: это)?)"
        ),
        asks_it=r"(?:ты )?(?:можешь|можете) это запомнить",
        forget=r"забудь(?:те)?(?: об этом| это)|не (?:запоминай|записывай)(?:те)?(?: это| этого)?",
        points=(
            r"(?:это|этот|эта|он|она|оно|они|здесь|тут|там)\b|я (?:тебе |вам |уже |только что )*(?:сказал"
            r"|говорил|писал|написал)"
        ),
        you=r"\b(?:ты|тебя|тебе|тво\w+|вы|вас|вам|ваш\w*|можешь|можете)\b",
        filler=r"себе|хорошенько|также|ещё",
        lead=r"привет|здравствуйте|ок|кстати|и|а|да",
    ),
    RequestWords(
        language="uk",
        stems=("пам'ят", "увазі", "уваги", "запиши", "записати", "забуд", "забува", "збережи"),
        polite=r"будь ласка|прошу|дякую",
        remember=r"запам'ятай(?:те)?|пам'ятай(?:те)?|май(?:те)? на увазі|візьми(?:те)? до уваги",
        note=r"запиши(?:те)?|збережи|не (?:забудь(?:те)?|забувай(?:те)?)",
        asks=r"(?:чи )?(?:ти |ви )?(?:можеш|можете|міг би|могла б|могли б) (?:запам'ятати|записати)",
        that=r"що\b",
        this=r"це|таке|наступне",
        own=r"(?:я|ми|у мене|в мене|у нас|мені|мене)\b|(?:мій|моя|моє|мої|наш|наша|наше|наші)\b",
        it=(
            r"(?:і |й )?(?:запам'ятай(?:те)? це|запам'ятай(?:те)?|пам'ятай(?:те)? про це"
            r"|не забудь(?:те)?(?: про це| це)?|май(?:те)? (?:це )?на увазі|запиши(?:те)? це)"
        ),
        asks_it=r"(?:ти )?(?:можеш|можете) це запам'ятати",
        forget=r"забудь(?:те)?(?: про це| це)|не (?:запам'ятовуй|записуй)(?:те)?(?: це| цього)?",
        points=(
            r"(?:це|цей|ця|він|вона|воно|вони|тут|там)\b|я (?:тобі |вам |вже |щойно )*(?:сказа|каза|говори"
            r"|писа)"
        ),
        you=r"\b(?:ти|тебе|тобі|тво\w+|ви|вас|вам|ваш\w*|можеш|можете)\b",
        filler=r"собі|також|ще",
        lead=r"привіт|ок|до речі|і|а|так",
    ),
    RequestWords(
        language="zh",
        stems=("记", "記", "忘"),
        polite=r"请|請|麻烦你?|麻煩你?|拜托|谢谢|謝謝",
        remember=r"(?:帮我|幫我|替我)?(?:你)?(?:一定)?(?:要)?(?:记住|記住|牢记)(?:一下|了)?(?!的)",
        note=r"(?:帮我|幫我)?(?:记得|記得|别忘了|別忘了|不要忘记|不要忘了|记下|記下|记一下)",
        asks=r"(?:你)?(?:能不能|可不可以|能|可以)(?:帮我|請|请)?(?:记住|記住|记下|記下)",
        # a clause follows directly when it speaks of the speaker, or says what something is
        that=(
            r"[，,]?(?=我(?!的|们|們|说|說|刚|剛|告诉|告訴|跟你|要去)|(?:我的|我们|我們|我家"
            r"|公司)[^，,。]{0,12}?(?:是|叫|在|有|为|為|不|会|會|每))|(?=(?!这|那|它|他|她|什么|甚麼|谁|哪"
            r"|怎|如何|要|去|把|别|买)[^，,。我]{2,12}(?:是|叫做)(?!什么|谁|哪|否))"
        ),
        this=r"这个|這個|以下内容|这一点|这件事",
        own=r"(?!)",
        it=(
            r"(?:帮我|幫我)?(?:记住|記住|记下来|記下來|记一下|记好|记下|别忘了|別忘了|不要忘记)(?:这一点"
            r"|这点|这个|這個|这件事|它)?(?:了|哦|吧|啊|喔)?"
        ),
        asks_it=r"(?:你)?(?:能|可以)(?:帮我)?(?:记住|记下)(?:这个|这一点|这点|它)?(?:吗|嗎)?",
        forget=(
            r"(?:忘了|忘记|忘掉)(?:这个|这件事|它|吧)+|(?:不要|别|不用)(?:记住|记下|记)(?:这个|这件事|它)?"
        ),
        points=r"这|那|它|他|她|上面|以上|刚才",
        you=r"你|您",
        lead=r"你好|对了|顺便说一下|順便說一下|好的|另外|还有",
        spaced=False,
    ),
    RequestWords(
        language="ja",
        stems=("覚え", "記憶", "おぼえ", "忘れ"),
        polite=r"お願い(?:します)?|どうか|ぜひ|ありがとう(?:ございます)?",
        remember=(
            r"(?:次のこと|以下のこと|以下|これ|このこと)?を?(?:覚えて|おぼえて|記憶して)(?:おいて|いて|ね"
            r"|ください|下さい)(?:ください|下さい|ほしい|欲しい|です|ね|よ|くれ)*"
        ),
        note=_NEVER,
        asks=(
            r"(?:覚えて|おぼえて|記憶して)(?:おいて)?(?:くれる|くれない|くれます|もらえる|もらえます"
            r"|いただけます)か?"
        ),
        that=_NEVER,
        this=r"これを?|次のことを",
        own=r"(?:私|わたし|僕|ぼく|俺|うち|自分)(?:は|が|の|たち)",
        it=(
            r"(?:これを?|それを?|このことを?|そのことを?|ちゃんと|どうか)*(?:(?:覚えて|おぼえて"
            r"|記憶して)(?:おいて|いて|ね|ください|下さい)(?:ください|下さい|ほしい|欲しい|です|ね|よ|くれ)*"
            r"|覚えといて(?:ください|ね)?|忘れないで(?:ください|ね)*)"
        ),
        asks_it=r"(?:覚えて|おぼえて)(?:おいて)?(?:くれる|くれない|くれます|もらえる|もらえます)か?",
        forget=r"(?:これは?|それは?|今のは?)?(?:忘れて|覚えなくていい)(?:ください|下さい|です|ね|よ|いい)*",
        points=r"これ|それ|あれ|彼|彼女|そこ|ここ|この|その",
        you=r"あなた|お客様",
        lead=r"ちなみに|あと|そういえば|こんにちは|ところで",
        ending=(
            r"(?P<rest>(?=.*[はが]).+?)(?:という(?:こと|の)を?は?|ってことを?|ことを|なのを"
            r"|(?<=[だですまいた])と|って)(?:どうか|ちゃんと)?(?:(?:覚えて|おぼえて|記憶して)(?:おいて|いて"
            r"|ね|ください|下さい)(?:ください|下さい|ほしい|欲しい|です|ね|よ|くれ)*|覚えといて(?:ください"
            r"|ね)?|忘れないで(?:ください|ね)*|覚えて(?:おいて)?(?:くれる|くれない|くれます|もらえる"
            r"|もらえます)か?[?？]*)"
        ),
        spaced=False,
    ),
    RequestWords(
        language="ko",
        stems=("기억", "잊지", "잊어"),
        polite=r"부탁해|부탁해요|부탁합니다|제발|고마워|감사합니다",
        remember=r"(?:이것을?|이걸|다음을|꼭 )?기억해 ?(?:줘|주세요|두세요|둬|놔|주십시오)(?:요)?|기억하세요",
        note=_NEVER,
        asks=r"기억해 ?(?:줄래|줄래요|주실래요|줄 수 있어|줄 수 있나요|주실 수 있나요|줄 수 있을까)",
        that=_NEVER,
        this=r"이것을?|이걸",
        own=r"(?:나는|난|내|내가|저는|전|제|제가|우리|우리는|저희|저희는)(?= )",
        it=(
            r"(?:이걸 |이거 |그걸 |그거 |이 점 |꼭 |이것을 )*(?:기억해 ?(?:줘|주세요|두세요|둬|놔"
            r"|주십시오)(?:요)?|기억하세요|잊지 ?(?:마|마세요|말아 줘|말아줘|말아요|말아 주세요))"
        ),
        asks_it=r"(?:이걸 |이거 |그걸 )?기억해 ?(?:줄래|줄래요|주실래요|줄 수 있어|줄 수 있나요)",
        forget=(
            r"(?:이건 |그건 |이거 |그거 |방금 건 )?(?:잊어 ?(?:줘|버려|주세요)|기억하지 ?(?:마|마세요"
            r"|말아 줘))"
        ),
        points=r"(?:이것|그것|저것|이거|그거|이건|그건|그는|그녀|여기|거기)",
        you=r"당신|너는|네가|네 ",
        lead=r"안녕|안녕하세요|참고로|그리고|아|참",
        ending=(
            r"(?P<rest>.+?(?:다(?=는 )|(?<=[가-힣])(?=이?라[는고] ?)|다(?=고 )))(?:이?라)?(?:는 (?:것을?|걸"
            r"|거|점을?|사실을?)|고) (?:꼭 )?(?:기억해 ?(?:줘|주세요|두세요|둬|놔|줄래|줄래요|줄 수 있어"
            r"|줄 수 있나요)(?:요)?|기억하세요|잊지 ?(?:마|마세요|말아 줘|말아줘|말아요|말아 주세요))[?？]*"
        ),
    ),
    RequestWords(
        language="tr",
        stems=("unut", "hatırla", "aklında", "aklınızda", "not et", "kaydet"),
        polite=r"lütfen|teşekkürler|sağ ol|rica etsem",
        remember=r"(?:şunu |bunu )?(?:hatırla|aklında tut|aklınızda tutun|unutma|unutmayın|aklında bulunsun)",
        note=r"(?:şunu |bunu )?(?:not et|kaydet)",
        asks=r"(?:şunu |bunu )?(?:aklında tutar mısın|aklınızda tutar mısınız|not eder misin)",
        that=r"ki\b",
        this=r"şunu|bunu",
        own=r"(?:ben|benim|biz|bizim|bende)\b",
        it=(
            r"(?:ve )?(?:bunu |şunu )?(?:unutma|unutmayın|hatırla|hatırlayın|aklında tut|aklınızda tutun"
            r"|aklında bulunsun|not et)"
        ),
        asks_it=r"(?:bunu )?(?:aklında tutar mısın|not eder misin)",
        forget=r"(?:bunu |onu )?(?:unut|unut gitsin|hatırlama|kaydetme|not etme)",
        points=r"(?:bu|şu|o|onlar|burada|orada)\b|sana söyledi",
        you=r"\b(?:sen|sana|seni|senin|siz|size|sizi|sizin)\b",
        filler=r"sakın|hep|iyi",
        lead=r"merhaba|selam|tamam|bu arada|ayrıca|ve",
        # "... çalıştığımı unutma": the clause is no sentence without its verb
        ending=(
            r"(?!sana |az önce |demin )(?=.* \w*[dt][ıiuü]ğ[ıiuü](?:m|n|mız|miz|muz"
            r"|müz)?[ıiuü] )\S+ .*[dt][ıiuü]ğ[ıiuü]\w* (?:lütfen )?(?:unutma|unutmayın|hatırla|hatırlayın"
            r"|aklında tut|aklınızda tutun|not et)"
        ),
    ),
)  # fmt: skip

LANGUAGES: tuple[RequestWords, ...] = (ENGLISH, *OTHERS)
