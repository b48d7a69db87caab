"""Words of orders in English and German, by what they tell about a file. Tables; pure.

German verbs stand without the "e" that an imperative may end in.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Whether it holds, or is meant now, a model would have to say: what it may have been told by somebody else.
DOUBT = re.compile(
    r"""(?ix)\b(?:
    not|never|none?|nothing|without|avoid|instead|except|besides|rather|stop|nor|neither|refuse|forbid\w*|skip|
    ignore|leave|untouched|unchanged|intact|protect\w*|preserve|cancel|undo|but|hold|
    if|unless|when|whenever|while|once|after|before|until|till|provided|providing|assuming|suppos\w+|only|wait|
    ask|asks|confirm\w*|approv\w*|permission|allow\w*|consent|whether|or|how|why|
    later|tomorrow|tonight|someday|eventually|maybe|perhaps|possibly|might|may|should|would|could|can|shall|will|
    pretend|imagine|hypothetically|examples?|simulate|following|below|grammar|sentence|phrase|instructions?|
    (?:this|these)\s+(?:text|e?mails?|messages?|lines?|words?|paragraphs?)|
    (?:an?|the|new)\s+(?:task|reminder|to-?do|todo|appointment)|remind\w*|
    nicht|nie|niemals|kein\w*|ohne|außer|statt|anstatt|sondern|aber|wenn|falls|sofern|sobald|bevor|nachdem|erst|nur|
    bis|solange|vielleicht|eventuell|später|morgen|soll\w*|könnte\w*|würde\w*|darf\w*|dürfte\w*|kann\w*|bestätig\w*|
    genehmig\w*|zustimm\w*|rückfrage|frag\w*|warte\w*|ob|oder|wie|beispiel\w*|unverändert|lass\w*|folgende\w*|satz|
    aufgabe|erinner\w*|termin|diese\w*\s+(?:text|mail|nachricht|zeile)
    )\b|n['’]t\b"""
)
# Doubtful words that speak of the text to be written, or of the answer.
HARMLESS = re.compile(
    r"""(?ix)\b(?:no|not)\s+(?:more|longer|fewer|less)\s+than\s+\w+|\bhow\s+(?:many|much)\b
    |\b(?:without|no|ohne)\s+(?:any\s+)?(?:names|headings|bullets|bullet\s+points|emojis?|jargon|comments|tables|
    duplicates|namen|überschriften|tabellen)\b
    |\b(?:tell\s+me|let\s+me\s+know)\s+when\s+(?:you\s+are|you['’]re|it\s+is|it['’]s)\s+(?:done|ready|finished)\b"""
)

LEADS = _words(
    "please now then first also next finally and hi hey hello thanks "
    "bitte dann jetzt nun zuerst danach anschließend und auch hallo danke"
)
READING = _words(
    "read open look find search get fetch take check compare count list recall go load scan review run "
    "execute rerun "
    "describe explain calculate compute design build construct develop implement suggest identify select "
    "choose name "
    "solve plan invent compose "
    "lies öffn such schau nimm hol vergleich zähl durchsuch prüf führ start"
)
TRANSFORMING = _words("translate summarise summarize convert condense turn übersetz fass")
# What is not named may be the next sentence: "Explain. Write ..."
SPEAKING_OF = TRANSFORMING | {"describe", "explain"}
# The file behind the verb is what is taken; written is what stands behind "to", "into" or "as".
TAKING = TRANSFORMING | _words(
    "copy move rename duplicate extract collect gather save store put export append add insert "
    "kopier verschieb benenn sammle extrahier speicher exportier füg häng trag pack notier"
)
# The file behind the verb is what is written, if no other is named as that.
MAKING = _words(
    "write rewrite create make generate produce update edit change modify fill fix replace overwrite draft "
    "extend "
    "correct expand complete "
    "schreib erstell erzeug generier aktualisier änder bearbeit korrigier ersetz überschreib ergänz leg "
    "verfass"
)
GERMAN = _words(
    "öffn such schau nimm hol vergleich zähl durchsuch prüf führ start übersetz fass kopier verschieb "
    "benenn sammle "
    "extrahier speicher exportier füg häng trag pack notier schreib erstell erzeug generier aktualisier "
    "änder bearbeit "
    "korrigier ersetz überschreib ergänz leg verfass"
)
# With "in FILE" these write it; "make the changes in a.md" may mean either.
PUTTING = (MAKING - {"make", "generate", "produce"}) | _words("save store put add append insert")
# What may follow an order, without a file in it.
TAILS = _words(
    "keep use include mention start begin end limit sort format with in using tell show say let report "
    "answer at max "
    "thank each mit auf halte verwende nenne sag zeig melde maximal höchstens jeweils"
)
VERBS = (
    READING
    | TAKING
    | MAKING
    | _words("keep use include mention tell show say let report delete sag zeig melde")
)

# A deed to be talked about, inside of a clause.
NEVER_NOUNS = _words(
    "write overwrite rewrite save append create execute delete schreib speicher überschreib lösch"
)
GERUNDS = _words(
    "writing rewriting overwriting saving storing creating updating editing changing appending adding "
    "putting copying "
    "moving renaming replacing deleting running executing"
)

ARTICLES = _words(
    "the a an my our new file files note notes document page called named "
    "der die das den dem einer eine einen neue neuen neuer datei notiz dokument seite namens meine meiner"
)
INTO = _words("to into onto under nach unter")
NAMED = _words("as als")  # behind a verb that takes something: "save it as a.md"
LIKE = _words("as same such so")  # before "as": "as long as a.md"
INSIDE = _words("in inside within im")
EDGES = _words("end top bottom beginning start")
# Behind these "to" names what something is about: "an answer to a.md".
ABOUT = _words(
    "answer answers reply response introduction intro link links reference references pointer alternative "
    "sequel "
    "preface guide key letter mail email message note comment according similar next compared due related "
    "refers "
    "respect up close"
)
# Between a verb and "in FILE": something may be taken from that file.
FROM = _words("of from about on for to by what which who that where is are was were said says")
FINISHED = _words("written given shown found said told done known")
# What may stand behind a file that is written.
AFTER = _words(
    "with using from based containing in for about please now again first too "
    "mit aus für von bitte auf über um ein an hinzu zusammen ab"
)
