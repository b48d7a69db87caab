"""What holds for every note, whatever is in it."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, find_date, parse_note, split_lines

# Text made of the pieces that mean something in a note finds more than random characters do.
PIECES = [
    *(
        "# ",
        "## ",
        "- ",
        "* ",
        "1. ",
        "> ",
        "```",
        "~~~",
        "$$",
        "%%",
        "<!--",
        "-->",
        "---",
        "===",
        "|",
        "|-|",
    ),
    *(
        "[[",
        "]]",
        "](",
        "[ ] ",
        "[!note]",
        "#tag",
        "^id",
        "a:: b",
        "`",
        "``",
        "$",
        "<div>",
        "<pre>",
        "</pre>",
    ),
    *(
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "    ",
        "\t",
        " ",
        "word",
        "é",
        "\x0c",
        "\u2028",
        "\0",
        "\ufeff",
    ),
    *(
        "key:",
        "key: ",
        "'",
        '"',
        "[",
        "{",
        "}",
        ",",
        "&a",
        "*a",
        "!!t",
        "<<: ",
        ": ",
        "{{x}}",
        ">-\n",
        "|\n",
        "\\",
    ),
]
markdown = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
notes = st.one_of(markdown, markdown.map(lambda text: f"---\n{text}\n---\n{text}"), st.text(max_size=200))
modest = settings(max_examples=150, deadline=None)


def check_cover(note: Note) -> None:
    covered = [n for block in note.blocks for n in range(block.first_line, block.last_line + 1)]
    assert covered == sorted(set(covered))
    filled = {n for n, line in enumerate(note.lines, 1) if n >= note.body_line and line.strip()}
    assert filled <= set(covered) <= set(range(note.body_line, len(note.lines) + 1))
    assert all(note.lines[block.first_line - 1].strip() for block in note.blocks)
    assert all(note.lines[block.last_line - 1].strip() for block in note.blocks)


@modest
@given(notes)
def test_any_text_is_read_and_every_filled_line_is_in_one_block(text):
    note = parse_note(text, stem=text[:20])
    check_cover(note)
    assert "\n".join(note.lines) == text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@modest
@given(notes)
def test_everything_found_names_a_line_of_the_body(text):
    note = parse_note(text, stem="x")
    every: list[Any] = [
        *note.headings,
        *note.links,
        *note.fields,
        *note.tasks,
        *note.callouts,
        *note.block_ids,
    ]
    for found in every:
        assert note.body_line <= found.line <= len(note.lines)
    headings = [block.first_line for block in note.blocks if block.kind == "heading"]
    assert headings == [heading.line for heading in note.headings]


@modest
@given(st.one_of(st.binary(max_size=200), notes.map(lambda text: text.encode("utf-16", "surrogatepass"))))
def test_any_bytes_are_decoded_to_text_that_can_be_stored(data):
    text, _ = decode_note(data)
    text.encode("utf-8")
    check_cover(parse_note(text, stem="x"))


@modest
@given(st.binary(max_size=200))
@example(b"a\xe2\nb\r\xff\r\n")
def test_no_byte_is_lost_and_byte_lines_are_text_lines(data):
    assert b"".join(split_lines(data)) == data
    if data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        body = data.removeprefix(b"\xef\xbb\xbf")
        assert len(split_lines(decode_note(data)[0])) == len(split_lines(body))


@modest
@given(notes)
def test_lines_with_their_ends_give_the_text_back(text):
    assert "".join(split_lines(text)) == text


inert = markdown.filter(lambda text: not any(mark in text for mark in ("```", "$$", "%%", "-->", "\r")))


@modest
@given(
    inert, st.sampled_from([("```", "```"), ("~~~~", "~~~~"), ("$$", "$$"), ("%%", "%%"), ("<!--", "-->")])
)
def test_nothing_is_found_in_code_math_and_comments(text, marks):
    if marks[0] == "~~~~" and "~~~~" in text:
        return
    note = parse_note(f"{marks[0]}\n{text}\n{marks[1]}\n", stem="x")
    assert (note.headings, note.tags, note.links, note.fields) == ((), (), (), ())
    assert (note.tasks, note.callouts, note.block_ids) == ((), (), ())
    assert len(note.blocks) == 1


@modest
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_spans_of_properties_lie_inside_the_frontmatter_and_do_not_overlap(inside):
    lines = ["---", *inside.replace("\r", "\n").split("\n"), "---"]
    frontmatter = read_frontmatter(lines)
    before = 1
    for first, last in sorted(frontmatter.spans.values()):
        assert before < first <= last < frontmatter.last_line
        before = last
    assert (
        set(frontmatter.properties) <= set(frontmatter.spans)
        or lines[1].lstrip()[:1] == "{"
        or not frontmatter.spans
    )


@modest
@given(st.text(max_size=60))
def test_a_date_found_is_a_date(text):
    found = find_date(text)
    assert found == "" or find_date(found) == found


plain = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@modest
@given(
    st.dictionaries(plain, st.one_of(plain, st.lists(plain, min_size=1, max_size=4)), min_size=1, max_size=6)
)
def test_properties_written_simply_are_read_back(properties):
    lines = ["---"]
    for key, value in properties.items():
        lines += (
            [f"{key}: {value}"] if isinstance(value, str) else [f"{key}:", *(f"  - {item}" for item in value)]
        )
    frontmatter = read_frontmatter([*lines, "---"])
    assert (frontmatter.properties, frontmatter.problems) == (properties, ())
