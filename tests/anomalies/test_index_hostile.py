"""Hostile and broken files through a whole sync: each is taken, cut or refused, and affects only itself."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.search.query import SearchQuery
from index_oracle import assert_sound, index_content
from workbench import Bench, MakeBench

pytestmark = pytest.mark.promise("P14")

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(12)
)
HOSTILE: dict[str, Callable[[], bytes]] = {
    "one long line": lambda: b"word " * 1_000_000,
    "one long word": lambda: b"x" * 5_000_000,
    "a million lines": lambda: b"line\n" * 1_000_000,
    "a million blank lines": lambda: b"\n" * 1_000_000,
    "deep lists": lambda: b"".join(b"  " * i + b"- item\n" for i in range(1_500)),
    "deep quotes": lambda: b">" * 10_000 + b" quoted\n",
    "deep brackets": lambda: b"[" * 10_000 + b"]" * 10_000,
    "deep links": lambda: b"[[" * 10_000 + b"]]" * 10_000,
    "deep emphasis": lambda: b"*" * 10_000 + b"a" + b"*" * 10_000,
    "deep callouts": lambda: b"".join(b">" * i + b"[!note] x\n" for i in range(1, 400)),
    "deep frontmatter": lambda: b"---\n" + b"".join(b" " * i + b"a:\n" for i in range(3_000)) + b"---\nx\n",
    "deep flow frontmatter": lambda: b"---\na: " + b"[" * 10_000 + b"]" * 10_000 + b"\n---\ntext\n",
    "a bomb of aliases": lambda: b"---\n" + BOMB.encode() + b"---\ntext\n",
    "endless frontmatter": lambda: b"---\n" + b"key: value\n" * 200_000,
    "many headings": lambda: b"# H\n" * 50_000,
    "many tags": lambda: b"#tag " * 100_000,
    "many different tags": lambda: b" ".join(b"#t%d" % i for i in range(50_000)),
    "many links": lambda: b"[[a]] " * 50_000,
    "unclosed fences": lambda: b"```\n~~~\n" * 20_000,
    "unclosed comments": lambda: b"%% <!-- $$ ` " * 20_000,
    "a wide table": lambda: b"|" + b" a |" * 50_000 + b"\n|" + b"---|" * 50_000 + b"\n",
    "binary": lambda: bytes(range(256)) * 4_000,
    "binary behind a mark": lambda: b"\xff\xfe" + os.urandom(65_537),
    "invalid utf-8": lambda: b"# Title\n\n\xff\xfe\xc3\x28 \xed\xa0\x80 \xf8\x88\x80\x80\x80 text\n" * 500,
    "only nulls behind text": lambda: b"text " * 2_000 + b"\0" * 1_000_000,
    "every plane": lambda: "".join(map(chr, [*range(32, 0xD800, 7), *range(0xE000, 0x11_0000, 99)])).encode(),
    "combining marks": lambda: ("a" + "\u0301" * 100_000).encode(),
    "directions": lambda: ("\u202e\u2066abc\u200f" * 20_000).encode(),
    "returns": lambda: b"a\rb\r\nc\n\r" * 30_000,
    "odd spaces": lambda: "\u2028\u2029\x85\x0b\x0c\xa0".encode() * 50_000,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_note_affects_only_itself(bench: Bench, name: str) -> None:
    bench.vault.write("good.md", "zebras live in the grass\n")
    bench.vault.write("hostile.md", HOSTILE[name]())
    report = bench.sync()
    assert {item.path for item in report.failed} <= {"hostile.md"}
    assert bench.paths(SearchQuery("zebras", mode="keyword"))[0] == "good.md"
    bench.search("zebras word text item")
    assert_sound(bench.app.index_path, all_embedded=True)
    assert bench.sync().indexed == 0


def test_of_a_line_of_fifty_megabytes_the_beginning_is_found(plain: Bench) -> None:
    plain.vault.write("good.md", "zebras\n")
    plain.vault.write("long.md", b"giraffes first " + b"and more " * 5_600_000)
    report = plain.sync()
    assert [item.path for item in report.noticed] == ["long.md", "long.md"]
    assert [item.reason for item in report.noticed] == ["too_large", "too_many_passages"]
    assert plain.paths("giraffes first") == ["long.md"]
    assert plain.paths("zebras") == ["good.md"]


@pytest.mark.slow
def test_of_a_note_of_a_gigabyte_the_beginning_is_found(plain: Bench) -> None:
    plain.vault.write("good.md", "zebras\n")
    file = plain.vault.write("big.md", b"giraffes first\n\n" + b"filler text goes on\n\n" * 1_100_000)
    with open(file, "r+b") as handle:
        handle.truncate(1 << 30)
    report = plain.sync()
    assert [item.path for item in report.noticed] == ["big.md", "big.md"]
    assert [item.reason for item in report.noticed] == ["too_large", "too_many_passages"]
    assert plain.paths("giraffes first") == ["big.md"]
    assert plain.paths("zebras") == ["good.md"]


def test_hostile_names_affect_only_themselves(plain: Bench) -> None:
    plain.vault.write("good.md", "zebras\n")
    hostile = ["CON.md", "a\nb.md", "trailing .md", "%00.md", "'; DROP TABLE note; --.md", "\u202egpj.md"]
    hostile.append("x" * 251 + ".md")
    for name in hostile:
        plain.vault.write(name, "zebras too\n")
    with open(os.fsencode(plain.vault.root) + b"/\xff\xfe.md", "wb") as file:
        file.write(b"zebras in a name that is no text\n")
    report = plain.sync()
    assert report.failed == ()
    assert "good.md" in plain.paths(SearchQuery("zebras", k=50))
    assert_sound(plain.app.index_path)


def _naughty(unpacked: Callable[[str], Path]) -> list[str]:
    folder = unpacked("security") / "security" / "naughty"
    if not folder.is_dir():
        folder = next(unpacked("security").rglob("naughty"))
    found: list[str] = []
    for file in sorted(folder.rglob("*")):
        if file.suffix == ".json":
            found += [item for item in json.loads(file.read_text(encoding="utf-8")) if isinstance(item, str)]
        elif file.suffix == ".txt":
            lines = file.read_bytes().decode("utf-8", "replace").splitlines()
            found += [line for line in lines if line and not line.startswith("#")]
    assert len(found) > 300
    return found


def test_naughty_strings_are_harmless_as_notes_and_as_queries(
    bench: Bench, unpacked: Callable[[str], Path]
) -> None:
    strings = list(dict.fromkeys(_naughty(unpacked)))[:400]
    bench.vault.write("good.md", "zebras live in the grass\n")
    for i, text in enumerate(strings):
        bench.vault.write(f"bodies/{i}.md", text)
        properties = f"---\ntitle: {text}\ntags: [{text}]\n---\n"
        bench.vault.write(f"titles/{i}.md", f"{properties}# {text}\n\n[[{text}]]\n")
    report = bench.sync()
    assert {item.code for item in report.failed} <= {"unreadable"}
    assert len(index_content(bench.app.index_path)) + len(report.failed) == 2 * len(strings) + 1
    assert_sound(bench.app.index_path, all_embedded=True)
    from hindbrain.index.store import IndexStore
    from hindbrain.search.engine import SearchEngine

    store = IndexStore(bench.app.index_path)
    engine = SearchEngine(store, lambda: bench.embedder, bench.app.clock, warm=True)
    for text in strings[::2]:
        engine.search(SearchQuery(text, k=3))
    assert engine.search(SearchQuery("zebras live in the grass")).hits[0].path == "good.md"
    store.close()


def test_encoded_binary_in_a_note_is_text_like_any_other(make_bench: MakeBench) -> None:
    bench = make_bench(None)
    image = base64.b64encode(os.urandom(2_000_000))
    bench.vault.write("a.md", b"![](data:image/png;base64," + image + b")\n\nzebras\n")
    bench.sync()
    assert bench.paths("zebras") == ["a.md"]
