"""Corrections over a real session: `remember` with `replaces`, and what is said of tags and cues."""

from __future__ import annotations

from mcp_clients import Lines, Servers


def call(client: Lines, tool: str, **arguments: object) -> tuple[str, dict[str, object]]:
    result = client.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
    return str(result["content"][0]["text"]), dict(result.get("structuredContent") or {})


def test_an_agent_replaces_a_memory_by_its_id_and_hears_of_its_cues(servers: Servers) -> None:
    client = Lines(servers.start("--tools", "all", "--structured", "--no-watch"))
    client.greet()
    cues = ["singing", "b2", "c3", "d4", "e5", "sixth"]
    told, data = call(
        client, "remember", fact="The choir meets on Fridays", importance=0.8, tags=["music"], cues=cues
    )
    assert "sixth" in told and "at most 5" in told and "music" in told
    assert (data["tags"], data["cues"]) == (["music"], cues[:5])
    assert data["cues_left_out"] == [{"cue": "sixth", "why": "at most 5"}]
    old = str(data["id"])
    told, data = call(client, "remember", fact="Choir practice moved: parish hall", replaces=old)
    assert (data["action"], data["other"]) == ("supersede", old)
    text = (servers.root / "Agent/Memory/fact.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("- Choir practice")]
    assert "#music [importance:: 0.8]" in line and "[cues:: singing, b2, c3, d4, e5]" in line
    new = str(data["id"])
    told, data = call(client, "memory_write", content="The choir is on tour", replaces=new)
    assert data["action"] == "supersede"
    told, data = call(client, "memory_update", memory_id=str(data["id"]), cues=[*cues, "the"])
    assert [one["cue"] for one in data["cues_left_out"]] == ["sixth", "the"]  # type: ignore[attr-defined]
    assert "not_found" in call(client, "remember", fact="x is y", replaces="m-nothere")[0]
    client.hang_up()


def test_an_agent_does_not_replace_the_owners_words(servers: Servers) -> None:
    path = servers.root / "Agent/Memory/fact.md"
    path.parent.mkdir(parents=True)
    mine = "- The choir meets on Fridays [importance:: 0.5] [source:: user] ^m-choir123"
    path.write_text(f"# Facts\n\n{mine}\n", encoding="utf-8")
    client = Lines(servers.start("--structured", "--no-watch"))
    client.greet()
    _, data = call(client, "remember", fact="Practice is in the parish hall", replaces="m-choir123")
    assert data["action"] == "related" and data["reasons"]
    assert mine in path.read_text(encoding="utf-8")
    client.hang_up()
