"""What is the agent's own, so that nobody needs to be asked: its tasks, its notes, messages to its owner.

Only looks. What is protected stays so: this is asked after every rule that refuses, and the tools' own rules
hold when the call is carried out. Where it can't be told, it is not the agent's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import HindbrainError
from hindbrain.base.secrets import redact
from hindbrain.memory.policy.provenance import agent_claim, trust_rank
from hindbrain.vault.origin import stated_source

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

_OWNER = "user"


class OwnThings:
    """`channels`: the names of those that reach the owner, and nobody else."""

    def __init__(self, memory: Callable[[], Memory], channels: frozenset[str] = frozenset()) -> None:
        self._memory = memory
        self._channels = channels

    def why_own(self, tool: str, arguments: Mapping[str, Any], level: str) -> str:
        """Why the call needs no question; "" when it does. `level`: whose words the conversation holds."""
        try:
            if tool == "task_update" and self._is_own_task(arguments):
                return "it is a task of the agent's own"
            if tool == "openclaw_send" and self._reaches_owner(arguments):
                return "it is a message to the owner"
            if tool in ("vault_write", "vault_append") and self._is_own_note(arguments, level):
                return "it is a note of the agent's own"
        except (HindbrainError, OSError):
            return ""
        return ""

    def _is_own_task(self, arguments: Mapping[str, Any]) -> bool:
        """One whose line says that it is not the owner's word."""
        return self._memory().tasks.find(str(arguments.get("title", ""))).source not in ("", _OWNER)

    def _reaches_owner(self, arguments: Mapping[str, Any]) -> bool:
        found = redact(str(arguments.get("message", "")))[1]
        return arguments.get("channel") in self._channels and not found

    def _is_own_note(self, arguments: Mapping[str, Any], level: str) -> bool:
        """In the agent's folder, of no role, and trusted no more than what the conversation holds."""
        memory = self._memory()
        name, content = str(arguments.get("path", "")), str(arguments.get("content", ""))
        path = own_path(memory, name, content)
        if not path:
            return False
        page = memory.notebook.find(path)
        if page is None:
            return True  # it is marked with the source, see `with_source`
        stated = stated_source(_properties(page.data.decode("utf-8", "replace")))
        return bool(stated) and trust_rank(stated) >= trust_rank(agent_claim(level))


def own_path(memory: Memory, name: str, content: str) -> str:
    """Where the text would be written, vault-relative; "" when that is not among the agent's own notes."""
    from hindbrain.memory.notes.vault_verbs import target_path
    from hindbrain.vault.paths import resolve_beneath

    folder = memory.layout.folder
    if not folder:
        return ""
    path = target_path(memory, name, content, "agent")
    real = resolve_beneath(memory.root, path).relative_to(memory.root.resolve()).as_posix()
    inside = all(form.startswith(f"{folder}/") for form in (path, real))
    return path if inside and not memory.layout.role_of(path) and not memory.layout.role_of(real) else ""


def with_source(memory: Memory, arguments: Mapping[str, Any], level: str) -> dict[str, Any]:
    """The call, with the source at the top of a new note of the agent's own."""
    given = dict(arguments)
    name, content = str(given.get("path", "")), str(given.get("content", ""))
    try:
        path = own_path(memory, name, content)
        is_new = bool(path) and memory.notebook.find(path) is None
        if is_new and level != _OWNER and not stated_source(_properties(content)):
            given["content"] = _marked(content, agent_claim(level), memory.clock.today().isoformat())
    except (HindbrainError, OSError):
        pass  # the tool says what is wrong
    return given


def _marked(content: str, source: str, today: str) -> str:
    from hindbrain.memory.policy.note_trust import has_frontmatter
    from hindbrain.vault.splice import set_property

    if has_frontmatter(content):
        return set_property(content.encode(), "source", source).decode()
    return f"---\ncreated: {today}\nsource: {source}\n---\n{content}"


def _properties(text: str) -> Mapping[str, object]:
    from hindbrain.vault.parse import parse_note

    return parse_note(text, stem="").frontmatter
