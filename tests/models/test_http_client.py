import traceback
from typing import Any

import httpx
import pytest
from loopback_service import Answer

from hindbrain.base.errors import ConfigError, ModelDown, ModelError
from hindbrain.models import http
from hindbrain.models.http import Credential, HttpClient, Secret, Timing, authority, checked_url, is_nearby

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def client(fake_time):
    client = HttpClient(timing=fake_time.timing())
    yield client
    client.close()


def post(client, url, *, retries=3, timeout_s=5.0, credential=None):
    return client.post_json(
        url, {"input": ["a"]}, timeout_s=timeout_s, retries=retries, credential=credential
    )


def key_for(url, value=KEY):
    return Credential(Secret(value, authority(url)))


def everything_said(raised):
    """The error, its causes and their traceback, as a log would show them."""
    return "".join(traceback.format_exception(raised.value)) + repr(raised.value)


def test_a_busy_server_is_asked_again_after_the_time_it_names(service, client, fake_time):
    service.next = [Answer(status=429, headers={"Retry-After": "7"}, body={}), Answer(body={"ok": 1})]
    assert post(client, service.url) == {"ok": 1}
    assert fake_time.waits == [7.0]


def test_a_wait_longer_than_the_cap_is_cut_to_it(service, client, fake_time):
    service.next = [Answer(status=429, headers={"Retry-After": "86400"}, body={}), Answer(body=1)]
    post(client, service.url)
    assert fake_time.waits == [30.0]


def test_a_wait_given_as_a_date_is_counted_from_now(service, client, fake_time):
    date = "Tue, 14 Nov 2023 22:13:32 GMT"  # 12 s after the fake clock's start
    service.next = [Answer(status=503, headers={"Retry-After": date}, body={}), Answer(body=1)]
    post(client, service.url)
    assert fake_time.waits == [12.0]


@pytest.mark.parametrize("value", ["soon", "-5", "٣", "Tue, 99 Nov 2023", "1e9", ""])
def test_an_unreadable_wait_falls_back_to_growing_pauses(service, client, fake_time, value):
    bad: dict[str, Any] = {"status": 500, "body": {}}
    if value.isascii():
        bad["headers"] = {"Retry-After": value}
    service.next = [Answer(**bad), Answer(**bad), Answer(**bad), Answer(body=1)]
    post(client, service.url)
    assert fake_time.waits == [0.5, 1.0, 2.0]


def test_pauses_differ_by_chance_so_that_clients_do_not_come_in_waves(service):
    waits: list[float] = []
    for chance in (0.0, 0.999):
        service.next = [Answer(status=500, body={}), Answer(body=1)]
        post(HttpClient(timing=Timing(sleep=waits.append, chance=lambda c=chance: c)), service.url)  # type: ignore[misc]
    assert waits[0] < waits[1]


@pytest.mark.promise("P13")
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_stays_broken_is_down_after_the_last_try(service, client, fake_time, status):
    service.next = [Answer(status=status, body={}) for _ in range(3)]
    with pytest.raises(ModelDown):
        post(client, service.url, retries=2)
    assert len(service.seen) == 3
    assert len(fake_time.waits) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_an_error_at_once_and_not_down(service, client, fake_time, status):
    service.next = [Answer(status=status, body={"error": "no"})]
    with pytest.raises(ModelError) as raised:
        post(client, service.url)
    assert raised.value.code == "model"
    assert len(service.seen) == 1
    assert fake_time.waits == []


@pytest.mark.promise("P13")
def test_nobody_listening_is_down(client, closed_url):
    with pytest.raises(ModelDown):
        post(client, closed_url)


@pytest.mark.promise("P13")
def test_a_server_that_never_answers_is_down(service, client):
    service.next = [Answer(hangs=True)]
    with pytest.raises(ModelDown):
        post(client, service.url, retries=0, timeout_s=0.05)


def test_a_time_out_is_tried_again(service, client):
    service.next = [Answer(hangs=True), Answer(body="late but good")]
    assert post(client, service.url, timeout_s=0.2) == "late but good"


def test_an_answer_that_dribbles_in_is_cut_off_at_the_deadline():
    moments = iter(range(100))

    def dribble(request):
        return httpx.Response(200, content=iter([b"1"] * 50))

    timing = Timing(sleep=lambda _s: None, monotonic=lambda: float(next(moments)))
    client = HttpClient(transport=httpx.MockTransport(dribble), timing=timing)
    with pytest.raises(ModelDown):
        post(client, "http://127.0.0.1:9", retries=0, timeout_s=5.0)


def test_a_connection_lost_in_the_middle_is_tried_again(service, client):
    service.next = [Answer(body={"data": [1] * 50}, cut_at=20), Answer(body="whole")]
    assert post(client, service.url) == "whole"


@pytest.mark.parametrize("body", [b'{"data": [', b"", b"<html>", b"[" * 200_000, b"\xff\xfe"])
def test_an_answer_that_is_not_json_is_an_error(service, client, body):
    service.next = [Answer(body=body)]
    with pytest.raises(ModelError) as raised:
        post(client, service.url)
    assert raised.value.code == "model"


def test_an_answer_beyond_the_size_limit_is_refused(service, client, monkeypatch):
    monkeypatch.setattr(http, "_MAX_ANSWER_BYTES", 1000)
    service.next = [Answer(body="x" * 2000)]
    with pytest.raises(ModelError) as raised:
        post(client, service.url)
    assert raised.value.code == "model"


def test_a_key_reaches_the_server_it_belongs_to(service, client):
    post(client, service.url, credential=key_for(service.url))
    assert service.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.promise("P25")
@pytest.mark.parametrize("host", ["api.openai.com", "127.0.0.1", "127.0.0.1:1", "localhost"])
def test_a_key_for_another_host_is_not_sent(service, client, host):
    with pytest.raises(ConfigError):
        post(client, service.url, credential=Credential(Secret(KEY, host)))
    assert service.seen == []


def test_a_key_is_not_sent_unencrypted_to_the_outside():
    def fail(request):
        raise AssertionError("sent")

    client = HttpClient(transport=httpx.MockTransport(fail))
    with pytest.raises(ConfigError):
        post(client, "http://example.com/v1", credential=key_for("http://example.com"))


@pytest.mark.promise("P25")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(service, other_service, client, status):
    service.next = [Answer(status=status, headers={"Location": other_service.url + "/steal"}, body={})]
    with pytest.raises(ModelError):
        post(client, service.url, credential=key_for(service.url))
    assert other_service.seen == []


@pytest.mark.promise("P25")
@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "//localhost/",
        "/other/path",
    ],
)
def test_no_redirect_turns_a_request_inward(target):
    asked = []

    def redirect(request):
        asked.append(str(request.url))
        return httpx.Response(307, headers={"Location": target})

    client = HttpClient(transport=httpx.MockTransport(redirect))
    with pytest.raises(ModelError):
        post(client, "https://embed.example/v1")
    assert asked == ["https://embed.example/v1"]


@pytest.mark.promise("P21")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500])
@pytest.mark.parametrize(
    "echo", [KEY, f"Authorization: Bearer {KEY}", "bad key " + KEY * 40, " " * 5000 + KEY]
)
def test_a_server_that_echoes_the_key_does_not_put_it_into_the_error(service, client, status, echo):
    service.next = [Answer(status=status, body=echo.encode())] * 4
    with pytest.raises(ModelError) as raised:
        post(client, service.url, credential=key_for(service.url))
    assert KEY not in everything_said(raised)
    assert KEY[:12] not in everything_said(raised)


@pytest.mark.promise("P21")
def test_a_transport_error_that_holds_the_key_is_redacted():
    def fail(request):
        raise httpx.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'")

    client = HttpClient(transport=httpx.MockTransport(fail))
    with pytest.raises(ModelError) as raised:
        post(client, "https://embed.example", credential=key_for("https://embed.example"))
    assert KEY not in str(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.promise("P21")
@pytest.mark.parametrize("value", ["", KEY + "\n", f"a {KEY}", KEY + "é", "\x00"])
def test_a_malformed_key_is_refused_without_being_shown(value):
    with pytest.raises(ConfigError) as raised:
        Secret(value, "host")
    assert KEY not in everything_said(raised)


@pytest.mark.promise("P21")
def test_a_key_is_not_in_the_printed_form_of_what_holds_it():
    credential = key_for("https://host")
    assert KEY not in repr(credential) + str(credential) + repr(credential.secret)


def test_a_proxy_from_the_environment_is_not_asked_for_this_machine(service, client, monkeypatch, closed_url):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_url)
    service.next = [Answer(body="direct")]
    assert post(client, service.url, retries=0) == "direct"


def test_a_text_of_any_characters_arrives_whole(service, client):
    text = "naïve 你好 \U0001f9e0 \x00 \u2028"
    service.next = [Answer(body=1)]
    client.post_json(service.url, {"input": [text]}, timeout_s=5, retries=0)
    assert service.seen[0].payload == {"input": [text]}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.openai.com",
        "ftp://host",
        "file:///etc/passwd",
        "http://",
        "https://host/v1?key=" + KEY,
        "https://host/#x",
        "https://ho st/",
        "http://host:port",
        "http://host:99999",
        "http://[::1",
        "http://good.example\\@evil.example",
        "https://user:" + KEY + "@host",
        "https://@host",
    ],
)
def test_an_address_that_is_odd_is_refused_and_not_repeated_with_its_secrets(url):
    with pytest.raises(ConfigError) as raised:
        checked_url(url)
    assert KEY not in everything_said(raised)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://API.OpenAI.com/v1", "api.openai.com"),
        ("https://api.openai.com:443", "api.openai.com"),
        ("https://api.openai.com.", "api.openai.com"),
        ("http://api.openai.com", "api.openai.com:80"),
        ("https://api.openai.com.evil.example", "api.openai.com.evil.example"),
        ("https://api.openai.com@evil.example", "evil.example"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
    ],
)
def test_a_key_belongs_to_host_and_port(url, expected):
    assert authority(url) == expected


@pytest.mark.parametrize(
    ("url", "nearby"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1", True),
        ("http://[::1]:1", True),
        ("http://192.168.1.5", True),
        ("http://box.local", True),
        ("http://ollama:11434", True),
        ("http://8.8.8.8", False),
        ("http://134744072", False),
        ("https://api.openai.com", False),
        ("http://localhost.evil.example", False),
    ],
)
def test_what_counts_as_nearby(url, nearby):
    assert is_nearby(url) is nearby
