"""Only what a note shows its reader is found: no comments, no drawing data, no generated parts."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest

from command_runs import Cli
from workbench import Vault

_WARNING = (
    "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠== You can decompress "
    "Drawing data with the command palette: 'Decompress current Excalidraw file'. For more info check in "
    "plugin settings under 'Saving'"
)
_FRONT = "---\n\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n\n---\n"


def compressed(size: int) -> str:
    data = base64.b64encode(random.Random(1).randbytes(size)).decode()
    return "\n\n".join(data[at : at + 256] for at in range(0, len(data), 256))


# As the plugin writes them: in 2022, in 2024 with a note on the back, and in 2025.
OLD_DRAWING = (
    f"{_FRONT}\n{_WARNING}\n\n\n# Text Elements\nmy second brain ^MU3qp0VJ\n\n"
    "digital garden [[Soil]] ^IC7FWrd9\n\n\n"
    "# Embedded files\n81f90b6f538d5a18ec3e8b5158c065bb92caf4f2: [[Pasted Image 20220821140520_014.png]]\n\n"
    f"%%\n# Drawing\n```compressed-json\n{compressed(30_000)}\n```\n%%"
)
NEW_DRAWING = (
    f"{_FRONT}{_WARNING}\n\nA note on the back. %%aside%% It mentions turbines.\n\n"
    "%%\n# Excalidraw Data\n\n## Text Elements\ngearbox\nof the mill ^aB3dE6gH\n\n"
    "## Element Links\naB3dE6gH: [[Mill]]\n\n"
    "## Embedded Files\n927c9462c728d7294bed: [[wheel.png]]\n\n"
    f"%%\n## Drawing\n```compressed-json\n{compressed(30_000)}\n```\n%%"
)
JSON_DRAWING = (
    f"{_FRONT}{_WARNING}\n\n# Excalidraw Data\n\n## Text Elements\nlighthouse ^zY8xW7vU\n\n"
    "## Drawing\n```json\n"
    + json.dumps({"elements": [{"type": "text", "rawText": "lighthouse"}] * 200}, indent=1)
    + "\n```\n%%"
)
COMMENTED = """\
---
date: 2024-02-03
---
# Walk %%heading aside%%

The harbour was quiet %%ask Mina about the pilots%% that day.

%%
Hidden thoughts on smugglers.

- even in a list
%%

Boats <!-- todo: count
them again --> came back. `%%cell one%%` is code, 100 %% is not closed.

```matlab
%% sectioned code
x = 1; %% done
```

> A quote %% with zeppelins %% stays.
"""
KANBAN = """\
---

kanban-plugin: board

---

## Doing

- [ ] varnish the mast


%% kanban:settings
```
{"kanban-plugin":"board","list-collapse":[false],"lane-width":272}
```
%%
"""
SERIALIZED = """\
Books to read:

<!-- QueryToSerialize: LIST FROM #book -->
<!-- SerializedQuery: LIST FROM #book -->
- [[Moby Dick]]
- [[Middlemarch]]
<!-- SerializedQuery END -->

%% Begin Waypoint %%
- **[[Generated]]**
%% End Waypoint %%

And some harpoons.
"""


@pytest.fixture
def drawn(vault: Vault, cli: Cli) -> Vault:
    vault.write("Old.excalidraw.md", OLD_DRAWING)
    vault.write("New.excalidraw.md", NEW_DRAWING.replace("\n", "\r\n"))
    vault.write("Json.md", JSON_DRAWING)
    vault.write("Walk.md", COMMENTED)
    vault.write("Board.md", KANBAN)
    vault.write("Books.md", SERIALIZED)
    for name in ("Soil", "Mill", "Moby Dick"):
        vault.write(f"{name}.md", f"On {name.lower()}s.\n")
    before = {file: file.read_bytes() for file in vault.root.rglob("*.md")}
    assert cli("sync").code == 0
    assert {file: file.read_bytes() for file in vault.root.rglob("*.md")} == before
    return vault


def found(cli: Cli, query: str) -> list[tuple[str, str]]:
    hits = cli("search", query, "--keyword", "--json").data["hits"]
    return [(hit["path"], hit["text"]) for hit in hits]


def test_a_drawing_is_found_by_its_text_elements_alone(cli: Cli, drawn: Vault) -> None:
    assert cli("status", "--json").data["index"]["passages"] < 30
    for word, path in [
        ("brain", "Old.excalidraw.md"),
        ("gearbox", "New.excalidraw.md"),
        ("lighthouse", "Json.md"),
        ("turbines", "New.excalidraw.md"),
    ]:
        assert {where for where, _ in found(cli, word)} == {path}
    for word in ("MORE OPTIONS", "decompress", "compressed", "rawText", "927c9462c728d7294bed"):
        assert not found(cli, f'"{word}"')
    hit = cli("search", "gearbox", "--json").data["hits"][0]
    assert (hit["title"], hit["heading"]) == ("New.excalidraw", "")


def test_the_links_of_a_drawing_still_count(cli: Cli, drawn: Vault) -> None:
    assert "Old.excalidraw.md" in cli("links", "Soil").out
    assert (
        cli("links", "--broken", "--json").data["broken"] == [] or "Old" not in cli("links", "--broken").out
    )


def test_comments_and_generated_parts_are_not_found(cli: Cli, drawn: Vault) -> None:
    for word in ("Mina", "smugglers", "zeppelins", "todo", "lane", "Middlemarch", "Generated", "aside"):
        assert not found(cli, word), word
    for word, path in [
        ("harbour", "Walk.md"),
        ("came back", "Walk.md"),
        ("cell", "Walk.md"),
        ("sectioned", "Walk.md"),
        ("closed", "Walk.md"),
        ("quote", "Walk.md"),
        ("varnish", "Board.md"),
        ("harpoons", "Books.md"),
    ]:
        assert path in [where for where, _ in found(cli, word)], word
    shown = " ".join(text for _, text in found(cli, "harbour"))
    assert "Mina" not in shown


@pytest.mark.parametrize(
    ("word", "path"),
    [("gearbox", "New.excalidraw.md"), ("brain", "Old.excalidraw.md"), ("harpoons", "Books.md")],
)
def test_the_lines_of_a_passage_are_those_of_the_file(cli: Cli, drawn: Vault, word: str, path: str) -> None:
    hit = cli("search", word, "--keyword", "--json").data["hits"][0]
    lines = Path(drawn.root / path).read_text(encoding="utf-8").split("\n")
    assert any(word in line for line in lines[hit["first_line"] - 1 : hit["last_line"]])
    assert hit["last_line"] - hit["first_line"] < 3
