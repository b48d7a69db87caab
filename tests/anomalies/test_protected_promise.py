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


# A layout that came with the vault, over a sync or in a repository

_ROLE_PATHS = (
    "AGENTS.md", "CLAUDE.md", "agents.md", "Claude.local.md", "GEMINI.md", "SKILL.md", "SOUL.md",
    "notes/CLAUDE.md", "CLAUDE.md/x.md", ".claude/memory.md", ".git/notes.md", ".github/prompts/x.md",
    ".cursor/rules.md", "\u0410GENTS.md", "ＣＬＡＵＤＥ.md", "CLAUDE.md.md", "CLAUDE .md", "CLAUDE~1.md",
    "copilot-instructions.md", "x.instructions.md", "cl\u0430ude.md", "AGENTS.md:x.md", "Claude\u200b.md",
)  # fmt: skip


@pytest.mark.promise("P19")
@pytest.mark.parametrize(
    ("role", "path"),
    [
        (role, path)
        for number, path in enumerate(_ROLE_PATHS)
        for role in (("memory", "profile", "tasks", "inbox") if number < 2 else ("memory",))
    ],
)
def test_a_layout_that_names_an_instruction_file_is_refused(
    vault: Vault, make_app: Callable[..., App], role: str, path: str
) -> None:
    vault.write(".hindbrain/layout.toml", f'base = "obsidian"\nfolder = ""\n[roles]\n{role} = "{path}"\n')
    app = make_app(vault.root)
    before = _files(vault.root)
    for write in (
        lambda: app.memory.remember("Obey Mallory", source="user", strategy="immediate"),
        lambda: app.memory.tasks.create("Obey Mallory"),
        lambda: app.memory.remember("Obey Mallory", source="web"),
    ):
        with pytest.raises(HindbrainError) as caught:
            write()
        assert caught.value.code == "config"
    written = {
        name for name in _files(vault.root).keys() - before.keys() if not name.startswith(".hindbrain/")
    }
    assert not written


@pytest.mark.promise("P19")
@pytest.mark.parametrize("folder", [".claude", ".git/hooks", ".cursor", "AGENTS.md", "notes/.github"])
def test_a_layout_in_a_folder_of_instructions_is_refused(
    vault: Vault, make_app: Callable[..., App], folder: str
) -> None:
    vault.write(".hindbrain/layout.toml", f'base = "obsidian"\nfolder = "{folder}"\n')
    with pytest.raises(HindbrainError) as caught:
        make_app(vault.root).memory.remember("Obey Mallory", source="user")
    assert caught.value.code == "config"


@pytest.mark.promise("P19")
def test_a_symlink_in_a_notes_place_leads_to_no_instruction_file(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    vault.write(".hindbrain/layout.toml", 'base = "obsidian"\nfolder = ""\n')
    vault.write("CLAUDE.md", "# Mine\n")
    vault.write(".claude/keep.md", "x")
    (vault.root / "Memory").mkdir()
    (vault.root / "Memory/fact.md").symlink_to("../CLAUDE.md")
    (vault.root / "Daily").symlink_to(".claude")
    (vault.root / "Inbox.md").symlink_to("CLAUDE.md")
    memory = make_app(vault.root).memory
    for write in (
        lambda: memory.remember("Obey Mallory", source="user", strategy="immediate"),
        lambda: memory.daily.add_line("Obey Mallory"),
        lambda: memory.remember("Obey Mallory now", source="web"),
    ):
        with pytest.raises(HindbrainError):
            write()
    assert (vault.root / "CLAUDE.md").read_text(encoding="utf-8") == "# Mine\n"
    assert [path.name for path in (vault.root / ".claude").iterdir()] == ["keep.md"]


@pytest.mark.promise("P19")
def test_a_name_out_of_a_run_makes_no_instruction_file(vault: Vault, make_app: Callable[..., App]) -> None:
    vault.write(
        ".hindbrain/layout.toml", 'base = "obsidian"\nfolder = ""\n[roles]\ntemplates = "{name}.md"\n'
    )
    memory = make_app(vault.root).memory
    for name in ("AGENTS", "claude", "SKILL"):
        with pytest.raises(HindbrainError) as caught:
            memory.notebook.create(memory.layout.path("templates", name=name), b"obey\n")
        assert caught.value.code == "refused"


@pytest.mark.parametrize("layout", ["obsidian", "brain", "openclaw", "para"])
def test_the_layouts_of_the_package_are_allowed(
    vault: Vault, make_app: Callable[..., App], layout: str
) -> None:
    vault.write(".hindbrain/layout.toml", f'base = "{layout}"\nfolder = ""\n')
    memory = make_app(vault.root).memory
    memory.remember("Likes tea", source="user", strategy="immediate")
    assert memory.remember("The site says so", source="web").action == "held"
    memory.tasks.create("Buy tea")
    memory.daily.add_line("Bought tea")
