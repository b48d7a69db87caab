"""What a note's owner keeps secret in a note stays in the note: nothing that is made of it holds it (P21)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from hindbrain.models.fake import FakeEmbedder
from index_oracle import meaning
from secret_samples import Sample, core, samples
from workbench import Bench, MakeBench, Vault

pytestmark = pytest.mark.promise("P21")


def one_of_each_kind() -> list[Sample]:
    kinds: dict[str, Sample] = {}
    for sample in samples(seed=35, rounds=1):
        kinds.setdefault(sample.kind, sample)
    return list(kinds.values())


SECRETS = one_of_each_kind()


def note_with(at: int, sample: Sample) -> str:
    """The secret in a paragraph with words of its own, and again at the end of a list."""
    return (
        f"# Note number{at}\n\nBefore before{at}\n\n{sample.text}\n\nAfter after{at}\n\n"
        f"- last{at} one\n- {sample.text}\n"
    )


def write_all(vault: Vault) -> dict[str, bytes]:
    for at, sample in enumerate(SECRETS):
        vault.write(f"n{at}.md", note_with(at, sample))
    token = next(sample.secret for sample in SECRETS if sample.kind == "github ghp")
    vault.write(
        "everywhere.md",
        f"---\ntitle: About {token}\naliases: [{token}]\ntags: [{token}]\nsummary: {token}\n---\n"
        f"# Heading {token}\n\nA link [[{token}|{token}]], a field:: {token}, a tag #{token}.\n\n"
        f"- [ ] {token} ^{token}\n",
    )
    return {path.name: path.read_bytes() for path in vault.root.glob("*.md")}


def state_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()


def stored_texts(index: Path) -> str:
    db = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return "\n".join(
            zlib.decompress(data).decode("utf-8", "surrogatepass")
            for (data,) in db.execute("SELECT data FROM note_text")
        )
    finally:
        db.close()


def pieces(sample: Sample) -> list[str]:
    """Every ten characters in a row of a secret: part of one is a leak as well."""
    return [part[at : at + 10] for part in core(sample.secret) for at in range(max(1, len(part) - 9))]


def leaks(haystack: str) -> list[str]:
    lowered = haystack.lower()
    outside = "\n".join(note_with(at, s).replace(s.secret, "") for at, s in enumerate(SECRETS)).lower()
    return [
        sample.kind
        for sample in SECRETS
        if any(piece in lowered and piece not in outside for piece in map(str.lower, pieces(sample)))
    ]


def test_an_index_and_what_is_embedded_hold_no_secret_of_the_notes(
    vault: Vault, make_bench: MakeBench, embedder: FakeEmbedder
) -> None:
    before = write_all(vault)
    assert len(SECRETS) >= 35
    bench = make_bench(embedder)
    report = bench.sync()
    assert report.indexed == len(before)
    assert not report.failed
    assert leaks("\n".join(embedder.texts())) == []
    assert leaks(stored_texts(bench.app.index_path)) == []
    for name, data in state_files(bench.app.state):
        assert leaks(data.decode("latin-1")) == [], name
    assert {path.name: path.read_bytes() for path in vault.root.glob("*.md")} == before


def test_the_test_would_see_a_leak(
    vault: Vault, make_bench: MakeBench, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.index.reading.mask", lambda text: text)
    write_all(vault)
    bench = make_bench(embedder)
    bench.sync()
    assert len(leaks("\n".join(embedder.texts()))) == len(SECRETS)
    assert len(leaks(stored_texts(bench.app.index_path))) == len(SECRETS)
    assert "github ghp" in leaks(
        "\n".join(data.decode("latin-1") for _, data in state_files(bench.app.state))
    )


def test_hits_hold_no_secret_and_words_beside_one_still_find_the_passage(vault: Vault, plain: Bench) -> None:
    write_all(vault)
    plain.sync()
    for at in range(len(SECRETS)):
        hits = plain.hits(f"last{at}")
        assert hits[0].path == f"n{at}.md"
        shown = "\n".join(
            f"{hit.title}\n{hit.heading}\n{hit.before}\n{hit.text}\n{hit.after}" for hit in hits
        )
        assert leaks(shown) == []


def test_a_secret_can_not_be_found_by_asking_for_it(vault: Vault, plain: Bench) -> None:
    token = next(sample for sample in SECRETS if sample.kind == "github ghp")
    vault.write("a.md", f"Deploy with {token.secret} on Friday.\n")
    plain.sync()
    assert plain.hits(token.secret) == ()
    (hit,) = plain.hits("deploy Friday")
    assert (hit.first_line, hit.last_line) == (1, 1)
    assert hit.text == f"Deploy with {'•' * len(token.secret)} on Friday."


def test_lines_and_passages_are_those_of_the_note(vault: Vault, plain: Bench) -> None:
    block = next(sample for sample in SECRETS if sample.kind == "pem rsa private key")
    vault.write("a.md", f"One.\r\n\r\n```\r\n{block.secret}\r\n```\r\n\r\nThe turnip is on line fifteen.\r\n")
    plain.sync()
    assert plain.hits("turnip")[0].first_line == 15


def test_what_was_asked_is_kept_without_the_secret_in_it(vault: Vault, plain: Bench) -> None:
    token = next(sample for sample in SECRETS if sample.kind == "stripe")
    vault.write("a.md", "Payments.\n")
    (vault.root / ".hindbrain").mkdir()
    plain.sync()
    plain.app.record_access("a.md", f"what is {token.secret} for")
    log = (vault.root / ".hindbrain" / "usage.jsonl").read_text("utf-8")
    assert "what is [secret removed: stripe key] for" in log
    for name, data in [*state_files(plain.app.state), ("usage.jsonl", log.encode())]:
        assert token.secret.encode() not in data, name


def test_an_index_from_before_is_made_again(
    vault: Vault, make_bench: MakeBench, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all(vault)
    bench = make_bench(embedder)
    with monkeypatch.context() as old:
        old.setattr("hindbrain.index.reading.mask", lambda text: text)
        old.setattr("hindbrain.index.schema._RECIPE", 1)
        bench.sync()
    bench.sync()
    assert leaks(stored_texts(bench.app.index_path)) == []


def test_an_index_built_at_once_and_one_built_by_edits_mean_the_same(
    vault: Vault, make_bench: MakeBench, tmp_path: Path
) -> None:
    write_all(vault)
    grown = make_bench(FakeEmbedder())
    grown.sync()
    for at in range(0, len(SECRETS), 5):
        vault.edit(f"n{at}.md", "Before", "Long before")
    grown.sync()
    fresh = make_bench(FakeEmbedder(), state_folder=str(tmp_path / "other"))
    fresh.sync()
    assert meaning(grown.app.index_path) == meaning(fresh.app.index_path)


# Two of each: what a person has a command remember, and what they say to an agent whose host calls our hooks.
SAID = {
    "sunflower42": "I always want you to know that the wifi password is sunflower42",
    "Sonnenblume": "Mein WLAN-Passwort lautet Sonnenblume, und der Drucker steht im Flur",
    "tournesol": "Remember that the guest Wi-Fi password is tournesol and the printer is in the hall",
    "82641935": "I prefer to open the garage by hand, but the PIN for the garage is 82641935",
    "9f8e7d6c5b4a": "We always post releases to https://hooks.example.com/t/9f8e7d6c5b4a39281706f5e4",
    "k3x8q-n5tw0": "From now on use my backup codes: k3x8q-n5tw0, 7rmyc-2v9dh",
}


def run(environ: dict[str, str], *words: str, given: str = "") -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *words], env=environ, input=given.encode(), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.decode()


def test_spoken_secrets_stay_out_of_what_commands_and_hooks_store(vault: Vault, tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    environ |= {
        "HINDBRAIN_STATE_FOLDER": str(tmp_path / "state"),
        "HINDBRAIN_CONFIG": str(tmp_path / "none.toml"),
        "HINDBRAIN_HOOKS_DAEMON": "false",
        "HINDBRAIN_EMBEDDING_PROVIDER": "none",
        "HOME": str(tmp_path),
    }
    here = ("--vault", str(vault.root))
    run(environ, "hindbrain", "init", *here)
    by_command = list(SAID.items())[:2]
    for _, sentence in by_command:
        told = json.loads(run(environ, "hindbrain", "remember", *here, "--json", sentence))
        assert told["removed"]
    transcript = tmp_path / "talk.jsonl"
    lines = [
        {
            "type": "user", "uuid": f"u{at}-0000", "sessionId": "s", "cwd": str(tmp_path),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
            "message": {"role": "user", "content": sentence},
        }
        for at, sentence in enumerate(SAID.values())
    ]  # fmt: skip
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    event = {"session_id": "s", "cwd": str(vault.root), "transcript_path": str(transcript), "reason": "exit"}
    for name in ("stop", "session-end"):
        run(environ, "hindbrain.edge.hooks.main", "claude-code", name, given=json.dumps(event))
    run(environ, "hindbrain", "hook", "settle", *here)
    kept = {
        str(path): path.read_bytes()
        for folder in (vault.root, tmp_path / "state")
        for path in folder.rglob("*")
        if path.is_file()
    }
    everything = b"\n".join(kept.values())
    assert b"secret removed: password" in everything and b"printer" in everything
    assert [secret for secret in SAID if secret.encode() in everything] == []
