"""What the owner, the defaults and ignore files leave out."""

import os
import shutil
import subprocess
import sys

import pytest

from hindbrain.vault.ignore import make_rules
from hindbrain.vault.scan import scan


def write(root, *paths, text="x"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def found(root, *exclude, **options):
    return [file.path for file in scan(root, make_rules(exclude, **options)).files]


def test_private_hidden_and_template_folders_are_left_out_at_any_level(tmp_path):
    write(tmp_path, "a.md", ".obsidian/a.md", ".trash/a.md", ".git/a.md", ".hindbrain/a.md", ".any/a.md")
    write(
        tmp_path,
        "x/.any/a.md",
        "x/node_modules/p/README.md",
        "Templates/t.md",
        "x/_templates/t.md",
        ".dot.md",
    )
    write(tmp_path, "x/b.md", "My Templates/c.md", "templates.md", "x/_templates/t.md")
    assert found(tmp_path) == ["My Templates/c.md", "a.md", "templates.md", "x/b.md"]
    assert "Templates/t.md" in found(tmp_path, templates=True)


def test_a_plain_entry_is_a_path_from_the_root(tmp_path):
    write(tmp_path, "Archive/a.md", "x/Archive/a.md", "x/y/a.md", "x/b.md", "Archived.md")
    assert found(tmp_path, "Archive", "x/y/") == ["Archived.md", "x/Archive/a.md", "x/b.md"]
    assert found(tmp_path, "archive/", "./x", "Archived.md") == []


def test_an_entry_with_wildcards_is_a_gitignore_pattern(tmp_path):
    write(tmp_path, "a.excalidraw.md", "x/b.excalidraw.md", "x/old-1/a.md", "old-2/a.md", "c.md")
    assert found(tmp_path, "*.excalidraw.md", "/old-*") == ["c.md", "x/old-1/a.md"]
    assert found(tmp_path, "*.md", "!c*.md") == ["c.md"]


def test_nested_ignore_files_hold_from_their_own_folder_down(tmp_path):
    write(tmp_path, "a.md", "x/a.md", "x/y/a.md", "x/keep/a.md", "z/a.md", "z/b.md")
    write(tmp_path, "x/.gitignore", text="/a.md\n!keep/\n")
    write(tmp_path, "z/.obsidianignore", text="*.md\n!b.md\n")
    assert found(tmp_path) == ["a.md", "x/keep/a.md", "x/y/a.md", "z/b.md"]


def test_the_nearer_file_wins_and_a_left_out_folder_stays_out(tmp_path):
    write(tmp_path, "x/a.md", "x/b.md", "out/a.md")
    write(tmp_path, ".gitignore", text="\ufeff# all of it\n*.md\nout/\n")
    write(tmp_path, "x/.gitignore", text="!a.md\n")
    write(tmp_path, "out/.gitignore", text="!a.md\n")
    assert found(tmp_path) == ["x/a.md"]


PATTERNS = {
    ".gitignore": "*.log.md\n/top.md\nbuild/\n**/deep/*.md\n!**/deep/keep.md\nfoo/*\n!foo/bar/\n"
    "\\#odd.md\nab[cd].md\n",
    "x/.gitignore": "!a.log.md\n/only-here.md\nq?.md\n",
    "x/y/.gitignore": "*\n!z.md\n!.gitignore\n",
    "w/.gitignore": "/*\n!/in/\n*.tmp.md\ntrailing.md   \n",
}
TREE = [
    "a.log.md", "top.md", "x/top.md", "build/a.md", "x/build/b.md", "x/build.md", "deep/a.md", "x/deep/a.md",
    "x/deep/keep.md", "foo/a.md", "foo/bar/a.md", "foo/bar/b.log.md", "#odd.md", "abc.md", "abe.md",
    "x/abd.md", "x/a.log.md", "x/only-here.md", "x/v/only-here.md", "x/q1.md", "x/q12.md", "x/y/a.md",
    "x/y/z.md", "x/y/s/z.md", "w/a.md", "w/in/a.md", "w/in/a.tmp.md", "w/trailing.md", "w/in/trailing.md",
    "n/o/r/m/a.md",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git, which is not installed")
def test_the_answer_is_the_one_that_git_gives(tmp_path):
    write(tmp_path, *TREE)
    for name, text in PATTERNS.items():
        write(tmp_path, name, text=text)
    calm = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True, env=calm)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"], check=True, env=calm, capture_output=True
    )
    expected = sorted(path for path in listed.stdout.decode().split("\0") if path.endswith(".md"))
    assert found(tmp_path) == expected


@pytest.mark.promise("P14")
def test_a_hostile_pattern_is_left_out_and_reported(tmp_path):
    write(tmp_path, "a" * 200 + ".md", "b.md")
    write(tmp_path, ".gitignore", text="*a" * 30 + "b\n" + "**/" * 30 + "x\nb.md\n!\n[\n")
    result = scan(tmp_path, make_rules(["*a" * 30]))
    assert [file.path for file in result.files] == ["a" * 200 + ".md"]
    assert [item.reason for item in result.noticed] == ["ignore_file", "ignore_file"]
    assert make_rules(["*a" * 30]).refused == ("*a" * 30,)


def test_an_ignore_file_that_is_too_large_is_reported(tmp_path):
    write(tmp_path, "b.md")
    write(tmp_path, ".gitignore", text="b.md\n" + "#" * 300_000)
    result = scan(tmp_path, make_rules())
    assert [file.path for file in result.files] == ["b.md"]
    assert [(item.path, item.reason) for item in result.noticed] == [(".gitignore", "ignore_file")]


@pytest.mark.skipif(os.name == "nt", reason="needs symlinks")
def test_a_symlinked_ignore_file_is_not_followed(tmp_path):
    root = tmp_path / "vault"
    write(root, "b.md")
    write(tmp_path, "elsewhere", text="*.md\n")
    (root / ".gitignore").symlink_to(tmp_path / "elsewhere")
    assert found(root) == ["b.md"]


def test_no_pattern_library_is_loaded_when_there_is_no_pattern(tmp_path):
    write(tmp_path, "a.md", "Archive/b.md")
    code = (
        "import sys, pathlib\n"
        "from hindbrain.vault.ignore import make_rules\n"
        "from hindbrain.vault.scan import scan\n"
        "assert len(scan(pathlib.Path(sys.argv[1]), make_rules(['Archive'])).files) == 1\n"
        "heavy = {'pathspec', 'numpy', 'logging', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
