"""Words that the comparison of statements knows: data only, in plain spelling.

Small on purpose: what is not listed makes two statements look less alike, and two lines that say the same
cost less than one line that lost a fact.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Grammar, and what adds no fact. Not here: whatever says how often, how much, whose, when or whether.
LIGHT = word_set("""
    a an the this that these those there here and or of in on at to for with by as from into about
    is are was were be been being am has have had having do does did done doing get gets got getting
    i me my mine myself you your yours he him his himself she her hers herself it its itself we us our ours
    they them their theirs themselves who whom which what when where while so also just really very quite
    actually definitely simply basically overall currently now presently nowadays lately recently
    some any own will would shall can could s d ll ve re m t it's that's he's she's i'm i've they're we're
    up over across through during within per such thing things lot lots
    especially particularly generally mostly usually typically both together
    """) | frozenset("的了是在和与也都就很把被对从向着过吗呢吧啊个位名们这那有用户")

# Where a capital is a matter of title case, and no name: "The Great Gatsby".
TITLE_WORDS = word_set("the a an of in on and to for with at by from i")

GENERIC = word_set("user users user's owner person people someone somebody human client")

NEGATIONS = word_set("""
    not no never none nothing nobody nowhere hardly barely neither nor without cannot lacks lack
    stopped stop stops quit quits avoid avoids avoided avoiding refuse refuses refused
    isnt dont doesnt didnt wont cant wasnt cancelled canceled cancels dropped lost sold
    不 没 别 勿 未 无 非 否 莫 讨 厌
    """)

# One word for "not" and another word.
DENIALS = {
    form: word
    for word, forms in {"like": "dislike dislikes disliked hate hates hated", "able": "unable"}.items()
    for form in forms.split()
}

# What turns a statement into another one although all other words stay. Two texts that differ here differ.
_TURNS = {
    "only": "only solely exclusively", "except": "except unless but however although though despite",
    "than": "than rather versus vs", "less": "less fewer", "more": "more", "instead": "instead",
    "before": "before", "after": "after", "until": "until till", "since": "since",
    "if": "if whether depending", "seldom": "sometimes rarely seldom occasionally",
    "past": "formerly previously former ex previous originally past old earlier",
    "first": "first", "second": "second", "third": "third", "next": "next", "last": "last final",
    "other": "another other else different", "almost": "almost nearly", "half": "half partly",
    "against": "against", "off": "off", "out": "out", "down": "down", "under": "under",
    "finish": "finished finish finishes completed", "left": "left", "end": "ended",
    "start": "started starts began", "fail": "failed fails fail missed broke",
    "plan": """
        plan plans planned planning want wants wanted hope hopes hoped hoping wish wishes consider considers
        considering considered thinking might may maybe perhaps intend intends intending soon tomorrow
        should must need needs needed try tries trying tried asked asks looking aims aim goals target
        想 要 将 打 算
        """,
}  # fmt: skip
TURNS = {word: turn for turn, words in _TURNS.items() for word in words.split()}

KIN = word_set("""
    mother father parent sister brother sibling son daughter child wife husband partner girlfriend boyfriend
    fiance spouse aunt uncle cousin niece nephew grandmother grandfather grandparent friend roommate
    neighbour colleague boss manager teacher teammate doctor family dog cat pet
    """)

MONTHS = {
    name: at
    for at, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    form: "@w" + day
    for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    for form in (day, day + "s")
}
_SMALL_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
NUMBER_WORDS = {
    **{word: str(at) for at, word in enumerate(_SMALL_NUMBERS.split())},
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80",
    "ninety": "90", "hundred": "100", "thousand": "1000", "once": "1", "twice": "2", "dozen": "12",
    **{char: str(at) for at, char in enumerate("零一二三四五六七八九十")}, "两": "2",
}  # fmt: skip

# Forms of one word that no ending tells. The past forms come first.
_IRREGULAR = """
    go: went goes gone going; do: doing; buy: bought; begin: began begun; take: took taken
    give: gave given; make: made; write: wrote written; run: ran; speak: spoke spoken; teach: taught
    drive: drove driven; eat: ate eaten; see: saw seen; come: came; become: became; find: found
    keep: kept; leave: left; meet: met; win: won; grow: grew grown; know: knew known; swim: swam
    sing: sang sung; wear: wore worn; choose: chose chosen; sleep: slept; spend: spent; build: built
    send: sent; say: said; tell: told; feel: felt; hold: held; child: children; wife: wives
"""
IRREGULAR = {
    form: base.strip()
    for entry in _IRREGULAR.replace("\n", ";").split(";")
    for base, _, forms in [entry.partition(":")]
    for form in forms.split()
}

# Words that agents swap freely when they note the same fact twice; never two values of one kind.
SYNONYMS = """
    like love enjoy adore fond fan keen
    prefer favor favour
    favorite favourite
    live reside based dwell
    work employed job
    own possess
    name call
    buy purchase
    child kid toddler
    mother mom mum
    father dad papa
    grandmother grandma granny
    grandfather grandpa
    movie film
    photo photograph picture
    car vehicle automobile
    big large huge
    small little tiny
    allergy allergic
    use utilize utilise
    phone smartphone cellphone mobile
    tv television
    bike bicycle
    learn study
    repair fix
    organize organise arrange
    create make
    email mail
    color colour
    neighbour neighbor
    colleague coworker
    doctor physician
    apartment flat
    vacation holiday
    daily everyday
    gift present
    quick fast rapid
    glad happy
    injure hurt
    visit go
    transgender trans
    put add
    support supporter
    program code
    misplace lose loses
    move relocate
"""

# Verbs that say no more than "has" or "does": one text may have them where the other has none.
WEAK = word_set("owns practice practise suffer hold keep receive possess")

# They may stand behind any sentence: the word before them is still the thing that is spoken of.
ADVERBS = word_set("everywhere always often regularly abroad online alone together again outside indoors too")

# Values of one kind: of one thing, only one of a line can be so at a time.
KINDS = """
    dark light
    morning afternoon evening night
    early late
    hot cold
    cheap expensive
    single married wed divorced engaged widowed relationship
    open closed
    enabled disabled
    public private
    remote office onsite hybrid
    indoor outdoor
    vegetarian vegan meat pescatarian
    tabs spaces
    metric imperial
    formal informal casual
    quiet loud
    introvert extrovert
    mandatory optional required
    daily weekly monthly yearly annual quarterly
    short long
    short detailed
    brief concise verbose
    active inactive
    alive dead
    celsius fahrenheit
    small medium large
    red blue green yellow black white gray grey orange purple pink brown
"""

# What one thing or person has one of: a value that is told anew replaces the old one.
ATTRIBUTES = word_set("""
    name deadline status goal budget password timezone birthday email phone address salary rent price height
    weight age size version editor theme default port title role position employer favourite number capacity
    limit rate score level focus major system background city country hometown owner provider host branch
    database framework language compiler shell browser font license region
    """)
# Somebody has one of these at a time; many things are told of them, so only a name replaces a name.
PERSONS = word_set("""
    boss manager mentor wife husband partner girlfriend boyfriend spouse fiance roommate doctor therapist
    landlord assistant
    """)

# A place in a country is no other place than the country.
COUNTRIES = word_set("""
    argentina australia austria belgium brazil canada chile china colombia croatia cuba denmark egypt england
    ethiopia europe finland france germany ghana greece hungary iceland india indonesia iran iraq ireland
    israel italy jamaica japan kenya korea malaysia mexico morocco nepal netherlands nigeria norway pakistan
    peru philippines poland portugal romania russia scotland serbia singapore spain sweden switzerland taiwan
    thailand turkey uganda uk ukraine usa vietnam wales america asia africa california texas florida
    """)

# Past forms that tell a change: "moved to", "switched from ... to". Add a verb here to have it understood.
CHANGES = """
    moved changed switched migrated upgraded downgraded updated bumped raised lowered increased reduced
    rose dropped pushed postponed rescheduled delayed shifted transferred converted relocated renamed extended
    shortened
"""
# Verbs that say only that something is so: a change ends "runs on A", "uses A" and "lives in A" alike.
STATES = word_set("""
    use run host store live work call name drive take keep prefer  serve schedule plan base locate
    happen occur start begin held set
    """)
# Things of which people use one at a time, a kind in each line.
EXCHANGED = """
    vim neovim emacs vscode vs code helix nano sublime intellij pycharm zed notepad
    chrome firefox safari edge brave vivaldi opera
    npm pnpm yarn bun
    pip poetry uv pipenv conda
    postgresql postgres mysql mariadb sqlite oracle mongodb
    bash zsh fish powershell nushell
    windows macos linux ubuntu debian fedora arch
    slack teams discord mattermost zulip
    evernote notion obsidian onenote logseq joplin
    jenkins circleci travis
    heroku netlify vercel cloudflare render
    spotify tidal deezer
    jira linear asana trello
    docker podman
    iphone android
"""
