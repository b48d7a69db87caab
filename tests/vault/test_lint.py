"""Lint names what is broken in a note, and nothing that is a matter of taste."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.vault.lint import LinkEnd, LinkMention, check_files, check_links, check_note, fix_tags
from hindbrain.vault.path_rules import NotePath


def found(text: str | bytes) -> list[tuple[int, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    return [(problem.line, problem.code) for problem in check_note("n.md", data).problems]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("# Fine\n\n```\ncode\n```\n\n- a ^one\n- b ^two\n", []),
        ("", [(0, "empty_note")]),
        (" \n\r\n", [(0, "empty_note")]),
        ("---\na: b: c\n---\nx\n", [(2, "frontmatter_malformed")]),
        ("---\na: &x b\n---\nx\n", [(2, "frontmatter_refused")]),
        ("---\na: 1\na: 2\n---\nx\n", [(3, "frontmatter_duplicate_key")]),
        ("---\na: 1\nx\n", [(1, "frontmatter_unterminated")]),
        (b"a\nb\xff\n", [(2, "not_utf8")]),
        ("text\n\n```python\nx = 1\n", [(3, "unclosed_fence")]),
        ("text\n\n~~~~\nx\n~~~\n", [(3, "unclosed_fence")]),
        ("text\n\n```\n", [(3, "unclosed_fence")]),
        ("- item\n\n  ```\n  x\n  ```\n", []),
        ("    indented\n    code\n", []),
        ("a ^id\n\nb ^ID\n", [(3, "duplicate_block_id")]),
        ("---\ntags: [a b, '12', ok, 日本語, a/b-c_d]\n---\nx\n", [(2, "tag_unreadable")] * 2),
        ("---\ntags: a, b c\n---\nx\n", []),
        ("---\ntags:\n  - ok\n  - what?\n---\nx\n", [(2, "tag_unreadable")]),
        ("---\ntags:\n  - '{{tag}}'\n---\nx\n", []),
        ("---\ntags:\n  - #lost\n---\nx\n", [(3, "tag_with_hash")]),
        ("---\ntags: [a] # my tags\n---\nx\n", []),
    ],
)
def test_a_note_shows_its_problems(text: str | bytes, problems: list[tuple[int, str]]) -> None:
    assert found(text) == problems


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags:\n  - #a\n  - '#b'\n  - c # d", "tags:\n  - a\n  - 'b'\n  - c # d"),
        ('tags: [#a, "#b", c] # why', 'tags: [a, "b", c] # why'),
        ("tags: #a", "tags: a"),
        ("tags: #a, #b #c", "tags: a, b c"),
        ("tags: [a, b] # see [#x]", "tags: [a, b] # see [#x]"),
        ("tags: [a,\n  #b, #c]", "tags: [a,\n  #b, #c]"),
        ("tags: '#a'", "tags: 'a'"),
        ("Tags: ##a", "Tags: a"),
        ("tags: # only a comment", "tags: # only a comment"),
        ("tags: a # b", "tags: a # b"),
        ("tags:\n- a\n#comment\n- b", "tags:\n- a\n#comment\n- b"),
        ("title: '#1'\nx: [#a]", "title: '#1'\nx: [#a]"),
    ],
)
def test_a_hash_is_taken_from_tags_and_from_nothing_else(before: str, after: str) -> None:
    for end in ("\n", "\r\n"):
        data = f"\ufeff---\n{before}\n---\n#body\n- #x".replace("\n", end).encode() + b"\xff"
        fixed = fix_tags(data)
        assert fixed == f"\ufeff---\n{after}\n---\n#body\n- #x".replace("\n", end).encode() + b"\xff"
        assert fix_tags(fixed) == fixed


def test_a_broken_frontmatter_is_not_mended() -> None:
    data = b"---\ntags: [#a]\nb: c: d\n---\n"
    assert fix_tags(data) == data


def test_links_to_other_files_are_looked_up_and_what_is_no_note_is_let_be() -> None:
    text = "[[A]] [[b/B|x]] ![[pic.png]] [[#own]] [md](C.md#h) [web](https://x.y) [[v1.2 plan]] `[[code]]`\n"
    links = check_note("n.md", text.encode()).links
    assert [link.target for link in links] == ["A", "b/B", "pic.png", "#own", "C.md#h", "v1.2 plan"]
    answers = {
        "A": LinkEnd(["A.md"]),
        "b/B": LinkEnd([]),
        "C.md#h": LinkEnd(["x/C.md", "y/C.md"]),
        "pic.png": None,
        "#own": LinkEnd(["n.md"], "heading"),
        "v1.2 plan": LinkEnd(["v.md"], "block"),
    }
    asked: list[str] = []

    def resolve(target: str, path: str) -> LinkEnd | None:
        asked.append(path)
        return answers[target]

    problems = list(check_links("n.md", links, resolve))
    assert [(problem.code, problem.line) for problem in problems] == [
        ("broken_link", 1),
        ("broken_heading", 1),
        ("ambiguous_link", 1),
        ("broken_block", 1),
    ]
    assert set(asked) == {"n.md"}
    assert list(check_links("n.md", [LinkMention("A", 1)], resolve)) == []


def test_a_file_that_cannot_be_looked_at_affects_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"```\nopen")
    (tmp_path / "big.md").write_bytes(b"x" * 200)
    paths = [NotePath("gone.md"), NotePath("big.md"), NotePath("a.md")]
    codes = [[problem.code for problem in checked.problems] for checked in check_files(tmp_path, paths, 100)]
    assert codes == [["not_found"], ["too_large"], ["unclosed_fence"]]
