"""A property is set, added to or removed by its lines; everything else in the note stays."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import UsageError, VaultError
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.splice import Value, add_to_list, remove_property, set_property
from hindbrain.vault.yaml_text import flow_list, scalar_text


def note(inside: str, body: str = "# Body\n") -> bytes:
    return f"---\n{inside}\n---\n{body}".encode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain words", "plain words"),
        ("it's", "it's"),
        ("a: b", '"a: b"'),
        ("a:b", "a:b"),
        ("ends:", '"ends:"'),
        ("a #b", '"a #b"'),
        ("a#b", "a#b"),
        ("#tag", '"#tag"'),
        ("[[Note]]", '"[[Note]]"'),
        ("{{x}}", '"{{x}}"'),
        ("- x", '"- x"'),
        ("-x", "-x"),
        ("@x", '"@x"'),
        ('say "hi"', 'say "hi"'),
        ('"hi"', "'\"hi\"'"),
        ("c:\\dir", "c:\\dir"),
        ("both \" and ' #x", '"both \\" and \' #x"'),
        ("true", '"true"'),
        ("No", '"No"'),
        ("null", '"null"'),
        ("3.10", '"3.10"'),
        ("-1e5", '"-1e5"'),
        ("0x1F", '"0x1F"'),
        ("12:30", '"12:30"'),
        ("1.2.3", "1.2.3"),
        ("2026-02-20", "2026-02-20"),
        ("2026-02-20T10:00:00", "2026-02-20T10:00:00"),
        ("", '""'),
        (" a", '" a"'),
        ("two\nlines", '"two\\nlines"'),
        ("tab\there", '"tab\\there"'),
        ("bell\x07", '"bell\\x07"'),
        ("\u2028", '"\\u2028"'),
        ("日本語", "日本語"),
        ("🧠 brain", "🧠 brain"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3"),
        (0.8, "0.8"),
        ([], "[]"),
    ],
)
def test_a_value_is_quoted_only_when_yaml_needs_it(value: Value, written: str) -> None:
    after = set_property(b"body\n", "key", value)
    assert after == f"---\nkey: {written}\n---\nbody\n".encode()


def test_a_list_is_written_as_obsidian_writes_it() -> None:
    assert set_property(b"", "tags", ["a", "12"]) == b'---\ntags:\n  - a\n  - "12"\n---\n'
    assert flow_list(["a", "b, c", "it's", 'x "y', "d:e"]) == '[a, "b, c", it\'s, \'x "y\', "d:e"]'


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError):
        scalar_text(float("nan"))


def test_only_the_line_of_the_property_changes() -> None:
    inside = b'a:   1 \r\n# comment\r\n"b" : two  # why\r\nc: [x]\t\r\n'
    data = b"\xef\xbb\xbf---\r\n" + inside + b"---\r\nbody\xff  \r\nlast"
    assert set_property(data, "b", "three") == data.replace(b"two", b"three")
    assert set_property(data, "new", "x") == data.replace(b"\t\r\n---", b"\t\r\nnew: x\r\n---")
    assert remove_property(data, "a") == data.replace(b"a:   1 \r\n", b"")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k: old\nz: 1", "k: new\nz: 1"),
        ("k:\nz: 1", "k: new\nz: 1"),
        ("k: \nz: 1", "k: new\nz: 1"),
        ("k: # why\nz: 1", "k: new # why\nz: 1"),
        ("k: 'old' # why\nz: 1", "k: new # why\nz: 1"),
        ("k: [a, b] # why\nz: 1", "k: new # why\nz: 1"),
        ("k: 'a # b'\nz: 1", "k: new\nz: 1"),
        ("k: a b#c\nz: 1", "k: new\nz: 1"),
        ("k: |\n  # text\n  more\nz: 1", "k: new\nz: 1"),
        ("k: >- # why\n  text\nz: 1", "k: new # why\nz: 1"),
        ("k:\n  - a\n  - b\nz: 1", "k: new\nz: 1"),
        ("k:\n- a\n# mine\n- b\n# of z\nz: 1", "k: new\n# mine\n# of z\nz: 1"),
        ("k:\n  x: 1\n  y: 2\nz: 1", "k: new\nz: 1"),
        ("k: one\n  two\n\nz: 1", "k: new\n\nz: 1"),
        ("  k: old\n  z: 1", "  k: new\n  z: 1"),
        ("K: old\nz: 1", "K: new\nz: 1"),
        ("'k': old\nz: 1", "'k': new\nz: 1"),
    ],
)
def test_whatever_the_old_value_looked_like_its_lines_and_no_others_go(before: str, after: str) -> None:
    assert set_property(note(before), "k", "new").decode() == note(after).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [a, b]", "tags: [a, b, c]"),
        ("tags: [ a, b ] # mine", "tags: [ a, b, c ] # mine"),
        ("tags: []", "tags: [c]"),
        ('tags: ["a]", b,]', 'tags: ["a]", b, c]'),
        ("tags: [\n  a,\n  b\n]", "tags: [\n  a,\n  b, c\n]"),
        ("tags:\n- a\n- b", "tags:\n- a\n- b\n- c"),
        ("tags:\n    - a\n    # x\n    - b # y", "tags:\n    - a\n    # x\n    - b # y\n    - c"),
        ("tags: a, b", "tags: a, b, c"),
        ("tags: 'a, b' # x", "tags: a, b, c # x"),
        ("tags: a", "tags:\n  - a\n  - c"),
        ("tags: a b", "tags:\n  - a\n  - b\n  - c"),
        ("tags:", "tags:\n  - c"),
        ("tags: # mine", "tags: # mine\n  - c"),
        ("tags: null", "tags:\n  - c"),
        ("Tags: [a]", "Tags: [a, c]"),
        ("x: 1", "x: 1\ntags:\n  - c"),
    ],
)
def test_a_tag_is_added_in_the_style_that_the_note_has(before: str, after: str) -> None:
    for rest in ("", "\nz: 1"):
        if before != "x: 1":
            assert add_to_list(note(before + rest), "tags", ["c"]).decode() == note(after + rest).decode()
    assert add_to_list(note(before), "tags", ["c"]).decode() == note(after).decode()


def test_what_is_there_already_is_not_added_again() -> None:
    data = note("tags: [A, '#b', c/d/]\naliases: [X]")
    assert add_to_list(data, "tags", ["a", "B", "#c/d"]) == data
    assert add_to_list(data, "aliases", ["x"]) == data.replace(b"[X]", b"[X, x]")
    assert add_to_list(data, "tags", []) == data


def test_text_of_another_property_is_one_item_commas_and_all() -> None:
    after = add_to_list(note("author: Doe, John"), "author", ["Roe, Jane"])
    assert after == note("author:\n  - Doe, John\n  - Roe, Jane")


def test_nothing_is_added_to_a_property_that_holds_properties() -> None:
    with pytest.raises(VaultError):
        add_to_list(note("tags:\n  a: b"), "tags", ["c"])


def test_setting_what_is_there_changes_nothing() -> None:
    data = note("a: 'x'\nb: [1, 2]\nc: 012")
    assert set_property(data, "a", "x") == set_property(data, "b", ["1", "2"]) == data
    assert set_property(data, "c", "012") == remove_property(data, "d") == data


def test_a_rule_at_the_top_is_no_frontmatter_and_stays() -> None:
    data = b"---\nprose, not properties\n---\nmore\n"
    assert set_property(data, "a", "b") == b"---\na: b\n---\n" + data
    assert set_property(b"---\n---\nx", "a", "b") == b"---\na: b\n---\nx"


def test_the_last_property_removed_leaves_the_two_lines_around_it() -> None:
    assert remove_property(note("a:\n  - b"), "a") == b"---\n---\n# Body\n"


@pytest.mark.parametrize("key", ["", " a", "a ", "a\nb", "a\x00", "<<"])
def test_what_can_be_no_name_is_refused(key: str) -> None:
    with pytest.raises(UsageError):
        set_property(b"", key, "x")


@pytest.mark.parametrize("key", ["- a", "# a", "a'b", '"a"', "true", "12", "[a]", "é", "a b", "?x", "&a"])
def test_a_strange_name_is_quoted_and_found_again(key: str) -> None:
    data = note("other: 1")
    after = set_property(data, key, "v")
    assert read_frontmatter(after.decode().split("\n")).properties == {"other": "1", key: "v"}
    assert remove_property(after, key) == data


def test_a_value_too_long_for_a_frontmatter_is_refused() -> None:
    with pytest.raises(UsageError):
        set_property(b"", "a", "x" * 70_000)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(UsageError):
        set_property(b"", "a", "\ud800")
