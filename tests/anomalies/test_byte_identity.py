"""P5: one property or one line of a note is changed, and every other byte stays as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import HindbrainError, UsageError, VaultError
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Property
from hindbrain.vault.parse import decode_note
from hindbrain.vault.splice import add_to_list, remove_property, set_property
from hindbrain.vault.write import VaultWriter
from workbench import NOW

VAULTS = ("vault_obsidian_help", "vault_kepano", "vault_jzhao", "vault_oldwinter_zh")
Unpack = Callable[[str], Path]


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; an oracle of its own, so no code of the product."""
    return data.splitlines(keepends=True)


def _change(before: bytes, after: bytes) -> tuple[int, list[bytes], list[bytes]]:
    """Where the two differ: the first line that does, the lines taken out, the lines put in."""
    old, new = _lines(before), _lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, old[start : len(old) - end], new[start : len(new) - end]


def _property_lines(data: bytes, key: str) -> range:
    """The lines (from 0) of a top-level property, found by their shape alone."""
    lines = _lines(data.removeprefix(b"\xef\xbb\xbf"))
    heads = (key.encode() + b":", b'"' + key.encode() + b'":', b"'" + key.encode() + b"':")
    first = next(i for i, line in enumerate(lines) if i and line.startswith(heads))
    after = first + 1
    while not re.match(rb"[^\s\-#\]}]|---|\.\.\.", lines[after]):
        after += 1
    return range(first, after)


def _properties(data: bytes) -> dict[str, Property]:
    text = decode_note(data)[0].replace("\r\n", "\n").replace("\r", "\n")
    return dict(read_frontmatter(text.split("\n")).properties)


def _tags(value: Property) -> list[str]:
    return value.replace(",", " ").split() if isinstance(value, str) else list(value)


def _has_doubts(data: bytes) -> bool:
    """Would a reader of this frontmatter have to guess?"""
    texts = NoteLines(data).texts or [""]
    return bool(read_frontmatter(texts).problems) or bool(re.match(rb"(\xef\xbb\xbf)?---\s*\n\s*{[^{]", data))


def _refuses(change: Callable[[], bytes]) -> bool:
    try:
        change()
    except VaultError:
        return True
    return False


def _notes(unpacked: Unpack) -> Iterator[tuple[str, bytes]]:
    for name in VAULTS:
        root = unpacked(name)
        for file in sorted(root.rglob("*.md")):
            if file.is_file():
                yield f"{name}/{file.relative_to(root)}", file.read_bytes()


@pytest.fixture(scope="session")
def corpus(unpacked: Unpack) -> dict[str, bytes]:
    found = dict(_notes(unpacked))
    assert len(found) > 4_000
    return found


@pytest.fixture(scope="session")
def doubtful(corpus: dict[str, bytes]) -> set[str]:
    return {name for name, data in corpus.items() if _has_doubts(data)}


@pytest.mark.promise("P5")
def test_a_new_property_in_every_note_of_real_vaults_adds_its_line_and_changes_no_other(
    corpus: dict[str, bytes], doubtful: set[str]
) -> None:
    refused = 0
    for name, data in corpus.items():
        try:
            after = set_property(data, "hindbrain-test", "a: b")
        except VaultError:
            assert name in doubtful
            refused += 1
            continue
        _, gone, come = _change(data, after)
        assert gone == [], name
        made = [line.strip() for line in come if line.strip(b"\xef\xbb\xbf \r\n") != b"---"]
        assert made == [b'hindbrain-test: "a: b"'], name
        assert _properties(after) == _properties(data) | {"hindbrain-test": "a: b"}, name
        back = remove_property(after, "hindbrain-test")
        assert back == data or not _properties(data), name
    assert refused < len(corpus) // 20


@pytest.mark.promise("P5")
def test_another_value_of_an_existing_property_changes_the_lines_of_that_property_only(
    corpus: dict[str, bytes], doubtful: set[str]
) -> None:
    changed = 0
    for name, data in corpus.items():
        if name in doubtful:
            continue
        before = _properties(data)
        names = [key for key in before if re.fullmatch(r"[\w \-]+", key)]
        if not names:
            continue
        # Now this property and now that one, now text and now a list.
        key, value = names[changed % len(names)], ("another value", ["one", "2"])[changed % 2]
        span = _property_lines(data, key)
        after = set_property(data, key, value)
        start, gone, _ = _change(data, after)
        assert span.start <= start and start + len(gone) <= span.stop, (name, key)
        assert _properties(after) == before | {key: value}, (name, key)
        changed += 1
    assert changed > 1_000


@pytest.mark.slow
@pytest.mark.promise("P5")
def test_every_property_of_every_note_can_be_changed_alone(
    corpus: dict[str, bytes], doubtful: set[str]
) -> None:
    for name, data in corpus.items():
        before = _properties(data) if name not in doubtful else {}
        for key in (key for key in before if re.fullmatch(r"[\w \-]+", key)):
            span = _property_lines(data, key)
            for value in ("a: b", ["one", "2"], [], ""):
                after = set_property(data, key, value)
                start, gone, _ = _change(data, after)
                assert (span.start <= start and start + len(gone) <= span.stop) or after == data, (name, key)
                assert _properties(after) == before | {key: value}, (name, key)
            rest = dict(before)
            del rest[key]
            assert _properties(remove_property(data, key)) == rest, (name, key)


@pytest.mark.promise("P5")
def test_a_tag_added_to_every_note_touches_the_tags_only(
    corpus: dict[str, bytes], doubtful: set[str]
) -> None:
    for name, data in corpus.items():
        if name in doubtful:
            assert _refuses(lambda data=data: add_to_list(data, "tags", ["hb/test"])), name  # type: ignore[misc]
            continue
        after = add_to_list(data, "tags", ["hb/test"])
        before, now = _properties(data), _properties(after)
        key = next((key for key in before if key.lower() == "tags"), "tags")
        start, gone, _ = _change(data, after)
        span = _property_lines(data, key) if key in before else range(start, start)
        assert span.start <= start and start + len(gone) <= span.stop, name
        assert {**now, key: ""} == {**before, key: ""}, name
        assert _tags(now[key]) == [*_tags(before.get(key, [])), "hb/test"], name
        assert add_to_list(after, "tags", ["HB/test"]) == after, name


@pytest.mark.promise("P5")
def test_one_line_edited_leaves_every_other_byte(corpus: dict[str, bytes]) -> None:
    for name, data in corpus.items():
        note = NoteLines(data)
        assert note.data() == data, name
        if not note.texts:
            continue
        at = len(note.texts) // 2
        note.replace(at, "hindbrain was here")
        start, gone, come = _change(data, note.data())
        assert (start, len(gone), len(come)) == (at, 1, 1), name
        note = NoteLines(data)
        note.insert(at, ["hindbrain was here"])
        assert b"".join(_change(data, note.data())[1]) == b"", name


@pytest.mark.promise("P5")
def test_through_the_real_writer_the_file_is_what_the_splice_said(
    corpus: dict[str, bytes], tmp_path: Path
) -> None:
    root = tmp_path / "vault"
    chosen = list(corpus.values())[:: len(corpus) // 150]
    for i, data in enumerate(chosen):
        (root / "notes").mkdir(parents=True, exist_ok=True)
        (root / "notes" / f"{i}.md").write_bytes(data)
    with VaultWriter(root, tmp_path / "state", FakeClock(NOW)) as writer:
        notebook = Notebook(root, lambda: writer)
        for i, data in enumerate(chosen):
            path = f"notes/{i}.md"
            try:
                notebook.edit(path, lambda page: set_property(page.data if page else b"", "status", "seen"))
            except VaultError:
                assert _has_doubts(data)
                assert (root / path).read_bytes() == data
                continue
            assert (root / path).read_bytes() == set_property(data, "status", "seen")
            if writer.history(path):
                writer.undo(writer.history(path)[0].id)
            assert (root / path).read_bytes() == data


_MALFORMED = [
    b"---\na: b\nno end of it\n",
    b"---\na: &x b\n---\n",
    b"---\na: *x\n---\n",
    b"---\na: !!python/object:os.system x\n---\n",
    b"---\n<<: x\na: b\n---\n",
    b"---\na: b: c\n---\n",
    b"---\na: [b, c\nd: e\n---\n",
    b"---\na: 'b\nd: e\n---\n",
    b"---\n\ta: b\n---\n",
    b"---\na:\n  b: c\n d: e\n---\n",
    b"---\n  a: b\nc: d\n---\n",
    b"---\njust words\na: b\n---\n",
    b"---\n- a\n- b\n---\n",
    b"---\n{a: b}\n---\n",
    b"---\n{}\n---\n",
    b"---\n# c\n{status: x}\n---\n",
    b"---\na: @b\n---\n",
    b"---\na: " + b"x" * 70_000 + b"\n---\n",
    b"---\na:\n" + b"".join(b" " * i + b"k:\n" for i in range(1, 12)) + b"---\n",
    "---\na: b\n---\n".encode("utf-16"),
]


@pytest.mark.promise("P5")
@pytest.mark.parametrize("data", _MALFORMED, ids=range(len(_MALFORMED)))
def test_malformed_frontmatter_is_not_changed_and_the_error_names_the_line(
    data: bytes, tmp_path: Path
) -> None:
    (tmp_path / "vault").mkdir()
    note = tmp_path / "vault" / "note.md"
    note.write_bytes(data)
    changes = [
        lambda page: set_property(page.data, "status", "done"),
        lambda page: add_to_list(page.data, "tags", ["x"]),
        lambda page: remove_property(page.data, "status"),
    ]
    with VaultWriter(tmp_path / "vault", tmp_path / "state", FakeClock(NOW)) as writer:
        for change in changes:
            with pytest.raises(VaultError) as raised:
                Notebook(tmp_path / "vault", lambda: writer).edit("note.md", change)
            assert raised.value.code == "vault"
            assert re.search(r"line \d|UTF-16", str(raised.value))
            assert note.read_bytes() == data
        assert writer.history() == []


@pytest.mark.promise("P5")
def test_a_key_given_twice_is_not_changed_while_its_neighbours_are() -> None:
    data = b"---\nstatus: a\nstatus: b\nother: c\n---\n"
    for change in (lambda: set_property(data, "status", "x"), lambda: remove_property(data, "Status")):
        with pytest.raises(VaultError):
            change()
    assert set_property(data, "other", "d") == data.replace(b"other: c", b"other: d")


@pytest.mark.promise("P5")
def test_naughty_strings_survive_as_values_items_and_keys(unpacked: Unpack) -> None:
    folder = next(unpacked("security").rglob("naughty"))
    strings = list(dict.fromkeys(json.loads((folder / "blns.json").read_text(encoding="utf-8"))))
    note = b"---\r\nfirst: 'x' # c\r\ntags: [a]\r\nlast: y\r\n---\r\nbody"
    refused = []
    for text in strings:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            with pytest.raises(UsageError):
                set_property(note, "k", text)
            continue
        for key in ("first", "k"):
            after = set_property(note, key, text)
            assert _properties(after) == _properties(note) | {key: text}
            assert after.endswith(b"last: y\r\n---\r\nbody") or key == "k"
        for key in ("k", "tags"):
            assert _properties(set_property(note, key, [text, "b"]))[key] == [text, "b"]
        assert _properties(add_to_list(note, "list", [text]))["list"] == [text]
        try:
            assert _properties(set_property(note, text, "v"))[text] == "v"
        except HindbrainError as error:
            assert error.code == "usage"
            refused.append(text)
    # What is no name at all: nothing, space around it, control characters.
    assert all(not text or text != text.strip() or not text.isprintable() for text in refused)
