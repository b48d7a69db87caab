"""Bytes in, a note out: blocks, headings, titles, dates, and the files that try to break it."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from hindbrain.vault.note import Callout, Heading, Note, Task
from hindbrain.vault.parse import decode_note, find_date, parse_note, split_lines

DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def parse(text: str, stem: str = "stem") -> Note:
    return parse_note(text, stem=stem)


def shape(text: str) -> list[tuple[str, int, int]]:
    return [(block.kind, block.first_line, block.last_line) for block in parse(text).blocks]


def unpack(name: str, folder: Path) -> Path:
    archive = DATA / f"{name}.tar.gz"
    if not archive.exists():
        pytest.skip(f"{archive} is absent; set HINDBRAIN_DATA to the folder that holds it")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


def check_cover(note: Note) -> None:
    """Every non-blank body line is in exactly one block, in order, and no block ends in a blank line."""
    covered: list[int] = []
    for block in note.blocks:
        covered += range(block.first_line, block.last_line + 1)
        assert note.lines[block.last_line - 1].strip()
    assert covered == sorted(set(covered))
    filled = {i for i, line in enumerate(note.lines, 1) if i >= note.body_line and line.strip()}
    assert filled <= set(covered)
    assert all(note.body_line <= i <= len(note.lines) for i in covered)


def test_blocks_of_every_kind_are_told_apart():
    text = (
        "# Head\n\npara one\npara two\n\n- item\n  more\n  - nested\n\n    own paragraph\n\n1. first\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\n# no heading\n\n```\n\n    indented\n\n> quote\nlazy\n\n"
        "$$\nx #no\n$$\n\n%%\nhidden\n\n%%\n\n<!-- a\nb -->\n<div>\nhtml\n</div>\n\n---\nend"
    )
    assert shape(text) == [
        ("heading", 1, 1),
        ("paragraph", 3, 4),
        ("item", 6, 7),
        ("item", 8, 10),
        ("item", 12, 12),
        ("table", 14, 16),
        ("code", 18, 21),
        ("code", 23, 23),
        ("quote", 25, 26),
        ("math", 28, 30),
        ("comment", 32, 35),
        ("comment", 37, 38),
        ("html", 39, 41),
        ("rule", 43, 43),
        ("paragraph", 44, 44),
    ]
    assert parse(text).tags == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n\n  ```\n  # x\n  ```\n  b", [("item", 1, 1), ("code", 3, 5), ("paragraph", 6, 6)]),
        ("- ```\n  x\n  ```\n- b", [("code", 1, 3), ("item", 4, 4)]),
        ("- ```\n  x\n# h", [("code", 1, 2), ("heading", 3, 3)]),
        ("````\n```\n````\na", [("code", 1, 3), ("paragraph", 4, 4)]),
        ("~~~\n```\n~~~ \na", [("code", 1, 3), ("paragraph", 4, 4)]),
        ("```\nnever closed\n\n", [("code", 1, 2)]),
        ("```a``` text\n# h", [("paragraph", 1, 1), ("heading", 2, 2)]),
        ("a\n2023. b", [("paragraph", 1, 2)]),
        ("a\n1. b\n2. c", [("paragraph", 1, 1), ("item", 2, 2), ("item", 3, 3)]),
        ("a\n    not code", [("paragraph", 1, 2)]),
        ("- a\n\t- b\n\t\t- c", [("item", 1, 1), ("item", 2, 2), ("item", 3, 3)]),
        ("100. a\n    - b", [("item", 1, 1), ("item", 2, 2)]),
        ("- a\nlazy\n\nb", [("item", 1, 2), ("paragraph", 4, 4)]),
        ("* * *\n***\n___\n+++", [("rule", 1, 1), ("rule", 2, 2), ("rule", 3, 3), ("paragraph", 4, 4)]),
        ("a | b\n- | -\n1 | 2\n# h", [("table", 1, 3), ("heading", 4, 4)]),
        ("$$ never closed\n\n# h", [("paragraph", 1, 1), ("heading", 3, 3)]),
        ("%% never closed\n\n# h", [("paragraph", 1, 1), ("heading", 3, 3)]),
        ("text $$\n# x\n$$ on\n\nb", [("paragraph", 1, 3), ("paragraph", 5, 5)]),
        ("<pre>\na\n\nb</pre>\nc", [("html", 1, 4), ("paragraph", 5, 5)]),
        ("> ```\n> # x\nb", [("quote", 1, 2), ("paragraph", 3, 3)]),
        ("\x0c\n\u2028\n", []),
        ("", []),
    ],
)
def test_blocks_end_where_a_reader_would_say(text, expected):
    assert shape(text) == expected


def test_a_block_knows_the_headings_above_it():
    note = parse("a\n# One\nb\n### Deep ###\nc\n## Two #tag\nd\nSet\n===\ne")
    assert [(block.kind, block.headings) for block in note.blocks] == [
        ("paragraph", ()),
        ("heading", ("One",)),
        ("paragraph", ("One",)),
        ("heading", ("One", "Deep")),
        ("paragraph", ("One", "Deep")),
        ("heading", ("One", "Two #tag")),
        ("paragraph", ("One", "Two #tag")),
    ]
    assert note.tags == ("tag",)


def test_only_a_single_line_becomes_a_heading_by_underlining():
    assert parse("One\n===\n\nTwo\n---\n").headings == (Heading(1, "One", 1), Heading(2, "Two", 4))
    assert shape("a\nb\n---") == [("paragraph", 1, 2), ("rule", 3, 3)]


@pytest.mark.parametrize("line", ["#tag", "####### seven", "\\# x", "    # code", "`# x`"])
def test_what_only_looks_like_a_heading_is_none(line):
    assert parse(line).headings == ()


def test_tasks_and_callouts_are_read_with_their_lines():
    note = parse(
        "- [ ] open ^t-1\n1. [x] done\n- [/]no\n\n> [!Warning]- Mind **this**\n> - [?] asked\n> #in-quote"
    )
    assert note.tasks == (Task(" ", "open ^t-1", 1), Task("x", "done", 2), Task("?", "asked", 6))
    assert note.callouts == (Callout("warning", "Mind **this**", 5),)
    assert note.tags == ("in-quote",)
    assert [block_id.id for block_id in note.block_ids] == ["t-1"]


def test_nothing_is_found_in_code_math_or_comments_over_several_lines():
    inside = "#t [[l]] k:: v ^id\n- [ ] task\n"
    for opening, closing in [("```", "```"), ("~~~", "~~~"), ("$$", "$$"), ("%%", "%%"), ("<!--", "-->")]:
        note = parse(f"{opening}\n{inside}{closing}\n#after")
        assert (note.tags, note.links, note.fields, note.block_ids) == (("after",), (), (), ())
    note = parse("text #a %% hidden #b\n#c [[l]]\nstill %% seen #d")
    assert (note.tags, note.links) == (("a", "d"), ())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From property\n---\n# Head", "From property"),
        ("## Two\n# One\n# Other", "One"),
        ("```\n# code\n```", "stem"),
        ("---\ntitle:\n---\nx", "stem"),
    ],
)
def test_the_title_comes_from_the_property_then_the_first_h1_then_the_file(text, title):
    assert parse(text).title == title


def test_aliases_and_tags_are_read_in_the_forms_people_write():
    note = parse("---\naliases: One, Two\nalias: [Three]\ntags: '#a, b c'\ntag:\n  - d/e\n  - a\n---\n#x #b")
    assert note.aliases == ("One", "Two", "Three")
    assert note.tags == ("a", "b", "c", "d/e", "x")


def test_the_summary_is_the_property_or_the_first_paragraph_cut_at_a_word():
    assert parse("---\ndescription: >-\n  In\n  short\n---\nx").summary == "In short"
    assert parse("# h\n- item\n\nfirst\npara\n\nsecond").summary == "first para"
    long = parse("word " * 100).summary
    assert len(long) <= 200 and long.endswith("word")
    assert len(parse("x" * 1000).summary) == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-05-30", "2023-05-30"),
        ("2023-5-3T10:00", "2023-05-03"),
        ("2023/05/30 12:00", "2023-05-30"),
        ("8 May, 2023", "2023-05-08"),
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("8th of May 2023", "2023-05-08"),
        ("May 8, 2023", "2023-05-08"),
        ("Sept. 1st, 2021", "2021-09-01"),
        ("note 20230530 x", "2023-05-30"),
        ("202305301230", "2023-05-30"),
        ("2023-02-30", ""),
        ("20231399", ""),
        ("123456789012345", ""),
        ("it may rain", ""),
        ("", ""),
    ],
)
def test_dates_are_found_in_the_forms_people_write(text, expected):
    assert find_date(text) == expected


def test_the_date_comes_from_a_property_and_else_from_the_file_name():
    assert parse("---\ncreated: 2020-01-02\n---\n", "2023-05-30").date == "2020-01-02"
    assert parse("---\ndate: {{date}}\n---\n", "2023-05-30 walk").date == "2023-05-30"
    assert parse("on 2020-01-02", "walk").date == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_are_the_editors_whatever_the_line_ends(end):
    text = end.join(["---", "title: x", "---", "a\x0bb\x0cc\u2028d\x85e", "# Head", ""])
    note = parse(text)
    assert (note.title, note.body_line, note.headings) == ("x", 4, (Heading(1, "Head", 5),))
    assert "".join(split_lines(text)) == text
    assert len(split_lines(text)) == 5


@pytest.mark.parametrize(
    ("data", "text", "codes"),
    [
        (b"\xef\xbb\xbf# h", "# h", []),
        ("# ü".encode("utf-16"), "# ü", ["not_utf8"]),
        ("# ü".encode("utf-16-be"), "\0#\0 \0\ufffd", ["not_utf8", "nul_bytes"]),
        (b"a\r\n\xff\nb", "a\r\n\ufffd\nb", ["not_utf8"]),
        (b"a\nb\0", "a\nb\0", ["nul_bytes"]),
        (b"", "", []),
    ],
)
def test_any_bytes_are_decoded_and_what_is_odd_is_named(data, text, codes):
    decoded, problems = decode_note(data)
    assert decoded == text
    assert [problem.code for problem in problems] == codes


def test_a_decoding_problem_names_its_line():
    assert decode_note(b"a\r\nb\rc\n\xff")[1][0].line == 4


def test_a_byte_order_mark_left_in_the_text_does_not_hide_the_frontmatter():
    assert parse("\ufeff---\ntitle: x\n---\n").title == "x"


@pytest.mark.promise("P14")
def test_naughty_strings_are_read_as_title_body_tag_and_property(tmp_path):
    strings = json.loads(next(unpack("security", tmp_path).rglob("blns.json")).read_text("utf-8"))
    for string in strings:
        for text in (
            string,
            f"# {string}",
            f"- [ ] {string} #x",
            f"---\na: {string}\n---\nend",
            f"[[{string}]]",
        ):
            note = parse(text, stem=string)
            check_cover(note)
            assert "\n".join(note.lines) == text.removeprefix("\ufeff").replace("\r\n", "\n").replace(
                "\r", "\n"
            )


VAULTS = ["vault_kepano", "vault_jzhao", "vault_obsidian_help", "vault_oldwinter_zh"]


@pytest.mark.promise("P14")
@pytest.mark.parametrize("name", VAULTS)
def test_every_note_of_a_real_vault_is_covered_line_by_line(name, tmp_path):
    seen = 0
    for path in unpack(name, tmp_path).rglob("*.md"):
        data = path.read_bytes()
        text, problems = decode_note(data)
        note = parse(text, path.stem)
        check_cover(note)
        assert (problems, note.problems) == ((), ())
        assert b"".join(split_lines(data)) == data
        seen += 1
    assert seen > 90


MEGABYTE = 1 << 20
HOSTILE = {  # built when needed: together they take 200 MB
    "one line": lambda: "a" * 50 * MEGABYTE,
    "one line of brackets": lambda: "[[" * 5 * MEGABYTE,
    "one line of links": lambda: "[a](" * MEGABYTE,
    "one line of fields": lambda: "[a:: (b:: " * MEGABYTE,
    "backtick runs of growing length": lambda: " ".join("`" * n for n in range(3000)),
    "a million lines": lambda: "word\n" * 1_000_000,
    "a million openers": lambda: "a $$ %% <!--\n\n" * 300_000,
    "items nested ten thousand deep": lambda: "\n".join(" " * n + "- a" for n in range(10_000)),
    "quotes nested ten thousand deep": lambda: ">" * 10_000 + " a\n" + "> " * 10_000 + "b",
    "flow nested ten thousand deep": lambda: "---\na: " + "[" * 10_000 + "\n---\nb",
    "quotes never closed in frontmatter": lambda: '---\na: "\n' + '  \\"\n' * 12_000 + "---\nb",
}


@pytest.mark.slow
@pytest.mark.promise("P14")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_notes_are_read_to_the_end(name):
    check_cover(parse(HOSTILE[name]()))
