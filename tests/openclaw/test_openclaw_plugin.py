"""The plugins for OpenClaw: their JavaScript is run by node (`plugin_*.mjs`) against a gateway's side and a
service on loopback, and what they declare agrees with the program that they come with.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hindbrain import __version__
from hindbrain.edge.openclaw.edits import Form
from hindbrain.edge.openclaw.plugin_copy import source_files
from hindbrain.edge.openclaw.spoken import what_was_said
from hindbrain.vault.items.category import CATEGORIES

HERE = Path(__file__).parent
STORIES = sorted(path.name for path in HERE.glob("plugin_*.mjs") if path.name != "plugin_bench.mjs")
LEAST_NODE = (20, 3)


@pytest.fixture(scope="module")
def node() -> str:
    program = shutil.which("node")
    if program is None:
        pytest.skip("the plugin's own tests need node 20.3 or newer, and there is no node")
    told = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=60, check=True, encoding="utf-8"
    ).stdout
    found = tuple(int(part) for part in re.findall(r"\d+", told)[:2])
    if found < LEAST_NODE:
        pytest.skip(f"the plugin's own tests need node 20.3 or newer, and this is {told.strip()}")
    return program


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """Each form alone in a folder, as it is installed."""
    for form in ("slot", "beside"):
        for name, data in source_files(form).items():
            (tmp_path / form / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / form / name).write_bytes(data)
    return {
        "HINDBRAIN_SLOT_PLUGIN": str(tmp_path / "slot"),
        "HINDBRAIN_BESIDE_PLUGIN": str(tmp_path / "beside"),
    }


@pytest.mark.parametrize("story", STORIES)
def test_the_plugin_behaves_towards_gateway_and_service(
    node: str, folders: dict[str, str], story: str
) -> None:
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", str(HERE / story)],
        capture_output=True, encoding="utf-8", timeout=300, env={**os.environ, **folders},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\S* ?pass [1-9]", done.stdout, re.MULTILINE), "no test was run"


def _manifest(form: Form) -> dict[str, object]:
    return json.loads(source_files(form)["openclaw.plugin.json"])


@pytest.mark.parametrize("form", ["slot", "beside"])
def test_each_form_is_complete_in_its_folder(form: Form) -> None:
    files = source_files(form)
    entry = json.loads(files["package.json"])["openclaw"]["extensions"]
    assert entry == ["./index.js"]
    for name, data in files.items():
        if name.endswith(".js"):
            wanted = re.findall(r'from "\./([^"]+)"', data.decode("utf-8"))
            assert set(wanted) <= set(files), name
            foreign = re.findall(r'from "(?!\./|node:)([^"]+)"', data.decode("utf-8"))
            assert not foreign, f"{name} needs {foreign}"


@pytest.mark.parametrize("form", ["slot", "beside"])
def test_the_plugins_have_the_programs_version(form: Form) -> None:
    files = source_files(form)
    assert json.loads(files["package.json"])["version"] == __version__
    assert f'VERSION = "{__version__}"' in files["service.js"].decode("utf-8")


def test_the_slots_settings_are_those_that_are_promised() -> None:
    manifest = _manifest("slot")
    schema = manifest["configSchema"]
    assert isinstance(schema, dict)
    assert list(schema["properties"]) == [
        "baseUrl", "tokenFile", "timeoutMs", "vaultPath", "maxResults", "maxInjectedChars", "groups",
        "owners", "command", "env", "dreaming", "targetFolder", "excludeFolders", "flushTags",
        "preserveLocal", "embedding",
    ]  # fmt: skip
    assert all(one.get("description") for one in schema["properties"].values())
    assert manifest["kind"] == "memory"
    assert manifest["contracts"] == {"tools": ["memory_search", "memory_get", "memory_save"]}


def test_the_form_beside_takes_no_slot_and_only_settings_of_the_other() -> None:
    beside, slot = _manifest("beside"), _manifest("slot")
    assert "kind" not in beside
    theirs, ours = (one["configSchema"]["properties"] for one in (beside, slot))  # type: ignore[index]
    assert theirs.items() <= ours.items()


@pytest.mark.parametrize(
    ("text", "is_persons"),
    [
        ("System: [urgent] my boss says hi", True),
        ("[cron: five stars", True),
        ("A background task completed. Nice!", True),
        ("System: [2026-11-16 18:16:58 UTC] Node: laptop is back", False),
        ("[cron:c2653e5a-be70-4357-bf22-bd3ed8a53651 brief] Sum up the day", False),
        ("[OpenClaw cron wake]", False),
    ],
)
def test_an_import_hears_the_people_that_the_plugin_hears(text: str, is_persons: bool) -> None:
    def heard(**told: object) -> list[str]:
        message = {"role": "user", "content": text, "timestamp": 1_794_852_870_000, **told}
        return [one.text for one in what_was_said([{"id": "e1", "message": message}]).messages]

    assert heard() == ([text] if is_persons else [])
    assert heard(provenance={"kind": "internal_system"}) == []


def test_memory_save_offers_the_categories_of_memory() -> None:
    text = source_files("slot")["recall.js"].decode("utf-8")
    offered = re.search(r"const CATEGORIES = \[([^]]*)\]", text)
    assert offered is not None
    assert tuple(re.findall(r'"(\w+)"', offered[1])) == CATEGORIES
