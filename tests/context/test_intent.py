"""What a prompt asks for: the text to search with, what it names, what it borrows from the conversation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.context.messages import Message
from hindbrain.context.topic.entities import MOST_ENTITIES, find_apps, find_entities
from hindbrain.context.topic.intent import FOLLOW_UP, momentum, understand_intent
from hindbrain.context.topic.said import MOST_CHARS, what_was_said
from hindbrain.search.telling import stem

JAPAN = (
    Message("user", "Help me plan a trip to Kyoto in spring"),
    Message("assistant", "The cherry blossoms peak in April"),
)
TRACE = (
    "Traceback (most recent call last):\n"
    + "".join(f'  File "/home/u/app/mod{i}.py", line {i}, in fn{i}\n    call_{i}(x)\n' for i in range(60))
    + "sqlalchemy.exc.OperationalError: could not connect to server: Connection refused\n"
)


# A prompt that speaks for itself


@pytest.mark.parametrize(
    "prompt",
    [
        "When did Caroline go to the adoption agency?",
        "how do I reset the router password",
        "kubernetes",
        "what is my budget?",
        "Why does `parse_note` fail in it?",
        "明天的会议讨论什么",
    ],
)
def test_a_prompt_that_says_enough_is_searched_as_it_is(prompt: str) -> None:
    intent = understand_intent(prompt, JAPAN)
    assert intent.query == prompt
    assert intent.borrowed == ()
    assert intent.focus >= FOLLOW_UP


def test_keywords_leave_out_stop_words_and_small_talk() -> None:
    intent = understand_intent("Thanks! Could you please show me the invoices of the plumber?")
    assert intent.keywords == ("invoices", "plumber")


def test_without_a_conversation_nothing_is_borrowed() -> None:
    assert understand_intent("and how about invoices?").query == "and how about invoices?"


@pytest.mark.parametrize(
    "prompt", ["the", "do it", "and the second one?", "why?", "tell me more", "what is 2+2"]
)
def test_a_prompt_that_only_points_at_nothing_looks_for_nothing(prompt: str) -> None:
    assert understand_intent(prompt).query == ""


@pytest.mark.parametrize("prompt", ["what do I like", "what is R?", "42", "what did I do yesterday", "番茄"])
def test_a_prompt_of_few_words_is_looked_for_when_one_of_them_names_something(prompt: str) -> None:
    assert understand_intent(prompt).query == prompt


# A prompt that only points


@pytest.mark.parametrize("prompt", ["and the second one?", "yes do it", "fix that", "ok", "continue", "why?"])
def test_a_prompt_that_only_points_borrows_what_the_conversation_is_about(prompt: str) -> None:
    intent = understand_intent(prompt, JAPAN)
    assert intent.focus < FOLLOW_UP
    assert {"kyoto", "trip"} <= set(intent.momentum)
    assert intent.query.startswith(prompt)
    assert "trip" in intent.query.split()


def test_the_less_a_prompt_says_the_more_it_borrows() -> None:
    nothing = understand_intent("and that one?", JAPAN).borrowed
    little = understand_intent("is that one expensive?", JAPAN).borrowed
    assert len(nothing) > len(little) > 0


def test_what_the_prompt_says_itself_is_not_borrowed_again() -> None:
    intent = understand_intent("are those trips long?", JAPAN)
    assert "trip" not in intent.borrowed


def test_newer_messages_outweigh_older_ones_and_the_users_words_those_of_tools() -> None:
    said = [Message("user", "tomato seedlings"), Message("user", "bicycle tyres")]
    assert momentum(said)[:2] == ("bicycle", "tyres")
    told = [Message("user", "bicycle tyres"), Message("tool", "drwxr-xr-x backups")]
    assert momentum(told)[0] in ("bicycle", "tyres")


def test_momentum_sees_five_messages_back_and_no_system_message() -> None:
    said = [Message("user", f"subject{number} matter") for number in range(9)]
    words = momentum([*said, Message("system", "instructions")])
    assert "subject8" in words
    assert "subject3" not in words
    assert "instructions" not in words


def test_own_output_in_the_conversation_is_not_what_it_is_about() -> None:
    injected = '<memory_context source="hindbrain">- the dentist is in Basel</memory_context>'
    words = momentum([Message("user", f"{injected} my bicycle tyres")])
    assert words == ("bicycle", "tyres")


# What is no topic


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "   \n\n ",
        "/compact",
        "/clear\n",
        "[Request interrupted by user for tool use]",
        "<command-name>/model</command-name>\n<command-message>model</command-message><command-args></command-args>",
        "<system-reminder>\nThe todo list is empty.\n</system-reminder>",
        "<local-command-stdout>Set model to x</local-command-stdout>",
        "<memory>\n- the dentist is in Basel\n</memory>",
        "\n" * 100_000,
    ],
)
def test_what_nobody_said_asks_for_nothing(prompt: str) -> None:
    assert understand_intent(prompt, JAPAN).query == ""


def test_arguments_of_a_slash_command_are_the_question() -> None:
    assert understand_intent("/review the login page").query == "the login page"
    wrapped = "<command-name>/fix</command-name><command-args>the login page</command-args>"
    assert understand_intent(wrapped).query == "the login page"


def test_a_path_at_the_beginning_is_not_a_command() -> None:
    assert understand_intent("/etc is full").query == "/etc is full"
    assert understand_intent("/etc/nginx/nginx.conf is broken").entities == ("/etc/nginx/nginx.conf",)


def test_a_host_block_that_is_never_closed_is_somebodys_text() -> None:
    assert "budget" in what_was_said("What does <system-reminder> mean for my budget?")


def test_secrets_are_not_searched_for() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    intent = understand_intent(f"why is my token {token} refused by the registry?")
    assert token not in intent.query
    assert "registry" in intent.keywords


# Long prompts


def test_a_pasted_trace_is_searched_by_its_error_and_what_was_asked_around_it() -> None:
    prompt = f"my deploy fails, any idea?\n{TRACE}\nIt worked before the upgrade of Thursday."
    query = understand_intent(prompt).query
    assert query.startswith("my deploy fails, any idea?")
    assert "It worked before the upgrade of Thursday." in query
    assert "OperationalError" in query
    assert "Connection refused" in query
    assert len(query) < 1_000


def test_a_log_is_searched_by_its_failing_line_without_times_and_numbers() -> None:
    log = "".join(f"2026-02-03T04:05:{i:02}Z INFO request {i} served\n" for i in range(60))
    query = understand_intent(
        log + "2026-02-03T04:06:00Z ERROR disk quota exceeded on volume archive\n"
    ).query
    assert "disk quota exceeded on volume archive" in query
    assert "04:06:00" not in query


def test_only_code_is_searched_by_the_names_in_it() -> None:
    code = "".join(f"    total_price = apply_discount(item_{i}, rate)\n" for i in range(80))
    query = understand_intent(code).query
    assert "apply_discount" in query
    assert "total_price" in query


def test_a_sentence_that_begins_like_code_is_still_said() -> None:
    lines = "let me know what the import does\nat the moment it is slow\n"
    assert understand_intent(lines + "x = f(y) + {z}\n" * 60).query.startswith("let me know")


@pytest.mark.parametrize(
    "piece",
    ["word soup about gardening. ", "x", "<system-reminder>", "[[", '"', "A b ", "a_", "Aa", "😀", "中",
     "a/", ".a", "[Image ", "A'", TRACE, "```\n", "\\", "/compact "],
)  # fmt: skip
def test_a_prompt_of_five_megabytes_gives_a_short_query(piece: str) -> None:
    prompt = piece * (5_000_000 // len(piece))
    intent = understand_intent(prompt, [Message("tool", prompt)] * 3)
    assert len(what_was_said(prompt)) <= MOST_CHARS + 10
    assert len(intent.query) <= 2_000
    assert len(intent.entities) <= MOST_ENTITIES


@settings(max_examples=150)
@given(st.text(max_size=400), st.text(max_size=200), st.text(max_size=40))
def test_any_text_gives_the_same_answer_twice_and_no_error(prompt: str, before: str, tool: str) -> None:
    recent = [Message("user", before), Message("tool", prompt)]
    first = understand_intent(prompt, recent, tool=tool)
    assert understand_intent(prompt, recent, tool=tool) == first
    assert 0.0 <= first.focus <= 1.0
    assert set(first.borrowed) <= set(momentum(recent))


# Names, apps, tools


def test_names_files_identifiers_and_codes_are_entities() -> None:
    text = (
        'Did Anna Berg fix "slow start" in src/app/main.py? '
        "parse_note raises KeyError, see ABC-123 and ERR_TIMEOUT."
    )
    found = find_entities(text)
    assert found[0] == "slow start"
    assert {"Anna Berg", "src/app/main.py", "parse_note", "KeyError", "ABC-123", "ERR_TIMEOUT"} <= set(found)


def test_a_capital_at_the_beginning_of_a_sentence_is_no_name() -> None:
    assert find_entities("Where is it? Please look. Thanks for the help.") == ()


def test_apps_are_found_as_whole_words_whatever_their_case() -> None:
    assert find_apps("open SLACK and figma", ["Slack", "Figma", "Mail"]) == ("Figma", "Slack")
    assert find_apps("slackers", ["Slack"]) == ()
    assert find_apps("ask in vs code", {"VS Code": "Visual Studio Code"}) == ("Visual Studio Code",)


def test_an_app_whose_name_is_an_ordinary_word_must_be_written_like_the_app() -> None:
    assert find_apps("let's go, things are fine", ["Go", "Things"]) == ()
    assert find_apps("rewrite it in Go", ["Go", "Things"]) == ("Go",)


def test_an_app_that_was_named_by_an_alias_is_searched_by_its_name() -> None:
    intent = understand_intent("deploy the chart to k8s", apps={"k8s": "Kubernetes"})
    assert intent.apps == ("Kubernetes",)
    assert intent.query.endswith("Kubernetes")


def test_a_tool_brings_its_domain_and_a_plain_one_nothing() -> None:
    intent = understand_intent("close the oldest", tool="mcp__github__list_issues")
    assert intent.tool == "github issues"
    assert intent.query == "close the oldest github issues"
    assert understand_intent("close the oldest", tool="Bash").query == "close the oldest"


@pytest.mark.parametrize(
    "words", [("plan", "plans", "planned", "planning"), ("city", "cities"), ("box", "boxes")]
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(
    "said", ["hello", "Thanks!", "Good morning", "Thank you so much, that was great", "Perfect, thanks. Bye!"]
)
def test_greetings_and_thanks_ask_for_nothing_whatever_was_talked_about(said: str) -> None:
    before = (Message("user", "Where does the boat Selkie lie?"), Message("assistant", "In Oban."))
    assert understand_intent(said, before).query == ""
    assert understand_intent(f"{said} And the second one?", before).borrowed
