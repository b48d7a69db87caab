"""The files of a workspace: nothing outside is reached, nothing that was there is lost."""

from __future__ import annotations

import contextlib
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from hindbrain.agent.tools.files import file_tools
from hindbrain.agent.tools.replaced import Replaced
from hindbrain.agent.tools.tool import Result, Toolbox
from hindbrain.agent.tools.workspace import Workspace
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import HindbrainError, NotFound, Refused, UnsafePath, UsageError, WriteFailed
from hindbrain.base.passed_time import passed_time
from hindbrain.models.chat import ToolCall

DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2] / "../shared/data"))
CANARY = "this stands outside the workspace"
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs symlinks and modes")


class Desk:
    """A workspace with its tools, beside a file that must not be reached."""

    def __init__(self, home: Path, clock: FakeClock) -> None:
        self.home = home
        self.root = home / "work"
        self.root.mkdir(parents=True)
        self.kept = home / "state" / "agent" / "replaced"
        self.config = self.root / "settings"
        (home / "canary.txt").write_text(CANARY, encoding="utf-8")
        self.workspace = Workspace(
            self.root, Replaced(self.kept, clock), vaults=[self.root / "notes"], closed=[self.config]
        )
        self.box = Toolbox(file_tools(self.workspace))

    def call(self, name: str, **arguments: object) -> Result:
        """As the loop does it, but that errors are raised."""
        tool, checked = self.box.checked(ToolCall("c1", name, arguments))
        return tool.handler(checked)

    def put(self, path: str, data: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def outside(self) -> dict[str, bytes]:
        return {
            str(file): file.read_bytes()
            for file in sorted(self.home.rglob("*"))
            if file.is_file() and not file.is_relative_to(self.root) and not file.is_relative_to(self.kept)
        }


@pytest.fixture
def desk(tmp_path: Path, clock: FakeClock) -> Desk:
    return Desk(tmp_path / "home", clock)


def kept_files(desk: Desk) -> list[bytes]:
    return [file.read_bytes() for file in sorted(desk.kept.rglob("*")) if file.is_file()]


def test_what_is_written_is_read_back(desk: Desk) -> None:
    text = "Zeile eins\n  zwei ☕\r\ndrei"
    desk.call("write_file", path="out/deep/report.txt", content=text)
    assert (desk.root / "out/deep/report.txt").read_bytes() == text.encode()
    assert desk.call("read_file", path="out/deep/report.txt").text == text


def test_a_whole_path_that_begins_with_the_workspace_is_a_path_in_it(desk: Desk) -> None:
    desk.put("a.txt", "alpha")
    assert desk.call("read_file", path=str(desk.root / "a.txt")).text == "alpha"
    assert desk.call("read_file", path="./a.txt").text == "alpha"


def test_what_is_replaced_is_kept_and_the_answer_says_where(desk: Desk) -> None:
    desk.put("src/a.py", "by hand\n")
    answer = desk.call("write_file", path="src/a.py", content="by the agent\n")
    assert (desk.root / "src/a.py").read_text(encoding="utf-8") == "by the agent\n"
    (kept,) = [file for file in desk.kept.rglob("*") if file.is_file()]
    assert kept.read_text(encoding="utf-8") == "by hand\n"
    assert str(kept) in answer.text
    assert kept.parts[-2:] == ("src", "a.py")


def test_writing_what_is_there_already_changes_and_keeps_nothing(desk: Desk) -> None:
    file = desk.put("a.txt", "same")
    before = file.stat().st_ino
    desk.call("write_file", path="a.txt", content="same")
    assert file.stat().st_ino == before
    assert not desk.kept.exists()


def test_what_was_kept_goes_after_thirty_days_and_not_before(desk: Desk, clock: FakeClock) -> None:
    for content in ("one", "two", "three"):
        desk.call("write_file", path="a.txt", content=content)
        for _ in range(29):
            clock.advance(86_400)
            passed_time(desk.kept.parent, clock)
    # "one" was kept 29 days after the first write, "two" another 29 days later: when "two" was kept, "one"
    # was 29 days old.
    assert kept_files(desk) == [b"one", b"two"]
    desk.call("write_file", path="a.txt", content="four")
    assert kept_files(desk) == [b"two", b"three"]


def test_somebody_elses_folder_beside_what_is_kept_stays(desk: Desk, clock: FakeClock) -> None:
    (desk.kept / "20010101-mine").mkdir(parents=True)
    desk.put("a.txt", "before")
    desk.call("write_file", path="a.txt", content="after")
    assert (desk.kept / "20010101-mine").is_dir()


@posix_only
def test_a_replaced_file_keeps_its_mode_and_what_is_kept_is_private(desk: Desk) -> None:
    desk.put("run.sh", "#!/bin/sh\n").chmod(0o750)
    desk.call("write_file", path="run.sh", content="#!/bin/sh\nexit 0\n")
    assert (desk.root / "run.sh").stat().st_mode & 0o777 == 0o750
    assert [file.stat().st_mode & 0o077 for file in desk.kept.rglob("run.sh")] == [0]


def test_a_write_that_fails_leaves_the_file_and_no_litter(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.put("a.txt", "before")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hindbrain.vault.atomic.sync_fd", full)
    with pytest.raises(WriteFailed):
        desk.call("write_file", path="a.txt", content="after")
    with pytest.raises(WriteFailed):
        desk.call("write_file", path="b.txt", content="new")
    assert [(file.name, file.read_text(encoding="utf-8")) for file in desk.root.iterdir()] == [
        ("a.txt", "before")
    ]


def test_an_edit_that_comes_in_between_is_kept_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = desk.put("a.txt", "first")
    keep = Replaced.keep

    def keep_while_somebody_saves(self: Replaced, path: str, data: bytes) -> Path:
        if data == b"first":
            file.write_text("saved by a person meanwhile", encoding="utf-8")
        return keep(self, path, data)

    monkeypatch.setattr(Replaced, "keep", keep_while_somebody_saves)
    desk.call("write_file", path="a.txt", content="by the agent")
    assert sorted(kept_files(desk)) == [b"first", b"saved by a person meanwhile"]


@pytest.mark.parametrize(
    "path",
    [
        "../canary.txt", "..", "a/../../canary.txt", "/etc/passwd", "//host/share", "C:\\x", "a\\..\\b",
        "~/../canary.txt/../x", "%2e%2e/canary.txt", "．．/canary.txt", "a\nb.txt", ".git/hooks/pre-commit",
        ".GIT/config", "GIT~1/config", ".obsidian/app.json", ".hindbrain/x", "x" * 300,
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["read_file", "write_file", "list_files"])
def test_a_path_that_leaves_the_workspace_is_refused(desk: Desk, tool: str, path: str) -> None:
    before = desk.outside()
    arguments = {"path": path} | ({"content": "x"} if tool == "write_file" else {})
    with pytest.raises(UnsafePath):
        desk.call(tool, **arguments)
    assert desk.outside() == before


@pytest.mark.parametrize("path", ["con.txt", "aux", "a.txt.", "a.txt ", "a:stream", "what?.txt", "..x"])
def test_a_name_that_some_system_forbids_is_not_written(desk: Desk, path: str) -> None:
    with pytest.raises(UnsafePath):
        desk.call("write_file", path=path, content="x")


@pytest.mark.promise("P15")
def test_no_traversal_payload_reads_or_writes_outside(desk: Desk) -> None:
    payloads = list(_payloads())
    assert len(payloads) > 1400
    before = desk.outside()
    for raw in payloads:
        for name, more in (("read_file", {}), ("write_file", {"content": "escaped"})):
            with contextlib.suppress(HindbrainError):
                assert CANARY not in desk.call(name, path=raw, **more).text
    assert desk.outside() == before


def _payloads() -> Iterator[str]:
    archive = DATA / "security.tar.gz"
    if not archive.exists():
        pytest.skip(f"no {archive}: set HINDBRAIN_DATA to the folder with security.tar.gz")
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if "traversal/" in member.name else None
            for line in content.read().decode("utf-8", "surrogateescape").splitlines() if content else ():
                raw = line.replace("{FILE}", "canary.txt")
                yield from dict.fromkeys((raw, unquote(raw, errors="surrogateescape")))


@posix_only
def test_a_link_that_leads_out_is_neither_read_nor_written(desk: Desk) -> None:
    (desk.root / "file").symlink_to(desk.home / "canary.txt")
    (desk.root / "folder").symlink_to(desk.home)
    for path in ("file", "folder/canary.txt"):
        with pytest.raises(UnsafePath):
            desk.call("read_file", path=path)
        with pytest.raises(UnsafePath):
            desk.call("write_file", path=path, content="x")
    with pytest.raises(UnsafePath):
        desk.call("list_files", path="folder")
    assert (desk.home / "canary.txt").read_text(encoding="utf-8") == CANARY


@posix_only
def test_a_link_within_the_workspace_is_followed_and_stays_a_link(desk: Desk) -> None:
    real = desk.put("real/a.txt", "before")
    (desk.root / "short").symlink_to("real")
    (desk.root / "also.txt").symlink_to("real/a.txt")
    desk.call("write_file", path="short/a.txt", content="one")
    assert real.read_text(encoding="utf-8") == "one"
    desk.call("write_file", path="also.txt", content="two")
    assert real.read_text(encoding="utf-8") == "two"
    assert (desk.root / "also.txt").is_symlink()


@posix_only
def test_another_name_of_the_same_file_keeps_its_bytes(desk: Desk) -> None:
    (desk.root / "a.txt").hardlink_to(desk.home / "canary.txt")
    desk.call("write_file", path="a.txt", content="x")
    assert (desk.home / "canary.txt").read_text(encoding="utf-8") == CANARY


def test_settings_and_state_are_neither_read_nor_written(desk: Desk) -> None:
    desk.put("settings/agent.toml", "[shell]")
    for path in ("settings/agent.toml", "Settings/AGENT.toml"):
        with pytest.raises((Refused, NotFound)):
            desk.call("read_file", path=path)
        with pytest.raises(Refused):
            desk.call("write_file", path=path, content="[shell]\nallow = [['**']]")
    with pytest.raises(Refused):
        desk.call("list_files", path="settings")


@pytest.mark.parametrize("marker", ["", ".obsidian", ".hindbrain"])
def test_a_file_of_a_vault_is_read_and_left_to_the_vaults_own_writer(desk: Desk, marker: str) -> None:
    folder = "other" if marker else "notes"
    desk.put(f"{folder}/plan.md", "the plan")
    (desk.root / folder / marker).mkdir(exist_ok=True)
    assert desk.call("read_file", path=f"{folder}/plan.md").text == "the plan"
    with pytest.raises(Refused):
        desk.call("write_file", path=f"{folder}/plan.md", content="x")


def test_a_workspace_in_a_vault_has_nothing_to_write_with(desk: Desk, clock: FakeClock) -> None:
    (desk.home / ".obsidian").mkdir()
    names = {tool.name for tool in file_tools(Workspace(desk.root, Replaced(desk.kept, clock)))}
    assert names == {"read_file", "list_files"}


def test_of_a_long_file_the_beginning_and_the_end_are_shown(desk: Desk) -> None:
    lines = [f"line {number} of many" for number in range(1, 30_001)]
    desk.put("log.txt", "\n".join(lines))
    text = desk.call("read_file", path="log.txt").text
    assert len(text) < 210_000
    assert text.startswith("line 1 of many\nline 2 of many\n")
    assert text.endswith("line 29999 of many\nline 30000 of many")
    shown = [line for line in text.split("\n") if line.startswith("line ")]
    assert set(shown) < set(lines)  # whole lines only


def test_lines_in_the_middle_can_be_asked_for(desk: Desk) -> None:
    desk.put("log.txt", "\n".join(f"line {number}" for number in range(1, 30_001)))
    text = desk.call("read_file", path="log.txt", line_start=15_000, line_end=15_001).text
    assert text.startswith("line 15000\nline 15001\n")
    assert "line 15002" not in text
    with pytest.raises(UsageError):
        desk.call("read_file", path="log.txt", line_start=30_001)


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(256)) * 40, b"\xff\xd8\xff\xe0" * 500]
)
def test_what_is_no_text_is_refused(desk: Desk, data: bytes) -> None:
    desk.put("picture", data)
    with pytest.raises(UsageError):
        desk.call("read_file", path="picture")


def test_a_text_in_another_encoding_is_still_a_text(desk: Desk) -> None:
    desk.put("latin.txt", "Grüße aus dem Süden, viel später als gedacht".encode("latin-1"))
    desk.put("wide.txt", "Grüße".encode("utf-16"))
    assert "aus dem" in desk.call("read_file", path="latin.txt").text
    assert desk.call("read_file", path="wide.txt").text == "Grüße"


@posix_only
def test_a_device_or_a_pipe_is_not_waited_for(desk: Desk) -> None:
    os.mkfifo(desk.root / "pipe")
    for call in (("read_file", {}), ("write_file", {"content": "x"})):
        with pytest.raises(UsageError):
            desk.call(call[0], path="pipe", **call[1])


def test_a_folder_is_listed_without_what_is_not_for_agents(desk: Desk) -> None:
    desk.put("src/b.py", "1234")
    desk.put("a.txt", "12")
    desk.put(".git/config", "x")
    assert desk.call("list_files").text.split("\n") == ["src/", "a.txt  2"]
    assert desk.call("list_files", path="src/").text.split("\n") == ["b.py  4"]
    with pytest.raises(NotFound):
        desk.call("list_files", path="gone")
    with pytest.raises(UsageError):
        desk.call("list_files", path="a.txt")


@posix_only
def test_a_name_with_a_line_break_can_not_pass_for_two(desk: Desk) -> None:
    (desk.root / "a\nagent.toml  12").write_text("x", encoding="utf-8")
    assert len(desk.call("list_files").text.split("\n")) == 1


def test_only_writing_is_an_act_and_a_person_is_shown_what_it_would_do(desk: Desk) -> None:
    assert {tool.name: tool.effect for tool in desk.box.tools.values()} == {
        "read_file": "read",
        "list_files": "read",
        "write_file": "act",
    }
    desk.put("a.txt", "before")
    long = "x" * 20_000 + "\nlast line"
    assert desk.box.tools["write_file"].shown({"path": "a.txt", "content": long}).endswith(long)
    shown = desk.box.tools["write_file"].shown({"path": "a.txt", "content": "the new text"})
    assert all(part in shown for part in ("a.txt", str(desk.root), "the new text", "6 bytes"))


def test_missing_files_are_not_found(desk: Desk) -> None:
    for path in ("gone.txt", "no/such/folder.txt"):
        with pytest.raises(NotFound):
            desk.call("read_file", path=path)
