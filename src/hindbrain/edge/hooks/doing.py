"""What is done at an event: the daemon is asked, or it is done here by keywords; a failure becomes a notice.

Owns the order and what is said of it in the log. What a verb does is `edge.daemon.verbs`' business.
"""

from __future__ import annotations

import os
import sys
import time

from hindbrain.edge.hooks.answers import Answer, is_too_long
from hindbrain.edge.hooks.hosts import GUARD, KEEP, START, TURN, Event, Host
from hindbrain.edge.hooks.journal import Call, not_told_yet, write_down
from hindbrain.edge.hooks.payloads import Malformed, Request, parse, understand

TYPE_CHECKING = False  # typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hindbrain.app import App
    from hindbrain.base.config import Config

_FRESHEN_S = 0.15  # for comparing the index with the files, where this process does it
_FOR_DAEMON = 0.4  # of the time; the rest is for doing it here when the daemon hangs
_LONGEST_FOR_DAEMON_S = 1.0  # longer than a daemon that is well needs; a person waits for it


class Doing:
    """One event. `note` says for the log what went wrong; "" when nothing did."""

    def __init__(self, host: Host, event: Event, began: float) -> None:
        self.host = host
        self.event = event
        self.began = began
        self.request = Request()
        self.note = ""
        self.by = ""
        self.config: Config | None = None
        self.root: Path | None = None
        self._state = ""  # where the daemon that answered has its folder
        self._asked = ""  # the folder of the daemon that was asked
        self._unkept = ""  # why what the person said was not kept

    def answer(self, read: Callable[[], bytes]) -> Answer:
        """Never raises."""
        try:
            self.request = understand(self.host, self.event, parse(read()))
            return self._answer() if self.request.verb else Answer()
        except Exception as error:  # noqa: BLE001  the outermost handler
            return self._failed(*_explained(error))

    def _answer(self) -> Answer:
        if self.event.verb == GUARD:
            self._find_vault()
            return self._guard()
        result = None if self.event.verb == START else self._asked_quickly()
        if result is None:
            self._find_vault()
            if self.event.verb == KEEP:
                return self._keep()
            self._keep_prompt()
            result = self._asked_daemon()
        elif result.get("unkept"):
            self._keep_prompt()
        if result is None:
            result = self._done_here()
        notices = [str(notice) for notice in (*_listed(result.get("notices")), self._unkept) if notice]
        told = not_told_yet(self.state, self._session_name, [f"Hindbrain: {one}" for one in notices])
        return Answer(text=str(result.get("text") or ""), told=told)

    def _asked_quickly(self) -> dict[str, object] | None:
        """The daemon finds the vault and keeps the event: this process then needs no settings."""
        from hindbrain.edge.daemon.address import likely_folder
        from hindbrain.edge.daemon.client import ask

        folder = likely_folder(os.environ)
        if not folder:
            return None
        self._asked = folder
        verb, given = self.event.verb, self.request.arguments
        arguments = {"event": given} if verb == KEEP else given
        result = ask(
            folder, verb, "", arguments, near=self._cwd, timeout_s=self._for_daemon_s, fits=self._fits
        )
        if result is not None:
            self.by, self._state = "daemon", os.path.dirname(folder)  # noqa: PTH120
        return result

    def _fits(self, result: Mapping[str, object]) -> bool:
        return not is_too_long(self.host, self.event, str(result.get("text") or ""))

    @property
    def _for_daemon_s(self) -> float:
        left_s = self.event.deadline_s - (time.monotonic() - self.began)
        return min(left_s * _FOR_DAEMON, _LONGEST_FOR_DAEMON_S)

    @property
    def _cwd(self) -> str:
        return self.request.cwd or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()  # noqa: PTH109

    def _find_vault(self) -> None:
        from pathlib import Path

        from hindbrain.base.config import load_config
        from hindbrain.base.errors import HindbrainError
        from hindbrain.edge.which_vault import vault_for

        try:
            self.config = load_config()
            self.root = vault_for(self.config, Path(self._cwd))
        except HindbrainError:
            if self.event.verb != GUARD:  # what it guards against needs neither settings nor a vault
                raise

    @property
    def state(self) -> str | Path:
        """The state folder; the system's usual place when the settings can't be read."""
        if self._state or (self.config is None and self._has_address()):
            return self._state
        from pathlib import Path

        from hindbrain.base.config import Config, state_folder

        found = self.config or Config(
            {"state.folder": os.environ.get("HINDBRAIN_STATE_FOLDER", "")}, {}, Path(), {}
        )
        return state_folder(found).absolute()

    def _has_address(self) -> bool:
        """Does a daemon have its address in the likely folder? It would not, if the settings had moved it."""
        from hindbrain.edge.daemon.address import ADDRESS_FILE, likely_folder

        folder = likely_folder(os.environ)
        if folder and os.path.exists(os.path.join(folder, ADDRESS_FILE)):  # noqa: PTH110, PTH118
            self._state = os.path.dirname(folder)  # noqa: PTH120
        return bool(self._state)

    def _guard(self) -> Answer:
        from hindbrain.context.guard import guard_call

        given = self.request.arguments
        arguments = given["arguments"]
        assert isinstance(arguments, dict)
        guarded = guard_call(
            self.root, None, tool=str(given["tool"]), arguments=arguments, cwd=self.request.cwd
        )
        return Answer(ask=guarded.reason or self._lesson_against(str(given["tool"]), arguments))

    def _lesson_against(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Why a lesson's guard has a person asked; "" when none does."""
        if self.root is None:
            return ""
        state = self._app_state()
        if not (state / "guards.json").exists():
            return ""
        from hindbrain.learn.lessons.guards import stop

        guard = stop(state, tool, arguments, at=time.time())
        if guard is None:
            return ""
        return f"Hindbrain asks a person first, because of a lesson ({guard.id}): {guard.reason}"

    def _keep_prompt(self) -> None:
        """Make durable what the person said, before anything is done with it: the host may die meanwhile."""
        said = self.request.arguments.pop("said", None)  # from here on nobody else keeps it
        if not isinstance(said, dict) or not said:
            return
        from hindbrain.base.errors import HindbrainError
        from hindbrain.context.capture.spool import keep_event

        try:
            if self.root is None:
                self._find_vault()
            keep_event(self._app_state(), {**said, "prompt": self.request.arguments["prompt"]})
        except (OSError, HindbrainError) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            self._unkept = f"what you said is not kept ({told or type(error).__name__})"
            self.note = f"disk: {self._unkept}"

    def _keep(self) -> Answer:
        from hindbrain.context.capture.spool import keep_event
        from hindbrain.edge.daemon.address import daemon_folder
        from hindbrain.edge.daemon.client import tell

        keep_event(self._app_state(), self.request.arguments)
        assert self.root is not None
        tell(daemon_folder(self.state), "settle", self.root, {})
        return Answer()

    def _app_state(self) -> Path:
        from hindbrain.app import state_of

        assert self.config is not None and self.root is not None
        return state_of(self.config, self.root)

    def _app(self) -> App:
        from hindbrain.app import build_app

        assert self.config is not None and self.root is not None
        return build_app(self.config, self.root, warm=False)

    def _asked_daemon(self) -> dict[str, object] | None:
        from hindbrain.edge.daemon.address import daemon_folder
        from hindbrain.edge.daemon.client import ask

        assert self.root is not None
        folder = daemon_folder(self.state)
        if folder == self._asked:  # what it has not done in the first time it will not do in the next
            return None
        verb, given = self.event.verb, self.request.arguments
        result = ask(folder, verb, self.root, given, timeout_s=self._for_daemon_s, fits=self._fits)
        self.by = "daemon" if result is not None else ""
        return result

    def _done_here(self) -> dict[str, object]:
        from contextlib import closing

        from hindbrain.app import build_app
        from hindbrain.edge.daemon.verbs import answer, take_back

        # A pool of threads takes longer to start than one call has work for it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        assert self.config is not None and self.root is not None
        self.by = "self"
        with closing(build_app(self.config, self.root, warm=False)) as app, app.request():
            app.freshen_s = _FRESHEN_S
            result = answer(app, self.event.verb, self.request.arguments)
            if not self._fits(result):
                take_back(app, self.request.arguments, result)
            return result

    @property
    def _session_name(self) -> str:
        return f"{self.host.name} {self.request.session}"

    def _failed(self, code: str, message: str) -> Answer:
        self.note = f"{code}: {message}"
        return Answer(told=self._told(message))

    def _told(self, message: str) -> str:
        from hindbrain.base.errors import HindbrainError

        try:
            return not_told_yet(
                self.state, self._session_name, [f"{message.rstrip('.')}. See: hindbrain hook status"]
            )
        except (HindbrainError, OSError, RuntimeError):  # no home, no settings
            return message

    def late(self) -> str:
        """The time is up: note it, and say what the person is told. For the watching thread."""
        self.note = "late: no answer in time"
        self._write_down("late", Answer())
        return self._told("Hindbrain took too long and was left out.")

    def finish(self, answer: Answer) -> None:
        """After the answer: the log, and what shall run from now on.

        A daemon ends when a person pauses for long; the next prompt of the same session wants it again.
        """
        self._keep_beginning()
        self._keep_heard()
        self._note_session()
        outcome = "failed" if self.note else "asked" if answer.ask else "ok" if answer.text else "nothing"
        if self.event.verb == KEEP and not self.note and self.request.verb:
            outcome = "kept"
        self._write_down(outcome, answer)
        if self.config is None or self.root is None:
            return
        if self.event.verb == START:
            from hindbrain.edge.hooks.background import begin_session

            begin_session(self.config, self.root, running=self.by == "daemon")
        elif self.event.verb == TURN and self.by == "self":
            from hindbrain.edge.hooks.background import start_daemon

            start_daemon(self.config)

    def _keep_beginning(self) -> None:
        """So that a session that is killed in its first turn is found again."""
        if self.request.began is None or self.root is None:
            return
        from hindbrain.base.errors import HindbrainError
        from hindbrain.context.capture.spool import append_event

        try:
            append_event(self._app_state(), self.request.began)
        except (OSError, HindbrainError) as error:
            self.note = self.note or f"disk: the session's beginning was not noted: {error}"

    def _keep_heard(self) -> None:
        """How a command ended: by the daemon, else here."""
        if self.request.heard is None:
            return
        from hindbrain.base.errors import HindbrainError
        from hindbrain.context.capture.spool import keep_event
        from hindbrain.edge.daemon.address import likely_folder
        from hindbrain.edge.daemon.client import ask

        folder, event = likely_folder(os.environ), {"event": self.request.heard}
        try:
            if (
                folder
                and ask(folder, KEEP, "", event, near=self._cwd, timeout_s=self._for_daemon_s) is not None
            ):
                return
            if self.root is None:
                self._find_vault()
            keep_event(self._app_state(), self.request.heard)
        except (OSError, HindbrainError) as error:
            self.note = self.note or f"disk: how a command ended was not noted: {error}"

    def _note_session(self) -> None:
        """Note that the agent is at work, where no verb did; after a turn, look at what was ticked in it."""
        if self.event.verb not in (GUARD, KEEP) or self.by or self.root is None or self.config is None:
            return
        from contextlib import closing

        from hindbrain.base.errors import HindbrainError, VaultAway
        from hindbrain.edge.daemon.verbs import note_session

        event = {"host": self.host.name, "session": self.request.session, "event": self.event.name}
        try:
            with closing(self._app()) as app:
                note_session(app, event)
                if self.event.verb == KEEP and _inbox_was_touched(app):
                    app.memory.inbox.settle()
        except VaultAway:
            return  # nothing can be ticked there
        except (OSError, HindbrainError) as error:
            self.note = self.note or f"disk: the session was not noted: {error}"

    def _write_down(self, outcome: str, answer: Answer) -> None:
        took_ms = round(1e3 * (time.monotonic() - self.began))
        call = Call(
            self.host.name, self.event.name, self.request.session, outcome, by=self.by, ms=took_ms,
            chars=len(answer.text), note=self.note[:300],
        )  # fmt: skip
        try:
            write_down(self.state, call)
        except Exception:  # noqa: BLE001  no home, no settings that make sense: then there is no log
            return


def _explained(error: Exception) -> tuple[str, str]:
    """A code for the log, and what the person is told."""
    from hindbrain.base.errors import HindbrainError

    if isinstance(error, HindbrainError):
        return error.code, f"Hindbrain could not help: {error}"
    if isinstance(error, Malformed):
        return "malformed", f"Hindbrain could not read this event: {error}"
    if isinstance(error, OSError):
        return "disk", f"Hindbrain could not help: {error.strerror or error}"
    return "internal", f"Hindbrain could not help ({type(error).__name__}: {error})"


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _inbox_was_touched(app: App) -> bool:
    """Return whether the inbox note changed while an agent was at work. Cheap, since most turns leave it."""
    if not (app.root / ".hindbrain" / "inbox.jsonl").exists():  # nothing was ever proposed
        return False
    try:
        changed = (app.root / app.layout.path("inbox")).stat().st_ctime
    except OSError:
        return False
    # On Windows this is the time at which the file was made.
    return sys.platform == "win32" or bool(app.agent_sessions.live_at(changed))
