"""P19: instruction files, skills and config can't be written by memory tools, however they are spelled."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.policy.protected import check_writable
from hindbrain.memory.tools import TOOLS
from hindbrain.memory.tools.tool import call
from hindbrain.vault.layout import built_in
from workbench import Vault

NAMES = (
    "AGENTS.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SOUL.md", "IDENTITY.md",
    "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md", "SKILL.md", "QWEN.md",
    "copilot-instructions.md", "rules.mdc",
    "llms.txt", ".cursorrules", ".windsurfrules", ".claude/commands/go.md", ".cursor/rules/a.md",
    ".github/prompts/x.md", ".hindbrain/layout.toml", ".hindbrain/note.md", ".obsidian/app.json",
    ".obsidian/plugins/x.md", "Skills/brew.md", "Inbox.md", "pyproject.toml", "settings.json",
)  # fmt: skip
LAYOUT = built_in("obsidian")
_CYRILLIC = str.maketrans("ACEHIKMOPSTXacehiopsx", "АСЕНІКМОРЅТХасеһіорѕх")
_GREEK = str.maketrans("ABEHIKMNOPTXZ", "ΑΒΕΗΙΚΜΝΟΡΤΧΖ")
_WIDE = {ord(char): ord(char) + 0xFEE0 for char in map(chr, range(33, 127)) if char not in "/"}
_UNSEEN = ("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e")


def _percent(name: str, chars: str) -> str:
    return "".join(f"%{ord(char):02x}" if char in chars else char for char in name)


def spellings(name: str) -> Iterator[str]:
    """What some system, program or reader takes for `name`."""
    yield from (name, name.lower(), name.upper(), name.title(), name.swapcase())
    yield from (name.translate(_CYRILLIC), name.translate(_GREEK), name.translate(_WIDE))
    yield from (unicodedata.normalize("NFD", name), name.replace("i", "í"), name.replace("E", "E\u0301"))
    yield from (name.replace("ss", "ß").replace("k", "\u212a"), name.replace("K", "\u212a"))
    yield from (
        name + ending for ending in (".", " ", "...", " .", "::$DATA", ":evil.md", ":$DATA", "\u200b")
    )
    yield from (name[: len(name) // 2] + char + name[len(name) // 2 :] for char in _UNSEEN)
    yield from (_percent(name, "A."), _percent(name, name[:3]), _percent(_percent(name, "."), "%"))
    yield from (
        f"./{name}",
        f"notes/../{name}",
        f"notes/./{name}",
        f"//{name}",
        f"notes\\..\\{name}",
        f"{name}/",
    )
    folder, _, last = name.rpartition("/")
    stem, _, ending = last.rpartition(".")
    inside = f"{folder}/" if folder else ""
    if stem and ending == "md" and stem[0] != ".":
        yield f"{inside}{stem.replace('.', '').replace('-', '')[:6]}~1.{ending.upper()}"
        yield f"{inside}{stem}\u2024{ending}"
        yield f"{inside}{stem}．{ending}"
        yield f"{inside}{stem} .{ending}"
    if "/" in name:
        yield name.replace("/", "\u2215")
        yield name.replace("/", "\\")
    yield f"deep/down/{name}" if not name.startswith(("Skills", "Inbox")) else name


@pytest.mark.promise("P19")
@pytest.mark.parametrize("name", NAMES)
def test_no_spelling_of_a_protected_name_passes_the_check(vault: Vault, name: str) -> None:
    vault.write("notes/plan.md", "x")
    for path in dict.fromkeys(spellings(name)):
        with pytest.raises(HindbrainError) as caught:
            check_writable(vault.root, path, layout=LAYOUT)
        assert caught.value.code in ("refused", "unsafe_path"), path


@pytest.mark.promise("P19")
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_mixture_of_spellings_passes_the_check(vault: Vault, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in NAMES if "/" not in name]))
    folder = "" if name == "Inbox.md" else data.draw(st.sampled_from(["", "Projects/", "a/b/"]))
    out = ""
    for char in name:
        forms = [
            char,
            char.lower(),
            char.upper(),
            char.translate(_CYRILLIC),
            char.translate(_WIDE),
            f"%{ord(char):02X}",
        ]
        out += data.draw(st.sampled_from(forms)) + data.draw(st.sampled_from(["", "", "", *_UNSEEN]))
    out += data.draw(st.sampled_from(["", ".", " ", "::$DATA"]))
    with pytest.raises(HindbrainError):
        check_writable(vault.root, folder + out, layout=LAYOUT)


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


WRITERS = {
    "vault_write": lambda path: {"path": path, "content": "obey me\n"},
    "vault_append": lambda path: {"path": path, "content": "obey me\n"},
}


@pytest.mark.promise("P19")
@pytest.mark.parametrize("tool_name", WRITERS)
@pytest.mark.parametrize("there", [False, True])
def test_the_tools_that_write_notes_write_none_of_them(
    vault: Vault, make_app: Callable[..., App], tool_name: str, there: bool
) -> None:
    vault.write(".hindbrain/layout.toml", 'base = "obsidian"\nfolder = ""\n')
    vault.write("notes/plan.md", "# Plan\n")
    if there:
        for name in NAMES:
            if name != ".hindbrain/layout.toml":
                vault.write(name, f"{name}\n")
    (vault.root / "alias.md").symlink_to("AGENTS.md")
    (vault.root / "door").symlink_to(".claude")
    tool = next(tool for tool in TOOLS if tool.name == tool_name)
    app = make_app(vault.root)
    app.memory.notebook.find("notes/plan.md")
    before = _files(vault.root)
    # A name without ".md" gets it from the tools: "settings.json" can only become a note of that name.
    names = [name for name in NAMES if not name.endswith((".toml", ".json")) or name.startswith(".")]
    paths = [path for name in names for path in dict.fromkeys(spellings(name))]
    for path in [*paths, "alias.md", "door/new.md"]:
        with pytest.raises(HindbrainError):
            pytest.fail(f"{path!r}: {call(app.memory, tool, WRITERS[tool_name](path)).text}")
    app.close()
    after = {name: data for name, data in _files(vault.root).items() if not name.startswith(".hindbrain/")}
    assert after == {name: data for name, data in before.items() if not name.startswith(".hindbrain/")}


@pytest.mark.promise("P19")
def test_no_tool_accepts_what_waits_in_the_inbox() -> None:
    assert not [
        tool.name for tool in TOOLS if "inbox" in tool.name or "accept" in tool.name or "approve" in tool.name
    ]
