"""Every injection leaves a receipt: what entered a prompt, what did not, and why."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.context.packs.pack import Excerpt, FilledSlot, LeftOut, Pack
from hindbrain.context.receipts import FILE, KEPT, Entered, Receipt, Receipts, receipt_data, receipt_of
from hindbrain.context.turn import SessionKey
from hindbrain.edge.daemon.verbs import answer, take_back
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from hindbrain.learn.runs.episode import Action, Episode
from hindbrain.learn.stats.slots import slot_stats
from hindbrain.learn.templates.template import Step, Template
from workbench import Vault

PORT = "which port has the kite server?"
SESSION = SessionKey("claude-code", "s1")
KEY = b"k" * 32
Shown = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def host(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """An agent host that calls the hooks of a vault with two notes; gives what enters its prompt."""
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    vault.write("Kite.md", "# Kite\n\nThe kite server runs on port 7421; kitectl reload restarts it.\n")
    vault.write("Broth.md", "# Broth\n\nChicken broth simmers for three hours.\n")
    with closing(opened(vault)) as app:
        app.sync()

    def hook(name: str, session: str = "s1", **payload: object) -> str:
        host = host_named("claude-code")
        event = host.event(name) if host is not None else None
        assert host is not None and event is not None
        sent = {"session_id": session, "hook_event_name": event.there, "cwd": str(vault.root), **payload}
        doing = Doing(host, event, time.monotonic())
        told = doing.answer(lambda: json.dumps(sent).encode())
        doing.finish(told)
        return told.text

    yield hook


@pytest.fixture
def shown(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Shown:
    """What `hindbrain context --last --json` shows."""

    def last(many: int = 1) -> list[dict[str, Any]]:
        capsys.readouterr()
        assert main(["context", "--last", str(many), "--json", "--vault", str(vault.root)]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["receipts"]
        return found

    return last


def opened(vault: Vault) -> App:
    return build_app(load_config(), vault.root, warm=False)


def file_of(vault: Vault) -> Path:
    with closing(opened(vault)) as app:
        return app.state / FILE


def test_a_prompt_leaves_a_receipt_of_what_entered_and_why(
    host: Callable[..., str], vault: Vault, shown: Shown
) -> None:
    assert "7421" in host("user-prompt-submit", prompt=PORT)
    [receipt] = shown()
    assert (receipt["host"], receipt["session"], receipt["event"]) == ("claude-code", "s1", "turn")
    assert receipt["prompt"] == PORT
    assert len(receipt["hash"]) == 32 and receipt["delivered"]
    [entered] = receipt["entered"]
    assert (entered["slot"], entered["path"]) == ("relevant", "Kite.md")
    assert entered["passages"] and entered["why"] and entered["tokens"] > 0 and entered["lines"] > 1
    assert receipt["tokens"] > entered["tokens"] and receipt["took_ms"] > 0
    assert not receipt["abstained"] and receipt["confidence"] > 0
    file = file_of(vault)
    assert b"7421" not in file.read_bytes()  # what notes say is not kept
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_prompt_that_gets_nothing_leaves_a_receipt_that_says_why(
    host: Callable[..., str], shown: Shown
) -> None:
    assert not host("user-prompt-submit", prompt="thanks, that is all")
    assert host("user-prompt-submit", prompt=PORT)
    host("user-prompt-submit", prompt=PORT)  # it is in the window now
    again, _, thanks = shown(3)
    assert thanks["entered"] == [] and not thanks["searched"]
    assert [one["path"] for one in again["entered"]] == []
    assert "in_window" in {one["reason"] for one in again["left_out"]} or again["abstained"]


def test_starts_and_failures_leave_receipts_with_the_ids_of_memories(
    host: Callable[..., str], vault: Vault, shown: Shown
) -> None:
    assert main(["remember", "Prefers tea", "--category", "preference", "--vault", str(vault.root)]) == 0
    assert "tea" in host("session-start", source="startup")
    host(
        "post-tool-use-failure", tool_name="Bash", tool_input={"command": "kitectl reload"},
        error="kite server: no route to port 7421",
    )  # fmt: skip
    failure, start = shown(9)
    assert (start["event"], start["prompt"], start["hash"]) == ("start", "", "")
    assert any(one["memory"].startswith("m-") for one in start["entered"])
    assert failure["event"] == "failure" and failure["hash"]


def test_a_secret_in_a_prompt_is_masked_and_its_beginning_alone_is_kept(
    host: Callable[..., str], vault: Vault, shown: Shown
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    host("user-prompt-submit", prompt=f"use {secret} for the kite server " + "and tell me more " * 30)
    [receipt] = shown()
    assert len(receipt["prompt"]) <= 80 and receipt["prompt"].startswith("use ")
    assert secret.encode() not in file_of(vault).read_bytes()
    assert secret[:20].encode() not in file_of(vault).read_bytes()


def test_a_preview_and_a_replay_leave_no_receipt(
    host: Callable[..., str], vault: Vault, shown: Shown, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": PORT}) + "\n", encoding="utf-8")
    assert main(["context", PORT, "--vault", str(vault.root)]) == 0
    assert main(["context", "--replay", str(talk), "--vault", str(vault.root)]) == 0
    assert shown(5) == []


def test_the_command_shows_receipts_to_a_person_and_says_when_there_are_none(
    host: Callable[..., str], vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    show = ["context", "--vault", str(vault.root), "--last"]
    assert main(show) == 0
    nothing = capsys.readouterr()
    assert not nothing.out and "no receipt" in nothing.err
    host("user-prompt-submit", prompt=PORT)
    host("user-prompt-submit", prompt="thanks, that is all")
    assert main([*show, "2"]) == 0
    told = capsys.readouterr().out
    assert told.index("thanks, that is all") < told.index(PORT) < told.index("+ Kite.md:")
    assert main(show) == 0
    assert PORT not in capsys.readouterr().out


@pytest.mark.parametrize("more", [["0"], ["1", "a prompt"], ["1", "--explain"], ["1", "--replay", "x"]])
def test_what_does_not_go_with_the_last_receipts_is_refused(
    host: Callable[..., str], vault: Vault, more: list[str]
) -> None:
    assert main(["context", "--vault", str(vault.root), "--last", *more]) == 2


def test_an_answer_that_nobody_took_is_marked(host: Callable[..., str], vault: Vault, shown: Shown) -> None:
    asked = {"host": "claude-code", "session": "s1", "prompt": PORT}
    with closing(opened(vault)) as app:
        take_back(app, asked, answer(app, "turn", asked))
        answer(app, "turn", {**asked, "session": "s2"})
    assert [receipt["delivered"] for receipt in shown(2)] == [True, False]


def test_a_purge_leaves_nothing_of_the_memory_in_receipts(
    host: Callable[..., str], vault: Vault, shown: Shown
) -> None:
    with closing(opened(vault)) as app:
        stored = app.memory.remember("Quokkalina keeps the zanzibarite ledger in Lund")
        app.memory.settle(idle=True)
        app.sync()
    host("user-prompt-submit", prompt="who keeps the zanzibarite ledger?")
    # Cut after 80 characters, amid the words: too few stay to say the same.
    host(
        "user-prompt-submit",
        prompt=f"{'Please answer plainly '.ljust(55, 'x')} is it Quokkalina who keeps it?",
    )
    host("user-prompt-submit", prompt=PORT)
    file = file_of(vault)
    assert b"zanzibarite" in file.read_bytes() and b"Quokkalina" in file.read_bytes()
    with closing(opened(vault)) as app:
        assert app.purge(stored.id).complete
    kept = file.read_bytes().lower()
    assert b"quokkalin" not in kept and b"zanzibarit" not in kept
    receipts = shown(9)
    assert [receipt["prompt"] for receipt in receipts] == [PORT, "", ""]
    assert [bool(receipt["hash"]) for receipt in receipts] == [True, False, False]


def test_a_purge_finds_words_of_a_script_without_spaces(host: Callable[..., str], vault: Vault) -> None:
    with closing(opened(vault)) as app:
        stored = app.memory.remember("田中さんは大阪で帳簿を管理しています")
        app.memory.settle(idle=True)
        host("user-prompt-submit", prompt="帳簿を管理しているのは誰？")
        assert Receipts(app.state).read()[-1].prompt
        app.purge(stored.id)
        assert not Receipts(app.state).read()[-1].prompt


def test_a_receipt_that_cannot_be_written_costs_nothing_else_and_is_told_once(
    host: Callable[..., str], vault: Vault
) -> None:
    file = file_of(vault)
    file.mkdir(parents=True)  # whatever the rights of this process are, no line can be added to a folder
    with closing(opened(vault)) as app:
        first = app.context.turn(SESSION, PORT)
        second = app.context.turn(SESSION._replace(id="s2"), PORT)
    assert "7421" in first.text and "7421" in second.text
    assert [sum(FILE in notice for notice in turn.notices) for turn in (first, second)] == [1, 0]
    assert "7421" in host("user-prompt-submit", "s3", prompt=PORT)
    assert main(["context", "--last", "--vault", str(vault.root)]) == 1
    assert main(["stats", "--vault", str(vault.root)]) == 0


@pytest.mark.parametrize("fault", ["open", "write"])
def test_a_full_disk_costs_only_the_receipt(
    host: Callable[..., str], vault: Vault, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    import errno

    from hindbrain.base.files import AppendLog

    def full(*_: object) -> bool:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(AppendLog, "__init__" if fault == "open" else "_write", full)
    with closing(opened(vault)) as app:
        turn = app.context.turn(SESSION, PORT)
    assert "7421" in turn.text
    assert not any(FILE in notice for notice in turn.notices)  # the ledger told it already
    assert turn.notices


def test_ten_thousand_receipts_stay_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    receipts = Receipts(tmp_path, most_bytes=600_000)
    pack = Pack(
        "turn", "kite", 1_000, (), tuple(LeftOut(f"N{at}.md:1", "unlikely", "relevant") for at in range(30))
    )
    made = receipt_of(SESSION, "turn", PORT, pack, at=1.0, took_s=0.01, key=KEY)
    assert len(made.left_out) == 20 and made.left_out_in_all == 30
    biggest = 0
    for at in range(10_000):
        left_out = made.left_out if at % 100 == 0 else ()
        assert not receipts.add(made._replace(id=f"r{at}", at=float(at), left_out=left_out))
        biggest = max(biggest, (tmp_path / FILE).stat().st_size)
    kept = receipts.read()
    assert biggest < 610_000
    assert [receipt.id for receipt in kept] == [f"r{at}" for at in range(10_000 - len(kept), 10_000)]
    assert len(kept) > 500
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_threads_that_add_at_once_tear_no_line_and_stay_bounded(tmp_path: Path) -> None:
    made = receipt_of(SESSION, "turn", PORT, None, at=1.0, took_s=0.01, key=KEY)

    def add_many(name: int) -> list[str]:
        receipts = Receipts(tmp_path, most_bytes=20_000)
        return [receipts.add(made._replace(id=f"{name}-{at}")) for at in range(200)]

    with ThreadPoolExecutor(4) as pool:
        assert not any(problem for told in pool.map(add_many, range(4)) for problem in told)
    lines = (tmp_path / FILE).read_bytes().splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    kept = [receipt.id for receipt in Receipts(tmp_path).read()]
    assert kept and len(kept) == len(set(kept))
    assert (tmp_path / FILE).stat().st_size < 25_000


def test_small_receipts_are_bounded_by_their_number(tmp_path: Path) -> None:
    small = receipt_of(SESSION, "start", "", None, at=1.0, took_s=0.0, key=KEY)
    lines = [json.dumps(receipt_data(small._replace(id=f"r{at}"))) + "\n" for at in range(3 * KEPT)]
    (tmp_path / FILE).write_text("".join(lines), encoding="utf-8")
    Receipts(tmp_path, most_bytes=len("".join(lines))).add(small._replace(id="last"))
    kept = Receipts(tmp_path).read()
    assert len(kept) == KEPT and kept[-1].id == "last"


def test_receipts_survive_a_round_trip_and_damaged_lines_cost_only_themselves(tmp_path: Path) -> None:
    excerpt = Excerpt(
        "Kite.md", "Kite", "a\nb", first_line=1, last_line=2, score=0.5, why="pinned", passages=("p1",),
        tokens=4, memory="m-1",
    )  # fmt: skip
    slot = FilledSlot("relevant", 10, 9, (excerpt,))
    pack = Pack("turn", "kite", 20, (slot,), (LeftOut("B.md:1", "budget", "relevant", 3, 0.1, 0.2),), 0.9)
    receipt = receipt_of(SESSION, "turn", "kite \ud800?", pack, at=5.0, took_s=0.25, key=KEY)
    assert receipt.entered == (
        Entered("relevant", "Kite.md", 1, 2, "pinned", 0.5, 0.0, 4, 2, "m-1", ("p1",)),
    )
    receipts = Receipts(tmp_path)
    receipts.add(receipt)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"id": "cut", "ev\n[]\n{"id": 1, "event": {}}\n\xff\n')
    receipts.add(receipt)  # again, as when the file was replaced meanwhile
    receipts.add(receipt._replace(id="other", entered=()))
    first, second = receipts.read()
    assert first == receipt
    assert second.id == "other" and second.entered == ()


@pytest.mark.parametrize("before", range(60, 84))
def test_the_beginning_of_a_prompt_ends_with_a_whole_word(before: int) -> None:
    prompt = f"{'x' * before} Quokkalina keeps it"
    kept = receipt_of(SESSION, "turn", prompt, None, at=0.0, took_s=0.0, key=KEY).prompt
    assert prompt.startswith(kept) and len(kept) <= 80
    assert set(kept.split()) <= {*prompt.split(), "x" * 80}


def test_the_hash_of_a_prompt_is_the_same_in_one_vault_and_another_in_the_next() -> None:
    def made(prompt: str, key: bytes) -> str:
        return receipt_of(SESSION, "turn", prompt, None, at=0.0, took_s=0.0, key=key).hash

    assert made(PORT, KEY) == made(PORT, KEY)
    assert len({made(PORT, KEY), made(PORT, b"another"), made(PORT + "?", KEY)}) == 3


# What was used


def entered_at(at: float, *entered: Entered, event: str = "turn", **more: Any) -> Receipt:
    return Receipt(f"r{at}", at, "claude-code", "s1", event, "", "", entered=entered, **more)


def test_slots_count_what_they_put_in_and_what_answers_used() -> None:
    kite = Entered("relevant", "Kite.md", tokens=10, lines=3)
    tea = Entered("memories", "fact.md", 4, 4, tokens=5, lines=1, memory="m-tea")
    receipts = [
        entered_at(100, kite._replace(used=("quoted", "named")), tea), entered_at(200, kite), entered_at(300),
        entered_at(10_000, kite), entered_at(10_500, tea._replace(used=("run",)), event="start"),
        entered_at(11_000, kite._replace(used=("named",)), delivered=False),
    ]  # fmt: skip
    stats = slot_stats(receipts)
    assert (stats.since, stats.prompts, stats.empty) == (100, 4, 1)
    relevant, memories = stats.slots
    assert relevant == ("relevant", 3, 3, 9, 30, 1)
    assert memories == ("memories", 2, 2, 2, 10, 1)
    assert relevant.used_share == pytest.approx(1 / 3)
    assert slot_stats(receipts, since=9_000).prompts == 1


def test_a_template_is_used_by_the_run_that_follows_it() -> None:
    template = Template("t-1", "Deploy", "", (Step("build"), Step("deploy")), path="T.md")
    shown = Entered("template", "T.md", 1, 5, tokens=10, lines=5)
    receipts = [entered_at(100, shown), entered_at(5_000, shown)]
    runs = [
        Episode("a", "deploy", "success", 110.0, 200.0, actions=(Action("build"), Action("deploy")),
                host="claude-code", session="s1"),
        Episode("b", "deploy", "success", 5_010.0, 5_100.0, actions=(Action("look"),),
                host="claude-code", session="s1"),
    ]  # fmt: skip
    [slot] = slot_stats(receipts, runs, [template]).slots
    assert (slot.excerpts, slot.used) == (2, 1)
    assert slot_stats(receipts, [runs[0]._replace(session="s2")], [template]).slots[0].used == 0


def test_stats_show_slots_and_count_nothing_that_a_person_opened_or_recalled(
    host: Callable[..., str], vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(vault.root)
    assert main(["init", "--vault", root]) == 0  # what is opened is written down in such a vault
    assert main(["remember", "The kite server is called Ferdinand", "--vault", root]) == 0
    host("user-prompt-submit", prompt=PORT)
    host("user-prompt-submit", prompt="thanks, that is all")
    assert main(["read", "Kite.md", "--vault", root]) == 0
    assert main(["recall", "kite", "--vault", root]) == 0
    assert main(["search", "kite server", "--vault", root]) == 0
    capsys.readouterr()
    assert main(["stats", "--json", "--vault", root]) == 0
    told = json.loads(capsys.readouterr().out)["slots"]
    assert (told["prompts"], told["empty"]) == (2, 1)
    figures = [(one["slot"], one["injections"], one["used"], one["used_share"]) for one in told["slots"]]
    assert sorted(figures) == [("memories", 1, 0, 0.0), ("relevant", 1, 0, 0.0)]
    assert main(["stats", "--vault", root]) == 0
    plain = capsys.readouterr().out
    assert "into 1 of 2 prompts (50%)" in plain and "0 of 1 excerpt" in plain
