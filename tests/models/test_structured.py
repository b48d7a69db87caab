"""JSON is found in what a model answers, held against its schema, and asked for again when it is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.errors import ModelDown, ModelError
from hindbrain.models.chat import ChatAnswer, ChatMessage
from hindbrain.models.chat_fake import ScriptedChat
from hindbrain.models.structured import ask_for, json_in, problems

ASK = [ChatMessage("user", "Who is it?")]
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "kind": {"enum": ["friend", "foe", 1]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "note": {"type": ["string", "null"]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


# Finding


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1]}',
        ' \n{"a": [1]}\n ',
        '```json\n{"a": [1]}\n```',
        '```\n{"a": [1]}\n```',
        'Here it is:\n\n```json\n{"a": [1]}\n```\nI hope [this] helps {you}.',
        'The answer is {"a": [1]}. Anything else?',
        'Sure!\n{"a":\n [1]}',
    ],
)
def test_json_is_found_with_whatever_stands_around_it(text: str) -> None:
    assert json_in(text) == {"a": [1]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't do that.",
        '{"a": [1, 2',  # cut: the list in it is whole, and is not the answer
        '{"a": {"b": 1}, "c',
        '{"a": 1} or {"a": 2}',
        '```\n{"a": 1}\n```\nor\n```\n{"a": 2}\n```',
        '{"a": NaN}',
        '{"a": 1e999}',
        "{'a': 1}",
        "[" * 100_000,
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_no_whole_json_is_an_error(text: str) -> None:
    with pytest.raises(ModelError):
        json_in(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(_JSON)
def test_every_value_is_found_as_it_was_and_never_in_part(value: Any) -> None:
    text = json.dumps(value)
    assert json_in(f"```json\n{text}\n```" if isinstance(value, dict | list) else text) == value
    if isinstance(value, dict | list):
        for end in range(1, len(text)):
            with pytest.raises(ModelError):
                json_in(text[:end])


# Checking


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({}, "$.name"),
        ({"name": 7}, "$.name"),
        ({"name": ""}, "$.name"),
        ({"name": "far too long"}, "$.name"),
        ({"name": "A", "age": -1}, "$.age"),
        ({"name": "A", "age": 151}, "$.age"),
        ({"name": "A", "age": 1.5}, "$.age"),
        ({"name": "A", "age": True}, "$.age"),
        ({"name": "A", "kind": "stranger"}, "$.kind"),
        ({"name": "A", "kind": True}, "$.kind"),
        ({"name": "A", "tags": ["x", 2]}, "$.tags[1]"),
        ({"name": "A", "tags": ["x", "y", "z"]}, "$.tags"),
        ({"name": "A", "note": 1}, "$.note"),
        ({"name": "A", "shoe": 44}, "$.shoe"),
        ([], "$"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value: Any, place: str) -> None:
    (found,) = problems(value, PERSON)
    assert found.startswith(f"{place} ")


def test_what_is_right_has_no_problems() -> None:
    assert not list(problems({"name": "Ada", "age": 36.0, "kind": 1, "tags": ["x"], "note": None}, PERSON))
    assert not list(problems({"anything": 1}, {}))


_KEYS = st.sampled_from(["a", "b"])
_TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array"])
_SCHEMA = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(_JSON, min_size=1, max_size=3),
            "minimum": st.integers(-5, 5),
            "maximum": st.integers(-5, 5),
            "minLength": st.integers(0, 3),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "required": st.lists(_KEYS, unique=True),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object") | st.just("array"),
            "properties": st.dictionaries(_KEYS, inner),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
        },
    ),
    max_leaves=4,
)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.0, 2.5]) | st.text("xy", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.just("c"), inner, max_size=3),
    max_leaves=5,
)


@given(_VALUE, _SCHEMA)
def test_what_counts_as_right_is_what_the_standard_calls_valid(value: Any, schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert valid == (not list(problems(value, schema)))


# Asking


def test_a_right_answer_is_asked_for_once_with_its_schema() -> None:
    chat = ScriptedChat(['{"name": "Ada"}'])
    assert ask_for(chat, ASK, PERSON, max_tokens=50) == {"name": "Ada"}
    (asked,) = chat.asked
    assert asked.schema == PERSON and asked.max_tokens == 50 and list(asked.messages) == ASK


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("It is Ada.", "no JSON"),
        ('{"name": 7}', "$.name"),
        (ChatAnswer('{"name": "Ad', stop="length"), "shorter"),
        ('{"name": "Bob"}', "Bob is not here"),
    ],
)
def test_a_wrong_answer_is_asked_for_again_with_what_was_wrong(wrong: str | ChatAnswer, told: str) -> None:
    def check(value: Any) -> str:
        return "Bob is not here" if value["name"] == "Bob" else ""

    chat = ScriptedChat([wrong, '{"name": "Ada"}'])
    assert ask_for(chat, ASK, PERSON, max_tokens=50, check=check) == {"name": "Ada"}
    *first, answer, again = chat.asked[1].messages
    assert first == ASK and [answer.role, again.role] == ["assistant", "user"]
    assert told in again.text and '"maxLength": 8' in again.text


def test_an_answer_that_stays_wrong_is_an_error_and_tries_are_not_piled_up() -> None:
    chat = ScriptedChat(["x"] * 9)
    with pytest.raises(ModelError):
        ask_for(chat, ASK, PERSON, max_tokens=50, tries=3)
    assert [len(asked.messages) for asked in chat.asked] == [1, 3, 3]


@pytest.mark.parametrize("failure", [ModelDown("away"), KeyError("x"), ChatAnswer(stop="refused")])
def test_a_model_that_fails_is_not_asked_again(failure: Exception | ChatAnswer) -> None:
    chat = ScriptedChat([failure, '{"name": "Ada"}'])
    with pytest.raises(ModelError):
        ask_for(chat, ASK, PERSON, max_tokens=50)
    assert len(chat.asked) == 1
