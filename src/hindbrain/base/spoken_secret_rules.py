r"""Rules for secrets that are words or digits: spoken passwords, PINs, seed phrases, recovery codes.

Only what is said around them gives them away. The rules of writing patterns are those of `secret_rules`.
"""

from collections.abc import Iterator

from hindbrain.base.secret_rule import CHOSEN, Rule
from hindbrain.base.secret_words import (
    FOR,
    IS,
    NETWORK,
    NETWORK_KEY,
    NETWORK_KEYWORDS,
    OF,
    PASS,
    PASS_KEYWORDS,
    PASSWORD_MARK,
    SPOKEN_IS,
    SPOKEN_PASS,
)

# Up to the sentence's end; `secrets` cuts it where the sentence goes on.
_SAID = r"[\"'`*]{0,3}[ \t]{0,4}([^\s\"'`|<>,;:.(){}\[\]$\\=\x00\x01\x04][^\n\"'`|<>\x00\x01\x04]{3,60})"
_TO_LINE_END = r"([^\s\"'`|<>:.\x00\x01][^\n\"'`|<>:.\x00\x01]{3,40})[.!]?[ \t\r]{0,4}(?:\n|$)"
_QUOTED = (
    r"(?:\"([^\"\n\x00\x01]{4,60})\"|'([^'\n\x00\x01]{4,60})'|`([^`\n\x00\x01]{4,60})`"
    r"|\*\*([^*\n\x00\x01]{4,60})\*\*)"
)
_ABOUT = r"[\w .,:\-/()'\x80-\xff]{0,40}?"  # "for the guest network"
_TO_SAID = rf"{_ABOUT}[\"'`*\]]{{0,3}}[ \t]{{0,4}}(?:=>|:=|[=:|>-]|\x01|{IS})"
_DIGITS = r"(\d(?:[ -]?\d){3,7})(?:[^\w%]|$)"
_TO_DIGITS = (
    r"[\w /()'\x80-\xff-]{0,32}?[\"'`*\]]{0,3}[ \t]{0,4}"
    rf"(?:[=:|>]|[ \t]-[ \t]|\x01{{1,5}}|,? it's|{IS})[ \t\"'`*]{{0,5}}"
)
_PIN = r"(?:PIN|Pin)(?:[- ]?(?:code|Code|kodu|number|Nummer))?"
_OWN_PIN = (
    r"(?:(?:my|our|the|card|bank|phone|sim|atm|door|garage|alarm|voicemail)[ -]pin"
    r"|pin[- ]?(?:code|kod|number|nummer))"
)
_DOOR = (
    r"(?:door|gate|alarm|garage|entry|lock|lockbox|safe|locker|keypad|intercom|unlock|screen|phone|sim"
    r"|t\xfcr|tor|tresor|haust\xfcr|porte|puerta|alarma|porta|allarme|cancello|deur|kapi|zugangs|zutritts"
    r"|domofona?)"
)
_SEED = (
    r"(?:(?:seed|mnemonic|recovery|backup|wallet)[ -]?(?:phrase|words?|seed|mnemonic)|mnemonic|\bseed\b"
    r"|\bbip-?39)[^\n]{0,60}?(?:[:=|>]|\bis\b|\bare\b|\n)[\s\d.):*_`\"'-]{0,12}"
)
_SEED_GAP = (
    r"(?:[ \t]{1,4}|[ \t]?[,;|-][ \t]?\n?|[ \t]?\r?\n[ \t>*-]{0,4})(?:\d{1,2}[.):][ \t]?)?"  # no empty line
)
_SEED_WORDS = rf"([a-z]{{3,8}}(?:{_SEED_GAP}[a-z]{{3,8}}){{11,23}})(?:[^A-Za-z]|$)"
_SEED_LINE = r"(?:^|\n|[:=][ \t]{0,3})[ \t>*`\"'-]{0,6}"
_RECOVERY = (
    r"(?:recovery|backup|rescue|scratch|emergency|2fa|two[- ]factor|wiederherstellungs|ersatz|secours"
    r"|recuperaci\xf3n)[ -]?(?:sign-?in |login |access |verification )?(?:codes?|keys?|schl\xfcssel)\b"
)
# Groups of digits, groups joined by "-" with a digit in one of the first two, or letters and digits mixed.
_CODE = (
    r"(?:\d{3,6}(?:[ -]\d{3,6}){1,9}|[A-Za-z]{0,6}\d[A-Za-z0-9]{0,6}(?:-[A-Za-z0-9]{4,6}){1,9}"
    r"|[A-Za-z]{4,6}-[A-Za-z]{0,5}\d[A-Za-z0-9]{0,5}(?:-[A-Za-z0-9]{4,6}){0,9}"
    r"|[A-Za-z]{0,10}\d{1,10}[A-Za-z][A-Za-z0-9]{2,12}|\d{6,12})"
)
_NEXT_CODE = r"[\s,;|`*]{1,6}(?:\d{1,2}[.)] ?)?(?:[-*] (?:\[ \] )?)?`?"


def spoken_rules() -> Iterator[Rule]:
    yield from _passwords()
    yield from _digits()
    yield from _files()
    yield from _wallets()


def _passwords() -> Iterator[Rule]:
    key = rf"(?:{PASS}|{NETWORK_KEY})"
    for label in (rf"{NETWORK}{_ABOUT}{key}", rf"{key}[\w .\-'\x80-\xff]{{1,24}}?{NETWORK}"):
        quoted = rf"(?i){label}(?:{_TO_SAID})?[ \t]{{0,4}}{_QUOTED}"
        yield Rule("password", rf"(?i){label}{_TO_SAID}{_SAID}", NETWORK_KEYWORDS, 1.0, "said")
        yield Rule("password", quoted, NETWORK_KEYWORDS, 1.0, "quoted")
        yield Rule("password", rf"(?i){label}[ \t]{{1,4}}{_TO_LINE_END}", NETWORK_KEYWORDS, 1.0, "said")
        yield Rule("password", rf"(?i){label}[ \t]{{1,4}}{CHOSEN}", NETWORK_KEYWORDS, 1.0, "lettered")
    yield Rule("password", rf"(?i){SPOKEN_PASS}{OF}{SPOKEN_IS}{_SAID}", PASS_KEYWORDS, 1.0, "said")
    yield Rule("password", rf"(?i){SPOKEN_PASS}{OF}{SPOKEN_IS}{_QUOTED}", PASS_KEYWORDS, 1.0, "quoted")
    yield Rule("password", rf"(?i){SPOKEN_PASS}{FOR}[:=]{_SAID}", PASS_KEYWORDS, 1.0, "said")
    yield Rule("password", rf"(?i)\bhaslo{OF} to {_SAID}", ("haslo",), 1.0, "said")
    named = rf"(?i)(?:{SPOKEN_PASS}|\bparola)[ \t](?:to )?{CHOSEN}"
    yield Rule("password", named, PASS_KEYWORDS, 1.0, "lettered")
    # A Latin word after "密码：" is no adjective of the sentence, so one word is enough.
    marked = rf"{PASSWORD_MARK}[^\n:=]{{0,24}}[:=][ \t]{{0,4}}([!-~]{{4,64}})"
    yield Rule("password", marked, (PASSWORD_MARK,), 1.0, "said")


def _digits() -> Iterator[Rule]:
    yield Rule("pin", rf"\b{_PIN}{_TO_DIGITS}{_DIGITS}", ("pin",), 0.0)
    yield Rule("pin", rf"(?:\b|-){_PIN}[ \t]{{1,3}}{_DIGITS}", ("pin",), 0.0)
    yield Rule("pin", rf"\bpin[\"']?[ \t]?[=:][ \t]?[\"'`]?{_DIGITS}", ("pin",), 0.0)
    yield Rule("pin", rf"(?i)\b{_OWN_PIN}(?:{_TO_DIGITS}|[ \t]{{1,3}}){_DIGITS}", ("pin",), 0.0)
    yield Rule(
        "door code",
        rf"(?i)\b{_DOOR}[ -]?(?:code|kodu?|combination|kombination)(?:{_TO_DIGITS}|[ \t]{{1,3}}){_DIGITS}",
        ("code", "kod", "combination", "kombination"),
        0.0,
    )
    yield Rule(
        "door code",
        r"(?i)\b(?:code|combination|kombination|c\xf3digo|codice)\b[\w '\xc0-\xff]{1,20}\b"
        rf"{_DOOR}{_TO_DIGITS}{_DIGITS}",
        ("code", "combination", "kombination", "digo", "codice"),
        0.0,
    )


def _files() -> Iterator[Rule]:
    """Lines of .netrc, .htpasswd and /etc/shadow."""
    yield Rule(
        "netrc login",
        r"(?:\bmachine\s{1,8}[\w.:-]{1,128}|\bdefault)\s{1,8}login\s{1,8}\S{1,128}\s{1,8}"
        r"(?:account\s{1,8}\S{1,128}\s{1,8})?password\s{1,8}([^\s\x00\x01\"'`]{1,200})",
        ("machine", "default"),
        0.0,
        "given",
    )
    yield Rule(
        "password",
        r"\bhtpasswd[ \t]{1,4}-[A-Za-z]{0,8}b[A-Za-z]{0,8}[ \t]{1,4}(?:\S{1,200}[ \t]{1,4})?"
        r"[\w.@-]{1,64}[ \t]{1,4}([^\s\x00\x01\"'`]{1,200})",
        ("htpasswd",),
        0.0,
        "given",
    )
    schemes = ("apr1", "1", "5", "6", "y", "gy", "7", "2", "2a", "2b", "2x", "2y", "scrypt")
    yield Rule(
        "password hash",
        rf"\$(?:{'|'.join(schemes)}|argon2i?d?|pbkdf2[\w-]{{0,16}})\$[\w./$=,+-]{{22,200}}",
        (*(f"${scheme}$" for scheme in schemes), "$argon2", "$pbkdf2"),
        3.0,
    )
    hashed = r"\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{24,120}={0,2}"
    yield Rule("password hash", hashed, ("sha}", "sha256}", "sha512}"), 3.0)


def _wallets() -> Iterator[Rule]:
    seeds = ("seed", "mnemonic", "recovery", "backup", "wallet", "bip")
    yield Rule("seed phrase", rf"(?i){_SEED}{_SEED_WORDS}", seeds, 2.0, "seed")
    # Without a name: a line of nothing but such words, or a numbered list of them.
    words = rf"{_SEED_LINE}([a-z]{{3,8}}(?: [a-z]{{3,8}}){{11,23}})[ \t`\"'\r]{{0,3}}(?:\n|$)"
    yield Rule("seed phrase", words, (), 2.0, "seed", rf"{_SEED_LINE}[a-z]{{3,8}}(?: [a-z]{{3,8}}){{11}}")
    listed = r"\b1[.):] ?([a-z]{3,8}(?:[\s,;|]{1,3}\d{1,2}[.):] ?[a-z]{3,8}){11,23})(?:[^a-z]|$)"
    yield Rule("seed phrase", listed, (), 2.0, "seed", r"\b12[.):] ?[a-z]{3,8}(?:[^a-z]|$)")
    codes = rf"(?i)\b{_RECOVERY}[^\n:=|]{{0,40}}?[:=|]?{_NEXT_CODE}({_CODE}(?:{_NEXT_CODE}{_CODE})*)"
    yield Rule("recovery codes", codes, ("code", "key", "schl"), 1.5, "codes")
