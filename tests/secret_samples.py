"""Secrets to look for, made by format with a seeded generator, in the places where people leave them.

None is real, and none stands in this file: prefixes and bodies meet only when a test runs.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

Make = Callable[[Random], str]

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


class Kind(NamedTuple):
    name: str
    prefixed: bool  # it tells itself by how it begins
    make: Make
    places: tuple[str, ...]  # texts with "{}" where the secret goes


class Sample(NamedTuple):
    kind: str
    prefixed: bool
    secret: str
    text: str


ANYWHERE = (
    "The one that works is {} as of Monday.",
    "Use {}.",
    'client = Client("{}", retries=3)',
    "SERVICE_CREDENTIAL={}",
    "service:\n  value: {}\n  region: eu\n",
    '{{"name": "prod", "value": "{}"}}',
    "| service | value | owner |\n|---|---|---|\n| billing | {} | ann |\n",
    "https://api.example.com/v1/items?k={}&page=2",
    "生产环境用的是{}，请不要告诉别人。",
    "本番環境では{}を使います。",
    "Run it with `{}` please.",
    "- {}",
    "> {}",
    "curl -H 'X-Service: {}' https://api.example.com/v1",
    '{{"log": "started\\n{}\\nended"}}',
    "see <code>{}</code>",
    "```sh\nexport SERVICE={}\nmake deploy\n```",
    "---\nservice: {}\n---\nText.",
)


def named(name: str, word: str = "key") -> tuple[str, ...]:
    """Where something stands that only its name gives away."""
    upper = f"{name}_api_{word}".upper()
    return (
        f"{upper}={{}}",
        f"export {upper}='{{}}'",
        f"{name}_{word}: {{}}",
        f'{{{{"{name}_{word}": "{{}}"}}}}',
        f'{name.title()}{word.title()} = "{{}}"',
        f"My {name.title()} {word} is {{}}.",
        f"{name.title()} API {word}: {{}}",
        f"| {name} {word} | {{}} |",
        f"我的 {name} {word}：{{}}。",
        f"- **{name.title()} {word}**: `{{}}`",
    )


PASSWORD = (
    "my password is {}",
    "The Wi-Fi password for the guest network is {} (ask Ann).",
    'password = "{}"',
    "DB_PASSWORD={}",
    "pwd: {}",
    '{{"user": "ann", "password": "{}"}}',
    "database:\n  user: ann\n  password: {}\n",
    "| password | {} |",
    "Passwort: {}",
    "mot de passe : {}",
    "密码：{}",
    "我的密码是{}，谢谢。",
    "パスワードは{}です。",
    "- **Password:** {}",
    "tool login --password={} --user ann",
    "---\npassword: {}\n---\n",
    "Password for the router: `{}`",
    "passphrase: '{}'",
)

ADDRESS = (
    "postgres://ann:{}@db.example.com:5432/app",
    "DATABASE_URL=mysql://root:{}@localhost/app",
    "mongodb+srv://ann:{}@cluster0.example.net/test?retryWrites=true",
    "redis://:{}@cache:6379/0",
    "git clone https://ann:{}@git.example.com/ann/app.git",
    "备份在 ftp://ann:{}@files.example.com 上面。",
)


def chars(rng: Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def body(*parts: str | tuple[str, int]) -> Make:
    """A maker from literal parts and (alphabet, count) parts."""

    def make(rng: Random) -> str:
        return "".join(part if isinstance(part, str) else chars(rng, *part) for part in parts)

    return make


def uuid(rng: Random) -> str:
    return "-".join(chars(rng, HEX, count) for count in (8, 4, 4, 4, 12))


def jwt(rng: Random) -> str:
    def part(content: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    payload = {"sub": chars(rng, LOWER, 10), "iat": rng.randrange(10**9, 2 * 10**9)}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(payload)}.{chars(rng, URLSAFE, 43)}"


def password(rng: Random) -> str:
    words = ("Summer", "dragon", "Tulip", "hunter", "Berlin", "coffee", "Monkey", "sailing")
    word, number = rng.choice(words), str(rng.randrange(10, 9999))
    return rng.choice(
        (
            word + number + rng.choice("!#$?"),
            word + number,
            number + rng.choice("-_.") + word + rng.choice(words),
            chars(rng, ALNUM, 12) + rng.choice(string.digits),
            chars(rng, ALNUM + "!@#$%^&*-_=+", 16) + rng.choice(string.digits),
            word[0] + "@" + word[1:] + number,
        )
    )


def card(rng: Random) -> str:
    digits = rng.choice(("4", "51", "55", "37"))
    length = 15 if digits == "37" else 16
    digits += chars(rng, string.digits, length - len(digits) - 1)
    total = sum(sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(digits[::-1]))
    digits += str(-total % 10)
    separator = rng.choice(("", " ", "-"))
    cuts = (0, 4, 10, 15) if length == 15 else (0, 4, 8, 12, 16)
    return separator.join(digits[a:b] for a, b in pairwise(cuts))


def key_block(label: str) -> Make:
    def make(rng: Random) -> str:
        lines = [chars(rng, BASE64, 64) for _ in range(6)] + [chars(rng, BASE64, 30) + "=="]
        return f"-----BEGIN {label}-----\n" + "\n".join(lines) + f"\n-----END {label}-----"

    return make


_BLOCK_PLACES = ("{}", "Here it is:\n\n```\n{}\n```\n\nKeep it.", "密钥如下\n{}\n完")


def _prefixed() -> Iterator[tuple[str, Make]]:
    yield "aws access key", body("AK" + "IA", (UPPER, 16))
    yield "google api key", body("AI" + "za", (URLSAFE, 34), (ALNUM, 1))
    yield "google oauth", body("ya" + "29.", (URLSAFE, 80))
    yield "google client secret", body("GOC" + "SPX-", (URLSAFE, 28))
    yield "azure client secret", body((ALNUM, 3), "8Q" + "~", (ALNUM + "_.", 33), (ALNUM, 1))
    for letter in "pousr":
        yield f"github gh{letter}", body(f"gh{letter}" + "_", (ALNUM, 36))
    yield "github fine grained", body("github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59))
    yield "gitlab", body("gl" + "pat-", (URLSAFE, 20))
    yield "openai", body("sk" + "-", (ALNUM, 20), "T3Blbk" + "FJ", (ALNUM, 20))
    yield "openai project", body("sk" + "-proj-", (URLSAFE, 74), "T3Blbk" + "FJ", (URLSAFE, 74))
    yield "anthropic", body("sk" + "-ant-api03-", (URLSAFE, 93), "AA")
    yield "openrouter", body("sk" + "-or-v1-", (HEX, 64))
    yield "huggingface", body("hf" + "_", (string.ascii_letters, 34))
    yield "groq", body("gs" + "k_", (ALNUM, 52))
    yield "xai", body("xa" + "i-", (ALNUM, 80))
    yield "slack bot", body("xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24))
    yield "slack user", body("xo" + "xp-", (string.digits, 12), "-", (string.digits, 12), "-", (HEX, 32))
    yield "telegram", body((string.digits, 10), ":A" + "A", (URLSAFE, 32), (ALNUM, 1))
    yield "stripe", body("sk" + "_live_", (ALNUM, 24))
    yield "stripe restricted", body("rk" + "_test_", (ALNUM, 99))
    yield "twilio", body("S" + "K", (HEX, 32))
    yield "sendgrid", body("S" + "G.", (URLSAFE, 22), ".", (URLSAFE, 42), (ALNUM, 1))
    yield "mailgun", body("ke" + "y-", (HEX, 32))
    yield "mailchimp", body((HEX, 32), "-u" + "s14")
    yield "npm", body("np" + "m_", (ALNUM, 36))
    yield "pypi", body("py" + "pi-AgEIcHlwaS5vcmc", (URLSAFE, 120))
    yield "docker", body("dckr" + "_pat_", (URLSAFE, 27))
    yield "digitalocean", body("do" + "p_v1_", (HEX, 64))
    yield "supabase", body("sb" + "p_", (HEX, 40))
    yield "databricks", body("da" + "pi", (HEX, 32))
    yield "sentry", body("snt" + "ryu_", (HEX, 64))
    yield "linear", body("lin" + "_api_", (ALNUM, 40))
    yield "notion", body("nt" + "n_", (string.digits, 11), (ALNUM, 35))
    yield "airtable", body("pa" + "t", (ALNUM, 14), ".", (HEX, 64))
    yield "shopify", body("shp" + "at_", (HEX, 32))
    yield "square", body("sq0" + "atp-", (URLSAFE, 22))
    yield "paypal", body("access" + "_token$production$", (LOWER, 16), "$", (HEX, 32))
    yield "vault", body("hv" + "s.", (URLSAFE, 95))
    yield "grafana", body("gl" + "sa_", (ALNUM, 32), "_", (HEX, 8))
    yield "age", body("AGE-SECRET" + "-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))
    yield "json web token", jwt


def _others() -> Iterator[Kind]:
    for label in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        yield Kind(f"pem {label.lower()}", True, key_block(label), _BLOCK_PLACES)
    yield Kind(
        "slack webhook",
        True,
        body("T", (UPPER, 10), "/B", (UPPER, 10), "/", (ALNUM, 24)),
        ("https://hooks.slack." + "com/services/{}", "发到 https://hooks.slack." + "com/services/{} 就行"),
    )
    yield Kind(
        "discord webhook",
        True,
        body((URLSAFE, 68)),
        ("https://discord." + "com/api/webhooks/123456789012345678/{}",),
    )
    yield Kind(
        "discord bot",
        False,
        body("MT", (ALNUM, 24), ".", (URLSAFE, 6), ".", (ALNUM, 38)),
        named("discord", "token"),
    )
    yield Kind(
        "aws secret key",
        False,
        body((BASE64, 40)),
        (
            "aws_secret_access_key = {}",
            "AWS_SECRET_ACCESS_KEY={}",
            '"SecretAccessKey": "{}"',
            "AWS secret: {}",
        ),
    )
    yield Kind(
        "azure storage key",
        False,
        body((BASE64, 86), "=="),
        ("DefaultEndpointsProtocol=https;AccountName=ann;AccountKey={};EndpointSuffix=core.windows.net",),
    )
    yield Kind("cloudflare", False, body((URLSAFE, 39), (ALNUM, 1)), named("cloudflare", "token"))
    yield Kind("heroku", False, uuid, named("heroku"))
    yield Kind("vercel", False, body((ALNUM, 24)), named("vercel", "token"))
    yield Kind("netlify", False, body((URLSAFE, 42), (ALNUM, 1)), named("netlify", "token"))
    yield Kind("datadog", False, body((HEX, 32)), named("datadog"))
    yield Kind("twilio token", False, body((HEX, 32)), named("twilio", "token"))
    yield Kind(
        "bearer",
        False,
        body((ALNUM + "-_.", 40), (ALNUM, 1)),
        (
            "Authorization: Bearer {}",
            "curl -H 'Authorization: Bearer {}' https://x.example.com",
            'headers = {{"Authorization": "Bearer {}"}}',
            "请求头 Authorization: Bearer {} 就可以",
        ),
    )
    yield Kind("unknown service", False, body((ALNUM, 32)), named("acme", "token"))
    yield Kind("unknown secret", False, body((HEX, 40)), named("acme", "secret"))
    yield Kind("password", False, password, PASSWORD)
    yield Kind("password in address", False, body((ALNUM + "!$%*-_", 14), (string.digits, 1)), ADDRESS)
    yield Kind(
        "card",
        False,
        card,
        (
            "card: {}",
            "My card number is {}, valid until 09/27.",
            "信用卡{}，有效期",
            "| visa | {} |",
            '{{"pan": "{}"}}',
            "{}",
        ),
    )


# --- words and a few digits, which only the sentence around them gives away

_WORDS = (
    "sunflower", "Sonnenblume", "tournesol", "girasol", "Marmalade", "penguin", "blue whale", "TigerLily",
    "pancake", "Zugvogel", "montagne", "lighthouse", "quiet river stone", "hummingbird", "kartoffel",
)  # fmt: skip
# None is in the list of BIP-39 by intent: the shape counts, not the list.
_SEED = (
    "marble", "wander", "copper", "lantern", "orbit", "velvet", "puzzle", "harbor", "mimic", "sketch",
    "timber",
    "cactus", "violin", "pepper", "anchor", "salmon", "garlic", "rocket", "pillow", "meadow", "tunnel",
    "walnut",
    "gadget", "fiber", "hollow", "ribbon", "stone", "glide", "mango", "legal", "winner", "thank",
    "year", "wave",
)  # fmt: skip


def word(rng: Random) -> str:
    return rng.choice(_WORDS)


def word_or_password(rng: Random) -> str:
    return rng.choice((word, password))(rng)


def pin(rng: Random) -> str:
    return chars(rng, string.digits, rng.choice((4, 4, 4, 6)))


def seed_words(rng: Random) -> list[str]:
    return [rng.choice(_SEED) for _ in range(rng.choice((12, 12, 24)))]


def seed_phrase(rng: Random) -> str:
    return " ".join(seed_words(rng))


def seed_list(rng: Random) -> str:
    between = rng.choice((" ", "\n", ", "))
    return between.join(f"{at}. {one}" for at, one in enumerate(seed_words(rng), 1))


def recovery_codes(rng: Random) -> str:
    def code() -> str:
        digit = rng.choice(string.digits)
        return rng.choice(
            (
                f"{chars(rng, LOWER, 4)}{digit}-{digit}{chars(rng, LOWER, 4)}",
                f"{chars(rng, string.digits, 4)} {chars(rng, string.digits, 4)}",
                chars(rng, string.digits, 8),
            )
        )

    return rng.choice(("\n", ", ", "\n- ")).join(code() for _ in range(rng.randrange(1, 9)))


def apache_hash(rng: Random) -> str:
    base = ALNUM + "./"
    return rng.choice(
        (
            "$apr1$" + chars(rng, base, 8) + "$" + chars(rng, base, 22),
            "$2" + "y$10$" + chars(rng, base, 53),
            "{S" + "HA}" + chars(rng, BASE64, 27) + "=",
            "$6" + "$" + chars(rng, ALNUM, 8) + "$" + chars(rng, base, 86),
        )
    )


WIFI = (
    "Wi-Fi password {}", "The wifi password is {}", "The wifi password is {}.", "wifi password: {}",
    "- WiFi password: {}",
    "WLAN-Passwort: {}", "WLAN Passwort {}",
    "The WiFi password at the cabin is {} and the printer is in the hall.",
    "Remember that our guest Wi-Fi password is {}, please.", "The password for the guest wifi is {}.",
    "| Wi-Fi password | {} |", "* **Wifi password**: `{}`", "wifi pw {}",
    "SSID: home, wifi password = \"{}\"",
    "Le mot de passe du wifi est {}", "La contraseña del wifi es {}.", "Hasło do wifi: {}",
    "router password is {}",
    "# Home\n\nWi-Fi password: {}\n\nBins on Tuesday.\n", "Wachtwoord van de wifi: {}",
    "Password del wifi: {}",
    "пароль от вайфая: {}", "wifi password → {}", "Senha do wifi: {}", "wifi密码：{}",
)  # fmt: skip
PASSWORD_IS = (
    "My password is {}", "My password for the library is {}.", "Mein Passwort ist {}",
    "Das Kennwort lautet {}.",
    "Das Passwort für den Server ist {}.", "Le mot de passe est {}", "Mon mot de passe est {}.",
    "La contraseña es {}",
    "Mi contraseña es {}.", "La password è {}", "La parola d'ordine è {}.", "A senha é {}",
    "Minha senha é {}.",
    "A palavra-passe é {}", "Het wachtwoord is {}", "Mijn wachtwoord is {}.", "Hasło to {}",
    "Moje hasło to {}.",
    "Пароль — {}", "Мой пароль - {}", "The password is {} and nobody else knows it.",
    '> The password is "{}".', "Ann said the passcode is {}, I think.",
)  # fmt: skip
LATIN_IN_OTHERS = (
    "密码是 {}", "密碼是 {}", "我的wifi密码是{}。", "密码：{}", "パスワードは {} です", "パスワード：{}",
    "비밀번호는 {} 입니다", "비밀번호: {}", "암호는 {}", "wifi 비밀번호: {}",
)  # fmt: skip
NUMBERED = (
    "Şifre: {}", "wifi şifresi {}", "parola {}", "Şifrem {}", "Пароль: {}", "пароль {}",
    "Mật khẩu: {}", "heslo: {}",
    "I changed the password to {}", "mdp : {}", "Lösenord: {}", "adgangskode: {}", "salasana: {}",
)  # fmt: skip
PIN = (
    "PIN is {}", "PIN: {}", "My PIN is {}.", "The PIN for the garage is {}.", "the pin code is {}",
    "card pin {}",
    "| PIN | {} |", "- PIN: `{}`", "Tresor-PIN {}", "alarm code: {}", "The door code is {}.",
    "The code for the gate is {}",
    "SIM PIN {}", 'pin = "{}" # my PIN: {}', "Meine PIN lautet {}.", "PIN-Code: {}", "пин-код: {}",
    "garage code {}",
    "El código de la puerta es {}", "bank pin is {}",
)  # fmt: skip


def _spoken() -> Iterator[Kind]:
    yield Kind("wifi password", False, word_or_password, WIFI)
    yield Kind("password is", False, word_or_password, PASSWORD_IS)
    yield Kind("latin password in other scripts", False, lambda rng: word(rng).split()[0], LATIN_IN_OTHERS)
    yield Kind(
        "password with a digit", False, body((string.ascii_lowercase, 6), (string.digits, 2)), NUMBERED
    )
    yield Kind("pin", False, pin, PIN)
    yield Kind(
        "netrc", False, password,
        ("machine h login u password {}", "machine api.example.com\n  login ann\n  password {}\n",
         "default login ann password {}", "```\nmachine git.example.com login ann password {}\n```"),
    )  # fmt: skip
    yield Kind(
        "password hash",
        False,
        apache_hash,
        ("ann:{}", "- ann:{}", "```\nann:{}\n```", "| ann | {} |", "hash = '{}'"),
    )
    yield Kind(
        "seed phrase", False, seed_phrase,
        ("My seed phrase is {}", "seed phrase: {}", "Recovery phrase:\n\n{}\n", "{}", "- {}",
         "```\n{}\n```",
         "| seed phrase | {} |", "Wallet backup words: {}", "mnemonic = \"{}\"",
         "# Ledger\n\n{}\n\nKeep it safe.\n"),
    )  # fmt: skip
    yield Kind(
        "numbered seed phrase",
        False,
        seed_list,
        ("Seed words:\n{}", "{}", "My recovery phrase:\n\n{}\n\nend"),
    )
    yield Kind(
        "recovery codes", False, recovery_codes,
        ("GitHub recovery codes:\n\n- {}\n", "Backup codes: {}", "backup code {}",
         "## Recovery codes\n\n{}\n",
         "My 2FA backup codes are {}", "| recovery code | {} |", "Recovery key: `{}`"),
    )  # fmt: skip
    yield Kind(
        "webhook", False, body((LOWER, 8), "4a9", (LOWER, 8), "7k2", (LOWER, 4)),
        ("https://hooks.example.com/t/{}", "post to https://hooks.zapier.com/hooks/catch/1234567/{}/",
         "https://chat.example.com/hooks/{}", "- https://hook.eu1.make.com/{}",
         "| hook | https://hooks.acme.io/in/{} |",
         "curl -d @a.json 'https://n8n.example.com:5678/webhook/{}'",
         "WEBHOOK=https://webhook.acme.dev/v1/{}",
         "发到 https://open.feishu.cn/open-apis/bot/v2/hook/{} 就行"),
    )  # fmt: skip


KINDS: tuple[Kind, ...] = (
    *(Kind(name, True, make, ANYWHERE) for name, make in _prefixed()),
    *_others(),
    *_spoken(),
)


# Two halves, of which the first gives the second away; both as makers, and where they stand.
PAIRS: tuple[tuple[str, Make, Make, tuple[str, ...]], ...] = (
    (
        "aws", body("AK" + "IA", (UPPER, 16)), body((BASE64, 40)),
        (
            "The key is {0} and the secret is {1}.", "{0} / {1}", "{0}\n{1}\n", "{0}:{1}", "| {0} | {1} |",
            "Access key ID,Secret access key\n{0},{1}", 'key = "{0}"\nsecret = "{1}"',
            '{{"id": "{0}", "secret": "{1}"}}', "id: {0}\nsecret: {1}\n", "KEY_ID={0}\nSECRET={1}",
            "secret {1} (id {0})", "- id: `{0}`\n- secret: `{1}`",
            "the upload uses {0} with {1} for the bucket",
            "[secret removed: aws access key] / {1}", "{1}\n{0}",
        ),
    ),
    (
        "account sid", body("A" + "C", (HEX, 32)), body((HEX, 32)),
        (
            "{0} / {1}", "Account SID {0}, auth token {1}", "account_sid: {0}\nauth_token: {1}", "{0}\n{1}",
            'sid = "{0}"\ntoken = "{1}"', '{{"sid": "{0}", "token": "{1}"}}', "| {0} | {1} |", "{0}:{1}",
        ),
    ),
    (
        "client", body((LOWER, 14)), body("q8", (ALNUM, 10)),
        (
            "client_id: {0}\nclient_secret: {1}", "client id {0} and secret {1}",
            "OAuth client {0}, secret {1}",
            'client_id = "{0}"\nclient_secret = "{1}"', '{{"client_id": "{0}", "client_secret": "{1}"}}',
            "clientId={0}&clientSecret={1}", "Client ID: {0}\nSecret: {1}",
            "CLIENT_ID={0}\nCLIENT_SECRET={1}",
        ),
    ),
    (
        "user", body("ann", (string.ascii_lowercase, 4)), password,
        (
            "user: {0}\npassword: {1}", "login: {0} / {1}", "username {0}, password {1}",
            "user: {0}, pw: {1}",
            'user = "{0}"\npass = "{1}"', '{{"user": "{0}", "password": "{1}"}}',
            "DB_USER={0}\nDB_PASS={1}",
            "user {0} with password {1}", "| user | password |\n|---|---|\n| {0} | {1} |",
            "credentials: {0}:{1}", "username: {0}\nsecret: {1}",
        ),
    ),
    (
        "one word", body("ann", (string.ascii_lowercase, 4)),
        lambda rng: rng.choice(("letmein", "correcthorse")),
        (
            "user: {0}\npassword: {1}", "Login: {0}\nPW: {1}", 'user = "{0}"\npass = "{1}"',
            '{{"user": "{0}", "password": "{1}"}}', "username={0}&password={1}", "DB_USER={0}\nDB_PASS={1}",
        ),
    ),
)  # fmt: skip


def pair_samples(seed: int, rounds: int) -> list[Sample]:
    """Each pair in each of its places; the secret is the second half."""
    rng = Random(seed)
    return [
        Sample(name, False, secret, place.format(first(rng), secret))
        for name, first, second, places in PAIRS
        for place in places
        for secret in [second(rng) for _ in range(rounds)]
    ]


def samples(seed: int, rounds: int) -> list[Sample]:
    """Each kind in each of its places, `rounds` times, each time another secret."""
    rng = Random(seed)
    made = []
    for kind in KINDS:
        for place in kind.places:
            for _ in range(rounds):
                secret = kind.make(rng)
                made.append(
                    Sample(kind.name, kind.prefixed, secret, place.format(*[secret] * place.count("{}")))
                )
    return made


def core(secret: str) -> Sequence[str]:
    """The parts of a secret that must not be left over: its lines, without those around a key."""
    if "-----BEGIN" in secret:
        return [line for line in secret.split("\n") if not line.startswith("-----")]
    return secret.split("\n")
