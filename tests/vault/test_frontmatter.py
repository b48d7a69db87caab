"""Frontmatter is read as its owner wrote it, and never as anything more than text."""

import pytest

from hindbrain.vault.frontmatter import MAX_CHARS, Frontmatter, read_frontmatter


def read(inside: str) -> Frontmatter:
    return read_frontmatter(["---", *inside.split("\n"), "---", "body"])


def codes(frontmatter: Frontmatter) -> list[str]:
    return [problem.code for problem in frontmatter.problems]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("012", "012"),
        ("2023-05-30", "2023-05-30"),
        ("~", "~"),
        ("1e3", "1e3"),
        ("{{date}}", "{{date}}"),
        ("{{date:YYYY}} {{time}}", "{{date:YYYY}} {{time}}"),
        ("[[Some Note]]", "[[Some Note]]"),
        ("https://example.org/#top", "https://example.org/#top"),
        ("plain # a comment", "plain"),
        ("'it''s'", "it's"),
        ('"a \\"b\\" \\u00e9\\n"', 'a "b" é\n'),
        ('"a: b # c"  # comment', "a: b # c"),
        ("", ""),
        ("# only a comment", ""),
    ],
)
def test_scalars_stay_the_text_that_was_written(written, value):
    frontmatter = read(f"key: {written}\nother: x")
    assert frontmatter.properties == {"key": value, "other": "x"}
    assert codes(frontmatter) == []


@pytest.mark.parametrize(
    "inside",
    [
        "tags:\n  - a\n  - b c",
        "tags:\n- a\n- b c",
        "tags: [a, b c]",
        "tags: [\"a\", 'b c']",
        "tags: [\n  a,\n  b c,\n]",
        "tags: # why\n\n  # more\n  - a # one\n  - 'b c'",
        "tags:\n  - a\n  - b\n    c",
    ],
)
def test_every_way_to_write_a_list_gives_the_same_list(inside):
    frontmatter = read(inside + "\nnext: 1")
    assert frontmatter.properties == {"tags": ["a", "b c"], "next": "1"}
    assert codes(frontmatter) == []


def test_nested_maps_are_maps_of_the_same_kind():
    frontmatter = read("a:\n  b:\n    c: 1\n    d: [x, y]\n  e: {f: 2, g: 'h, i'}\nj: k")
    assert frontmatter.properties == {
        "a": {"b": {"c": "1", "d": ["x", "y"]}, "e": {"f": "2", "g": "h, i"}},
        "j": "k",
    }


def test_list_items_that_are_maps_or_lists_are_kept_as_written():
    frontmatter = read("a:\n  - name: x\n    size: 2\n  - plain\n  - [p, [q]]\nb: [[c, d], e]")
    assert frontmatter.properties["a"] == ["name: x\nsize: 2", "plain", "[p, [q]]"]
    assert codes(frontmatter) == []


def test_block_scalars_and_values_over_several_lines_are_joined_as_yaml_does():
    inside = 'a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\nc: one\n  two\nd: "one\n  two"'
    assert read(inside).properties == {
        "a": "one\n  two\n\nthree",
        "b": "one two\nthree",
        "c": "one two",
        "d": "one two",
    }


def test_spans_name_the_lines_of_each_property_and_no_comment_before_the_next():
    inside = "title: x\ntags:\n  - a\n  - b\n\n# about the date\ndate: 2023\n"
    inside += "text: |\n  one\n  # not a comment\n\nend: 1"
    spans = read(inside).spans
    assert spans == {"title": (2, 2), "tags": (3, 5), "date": (8, 8), "text": (9, 11), "end": (13, 13)}


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ("a: &x b\nok: 1", "frontmatter_refused"),
        ("a: *x\nok: 1", "frontmatter_refused"),
        ("a: !!python/object:os.system x\nok: 1", "frontmatter_refused"),
        ("a:\n  - &x b\nok: 1", "frontmatter_refused"),
        ("a: [*x]\nok: 1", "frontmatter_refused"),
        ("<<: {a: b}\nok: 1", "frontmatter_refused"),
        ("a: b: c\nok: 1", "frontmatter_malformed"),
        ("a:\n\t- b\nok: 1", "frontmatter_malformed"),
        ('a: "b\nok: 1', "frontmatter_malformed"),
        ('a: "b" c\nok: 1', "frontmatter_malformed"),
        ("a: [b\nok: 1", "frontmatter_malformed"),
        ("just words\nok: 1", "frontmatter_malformed"),
        ("a: @b\nok: 1", "frontmatter_malformed"),
        ("a: 1\na: 2\nok: 1", "frontmatter_duplicate_key"),
        ("\n".join(" " * i + "a:" for i in range(20)) + "\nok: 1", "frontmatter_too_deep"),
        ("a: " + "[" * 50 + "]" * 50 + "\nok: 1", None),
        ("a: [{b: " + "[" * 50 + "]" * 50 + "}]\nok: 1", "frontmatter_too_deep"),
    ],
)
def test_what_is_refused_or_broken_is_named_and_the_rest_is_read(inside, code):
    frontmatter = read(inside)
    assert codes(frontmatter) == ([code] if code else [])
    assert frontmatter.properties["ok"] == "1"
    assert frontmatter.last_line == inside.count("\n") + 3


def test_of_a_key_given_twice_the_last_counts():
    assert read("a: 1\na: 2").properties == {"a": "2"}


@pytest.mark.promise("P14")
def test_frontmatter_beyond_the_cap_is_not_read():
    inside = "a: " + "x" * MAX_CHARS
    frontmatter = read(inside)
    assert codes(frontmatter) == ["frontmatter_too_large"]
    assert (frontmatter.properties, frontmatter.last_line) == ({}, 3)


@pytest.mark.promise("P14")
def test_a_yaml_bomb_expands_to_nothing():
    bomb = ["a: &a [x, x]", *(f"{n}: &{n} [*{p}, *{p}]" for p, n in zip("abcdefgh", "bcdefghi", strict=True))]
    frontmatter = read("\n".join(bomb))
    assert set(codes(frontmatter)) == {"frontmatter_refused"}
    assert frontmatter.properties == {}


@pytest.mark.parametrize(
    "lines", [["---"], ["---", "", "words"], ["text", "---"], ["--- x", "a: b", "---"], [""]]
)
def test_a_note_without_frontmatter_has_none_and_no_problem(lines):
    frontmatter = read_frontmatter(lines)
    assert (frontmatter.first_line, frontmatter.last_line, frontmatter.problems) == (0, 0, ())


def test_frontmatter_that_never_closes_is_body_and_is_reported():
    frontmatter = read_frontmatter(["---", "title: x", "", "text"])
    assert (frontmatter.last_line, codes(frontmatter)) == (0, ["frontmatter_unterminated"])


def test_prose_between_two_rules_is_no_frontmatter():
    assert read_frontmatter(["---", "Once upon a time", "---"]).last_line == 0


@pytest.mark.parametrize("closing", ["---", "...", "---  "])
def test_either_closing_line_ends_it(closing):
    frontmatter = read_frontmatter(["---", "a: b", closing, "c: d", "---"])
    assert (frontmatter.properties, frontmatter.last_line) == ({"a": "b"}, 3)


def test_empty_frontmatter_is_frontmatter():
    assert read_frontmatter(["---", "---", "x"]).last_line == 2
