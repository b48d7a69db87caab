r"""The words around a secret in a sentence, in a dozen languages. Data only.

Patterns run on Latin-1 bytes: accented letters are written as `\x..`, and letters beyond Latin-1 are read as
the base letters that `plain_letters` maps them to ("hasło" as "haslo", "пароль" as "parolq").
"""

from __future__ import annotations

import unicodedata
from functools import cache

PASSWORD_MARK = "\x04"  # each character of a word for "password" in a script that the patterns do not see
# Such words, with their "is": they become marks of the same length, and a colon for "is".
MARKED_WORDS = (
    "密码是", "密码为", "密码", "密碼是", "密碼為", "密碼", "口令是", "口令", "密钥", "パスワードは",
    "パスワード",
    "パスは", "暗証番号は", "暗証番号", "비밀번호는", "비밀번호가", "비밀번호", "암호는", "암호",
    "패스워드는", "패스워드",
    "비번은", "비번",
)  # fmt: skip
_IS_SIGNS = "是为為는가은は"

PASS = (
    r"(?:password|passwd|passphrase|passcode|passwort|kennwort|contrase\S{1,2}a|mot de passe|\bmdp\b|senha"
    r"|parola|palavra[- ]passe|wachtwoord|\bhasl[oa]\b|\bparol[qea]\b|\bsifre(?:m|si|miz)?\b"
    r"|mat khau|l[o\xf6]senord|\bheslo\b|adgangskode|salasana|\x04{2,6}|\bpword"
    r"|(?:\b|_)(?:pass|pwd|pw)(?:\b|_))"
)
PASS_KEYWORDS = (
    "passw", "passphrase", "passcode", "kennwort", "contrase", "mot de passe", "mdp", "senha", "parola",
    "palavra", "wachtwoord", "hasl", "parol", "sifre", "mat khau", "senord", "heslo", "adgangskode",
    "salasana",
    "pword", "pwd", "pw", "pass", PASSWORD_MARK,
)  # fmt: skip
# The same words where one word of a sentence may be the value: without the verb "to pass" and plurals.
SPOKEN_PASS = (
    r"(?:\b(?:pass(?:word|code|phrase|wort)|kennwort|contrase\S{1,2}a|mot de passe|mdp|senha|parola d'ordine"
    r"|palavra[- ]passe|wachtwoord|haslo|parolq|sifre(?:m|si|miz)?|mat khau|losenord|heslo|adgangskode"
    r"|salasana|pwd?)\b"
    r"|l\xf6senord\b|[a-z\xe4\xf6\xfc]{3,20}(?:passwort|kennwort|wachtwoord)\b)"
)
FOR = (
    r"[ \t](?:for|to|of|on|at|from|f\xfcrs?|zu[mr]?|vom|von|de|del|du|pour|para|do|da|dos|voor|van|ot|dla|k"
    r"|per|della|al)[ \t][\w.'\-/\x80-\xff]{1,20}(?:[ \t][\w.'\-/\x80-\xff]{1,20}){0,3}?"
)
OF = f"(?:{FOR})?"
SPOKEN_IS = (
    r"(?:[ \t](?:is|ist|lautet|est|es|\xe9|\xe8|e'|jest|to jest|eto|\xe4r)[ \t]{1,3}(?:now |still )?"
    r"|[ \t]-[ \t]|'s[ \t])"
)
# "Is" between a password's name and its value; "e'" is Italian as typed in haste.
IS = (
    r"(?:\bis\b|\bist\b|\blautet\b|\bwas\b|\best\b|\bes\b|[ \t](?:\xe9|\xe8|e'|\xe4r|eto)[ \t]"
    r"|\bjest\b|\bolarak\b)"
)
NETWORK = (
    r"(?:\bwi-?fi|\bwlan|\bwireless|hotspot|\brouter|fritz!?box|\bssid|\bwpa[23]?\b|\bvaif[ai]|\bred inal"
    r"|\bguest network|\bg[a\xe4]stenetz|\brede sem fio|\bkablosuz)"
)
NETWORK_KEY = r"(?:\b(?:key|code|clave|chiave|chave|sleutel|klucz|kluc)\b|schl\xfcssel\b)"
NETWORK_KEYWORDS = (
    "wifi", "wi-fi", "wlan", "wireless", "hotspot", "router", "fritz", "ssid", "wpa", "vaif", "red inal",
    "guest network", "stenetz", "rede sem", "kablosuz",
)  # fmt: skip

# What a sentence about a password goes on with; these end what may be the password.
GOES_ON = frozenset(
    b"""
    is ist lautet est es jest eto
    a an and as at but by for from if in into is it its like of on or so than that the then there this
    to until
    when where which while with you your we our because after before since please again now today
    yesterday ask
    und oder aber f\xfcr auf im am bei die der das den ein eine von zum zur mit sich wenn weil bitte
    auch
    et ou mais pour dans sur de du la le les un une des avec chez merci aussi
    y o pero para en el los las una del con por
    e ma per nel nella il lo gli di da su che con
    ou mas no na os as do da em um uma
    en of maar voor op het een van met in de
    i a ale dla w na do z lub oraz
    ve ama i\xe7in ile bir bu de da icin
    i no v dla s ili ot na k
    """.split()
)
# What people say of a password that is none.
SAID_OF_ONE = frozenset(
    b"""
    required optional incorrect correct invalid valid wrong right empty missing unknown changed default
    protected encrypted hashed stored manager managers field fields input value reset should cannot
    authentication varchar char number boolean object function const await return this self not never
    always only just still very too same different unique case-sensitive sensitive secret safe secure
    insecure strong weak good fine okay short long longer shorter simple random temporary expired known
    printed written saved visible hidden shown set unset used blank null what here there below above
    part also already being needed necessary mandatory something anything nothing everything somewhere
    sent easy hard complex identical plain plaintext text base exactly whatever generated going about
    enough ready gone old new one two three four prompt dialog form policy change problem problems issue
    issues question update help entry box cracking security separate chosen strength length screen page
    hint autofill sharing protection settings setting recovery login input.value user username name
    string type event element attribute method property
    falsch richtig leer geheim sicher unsicher erforderlich notwendig optional ung\xfcltig g\xfcltig
    abgelaufen gespeichert ge\xe4ndert vergessen unbekannt bekannt zu nicht kein keine immer noch nur
    stark schwach lang kurz gleich anders neu alt hier verschl\xfcsselt vorhanden korrekt ausreichend
    ge\xe4ndert. manager
    obligatoire requis n\xe9cessaire oubli\xe9 chang\xe9 expir\xe9 vide faux trop pas toujours encore
    tr\xe8s inconnu valide invalide incorrecte s\xe9curis\xe9 fort faible le stock\xe9 chiffr\xe9
    incorrecta correcta obligatoria necesaria segura d\xe9bil fuerte muy demasiado no nunca siempre la
    inv\xe1lida v\xe1lida vac\xeda requerida secreta larga corta nueva vieja desconocida
    errata corretta obbligatoria necessaria sicura debole forte molto troppo non sempre scaduta vuota
    lunga sbagliata nuova vecchia sconosciuta richiesta
    incorreta correta obrigat\xf3ria necess\xe1ria fraca muito demais n\xe3o vazia nova velha expirada
    exigida longa curta desconhecida
    verplicht onjuist juist fout verkeerd leeg veilig onveilig vereist nodig te niet altijd sterk zwak
    verlopen gewijzigd vergeten onbekend nieuw oud
    nieprawidlowe bledne poprawne wymagane puste bezpieczne silne slabe zbyt nie zawsze wygaslo nieznane
    nowe
    gerekli yanlis hatali dogru zorunlu bos guvenli gucsuz zayif cok degil degisti
    nevernyi neverniy pravilqnyi obazatelen pustoi ne slishkom silqnyi slabyi izmenen zabyt ustarel
    """.split()
)
_CYRILLIC = dict(
    zip("абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ", "abvgdeejziiklmnoprstufhccssqyqeuaiieg", strict=True)
)
_LETTERS = {"ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ħ": "h", "ı": "i", "œ": "o", "Œ": "O", "ŋ": "n"}


@cache
def plain_letters() -> dict[int, str]:
    """Map letters beyond Latin-1 to one base letter each, for `str.translate`."""
    table = {**_LETTERS, **_CYRILLIC, **{k.upper(): v.upper() for k, v in _CYRILLIC.items()}}
    for code in (*range(0x100, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii():
            table.setdefault(chr(code), base)
    return {ord(letter): base for letter, base in table.items()}


@cache
def marked_words() -> tuple[tuple[str, str], ...]:
    """Words and their marks of equal length, longer words first."""
    endings = dict.fromkeys(_IS_SIGNS, ":")
    words = sorted(MARKED_WORDS, key=len, reverse=True)
    return tuple(
        (word, PASSWORD_MARK * (len(word) - 1) + endings.get(word[-1], PASSWORD_MARK)) for word in words
    )
