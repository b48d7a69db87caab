"""The vault as the memory of the real OpenClaw, as its owner lives with it."""

from __future__ import annotations

import json
import re
import time
from datetime import date

import pytest
from tests.real_openclaw.completions_stub import Asked, Call, Reply, Say
from tests.real_openclaw.gateway_process import HOOK_TOKEN, wait_until
from tests.real_openclaw.notes_of_noor import (
    CORE,
    FACT,
    KEPT,
    LATER_FACT,
    LATER_NOTE,
    LATER_QUESTION,
    PREFERENCE,
    QUESTION,
    UNRELATED,
)
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig
from tests.real_openclaw.telegram_stub import GROUP, OTHER
from tests.real_openclaw.turns import asked, found, settled

pytestmark = pytest.mark.openclaw
_PART = "Memory"
_KEY_NOTE = "Places/Workshop.md"
_WINDOW = 128_000


def test_a_fact_written_into_a_note_reaches_the_models_request_of_a_later_turn(
    ours: Rig, record: Record
) -> None:
    before = asked(ours, LATER_QUESTION)
    assert LATER_FACT not in before.text
    ours.write(*LATER_NOTE)
    began = time.monotonic()
    wait_until(lambda: LATER_NOTE[0] in found(ours, "Vulliamy dial"), what="the new note in a search")
    seconds = time.monotonic() - began
    after = asked(ours, LATER_QUESTION)
    assert LATER_FACT in after.said
    assert LATER_NOTE[0].removesuffix(".md") in after.said  # whence it is
    record.shown(_PART, f"a fact written into a note could be found after {seconds:.1f} s")
    record.shown(_PART, "and was in the model's request of the next turn that asked about it")


def test_what_was_recalled_is_in_no_later_request_and_small_talk_recalls_nothing(
    ours: Rig, record: Record
) -> None:
    session = "agent:main:small-talk"
    assert FACT in asked(ours, QUESTION, session=session, answer="Behind the barometer.").said
    next_turn = asked(ours, UNRELATED, session=session)
    assert FACT not in next_turn.text
    assert "Workshop" not in next_turn.text
    record.shown(_PART, "an unrelated turn carries nothing of the vault; what was recalled does not pile up")


def test_who_the_owner_is_stands_in_the_system_prompt_and_stays_the_same(ours: Rig) -> None:
    first = asked(ours, "Hello", session="agent:main:card")
    second = asked(ours, QUESTION, session="agent:main:card")
    assert CORE in first.system
    assert first.system == second.system  # so that the provider's prompt cache holds


def test_the_tools_are_offered_directly_and_with_openclaws_own_schemas(ours: Rig) -> None:
    tools = asked(ours, "Hello").tools
    assert set(tools["memory_search"]["properties"]) == {"query", "maxResults", "minScore", "corpus"}
    assert tools["memory_search"]["required"] == ["query"]
    assert set(tools["memory_get"]["properties"]) == {"path", "from", "lines", "corpus"}
    assert "text" in tools["memory_save"]["properties"]


def test_the_model_searches_and_reads_the_vault_through_the_gateway(ours: Rig, record: Record) -> None:
    read: list[Reply] = []

    def follow_the_citation(request: Asked) -> Reply:
        hit = json.loads(request.tool_results[-1])["results"][0]
        read.append(Call("memory_get", {"path": hit["path"], "from": hit["startLine"]}))
        return read[0]

    ours.model.script(
        Call("memory_search", {"query": "spare key of the workshop"}),
        follow_the_citation,
        Say("Behind the barometer."),
    )
    assert ours.gateway.ask("Use your memory.", session="agent:main:tools") == "Behind the barometer."
    searched, got = (json.loads(result) for result in ours.model.steps[-1].tool_results[-2:])
    hit = searched["results"][0]
    assert hit["path"] == _KEY_NOTE
    assert FACT in hit["snippet"]
    assert _KEY_NOTE.removesuffix(".md") in hit["citation"]
    assert got["status"] == "ok"
    assert FACT in got["text"]
    record.shown(_PART, f"the model called memory_search and memory_get: {hit['citation']}")


def test_the_same_hits_come_by_http_and_by_websocket(ours: Rig, record: Record) -> None:
    by_http = ours.gateway.invoke("memory_search", query="spare key of the workshop")
    by_socket = ours.gateway.rpc("memory.search", agentId="main", query="spare key of the workshop")
    assert by_http["provider"] == "hindbrain"
    assert by_http["results"][0]["path"] == by_socket["results"][0]["path"] == _KEY_NOTE
    took = by_http["debug"]["searchMs"]
    record.shown(
        _PART, f"POST /tools/invoke and WebSocket memory.search: the same hit ({took} ms in our engine)"
    )
    missing = ours.gateway.invoke("memory_get", path="No/Such note.md")
    assert missing["status"] == "not_found"


def test_what_the_model_saves_is_a_memory_of_the_vault_and_not_the_owners_word(
    ours: Rig, record: Record
) -> None:
    fact = "The Vienna regulator belongs to the museum of Mechelen"
    ours.model.script(
        Call("memory_save", {"text": fact, "category": "fact", "tags": ["clocks"]}), Say("Saved.")
    )
    assert ours.gateway.ask("Remember whose it is.", session="agent:main:save") == "Saved."
    saved = json.loads(ours.model.steps[-1].tool_results[-1])
    assert saved["action"] in ("stored", "merged")
    wait_until(lambda: saved["id"] in ours.vault_text(), what="the memory in its note")
    [line] = [line for line in ours.vault_text().splitlines() if saved["id"] in line]
    assert "belongs to the museum of Mechelen" in line
    assert "[source:: agent]" in line
    record.shown(_PART, "memory_save: it is a line of a note, as the agent's word and not as the owner's")


def test_a_flush_lands_in_the_daily_note(ours: Rig, record: Record) -> None:
    today = date.today().isoformat()
    session = "agent:main:flush"

    def flush(request: Asked) -> Reply:
        [file] = set(re.findall(rf"[\w./-]*{today}\.md", request.said))
        return Call("write", {"path": file, "content": "- Decided: the dial is cleaned, not repainted\n"})

    ours.model.script(Say("Long talk.", tokens=_WINDOW - 9_000), flush, Say("NO_REPLY"))
    ours.gateway.ask("Let us talk about the dial", session=session)
    # A turn of the person's in between would put the flush off.
    wait_until(lambda: len(ours.model.steps) >= 3, what="the turn of the flush")
    wait_until(
        lambda: "the dial is cleaned, not repainted" in ours.vault_text(), what="the flush in the vault"
    )
    [note] = [
        file
        for file in ours.vault.rglob(f"{today}.md")
        if "the dial is cleaned" in file.read_text(encoding="utf-8")
    ]
    text = note.read_text(encoding="utf-8")
    assert_well_formed(text)
    assert text.count("the dial is cleaned, not repainted") == 1
    where = note.relative_to(ours.vault).as_posix()
    record.shown(_PART, f"the flush before a compaction landed in {where!r}, with frontmatter and a heading")


def assert_well_formed(text: str) -> None:
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert text.startswith("---\n")
    assert "type:" in head
    assert re.search(r"^#+ ", body, re.MULTILINE)
    assert re.search(r"^- .*the dial is cleaned", body, re.MULTILINE)


def test_what_the_person_said_is_kept_once(ours: Rig, record: Record) -> None:
    asked(ours, PREFERENCE, session="agent:main:said", answer="Noted.")
    wait_until(lambda: settled(ours, KEPT), what="the preference in the vault")
    asked(ours, "Thanks", session="agent:main:said")
    asked(ours, "Bye", session="agent:main:said")
    assert ours.hindbrain("hook", "settle").code == 0
    assert ours.vault_text().count(KEPT) == 1
    record.shown(_PART, "what a person said in a turn was in the vault afterwards, once")


def test_a_turn_over_the_phone_has_the_memory_too(ours: Rig, record: Record) -> None:
    ours.model.script(Say("Look behind the barometer."))
    ours.telegram.write(QUESTION)
    ours.telegram.wait_for("Look behind the barometer.")
    assert FACT in ours.model.steps[0].said
    record.shown(_PART, "the same over Telegram: the fact was in the request, the answer on the phone")


def test_a_group_gets_nothing_of_the_vault_and_leaves_nothing_there(ours: Rig, record: Record) -> None:
    secret = "I prefer a quartz watch for travelling, always."
    ours.model.script(Call("memory_search", {"query": "spare key of the workshop"}), Say("Who knows."))
    ours.telegram.write(f"{QUESTION} {secret}", sender=OTHER, group=GROUP)
    ours.telegram.wait_for("Who knows.", chat=GROUP)
    for request in ours.model.steps:
        assert FACT not in request.text
        assert CORE not in request.system
        assert CORE not in request.text
    asked(ours, "I prefer a pocket watch for Sundays, always.", session="agent:main:watch")
    wait_until(lambda: settled(ours, "pocket watch for Sundays"), what="what the owner said after it")
    assert "quartz watch" not in ours.vault_text()
    record.shown(_PART, "a group chat: no recall, no card, no hits, nothing captured")


def test_what_a_program_says_is_not_kept_as_a_persons(ours: Rig, record: Record) -> None:
    said = "I prefer gas lamps for the workshop, always."
    ours.model.script(Say("I see."))
    body = {"message": said, "name": "Cron", "agentId": "main", "deliver": False, "waitForCompletion": True}
    answer = ours.gateway.post("/hooks/agent", body, token=HOOK_TOKEN)
    assert answer["completion"]["status"] == "ok"
    assert said in ours.model.steps[0].text
    asked(ours, "I prefer candles for the hall, always.", session="agent:main:lamps")
    wait_until(lambda: settled(ours, "candles for the hall"), what="what a person said after it")
    assert "gas lamps" not in ours.vault_text()
    record.shown(_PART, "a turn that a program started (hook): nothing of it was kept as a person's word")


def test_two_agents_share_one_vault(ours: Rig, record: Record) -> None:
    for agent in ("main", "work"):
        assert FACT in asked(ours, QUESTION, session=f"agent:{agent}:shared").said
    asked(ours, "Remember that I wind the hall clock on Mondays.", session="agent:work:shared")
    wait_until(lambda: settled(ours, "hall clock on Mondays"), what="what was said to the second agent")
    assert "hall clock on Mondays" in asked(ours, "When do I wind the hall clock?").said
    record.shown(_PART, "two agents of one OpenClaw: each recalls, and what one was told the other knows")


def test_the_state_of_it_can_be_asked(ours: Rig) -> None:
    state = ours.hindbrain_json("openclaw", "status")
    assert state, state
    said = ours.gateway.run("status")
    assert "hindbrain" in said.out


def test_a_gateway_that_was_cut_off_and_comes_back_has_its_memory_and_doubles_nothing(
    ours: Rig, record: Record
) -> None:
    asked(ours, "I prefer Moebius 8030 for the tower clock, always.", session="agent:main:cut")
    ours.gateway.kill()
    ours.gateway.start()
    assert FACT in asked(ours, QUESTION, session="agent:main:cut").said
    wait_until(lambda: settled(ours, "Moebius 8030"), what="what was said before the gateway was cut off")
    asked(ours, "Thanks", session="agent:main:cut")
    assert ours.hindbrain("hook", "settle").code == 0
    assert ours.vault_text().count("Moebius 8030") == 1
    record.shown(_PART, "the gateway was killed and started again: nothing lost, nothing twice")
