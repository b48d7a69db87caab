"""A command fails, something is done, it works: in a later session, in any host, the fix is told at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.fix_log import FixLog
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import FAILURE, HOSTS, host_named
from hindbrain.edge.main import main
from workbench import Vault

ERESOLVE = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree"
CURE = "npm install --legacy-peer-deps"
T = TypeVar("T")
Call = tuple[str, str, bool]  # command, output, failed
FIXED: tuple[Call, ...] = (("npm install", ERESOLVE, True), (CURE, "added 12 packages", False))


class Desk:
    """An agent's machine: hosts with their records, one vault."""

    def __init__(self, vault: Vault, folder: Path) -> None:
        self.vault = vault
        self._folder = folder
        self.state = self._with_app(lambda app: app.state)

    def _with_app(self, do: Callable[[App], T]) -> T:
        with closing(build_app(load_config(), self.vault.root, warm=False)) as app:
            return do(app)

    def session(self, host: str, id_: str, calls: Sequence[Call]) -> list[str]:
        """Run these commands in a host; returns what its model was told after each."""
        record = self._folder / f"rollout-{id_}.jsonl"
        told = []
        for number, (command, output, failed) in enumerate(calls):
            with record.open("a", encoding="utf-8") as file:
                file.writelines(
                    json.dumps(line) + "\n" for line in RECORDS[host](number, command, output, failed)
                )
            payload = _payload(host, number, command, output, failed)
            there = str(record) if host not in ("cursor", "opencode") else ""
            event = "post-tool-use-failure" if host == "claude-code" and failed else "post-tool-use"
            told.append(self._hook(host, event, {"session_id": id_, "transcript_path": there, **payload}))
        there = str(record) if host != "opencode" else ""
        self._hook(host, "stop", {"session_id": id_, "transcript_path": there})
        self.settle()
        return told

    def _hook(self, name: str, event: str, payload: dict[str, object]) -> str:
        host = host_named(name)
        assert host is not None
        called = host.event(event)
        assert called is not None
        doing = Doing(host, called, time.monotonic())
        answer = doing.answer(lambda: json.dumps({"cwd": str(self.vault.root), **payload}).encode())
        doing.finish(answer)
        assert not doing.note, doing.note
        return answer.text

    def settle(self) -> None:
        def do(app: App) -> None:
            while app.context.catch_up(deadline_s=60.0).more:
                pass
            app.memory.settle(idle=True)
            app.sync()

        self._with_app(do)

    def lines(self) -> list[str]:
        return self._with_app(lambda app: [item.text for item in app.memory.book.items()])


def _claude(number: int, command: str, output: str, failed: bool) -> list[dict[str, object]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output, "is_error": failed}
    return [
        {"type": "assistant", "uuid": f"a{number}", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": [result]}},
    ]


def _codex(number: int, command: str, output: str, failed: bool) -> list[dict[str, object]]:
    call = json.dumps({"command": ["bash", "-lc", command]})
    ended = json.dumps({"output": output, "metadata": {"exit_code": int(failed)}})
    shared = {"call_id": f"c{number}"}
    item = {"exit_code": int(failed), **shared}
    return [
        {
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "arguments": call, **shared},
        },
        {"type": "response_item", "payload": {"type": "function_call_output", "output": ended, **shared}},
        {"type": "event_msg", "payload": {"type": "exec_command_end", "item": item}},
    ]


def _gemini(number: int, command: str, output: str, failed: bool) -> list[dict[str, object]]:
    answer = f"Output: {output}\nExit Code: {int(failed)}"
    response = {"functionResponse": {"id": f"g{number}", "response": {"output": answer}}}
    call = {
        "id": f"g{number}", "name": "run_shell_command", "args": {"command": command}, "result": [response],
        "status": "success",
    }  # fmt: skip
    return [{"id": f"m{number}", "type": "gemini", "content": "", "toolCalls": [call]}]


def _cursor(number: int, command: str, output: str, failed: bool) -> list[dict[str, object]]:
    use = {"type": "tool_use", "name": "Shell", "input": {"command": command}}
    return [{"role": "assistant", "message": {"content": [use]}}]


RECORDS = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "cursor": _cursor,
    "opencode": lambda *_: [],
}


def _payload(host: str, number: int, command: str, output: str, failed: bool) -> dict[str, object]:
    """What a host sends after a command."""
    code = int(failed)
    tool = {"gemini": "run_shell_command", "cursor": "Shell", "opencode": "bash"}.get(host, "Bash")
    told: dict[str, dict[str, object]] = {
        "claude-code": {"error": f"Exit code 1\n{output}"}
        if failed
        else {"tool_response": {"stdout": output}},
        "codex": {"tool_response": output, "tool_use_id": f"c{number}"},
        "gemini": {"tool_response": {"llmContent": f"Output: {output}\nExit Code: {code}"}},
        "cursor": {"tool_output": json.dumps({"exitCode": code, "stdout": output})},
        "opencode": {"tool_response": {"output": output, "exit": code}},
    }
    return {"tool_name": tool, "tool_input": {"command": command}, **told[host]}


@pytest.fixture
def desk(vault: Vault, surroundings: Path, tmp_path: Path) -> Desk:
    vault.write("Boat.md", "# Boat\n\nVarnish the mast.\n")
    with closing(build_app(load_config(), vault.root, warm=False)) as app:
        app.sync()
    return Desk(vault, tmp_path)


@pytest.mark.parametrize("host", [host.name for host in HOSTS if any(e.verb == FAILURE for e in host.events)])
def test_what_worked_in_one_session_is_told_in_the_next_one_of_any_host(desk: Desk, host: str) -> None:
    assert desk.session(host, "first", FIXED) == ["", ""]
    assert len(desk.lines()) == 1
    again = (
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: vue@3"
    )
    for other in dict.fromkeys(("claude-code", host)):
        told = desk.session(other, f"second in {other}", (("npm i", again, True),))[0]
        assert CURE in told and "Known fix (20" in told
        assert len(told) < 600
    assert desk.session(
        host, "third", (("npm install", "npm error code E404\nnpm error 404 Not Found", True),)
    ) == [""]


def test_a_fix_that_failed_since_is_withdrawn_until_it_works_again(desk: Desk) -> None:
    desk.session("claude-code", "first", FIXED)
    vain: tuple[Call, ...] = (
        ("npm install", ERESOLVE, True),
        (CURE, ERESOLVE, True),
    )
    told = desk.session("claude-code", "second", vain)
    assert CURE in told[0] and told[1] == ""
    assert desk.session("claude-code", "third", (("npm install", ERESOLVE, True),)) == [""]
    counts = FixLog(desk.state).counts()
    assert (counts.told, counts.heeded, counts.helped, counts.withdrawn) == (1, 1, 0, 1)
    desk.session("claude-code", "fourth", FIXED)
    assert CURE in desk.session("claude-code", "fifth", (("npm install", ERESOLVE, True),))[0]
    assert FixLog(desk.state).counts().withdrawn == 0
    assert len(desk.lines()) == 1


def test_what_was_heeded_and_what_helped_is_counted_and_shown(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.session("claude-code", "first", FIXED)
    desk.session("claude-code", "heeds", FIXED)
    ignored: tuple[Call, ...] = (
        ("npm install", ERESOLVE, True), ("npm config set legacy-peer-deps true", "", False),
        ("npm install", "ok", False),
    )  # fmt: skip
    desk.session("claude-code", "ignores", ignored)
    assert "worked 1 more time" in desk.session("codex", "asks", (("npm install", ERESOLVE, True),))[0]
    capsys.readouterr()
    assert main(["stats", "--vault", str(desk.vault.root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fixes"] == {
        "told": 4,
        "heeded": 1,
        "helped": 1,
        "withdrawn": 0,
    }
    assert main(["stats", "--vault", str(desk.vault.root)]) == 0
    shown = capsys.readouterr().out
    assert "heeded" in shown and "helped" in shown


def test_twenty_fixes_of_one_session_are_all_kept_and_none_twice(desk: Desk) -> None:
    names = [
        f"{first}{last}" for first in ("ar", "be", "co", "du") for last in ("nix", "tol", "ram", "sek", "pag")
    ]
    calls: list[Call] = []
    for name in names:
        run = f"python {name}.py"
        calls += [
            (run, f"ModuleNotFoundError: No module named '{name}'", True), (f"pip install {name}", "", False),
            (run, "ok", False),
        ]  # fmt: skip
    desk.session("claude-code", "first", calls)
    desk.session("claude-code", "second", calls)
    assert len(desk.lines()) == 20
    for name in names:
        error = f"ModuleNotFoundError: No module named '{name}'"
        [told] = desk.session("codex", name, ((f"python -m {name}", error, True),))
        assert f"pip install {name}" in told and told.count("pip install") == 1


def test_secrets_are_masked_in_what_is_kept_and_told(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    error = "Error: Bad credentials: set GITHUB_TOKEN in the environment"
    calls = (
        ("npm publish", error, True),
        (f"export GITHUB_TOKEN={token}", "", False),
        ("npm publish", "ok", False),
    )
    for host in ("claude-code", "opencode"):
        desk.session(host, f"first {host}", calls)
    [told] = desk.session("claude-code", "second", (("npm publish", error, True),))
    assert "export GITHUB_TOKEN=" in told and token not in told
    files = [*desk.vault.root.rglob("*.md"), *(path for path in desk.state.rglob("*") if path.is_file())]
    assert not [path for path in files if token in path.read_bytes().decode("utf-8", "replace")]


def _told_after(app: App, messages: list[Message], command: str, error: str) -> str:
    app.context.learn_fixes(SessionKey("own", "r-1"), messages)
    app.memory.settle(idle=True)
    return app.context.failure(SessionKey("own", "r-2"), tool="Bash", command=command, error=error).text


def _messages(*steps: tuple[str, str, str, bool]) -> list[Message]:
    found = []
    for number, (tool, text, output, failed) in enumerate(steps):
        found.append(Message("assistant", text, tool, f"c{number}"))
        found.append(Message("tool", output, tool, f"c{number}", failed))
    return found


MODULE = "SyntaxError: Cannot use import statement outside a module"
ENOENT = "npm error enoent ENOENT: no such file or directory, open '/home/ada/shop/package.json'"


@pytest.mark.parametrize(
    ("failed", "error", "steps", "worked", "told"),
    [
        ("node seed.js", MODULE, [("Edit", json.dumps({
            "file_path": "/home/ada/shop/package.json", "old_string": '"private": true,',
            "new_string": '"private": true,\n  "type": "module",'}))], "node seed.js",
         'edited `ada/shop/package.json`: `"type": "module",`'),
        ("node seed.js", MODULE, [("apply_patch",
            '*** Begin Patch\n*** Update File: package.json\n@@\n-  "type": "commonjs",\n+  "type": "module",'
            "\n*** End Patch")], "node seed.js",
         'edited `package.json`: `"type": "commonjs", -> "type": "module",`'),
        ("npm test", ENOENT, [], "cd frontend && npm test", "ran `cd frontend`"),
        ("npm test", ENOENT, [("Bash", "cd frontend")], "npm test", "ran `cd frontend`"),
        ("npm run build", "sh: 1: vite: not found", [("Bash", "npm ci")], "npm run build", "ran `npm ci`"),
        ("python train.py --batch 64", "torch.cuda.OutOfMemoryError: CUDA out of memory.", [],
         "python train.py --batch 16", "ran `python train.py --batch 16` instead"),
        ("npx playwright test", "Error: browserType.launch: Executable doesn't exist at /a/chrome",
         [("Bash", "npx playwright install chromium")], "npx playwright test",
         "ran `npx playwright install chromium`"),
    ],
)  # fmt: skip
def test_edits_other_commands_and_commands_before_are_fixes(
    desk: Desk, failed: str, error: str, steps: list[tuple[str, str]], worked: str, told: str
) -> None:
    done = [(tool, text, "", False) for tool, text in steps]
    messages = _messages(("Bash", failed, error, True), *done, ("Bash", worked, "ok", False))
    with closing(build_app(load_config(), desk.vault.root, warm=False)) as app:
        assert told in _told_after(app, messages, failed, error).replace("\\", "")


def test_a_change_of_the_folder_is_no_cure_of_a_flaky_test(desk: Desk) -> None:
    error = "E   TimeoutError: timed out"
    messages = _messages(
        ("Bash", "pytest", error, True), ("Bash", "cd /home/ada/shop && pytest", "ok", False)
    )
    with closing(build_app(load_config(), desk.vault.root, warm=False)) as app:
        assert _told_after(app, messages, "pytest", error) == ""


def test_notes_on_the_error_are_told_where_no_fix_is_known_and_others_are_not(desk: Desk) -> None:
    desk.vault.write(
        "Release.md",
        "# Release\n\n`gpg: signing failed: Inappropriate ioctl for device` without a terminal: "
        "`export GPG_TTY=$(tty)`.\n",
    )
    desk.vault.write(
        "Shop.md", "# Shop\n\nThe shop runs in Docker on two machines, with a database of its own.\n"
    )
    desk.settle()
    gpg = "error: gpg failed to sign the data\ngpg: signing failed: Inappropriate ioctl for device"
    assert "GPG_TTY" in desk.session("claude-code", "s1", (("git tag -s v1", gpg, True),))[0]
    denied = "docker: Error response from daemon: pull access denied for shop/api, repository does not exist"
    assert desk.session("claude-code", "s2", (("docker pull shop/api", denied, True),)) == [""]
