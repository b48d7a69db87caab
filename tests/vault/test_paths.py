"""No path leaves the vault, under any system's rules."""

import contextlib
import os
import tarfile
import threading
import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest

from hindbrain.base.errors import HindbrainError, NoteUnreadable, NotFound, UnsafePath
from hindbrain.vault.paths import (
    NotePath,
    check_existing_path,
    check_note_path,
    find_collision,
    open_beneath,
    open_folder_beneath,
    read_note,
    resolve_beneath,
    same_note_key,
)

DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2] / "../shared/data"))
CANARY = "this stands outside the vault"
NFC = unicodedata.normalize("NFC", "café")
NFD = unicodedata.normalize("NFD", "café")

pytestmark = pytest.mark.promise("P15")
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX names or symlinks")


@pytest.fixture
def vault(tmp_path):
    root = tmp_path / "home" / "vault"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("a", encoding="utf-8")
    (root / "sub" / "b.md").write_text("b", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "home"):
        (folder / "canary.md").write_text(CANARY, encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def payloads(tmp_path_factory):
    archive = DATA / "security.tar.gz"
    if not archive.exists():
        pytest.skip(f"no {archive}: set HINDBRAIN_DATA to the folder with security.tar.gz")
    folder = tmp_path_factory.mktemp("payloads")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    lines = [
        line
        for file in sorted(folder.glob("**/traversal/*.txt"))
        for line in file.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    ]
    return [form for line in lines for target in ("canary.md", "etc/passwd") for form in _forms(line, target)]


def _forms(line, target):
    line = line.replace("{FILE}", target)
    forms = [line]
    for _ in range(3):
        forms.append(unquote(forms[-1], errors="surrogateescape"))
    return dict.fromkeys([*forms, *(form.replace("\\", "/") for form in forms)])


def names(folder):
    return [entry.name for entry in folder.iterdir()]


def stays_inside(root, raw):
    """True when the path was taken and lies in the vault, False when it was refused; fails on an escape."""
    try:
        path = check_note_path(raw)
        real = resolve_beneath(root, path)
    except UnsafePath:
        return False
    assert real.is_relative_to(os.path.realpath(root))
    with contextlib.suppress(NotFound, NoteUnreadable):
        assert CANARY.encode() not in read_note(root, path)
    return True


def test_no_traversal_payload_escapes_raw_or_decoded(vault, payloads):
    assert len(payloads) > 1400
    taken = [raw for raw in payloads if stays_inside(vault, raw)]
    assert not [raw for raw in taken if ".." in raw.replace("\\", "/").split("/")]


def test_what_is_taken_by_the_lenient_check_stays_inside_too(vault, payloads):
    for raw in payloads:
        try:
            real = resolve_beneath(vault, check_existing_path(raw))
        except UnsafePath:
            continue
        assert real.is_relative_to(os.path.realpath(vault))


@pytest.mark.parametrize(
    "raw",
    [
        "", "/", "/etc/passwd", "//host/share/x.md", "\\\\host\\share\\x.md", "\\x.md", "C:x.md",
        "c:/x.md", "..", "../x.md", "a/../../x.md", "a/..", "a/../b.md", "./a.md", "a//b.md", "a/",
        "a\\..\\x.md", "a\\b.md", "%2e%2e/x.md", "%2e%2e%2fx.md", "%252e%252e%252fx.md",
        "%25252e%25252e%25252fx.md", "..%5cx.md", "%c0%ae%c0%ae/x.md", "%c0%ae%c0%ae%c0%afx.md",
        "%2fetc/passwd", "a%00.md", "a\0.md", "a\nb.md", "a\x85.md", "．．/x.md", "‥/x.md",
        "a/．．／x.md", "%uff0e%uff0e%u2215x.md", "...", ". ./x.md ", "..  /x.md", "CON", "con.md",
        "NUL.tar.md", "Aux/x.md", "COM1.md", "lpt9", "com¹.md", "LPT³.md", "CONIN$.md", "nul .md",
        "a.md.", "a.md ", "folder./a.md", "folder /a.md", "a.md:stream", "a.md::$DATA", "a<b.md",
        "a>b.md", 'a"b.md', "a|b.md", "a?.md", "a*.md", "a\u202egm.md", "x" * 256 + ".md",
        "é" * 128 + ".md", "/".join(["folder"] * 160), ".git/config", ".GIT/x.md", "a/.Obsidian/x.md",
        ".hindbrain/vault-id", ".trash/x.md", ".ｇｉｔ/x.md", ".g\u200cit/x.md", "\u2024git/x.md",
        "GIT~1/x.md", "obsidi~1/x.md",
        "\udcff.md",
    ],
)  # fmt: skip
def test_a_path_that_some_system_would_misread_is_refused(raw):
    with pytest.raises(UnsafePath) as error:
        check_note_path(raw)
    assert error.value.code == "unsafe_path"


@pytest.mark.parametrize(
    "raw",
    [
        "a.md", "Projects/Plan B.md", "100% done.md", "100%25 sure.md", "a%2Fb.md", "Q：什么.md",
        "日记/2024-01-01.md", "what／why.md", "wait….md", "console.md", "com10.md",
        "communism/nullable.md", ".gitignored/x.md", "a..b.md", "Ünïcödé/naïve.md", "C++.md",
        "it's (really) #1 & [more].md", "émoji 🎉.md", "git/x.md",
    ],
)  # fmt: skip
def test_an_everyday_path_is_taken_as_it_is(raw):
    assert check_note_path(raw) == raw


@posix_only
@pytest.mark.parametrize("raw", ["What now?.md", 'the "plan".md', "Plan: b.md", "con.md", "trailing ./x.md"])
def test_a_name_that_only_windows_forbids_can_be_read_where_it_exists(vault, raw):
    path = check_existing_path(raw)
    file = vault / raw
    file.parent.mkdir(exist_ok=True)
    file.write_text("x", encoding="utf-8")
    assert read_note(vault, path) == b"x"


def test_identity_is_the_composed_form():
    assert check_note_path(f"{NFD}.md") == f"{NFC}.md"


@posix_only
def test_a_name_in_decomposed_form_is_found_and_keeps_its_form(vault):
    (vault / NFD).mkdir()
    (vault / NFD / f"{NFD}.md").write_text("x", encoding="utf-8")
    path = check_note_path(f"{NFC}/{NFC}.md")
    assert read_note(vault, path) == b"x"
    found = resolve_beneath(vault, path)
    folder, name = open_folder_beneath(vault, path)
    os.close(folder)
    if NFC not in names(vault):  # a system that normalises would have changed it itself
        assert found.name == name == f"{NFD}.md"
        assert found.parent.name == NFD


@posix_only
def test_of_two_forms_on_disk_the_composed_one_is_the_note(vault):
    (vault / f"{NFD}.md").write_text("decomposed", encoding="utf-8")
    (vault / f"{NFC}.md").write_text("composed", encoding="utf-8")
    assert read_note(vault, check_note_path(f"{NFD}.md")) == b"composed"


def test_paths_that_differ_by_case_or_form_have_one_key():
    assert same_note_key(f"Notes/{NFC}.md") == same_note_key(f"nOTES/{NFD.upper()}.MD")
    assert same_note_key("Straße.md") == same_note_key("STRASSE.md")
    assert same_note_key("a.md") != same_note_key("b.md")


def test_a_name_that_another_system_would_merge_is_reported(vault):
    assert find_collision(vault, NotePath("SUB/B.md")) == "sub/b.md"
    assert find_collision(vault, NotePath("sub/b.md")) is None
    assert find_collision(vault, NotePath("sub/c.md")) is None
    (vault / f"{NFD}.md").write_text("x", encoding="utf-8")
    assert find_collision(vault, NotePath(f"{NFC.upper()}.md")) is not None


def test_a_missing_note_and_a_missing_folder_are_not_found(vault):
    for raw in ("none.md", "none/none.md", "a.md/b.md"):
        with pytest.raises(NotFound):
            read_note(vault, check_note_path(raw))


def test_a_path_for_a_new_note_resolves_without_existing(vault):
    assert (
        resolve_beneath(vault, check_note_path("new/n.md")) == Path(os.path.realpath(vault)) / "new" / "n.md"
    )


def test_only_the_head_is_read_when_asked(vault):
    assert read_note(vault, NotePath("sub/b.md"), max_bytes=0) == b""


@posix_only
def test_a_fifo_is_refused_and_does_not_hang(vault):
    os.mkfifo(vault / "pipe.md")
    with pytest.raises(NoteUnreadable):
        read_note(vault, check_note_path("pipe.md"))


@posix_only
@pytest.mark.parametrize("target", ["..", "../canary.md", "../../canary.md", "sub/../../canary.md", "/etc"])
def test_a_symlink_that_leads_out_is_refused(vault, target):
    (vault / "link").symlink_to(target)
    for raw in ("link", "link/canary.md", "link/passwd"):
        with pytest.raises((UnsafePath, NotFound)):
            read_note(vault, check_note_path(raw))
    with pytest.raises(UnsafePath):
        resolve_beneath(vault, check_note_path("link"))
    with pytest.raises((UnsafePath, NotFound)):
        os.close(open_beneath(vault, check_note_path("link/new.md"), os.O_CREAT | os.O_WRONLY))
    assert not (vault.parent / "new.md").exists()


@posix_only
def test_symlinks_that_stay_inside_are_followed(vault):
    (vault / "relative").symlink_to("sub/../sub")
    (vault / "absolute").symlink_to(Path(os.path.realpath(vault)) / "sub")
    (vault / "sub" / "up.md").symlink_to("../a.md")
    (vault / "chain").symlink_to("relative")
    for raw in ("relative/b.md", "absolute/b.md", "chain/b.md"):
        assert read_note(vault, check_note_path(raw)) == b"b"
        assert resolve_beneath(vault, check_note_path(raw)) == Path(os.path.realpath(vault)) / "sub" / "b.md"
    assert read_note(vault, check_note_path("sub/up.md")) == b"a"


@posix_only
def test_a_symlink_into_a_private_folder_is_refused(vault):
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.md").write_text("private", encoding="utf-8")
    (vault / "door").symlink_to(".obsidian")
    for act in (read_note, resolve_beneath):
        with pytest.raises(UnsafePath):
            act(vault, check_note_path("door/app.md"))


@posix_only
def test_a_loop_of_symlinks_is_refused(vault):
    (vault / "x").symlink_to("y")
    (vault / "y").symlink_to("x")
    for act in (read_note, resolve_beneath):
        with pytest.raises(UnsafePath):
            act(vault, check_note_path("x/n.md"))


@posix_only
def test_a_vault_that_is_itself_reached_through_a_symlink_works(vault, tmp_path):
    (tmp_path / "short").symlink_to(vault)
    assert read_note(tmp_path / "short", check_note_path("sub/b.md")) == b"b"


@posix_only
@pytest.mark.parametrize("attempts", [1500, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_folder_swapped_for_a_symlink_never_lets_a_read_or_a_write_out(vault, tmp_path, attempts):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.md").write_text(CANARY, encoding="utf-8")
    (vault / "spare").symlink_to(outside)
    done = threading.Event()

    def swap():
        while not done.is_set():
            for source, target in (("sub", "hold"), ("spare", "sub"), ("sub", "spare"), ("hold", "sub")):
                (vault / source).rename(vault / target)

    descriptors = len(names(Path("/dev/fd")))
    swapper = threading.Thread(target=swap)
    swapper.start()
    outcomes = set()
    try:
        for number in range(attempts):
            try:
                assert read_note(vault, NotePath("sub/b.md")) == b"b"
                outcomes.add("read")
                os.close(open_beneath(vault, NotePath(f"sub/{number % 9}.md"), os.O_CREAT | os.O_WRONLY))
            except HindbrainError as error:
                outcomes.add(error.code)
    finally:
        done.set()
        swapper.join()
    assert outcomes <= {"read", "unsafe_path", "not_found"}
    assert names(outside) == ["b.md"]
    assert (outside / "b.md").read_text(encoding="utf-8") == CANARY
    assert len(names(Path("/dev/fd"))) == descriptors
