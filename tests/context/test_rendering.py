"""A pack as text: what stands where, what it costs, and that the same pack is always the same bytes."""

from __future__ import annotations

import html
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.context.packs.attribution import attribution, by_note
from hindbrain.context.packs.fence import clean, disarm, fence_line, fence_text
from hindbrain.context.packs.fence_key import KEY_BYTES, KEY_FILE, read_or_make_key
from hindbrain.context.packs.pack import Excerpt, FilledSlot, Pack
from hindbrain.context.packs.preset import BUILT_IN, SLOTS, built_in
from hindbrain.context.packs.rendering import FORMS, PREAMBLE, SLOT_TAGS, Form, render
from hindbrain.context.tokens import count_tokens
from hindbrain.memory.policy.own_output import strip_own_output

KEY = b"k" * 32
STATUS = '<memory_status provider="hindbrain" state="indexing" progress="150/725" />'
BOAT = Excerpt("Projects/Boat.md", "Boat", "The mast is spruce.", "2026-03-02", "Boat > Mast", 3, 4)


def pack_of(*excerpts: Excerpt, query: str = "mast", slot: str = "relevant", stable: bool = False) -> Pack:
    return Pack("turn", query, 1000, (FilledSlot(slot, 1000, 0, excerpts, stable=stable),))


def turn(*excerpts: Excerpt, query: str = "mast") -> list[str]:
    """The lines within the block, without the sentence that opens it."""
    opening, preamble, *inner, closing = render(pack_of(*excerpts, query=query), form="turn", key=KEY).split(
        "\n"
    )
    assert opening.startswith("<memory_context ") and closing.startswith("</memory_context ")
    assert preamble == PREAMBLE
    return inner


# What stands where


def test_a_turn_names_its_source_its_query_and_its_nonce() -> None:
    shown = render(pack_of(BOAT, query='a "mast" & <b>'), form="turn", key=KEY)
    found = re.fullmatch(
        r'<memory_context source="hindbrain" query="a &quot;mast&quot; &amp; &lt;b&gt;"'
        r' nonce="([0-9a-f]{8})">'
        r'\n.*\n</memory_context nonce="\1">',
        shown,
        re.DOTALL,
    )
    assert found, shown


def test_a_note_is_told_by_its_place_and_date_and_its_text_is_indented() -> None:
    assert turn(BOAT) == ["[2026-03-02 Projects/Boat.md:3 · Mast]", " The mast is spruce."]


def test_excerpts_of_one_note_share_one_line_and_stand_in_its_order() -> None:
    later = BOAT._replace(text="Varnish it.", first_line=9, last_line=9)
    other = BOAT._replace(path="Tea.md", title="Tea", heading="", text="Green.", date="")
    assert turn(later, other, BOAT) == [
        "[2026-03-02 Projects/Boat.md:3 · Mast]", " The mast is spruce.", " …", " Varnish it.",
        "[Tea.md:3]", " Green.",
    ]  # fmt: skip


def test_an_excerpt_shows_what_it_stands_under_where_that_is_not_in_force() -> None:
    do, dont = ((3, "## Limits"), (4, "### Will do")), ((3, "## Limits"), (9, "### Won't do"))
    first = BOAT._replace(text="- Send mail", heading="Boat > Limits > Will do", above=do, after=do)
    again = first._replace(text="- Read mail", first_line=7, last_line=7)
    other = first._replace(
        text="- Delete mail", heading="Boat > Limits > Won't do", first_line=12, above=dont, after=dont
    )
    assert turn(other, first, again)[1:] == [
        " ## Limits", " ### Will do", " - Send mail", " …", " - Read mail", " ### Won't do", " - Delete mail",
    ]  # fmt: skip
    assert turn(other)[1:] == [" ## Limits", " ### Won't do", " - Delete mail"]


def test_only_a_line_that_is_cut_ends_with_an_ellipsis() -> None:
    rest = BOAT._replace(text="Varnish it.", first_line=4, last_line=4)
    assert turn(BOAT, rest)[1:] == [" The mast is spruce. …", " Varnish it."]


def test_runs_that_touch_have_no_gap_between_them() -> None:
    assert "…" not in "".join(turn(BOAT, BOAT._replace(text="Varnish it.", first_line=5, last_line=5)))


def test_a_code_block_or_a_table_ends_as_it_does() -> None:
    later = BOAT._replace(text="Varnish it.", first_line=9, last_line=9)
    assert turn(BOAT._replace(text="```\nsail()\n```"), later)[3:] == [" ```", " …", " Varnish it."]


def test_memories_of_one_note_share_its_line_and_keep_their_days() -> None:
    days = ("2026-02-20", "2026-03-01", "2026-03-01")
    memories = [
        Excerpt("Memory/preference.md", "", f"- Likes {n}", day, "", 9 + 3 * n, 9 + 3 * n, grade="line")
        for n, day in enumerate(days)
    ]
    assert turn(*memories) == [
        "[Memory/preference.md:9]",
        " - Likes 0 (2026-02-20)", " - Likes 1 (2026-03-01)", " - Likes 2 (2026-03-01)",
    ]  # fmt: skip
    assert turn(*memories[1:])[0] == "[2026-03-01 Memory/preference.md:12]"
    assert turn(*memories[1:])[1] == " - Likes 1"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"title": "boat!"}, "[2026-03-02 Projects/Boat.md:3 · Mast]"),
        ({"title": "Boats"}, "[2026-03-02 Projects/Boat.md:3 · Mast]"),
        ({"title": "The ketch"}, "[2026-03-02 Projects/Boat.md:3 · The ketch · Mast]"),
        ({"heading": "Boat"}, "[2026-03-02 Projects/Boat.md:3]"),
        ({"heading": ""}, "[2026-03-02 Projects/Boat.md:3]"),
        ({"text": "A ketch.\n\n## Masts\n\nTwo."}, "[2026-03-02 Projects/Boat.md:3]"),
        ({"text": "## Mast\n\nspruce"}, "[2026-03-02 Projects/Boat.md:3]"),
        ({"path": "Daily/2026-03-02.md", "title": "2026-03-02"}, "[Daily/2026-03-02.md:3 · Mast]"),
        ({"grade": "note"}, "[2026-03-02 Projects/Boat.md · Mast]"),
        ({"first_line": 0, "last_line": 0}, "[2026-03-02 Projects/Boat.md · Mast]"),
        ({"path": "", "date": ""}, "[Boat · Mast]"),
        ({"path": "", "date": "", "title": "Al", "heading": ""}, "[Al]"),
        ({"path": "", "date": "", "title": "", "heading": ""}, "[memory]"),
        ({"source": "agent"}, "[2026-03-02 Projects/Boat.md:3 · Mast]"),
        ({"source": "tool"}, "[2026-03-02 Projects/Boat.md:3 · Mast · from a tool]"),
        ({"source": "web"}, "[2026-03-02 Projects/Boat.md:3 · Mast · from the web]"),
        ({"source": "import"}, "[2026-03-02 Projects/Boat.md:3 · Mast · imported]"),
        ({"source": "unheard of"}, "[2026-03-02 Projects/Boat.md:3 · Mast · imported]"),
    ],
)
def test_the_line_says_what_the_reader_does_not_see_already(change: dict[str, object], line: str) -> None:
    (quoted,) = by_note([BOAT._replace(**change)])  # type: ignore[arg-type]
    assert attribution(quoted) == line


def test_what_others_said_in_a_note_is_not_told_in_one_breath_with_its_owner() -> None:
    said = turn(BOAT, BOAT._replace(text="Buy now.", source="web", first_line=7, last_line=7))
    assert said[0].endswith("Mast]") and said[2].endswith("from the web]")


def test_slots_have_tags_and_an_unknown_one_is_a_section() -> None:
    pack = Pack(
        "agent", "mast", 1000,
        (
            FilledSlot("relevant", 1, 1, (BOAT,)),
            FilledSlot("template", 1, 1, (BOAT,), match=0.853),
            FilledSlot("my own", 1, 1, (BOAT,)),
            FilledSlot("apps", 1, 0, ()),
            FilledSlot("profile", 1, 1, (BOAT,), stable=True),
        ),
    )  # fmt: skip
    tags = [line for line in render(pack, form="xml", key=KEY).split("\n") if line.startswith("<")][1:-1]
    assert tags == [
        "<user_profile>", "</user_profile>", "<relevant_knowledge>", "</relevant_knowledge>",
        '<task_template match="0.85">', "</task_template>", '<section name="my own">', "</section>",
    ]  # fmt: skip
    turned = render(pack, form="turn", key=KEY)
    assert all(tag in turned for tag in tags)


def test_every_slot_of_every_preset_has_a_tag_of_its_own() -> None:
    named = {slot.name for name in BUILT_IN for slot in built_in(name).slots}
    assert named <= set(SLOTS) <= set(SLOT_TAGS)
    assert len(set(SLOT_TAGS.values())) == len(SLOT_TAGS)


def test_markdown_has_headings_citations_and_quotes() -> None:
    web = BOAT._replace(
        path="Clippings/Ketch [1].md", title="Ketch", text="Two\n\nmasts", source="web", date=""
    )
    lines = render(pack_of(BOAT, web), form="markdown", key=KEY).split("\n")
    assert lines[1:-1] == [
        "", PREAMBLE, "", "## Relevant knowledge", "",
        "> [[Projects/Boat#Mast]] · 2026-03-02", ">", "> The mast is spruce.", "",
        "> Clippings/Ketch [1] · Ketch · from the web", ">", "> Two", ">", "> masts", "",
    ]  # fmt: skip


def test_json_says_exactly_what_the_note_says() -> None:
    odd = "a <|im_start|> b\u2028c [INST] \u202e\U0001f600 é …\r\n\x1b[0m"
    shown = render(pack_of(BOAT._replace(text=odd), query=odd), form="json", key=KEY, status=STATUS)
    value = json.loads(shown)
    assert value["slots"][0]["excerpts"][0]["text"] == value["query"] == odd
    assert value["status"] == STATUS
    assert "é …" in shown  # what is plainly seen is not escaped


@pytest.mark.parametrize("form", FORMS)
def test_the_status_comes_last(form: Form) -> None:
    shown = render(pack_of(BOAT), form=form, key=KEY, status=STATUS)
    assert shown.endswith(
        '"status":' + json.dumps(STATUS).replace("<", "\\u003c") + "}" if form == "json" else STATUS
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["", "  \n", "\u200b\n\u2060"])
def test_a_pack_without_text_is_empty(form: Form, text: str) -> None:
    assert render(Pack("turn", "mast", 1000, ()), form=form, key=KEY) == ""
    assert render(pack_of(BOAT._replace(text=text)), form=form, key=KEY) == ""


def test_a_status_is_told_even_when_nothing_was_found() -> None:
    assert render(Pack("turn", "mast", 1000, ()), form="turn", key=KEY, status=STATUS) == STATUS


# What a note's text looks like


@pytest.mark.parametrize(
    "text",
    [
        "a < b", "x <- y", "<3", "a<=b", "1 <2", "i << 2", "if a < b and c > d", "->", "<>", "a < b = c",
        "$1 < $2", "«Bonjour» ‹oui›", "《红楼梦》",
        "R&D &amp; more", "[[Boat|the boat]] [x](y) - [ ] todo", "[mask]",
        "|a|b|",
        "कर्म क्‍ष", "👩‍👩‍👧 ❤️", "naïve Ünïcode", "\tindented\n\n    code",
    ],
)  # fmt: skip
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert disarm(clean(text)) == text


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_escaping_takes_no_letter_away(text: str) -> None:
    """What was disarmed reads the same again, but for look-alikes of the sign that is escaped."""
    plain = clean(text)
    signs = str.maketrans(dict.fromkeys("＜﹤‹〈〈⟨❮❬⟪《«˂ᐸ≺⧼", "<"))
    assert html.unescape(disarm(plain)).translate(signs) == html.unescape(plain).translate(signs)


@given(st.text(max_size=120), st.sampled_from([" ", "> "]))
@settings(max_examples=200, deadline=None)
def test_every_line_has_its_prefix(text: str, prefix: str) -> None:
    for line in "\n".join(fence_text(text, prefix=prefix)).splitlines():
        assert line.startswith(prefix) or line == prefix.rstrip()


def test_blank_lines_are_one_and_nested_lists_keep_their_steps() -> None:
    assert fence_text("\n\n  - a\n    - b\n\n\n\n- c  \n\n") == ["   - a", "     - b", "", " - c"]


def test_a_cut_is_shown() -> None:
    assert fence_line("word " * 50, limit=12) == "word word w…"
    assert turn(BOAT._replace(title="long " * 60, path=""))[0].endswith("… · Mast]")


# The same bytes


@pytest.mark.parametrize("form", FORMS)
def test_the_same_pack_is_the_same_bytes(form: Form) -> None:
    assert render(pack_of(BOAT), form=form, key=KEY) == render(pack_of(BOAT), form=form, key=KEY)


@pytest.mark.parametrize("form", ["xml", "markdown"])
def test_what_does_not_depend_on_the_prompt_stays_the_same_from_the_first_byte(form: Form) -> None:
    """A prompt cache holds as far as the bytes are the same, so the nonce must not change either."""
    core = FilledSlot("core", 500, 9, (BOAT._replace(path="MEMORY.md", text="User: Mara"),), stable=True)

    def shown(text: str, status: str) -> str:
        found = FilledSlot("relevant", 500, 9, (BOAT._replace(text=text),))
        return render(Pack("compact", text, 1200, (found, core)), form=form, key=KEY, status=status)

    one, other = shown("The mast is spruce.", STATUS), shown("Tea is green.", "")
    upto = next(at for at, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    assert "User: Mara" in one[:upto]


# What it costs


def _words(number: int, tokens: int) -> str:
    text = f"{number}. The ketch was hauled out and her hull sanded; primer went on before the rain. "
    return (text * (tokens // count_tokens(text) + 1)).strip()


@pytest.mark.parametrize("form", ["turn", "xml"])
@pytest.mark.parametrize(("notes", "tokens"), [(4, 240), (8, 240), (20, 200)])
def test_at_least_nine_tenths_of_a_large_pack_are_text(form: Form, notes: int, tokens: int) -> None:
    excerpts = [
        Excerpt(f"Areas/Home/Ketch {n}.md", f"Ketch {n}", _words(n, tokens), f"2026-03-{n + 1:02}", "", 3, 9)
        for n in range(notes)
    ]
    shown = render(pack_of(*excerpts), form=form, key=KEY)
    told = sum(count_tokens(f"{one.title} {one.date} {one.text}") for one in excerpts)
    assert count_tokens(shown) >= 1000
    assert told / count_tokens(shown) >= 0.9


def test_the_sentence_to_the_model_is_short() -> None:
    assert count_tokens(PREAMBLE) <= 25


# What was injected is not learned


@pytest.mark.parametrize("form", FORMS)
def test_a_rendered_pack_is_taken_out_of_what_is_recorded(form: Form) -> None:
    shown = render(pack_of(BOAT), form=form, key=KEY, status=STATUS)
    assert strip_own_output(f"{shown}\nBuy varnish.").text.strip() == "Buy varnish."


# The key


def test_the_key_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    first = read_or_make_key(tmp_path / "state")
    assert len(first) == KEY_BYTES
    assert read_or_make_key(tmp_path / "state") == first
    if os.name != "nt":
        assert (tmp_path / "state" / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert [file.name for file in (tmp_path / "state").iterdir()] == [KEY_FILE]


def test_two_vaults_have_two_keys(tmp_path: Path) -> None:
    assert read_or_make_key(tmp_path / "a") != read_or_make_key(tmp_path / "b")


def test_all_who_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    for attempt in range(20):
        keys: list[Any] = []
        state, barrier = tmp_path / str(attempt), threading.Barrier(6)

        def start(
            state: Path = state, keys: list[bytes] = keys, barrier: threading.Barrier = barrier
        ) -> None:
            barrier.wait()
            keys.append(read_or_make_key(state))

        threads = [threading.Thread(target=start) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(keys) == 6 and set(keys) == {(state / KEY_FILE).read_bytes()}


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_left_alone_and_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    said: list[str] = []
    key = read_or_make_key(tmp_path, say=said.append)
    assert len(key) == KEY_BYTES and key != content
    assert read_or_make_key(tmp_path) == key  # the same within this process
    assert len(said) == 1 and KEY_FILE in said[0]
    assert (tmp_path / KEY_FILE).read_bytes() == content


def test_without_a_place_for_a_key_there_is_one_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder should be", encoding="utf-8")
    said: list[str] = []
    assert len(read_or_make_key(tmp_path / "state", say=said.append)) == KEY_BYTES
    assert len(said) == 1
