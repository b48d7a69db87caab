"""Whatever is said or printed in a conversation, it is read in a time that grows with its length alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from growth import cpu_seconds, grows_linearly
from hindbrain.context.capture.commands import understand_command
from hindbrain.context.capture.error_text import query_for
from hindbrain.context.capture.failures import FailureTracker
from hindbrain.context.capture.transcripts.wrappers import said_by_person, said_in_prompt
from hindbrain.context.flush.rules import find_candidates
from hindbrain.context.flush.sentences import mask_quotes, split_sentences, spoken
from hindbrain.context.flush.statements import statements_of
from hindbrain.context.messages import Message
from hindbrain.context.topic.said import what_was_said
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.hooks.payloads import understand
from hindbrain.edge.openclaw.spoken import own_words
from hindbrain.memory.policy.own_output import strip_own_output

UNDER_DOUBT_S = 0.02  # of CPU time for the long text; what takes less is no burden however it grows
BEGINNINGS = ("", "- ")
PIECES = (
    " ", "\t", "a", "a ", "1,", "(", "() ", "[", "[[a", "[source::a] ^m-", " ^t-", "a/: 1 ", "Sender ",
    "Sender: x\n```\n", "<memory ", "<memory>", "<memory_context", "</memory_context", "<memory_status ",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<system-reminder>", "<a ", "`", "```\n", "~~~\n", "\"a", "“a",
    "\n", " \n", "\n    ", "a\n", "- a\n", "  - a\n", "|a|\n", "|\n", "\\\n", "**a**: ", "~~", "a=[", "$(",
    "'", "<<EOF\n", "I prefer a. ", "remember that ", "please ", "e.g. ", " - I ", "exit ", "Exit code: ",
    "merk dir bitte, ", "bitte ", "记住我", "覚えておいて、", "Error: ", "FAILED ", "Traceback ", "\x1b[31m",
)  # fmt: skip


def _ran(text: str) -> object:
    messages = [Message("assistant", text, "Bash", "c"), Message("tool", text, "Bash", "c", True)]
    return FailureTracker().feed(messages)


def _printed(text: str) -> object:
    host = host_named("codex")
    assert host is not None
    event = host.event("post-tool-use")
    assert event is not None
    return understand(host, event, {"tool_response": text, "tool_input": {"command": "make"}})


def _heard(text: str) -> object:
    agreed = [Message("assistant", text), Message("user", "Yes, let's do that."), Message("user", text)]
    return find_candidates(agreed, today=date(2026, 1, 1))


def _failed(text: str) -> object:
    return query_for("Bash", text, text)


READERS = (
    strip_own_output, own_words, said_by_person, said_in_prompt, what_was_said, spoken, split_sentences,
    mask_quotes, statements_of, understand_command, _heard, _ran, _printed, _failed,
)  # fmt: skip


EACH_READER = pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__.strip("_"))


@pytest.mark.promise("P14")
@EACH_READER
def test_a_text_of_one_piece_again_and_again_is_read_in_linear_time(read: Callable[[str], object]) -> None:
    _read_all(read, 2_000)


@pytest.mark.slow
@pytest.mark.promise("P14")
@EACH_READER
def test_a_long_text_of_one_piece_is_read_in_linear_time(read: Callable[[str], object]) -> None:
    _read_all(read, 16_000)


def _read_all(read: Callable[[str], object], size: int) -> None:
    for beginning in BEGINNINGS:
        for piece in PIECES:

            def work(size: int, piece: str = piece, beginning: str = beginning) -> object:
                return read(f"{beginning}{(piece * (size // len(piece) + 1))[:size]}\0x")

            quick = cpu_seconds(work, 8 * size) < UNDER_DOUBT_S
            assert quick or grows_linearly(work, size), (beginning, piece)


@pytest.mark.promise("P14")
def test_a_line_of_blanks_is_read_however_long_it_is() -> None:
    assert not strip_own_output(" " * 160_000).text.strip()
    unended = "<memory_context" * 10_000
    assert own_words(unended) == unended
