"""The stub model says what its script says, in the two shapes that the hosts read."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

from neutral import Neutral
from stub_model import Call, Json, Say, StubModel


def post(model: StubModel, path: str, body: Json) -> str:
    request = Request(model.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def events(text: str) -> list[Json]:
    return [
        json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")
    ]


def test_the_script_is_followed_and_then_it_is_done() -> None:
    with StubModel() as model:
        model.script(Say("One."), Say("Two."))
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "Bash"}]}
        said = [json.loads(post(model, "/v1/messages", body))["content"][0]["text"] for _ in range(3)]

    assert said == ["One.", "Two.", "Done."]
    assert [asked.text for asked in model.steps] == ["Hi"] * 3


def test_a_question_on_the_side_takes_nothing_from_the_script() -> None:
    with StubModel() as model:
        model.script(Say("One."))
        post(model, "/v1/messages", {"messages": [{"role": "user", "content": "A title, please"}]})
        post(model, "/v1/messages/count_tokens", {"messages": [], "tools": [{"name": "Bash"}]})
        body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "Bash"}]}
        said = json.loads(post(model, "/v1/messages", body))["content"][0]["text"]

    assert said == "One."
    assert len(model.steps) == 1


def test_a_call_is_streamed_in_both_shapes() -> None:
    with StubModel() as model:
        model.script(Call("Bash", {"command": "ls"}), Call("exec_command", {"cmd": "ls"}))
        claude = events(
            post(model, "/v1/messages", {"stream": True, "messages": [], "tools": [{"name": "Bash"}]})
        )
        codex = events(post(model, "/v1/responses", {"stream": True, "input": []}))

    assert json.loads(claude[2]["delta"]["partial_json"]) == {"command": "ls"}
    assert claude[4]["delta"]["stop_reason"] == "tool_use"
    assert json.loads(codex[-1]["response"]["output"][0]["arguments"]) == {"cmd": "ls"}


def test_equal_ids_stay_equal_and_nothing_of_the_run_is_left() -> None:
    neutral = Neutral({"/tmp/run-7/home": "/home/ada"})
    one = "0b9f3c52-27ad-49c4-810c-b256d0ca4a71"
    other = "1c9f3c52-27ad-49c4-810c-b256d0ca4a72"

    made = neutral.value(
        {"id": one, "path": f"/tmp/run-7/home/{one}.jsonl", "other": [other], "durationMs": 41}
    )

    assert made["path"] == f"/home/ada/{made['id']}.jsonl"
    assert made["id"] != made["other"][0]
    assert one[:8] not in json.dumps(made)
    assert made["durationMs"] == 100
