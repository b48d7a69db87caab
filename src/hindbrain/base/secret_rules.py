r"""What secrets look like: one row per kind. Data only; `base/secrets` runs them.

Patterns stand in the subset that RE2 and `re` share: no look-around, no back reference, no quantifier around
a quantifier whose parts can match the same text. They run on bytes in which every character beyond Latin-1 is
`\x01` and every label of an earlier removal is `\x00`, so `\b` holds beside Chinese text in both engines. The
secret is the group that matched, or the whole match where there is none. Written from the formats that the
services publish.
"""

from collections.abc import Iterator

from hindbrain.base.secret_rule import AWS_ID_REMOVED, CHOSEN, Rule
from hindbrain.base.secret_words import IS, PASS, PASS_KEYWORDS
from hindbrain.base.spoken_secret_rules import spoken_rules


def _prefixed() -> Iterator[Rule]:
    """Kinds that tell themselves by how they begin."""
    yield Rule(
        "aws access key",
        r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b",
        ("akia", "asia", "abia", "acca", "a3t"),
    )
    yield Rule(
        "aws bedrock key",
        r"\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{28,}={0,2}",
        ("absk", "bedrock-api-key-"),
    )
    yield Rule("google api key", r"\bAIza[\w-]{35}", ("aiza",))
    yield Rule("google oauth token", r"\bya29\.[\w-]{20,}", ("ya29.",))
    yield Rule("google client secret", r"\bGOCSPX-[\w-]{20,}", ("gocspx-",))
    yield Rule("firebase key", r"\bAAAA[\w-]{7}:APA91b[\w-]{100,}", (":apa91b",))
    yield Rule("azure client secret", r"\b[\w~.]{3}\dQ~[\w~.-]{31,34}", tuple(f"{n}q~" for n in range(10)))
    yield Rule("azure storage key", r"(?i)(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,}={0,2})", ("key=",))
    yield Rule("azure signature", r"[?&;]sig=([A-Za-z0-9%+/]{40,}=?)", ("sig=",))
    yield Rule("github token", r"gh[oprsu]_[A-Za-z0-9]{36,}", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"))
    yield Rule("github token", r"github_pat_\w{36,}", ("github_pat_",))
    yield Rule(
        "gitlab token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{20,}",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
        ),
    )
    yield Rule("gitlab token", r"\bGR1348941[\w-]{20,}", ("gr1348941",))
    yield Rule("gitlab session", r"_gitlab_session=([0-9a-z]{32})", ("_gitlab_session=",))
    yield Rule("openai key", r"\bsk-(?:proj|svcacct|admin|None)-[\w-]{32,}", ("sk-",))
    yield Rule("anthropic key", r"\bsk-ant-[\w-]{24,}", ("sk-ant-",))
    yield Rule("openrouter key", r"\bsk-or-(?:v1-)?[a-f0-9]{32,}", ("sk-or-",))
    # The oldest form of OpenAI's, and of a dozen services that imitate it.
    yield Rule("openai key", r"\bsk-[A-Za-z0-9]{20,}", ("sk-",), 3.0, "random")
    yield Rule("langfuse key", r"\bsk-lf-[0-9a-f-]{36}", ("sk-lf-",))
    yield Rule("huggingface token", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}", ("hf_", "api_org_"), 3.0)
    yield Rule("groq key", r"\bgsk_[A-Za-z0-9]{40,}", ("gsk_",))
    yield Rule("xai key", r"\bxai-[A-Za-z0-9]{40,}", ("xai-",))
    yield Rule("perplexity key", r"\bpplx-[A-Za-z0-9]{40,}", ("pplx-",))
    yield Rule("replicate token", r"\br8_[A-Za-z0-9]{32,}", ("r8_",))
    yield Rule("nvidia key", r"\bnvapi-[\w-]{40,}", ("nvapi-",))
    yield Rule("langsmith key", r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", ("lsv2_",))
    yield Rule("tavily key", r"\btvly-[\w-]{20,}", ("tvly-",), 3.0)
    yield Rule("slack token", r"\bxox[abeoprs](?:\.xox[bp])?-[\w-]{0,30}\d[\w-]{8,}", ("xox",))
    yield Rule("slack token", r"\bxapp-\d-[A-Z0-9]{1,20}-\d{1,20}-[\w-]{4,}", ("xapp-",))
    yield Rule(
        "slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,})",
        ("hooks.slack.com",),
    )
    yield Rule("discord webhook", r"/api/(?:v\d+/)?webhooks/\d{15,20}/([\w-]{50,})", ("/webhooks/",))
    yield Rule(
        "discord token", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}", (), 3.5, "", r"\.[\w-]{6}\.[\w-]{9}"
    )
    yield Rule(
        "teams webhook",
        r"office\.com/webhook(?:b2)?/([\w@-]{40,}/[\w/-]{40,})",
        ("office.com/webhook",),
    )
    yield Rule("ifttt webhook", r"/with/key/([\w-]{16,})", ("/with/key/",), 3.0)
    # The address alone lets anyone post: `hooks.zapier.com/...`, `chat.example.com/hooks/...`.
    yield Rule(
        "webhook",
        r"(?i)://(?:[\w-]{1,63}\.){0,4}(?:web)?hooks?\.[\w.-]{3,80}(?::\d{1,5})?/"
        r"(?:(?:services|workflows|triggers|webhookb2)/)?([\w/~=@%+.?&:-]{6,400})",
        ("hook.", "hooks."),
        2.5,
        "path",
    )
    yield Rule(
        "webhook",
        r"(?i)://[\w.-]{3,100}(?::\d{1,5})?/(?:[\w.-]{1,40}/){0,5}(?:web)?hooks?(?:-test)?/"
        r"(?:\d{15,20}/)?([\w/~=@%+.?&-]{16,400})",
        ("hook/", "hooks/", "hook-test/"),
        2.5,
        "path",
    )
    yield Rule("telegram token", r"(?:\b|bot)(\d{8,10}:AA[\w-]{32,34})", (":aa",), 3.0)
    yield Rule(
        "stripe key", r"\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", ("k_live_", "k_test_", "k_prod_")
    )
    yield Rule("stripe webhook secret", r"\bwhsec_[A-Za-z0-9+/=]{24,}", ("whsec_",))
    yield Rule("twilio key", r"\bSK[0-9a-fA-F]{32}\b", (), hint=r"SK[0-9a-f]{4}")
    yield Rule("sendgrid key", r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}", ("sg.",), 3.0)
    yield Rule("mailgun key", r"\b(?:pub)?key-[0-9a-f]{32}\b", ("key-",))
    yield Rule("mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b", (), hint=r"-us\d")
    yield Rule("brevo key", r"\bx(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}", ("sib-",))
    yield Rule("resend key", r"\bre_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}", (), 3.0, "random", r"\bre_")
    yield Rule("npm token", r"\bnpm_[A-Za-z0-9]{36}", ("npm_",), 3.0)
    yield Rule("pypi token", r"\bpypi-[\w-]{50,}", ("pypi-",), 3.5)
    yield Rule("rubygems key", r"\brubygems_[a-f0-9]{48}", ("rubygems_",))
    yield Rule("nuget key", r"\boy2[a-z0-9]{43}\b", ("oy2",))
    yield Rule("docker token", r"\bdckr_[a-z]at_[\w-]{20,}", ("dckr_",))
    yield Rule("docker login", r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{16,}={0,2})\"", ('"auth"',), 3.0)
    yield Rule("digitalocean token", r"\bdo[opr]_v1_[a-f0-9]{64}", ("doo_v1_", "dop_v1_", "dor_v1_"))
    yield Rule("cloudflare ca key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", ("v1.0-",))
    yield Rule("heroku key", r"\bHRKU-[\w-]{36,}", ("hrku-",))
    yield Rule("netlify token", r"\bnfp_[A-Za-z0-9]{36,}", ("nfp_",))
    yield Rule("supabase key", r"\b(?:sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,})", ("sbp_", "sb_secret_"))
    yield Rule("databricks token", r"\bdapi[a-f0-9]{32}(?:-\d)?\b", ("dapi",))
    yield Rule("sentry token", r"\bsntry[a-z]_[\w+/=-]{40,}", ("sntry",))
    yield Rule("linear key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", ("lin_",))
    yield Rule(
        "notion token", r"\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b", ("ntn_", "secret_"), 3.5
    )
    yield Rule(
        "airtable token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}", (), hint=r"pat[A-Za-z0-9]+\.[a-f0-9]{6}"
    )
    yield Rule("shopify token", r"\bshp[a-z]{2,3}_[a-fA-F0-9]{32,}", ("shp",))
    yield Rule("square token", r"\b(?:sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{56,})", ("sq0", "eaaa"), 3.0)
    yield Rule(
        "paypal token", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}", ("token$",)
    )
    yield Rule("facebook token", r"\b\d{15,16}\|[\w-]{27,40}\b", (), 3.0, "random", r"\d{15}\|")
    yield Rule("facebook token", r"\bEAA[A-Z][A-Za-z0-9]{80,}", ("eaa",), 3.5)
    yield Rule("twitter token", r"\bA{20,}[A-Za-z0-9%]{60,}", ("aaaaaaaaaaaaaaaaaaaa",), 3.5)
    yield Rule("vault token", r"\bhv[bsr]\.[\w-]{24,}", ("hvs.", "hvb.", "hvr."), 3.0)
    yield Rule("terraform token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", (".atlasv1.",))
    yield Rule(
        "grafana token",
        r"\b(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})",
        ("glsa_", "glc_"),
    )
    yield Rule("new relic key", r"\bNR(?:AK|II|JS|AL)-[\w-]{19,}", ("nrak-", "nrii-", "nrjs-", "nral-"))
    yield Rule("postman key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}", ("pmak-",))
    yield Rule("pulumi token", r"\bpul-[a-f0-9]{40}\b", ("pul-",))
    yield Rule("doppler token", r"\bdp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{40,}", ("dp.",), 3.0)
    yield Rule("figma token", r"\bfig[dour]{1,2}_[\w-]{40,}", ("figd_", "figo_", "figu_", "figor_", "figur_"))
    yield Rule("atlassian token", r"\bAT[ACB][T-][T-][\w=-]{60,}", ("atatt", "atctt", "atbt"), 3.5)
    yield Rule("dropbox token", r"\bsl\.(?:u\.)?[\w=-]{100,}", ("sl.",), 3.5)
    yield Rule("tailscale key", r"\btskey-[a-z]{2,10}-[\w-]{20,}", ("tskey-",))
    yield Rule(
        "fly.io token", r"\b(?:fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/=]{100,})", ("fo1_", "fm1", "fm2_"), 3.0
    )
    yield Rule("planetscale secret", r"\bpscale_(?:tkn|pw|oauth)_[\w=.-]{32,}", ("pscale_",))
    yield Rule("1password secret", r"\bops_eyJ[A-Za-z0-9+/=]{100,}", ("ops_eyj",), 3.5)
    yield Rule("1password secret", r"\bA3-[A-Z0-9]{6}-[A-Z0-9-]{11,12}(?:-[A-Z0-9]{5}){3}\b", ("a3-",), 3.5)
    yield Rule("dynatrace token", r"(?i)\bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", ("dt0",), 3.5)
    yield Rule("circleci token", r"\bCCIP[AR]T_[\w-]{40,}", ("ccipat_", "cciprt_"))
    yield Rule("buildkite token", r"\bbk[a-z]{2}_[a-f0-9]{40}\b", ("bkua_", "bkct_", "bkaj_"))
    yield Rule("sonar token", r"\bsq[apu]_[a-f0-9]{40}\b", ("sqa_", "sqp_", "squ_"))
    yield Rule("sourcegraph token", r"(?i)\bsgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}\b", ("sgp_",))
    yield Rule(
        "prefixed token",
        r"\b(?:rdme_[a-z0-9]{70}|pnu_[A-Za-z0-9]{36}|duffel_(?:test|live)_[\w=-]{43}"
        r"|shippo_(?:live|test)_[a-fA-F0-9]{40}|EZ[AT]K[A-Za-z0-9]{54}|FLW(?:SEC|PUB)K[\w-]{20,}"
        r"|CLOJARS_[a-z0-9]{60}|AKCp[A-Za-z0-9]{69}|sha256~[\w-]{43}|tk-us-[\w-]{48}|LTAI[A-Za-z0-9]{20}"
        r"|sm_[aps]at_[A-Za-z0-9]{16}|fio-u-[\w=-]{64}|p8e-[A-Za-z0-9]{32}|AQVN[\w-]{35,38}"
        r"|dnkey-[\w=-]{26}-[\w=-]{52}|cmVmd[A-Za-z0-9]{59}|4b1d[A-Za-z0-9]{38}|eyJrIjoi[A-Za-z0-9]{70,}={0,3}"
        r"|[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}|ico-[A-Za-z0-9]{32}|s-s4t2(?:ud|af)-[a-f0-9]{64}"
        r"|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}"
        r"\.[A-Za-z0-9]{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,})",
        (
            "rdme_",
            "pnu_",
            "duffel_",
            "shippo_",
            "ezak",
            "eztk",
            "flwseck",
            "flwpubk",
            "clojars_",
            "akcp",
            "sha256~",
            "tk-us-",
            "ltai",
            "sm_aat_",
            "sm_pat_",
            "sm_sat_",
            "fio-u-",
            "p8e-",
            "aqvn",
            "dnkey-",
            "cmvmd",
            "4b1d",
            "eyjrijoi",
            "pat.",
            "sat.",
            "ico-",
            "s-s4t2",
            "_mmk",
            ".acc_",
            ".acc-",
        ),
        3.0,
    )
    yield Rule("age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}", ("age-secret-key-1",))
    yield Rule(
        "json web token", r"\bey[A-Za-z0-9][\w-]{8,600}\.ey[A-Za-z0-9][\w-]{8,}\.[\w/-]*={0,2}", (".ey",), 3.0
    )


# Between the name of a thing and its value: `name = `, `"name": "`, `| name | `, `name is `, `NAME => `.
_TO_VALUE = r"[\w .\-]{0,24}[\"'`*\]]{0,3}[ \t]{0,4}(?:[=:|>,?]{1,3}|\bis|\bto)[ \t\"'`=*]{0,5}"
_AFTER = r"(?:[^\w+/=-]|$)"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# Services whose keys have no mark of their own: they are known by the name before them, and by their form.
_NAMED = (
    (
        "aws secret key",
        ("aws", "secret_access_key", "secretaccesskey", "secret access key"),
        r"[A-Za-z0-9/+]{40}",
    ),
    ("azure key", ("azure",), r"[A-Za-z0-9+/]{32,88}={0,2}"),
    ("cloudflare token", ("cloudflare", "cf_api"), r"[\w-]{37,40}"),
    ("datadog key", ("datadog", "dd_api", "dd_app"), r"[a-z0-9]{32,40}"),
    ("heroku key", ("heroku",), _UUID),
    ("netlify token", ("netlify",), r"[\w=-]{40,46}"),
    ("paypal secret", ("paypal",), r"[\w-]{60,90}"),
    ("twilio token", ("twilio",), r"[0-9a-f]{32}"),
    ("vercel token", ("vercel",), r"[A-Za-z0-9]{24}"),
    ("wireguard key", ("privatekey", "presharedkey"), r"[A-Za-z0-9+/]{43}="),
)
# And those whose form varies: whatever looks random after their name.
_SERVICES = (
    "adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "auth0", "beamer",
    "bitbucket", "bittrex", "bintray", "cohere", "codecov", "coinbase", "confluence", "confluent",
    "deepgram", "deepl", "deepseek", "discord", "droneci", "dropbox", "elevenlabs", "etsy", "facebook",
    "fastly", "finicity", "finnhub", "firebase", "flickr", "freshbooks", "gemini", "gitter", "gocardless",
    "honeycomb", "hubspot", "instagram", "intercom", "jenkins", "jfrog", "jira", "kraken", "kucoin",
    "launchdarkly", "linkedin", "linked-in", "linked_in", "mailchimp", "mailgun", "mapbox", "mattermost",
    "meraki", "messagebird", "message-bird", "message_bird", "mistral", "mixpanel", "newrelic", "new-relic",
    "new_relic", "nytimes", "okta", "opsgenie", "pagerduty", "pinecone", "plaid", "postmark", "private-ai",
    "privateai", "private_ai", "rapidapi", "salesforce", "sendbird", "sentry", "snyk", "sonar", "spotify",
    "squarespace", "stripe", "sumo", "supabase", "telegram", "travis", "trello", "twilio", "twitch",
    "twitter", "typeform", "looker", "contentful", "weaviate", "yandex", "zendesk",
)  # fmt: skip


def _named() -> Iterator[Rule]:
    for kind, names, value in _NAMED:
        pattern = rf"(?i)(?:{'|'.join(names)}){_TO_VALUE}({value}){_AFTER}"
        yield Rule(kind, pattern, names, 3.0, "mixed")
    pattern = rf"(?i)(?:{'|'.join(_SERVICES)}){_TO_VALUE}([\w=+.:-]{{14,200}}){_AFTER}"
    yield Rule("service key", pattern, _SERVICES, 3.0, "random")


_BODY = r"[A-Za-z0-9+/=]"
_BEGIN = r"-----BEGIN[A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)-----"
_TO_CHOSEN = (
    rf"[\w .\-/()]{{0,40}}[\"'`*\]]{{0,3}}[ \t]{{0,4}}(?:=>|:=|[=:|>,]|[ \t]-[ \t]|{IS})"
    r"[\"'`*]{0,3}[ \t]{0,4}"
)
_TOKEN_NAMES = (
    r"(?:(?:api|access|auth|secret|private|client|encryption|signing|master|account|service|bot|refresh|session"
    r"|deploy|webhook|bearer|personal|app|consumer|license|subscription)[_ .-]?(?:key|token|secret|pat)"
    r"|secret|token|credential|_authtoken|_auth)s?"
)


def _generic() -> Iterator[Rule]:
    """Kinds that only their surroundings tell."""
    yield Rule("private key", _BEGIN + r"((?:[^-\x00]|-[^-\x00])+)--+END", ("-----begin",), 2.0, "pem")
    # Cut off before its end: only what is plainly key material goes.
    yield Rule("private key", _BEGIN + rf"((?:[\s>]{{1,8}}{_BODY}{{20,}})+)", ("-----begin",), 2.0, "pem")
    yield Rule(
        "private key",
        rf"(?i)Private-Lines: \d{{1,3}}((?:\s{{1,4}}{_BODY}{{20,}})+)",
        ("private-lines",),
        2.0,
        "pem",
    )
    yield Rule(
        "password in address",
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>\x00\x01]{0,64}:([^\s/@\"'<>\x00\x01]{3,128})@",
        (),
        1.0,
        "password",
        r"://[^\s/@\"'<>]*@",
    )
    yield Rule("bearer token", r"(?i)\bbearer[ \t]{1,4}([\w.~+/=-]{16,})", ("bearer",), 3.0, "random")
    yield Rule(
        "basic login",
        r"(?i)authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?basic ([A-Za-z0-9+/]{8,}={0,2})",
        ("authorization",),
    )
    yield Rule(
        "login",
        r"(?:\s-u|--user)[ =][\"']?[\w.@-]{1,64}:([^\s\"'\x00\x01]{4,128})",
        ("curl", "wget"),
        1.5,
        "password",
    )
    yield Rule(
        "token",
        rf"(?i){_TOKEN_NAMES}{_TO_VALUE}([\w.~+/=-]{{16,}})",
        ("key", "token", "secret", "credential", "_auth"),
        3.2,
        "random",
        r"(?:key|token|secret|credential|_auth)[\w .\-\"'`*\]]*(?:[=:|>,?]|is|to)[ \t\"'`=*:|>,?]*"
        r"[\w.~+/=-]{16}",
    )
    yield Rule("password", rf"(?i){PASS}{_TO_CHOSEN}{CHOSEN}", PASS_KEYWORDS, 1.0, "password")
    yield Rule(
        "password",
        r"(?i)\"(?:ClearText)?Password\"\s{1,4}value=\"([^\"\n\x00\x01]{4,128})\"",
        ("password",),
        1.0,
        "given",
    )
    yield Rule(
        "passphrase",
        r"(?i)passphrase[\w ]{0,24}(?:\bis|=|:)\s{0,3}[\"'`]([a-z]{2,}(?:[ -][a-z]{2,20}){3,12})[\"'`]",
        ("passphrase",),
    )
    yield Rule(
        "card number",
        r"(?:^|[^\w/.#-])((?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6011|65\d\d|35\d\d)(?:[ -]?\d{4}){3}"
        r"|3[47]\d\d[ -]?\d{6}[ -]?\d{5})(?:[^\w/-]|$)",
        (),
        0.0,
        "card",
        r"[2-6]\d{3}[ -]?\d{4}",
    )


_AWS_ID = r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"
_AWS_SECRET = r"[A-Za-z0-9/+]{40}"
_NEAR = r"[\s\S]{0,80}?"  # on the same line or the next one: `/`, a comma, the name of the second half
_USER = r"(?:user(?:[_ -]?name)?|login|log[ -]in|account|e-?mail|benutzer(?:name)?|usr|credentials?|creds)"
_WHO = r"[\"'`*]{0,3}[ \t]{0,4}(?:=>|:=|[=:])?[ \t\"'`*]{0,5}[\w.@+-]{2,64}[\"'`*]{0,3}"


def _pairs() -> Iterator[Rule]:
    """The second half of a pair, which only its first half gives away."""
    aws_words = ("akia", "asia", "abia", "acca", "a3t", AWS_ID_REMOVED)
    yield Rule(
        "aws secret key",
        rf"(?:\b{_AWS_ID}|{AWS_ID_REMOVED})(?:[^A-Za-z0-9]{_NEAR})?[^\w/+=-]({_AWS_SECRET})(?:[^\w/+=-]|$)",
        aws_words,
        3.5,
        "random",
    )
    yield Rule(
        "aws secret key",
        rf"(?:^|[^\w/+=-])({_AWS_SECRET})(?:[^\w/+=-]{_NEAR})?[^\w/+=-](?:{_AWS_ID}\b|{AWS_ID_REMOVED})",
        aws_words,
        3.5,
        "random",
    )
    yield Rule(
        "twilio token",
        rf"\b(?:AC|SK)[0-9a-f]{{32}}(?:[^\w]{_NEAR})?\W([0-9A-Za-z]{{32}})(?:\W|$)",
        (),
        3.0,
        "random",
        r"(?:ac|sk)[0-9a-f]{32}",
    )
    yield Rule(
        "client secret",
        r"(?i)\b(?:client[_ .-]?id|oauth client|consumer[_ .-]?key|user(?:[_ -]?name)?[\"']?[ \t]?[=:])"
        r"[^\n]{0,120}?(?:\n[^\n]{0,40}?)?"
        r"secret[\"'`*\]]{0,3}[ \t]{0,4}(?:(?:=>|:=|[=:|>,]|\bis)[\"'`*]{0,3}[ \t]{0,4})?" + CHOSEN,
        ("secret",),
        2.5,
        "password",
    )
    # Beside the name of its user, a password may be one word: `user: ann`, `password: letmein`.
    yield Rule(
        "password",
        rf"(?i)(?:\b|_){_USER}{_WHO}[ \t]{{0,4}}[,;&|/]?\s{{0,8}}[\"'*-]{{0,3}}\s{{0,4}}[\w-]{{0,20}}?{PASS}"
        rf"[\"'`*\]]{{0,3}}[ \t]{{0,4}}(?:=>|:=|[=:])[\"'`*]{{0,3}}[ \t]{{0,4}}{CHOSEN}",
        PASS_KEYWORDS,
        1.5,
        "paired",
    )
    # In prose without a sign between the two, and as `login: ann / Tulip2024!`.
    yield Rule(
        "password",
        rf"(?i)\b{_USER}{_WHO}[ \t]{{0,2}}[,;/]?[ \t]{{0,2}}(?:and |with |using |the ){{0,3}}{PASS}"
        rf"[ \t]{{1,4}}{CHOSEN}",
        PASS_KEYWORDS,
        1.5,
        "password",
    )
    yield Rule(
        "password",
        rf"(?i)(?:^|[\s\"'`*|(]){_USER}[\w /]{{0,12}}[=:][ \t\"'`*]{{0,5}}[\w.@+-]{{2,64}}[\"'`]?"
        rf"[ \t]{{0,2}}[/:][ \t]{{0,2}}{CHOSEN}",
        ("user", "login", "log in", "account", "credential", "creds"),
        1.5,
        "lettered",
    )
    # A table with the two side by side. Rows whose password was taken out are passed over, one look each.
    yield Rule(
        "password",
        rf"(?i)\|[ \t]*{_USER}[^|\n]{{0,20}}\|[ \t]*{PASS}[^|\n]{{0,20}}\|[^\n]{{0,80}}"
        r"\n[ \t]*\|[-: |]{3,200}\n"
        r"(?:[ \t]*\|[^|\n]{0,64}\|[ \t`]*[\x00\x01][^\n]{0,200}\n)*"
        r"[ \t]*\|[^|\n]{0,64}\|[ \t`]*([^\s|`\x00\x01]{6,64})",
        PASS_KEYWORDS,
        1.5,
        "password",
    )


RULES: tuple[Rule, ...] = (*_prefixed(), *_named(), *_generic(), *spoken_rules(), *_pairs())
