"""Answers the requests of plugins: which vault, on which of its lanes, within which time; errors as codes.

Knows the table of routes, and nothing of what a route does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from hindbrain.base.config import load_config
from hindbrain.base.errors import (
    Ambiguous,
    Busy,
    HindbrainError,
    NoteChanged,
    NotFound,
    Refused,
    UnsafePath,
    UsageError,
    VaultAway,
    VaultError,
)
from hindbrain.edge.daemon.vaults import Served, Vaults
from hindbrain.edge.daemon.verbs import PASSAGES, note_session, take_back
from hindbrain.edge.http.guard import Refusal, Rules
from hindbrain.edge.http.json_body import error_body, parse_object
from hindbrain.edge.http.json_server import Asked, Reply
from hindbrain.edge.opening import check_folder
from hindbrain.edge.service.answers import HOST, Result
from hindbrain.edge.service.port import PREFIX
from hindbrain.edge.service.record import Record
from hindbrain.edge.service.routes import ROUTES, USUAL_BYTES, Route
from hindbrain.edge.serving.serving import report_failure, say
from hindbrain.edge.serving.waiting import wait_for
from hindbrain.edge.which_vault import check_known

if TYPE_CHECKING:
    from hindbrain.app import App

_STATUS: tuple[tuple[type[HindbrainError], int], ...] = (
    (UsageError, 400),
    (UnsafePath, 400),
    (NotFound, 404),
    (Refused, 403),
    (NoteChanged, 409),
    (VaultError, 404),
)  # all others, as a busy lane, an index that can't be used or a full disk: 503
# What the caller can mend or wait for: the service is well.
_NO_FAILURE = (UsageError, UnsafePath, Ambiguous, Refused, NoteChanged, Busy)
_NO_VAULT = "no vault is named; name one in the request, or set it: hindbrain config vault.path PATH"


class Service:
    """`used` is called after each request that was served."""

    def __init__(self, vaults: Vaults, rules: Rules, record: Record, used: Callable[[], None]) -> None:
        self._vaults = vaults
        self.rules = rules
        self._record = record
        self._used = used

    def prepare(self) -> None:
        """Open the vault that most requests are about. Why it can't be opened, a request will tell."""
        with suppress(HindbrainError, OSError):
            self._vaults.served_at(_usual_vault())

    def most_bytes(self, path: str) -> int:
        route = ROUTES.get(_name(path))
        return route.most_bytes if route is not None else USUAL_BYTES

    def refused(self, refused: Refusal) -> None:
        self._record.refused(refused)

    def answer(self, asked: Asked) -> Reply:
        name = _name(asked.path)
        route = ROUTES.get(name)
        if route is None:
            return self._refuse(404, f"there is no {asked.path[:100]!r} here; there are: {', '.join(ROUTES)}")
        if route.method != asked.method:
            return self._refuse(405, f"{name} is asked for with {route.method}")
        self._record.asked(asked.agent)
        try:
            reply = self._answered(route, asked)
        except _NO_FAILURE as error:
            return Reply(_status_of(error), error_body(error.code, str(error)))
        except Exception as error:  # noqa: BLE001  the outermost handler
            return self._failed(name, error)
        finally:
            self._used()
        self._record.went_well(name)
        return reply

    def _answered(self, route: Route, asked: Asked) -> Reply:
        given = _given(asked)
        vault = given.pop("vault", "")
        if not isinstance(vault, str):
            raise UsageError(f"'vault' must be a text, not {type(vault).__name__}")
        arguments = route.check(given)  # before a vault is opened for it
        served = self._served(vault, route)
        result = self._result(served, route, arguments, asked)
        if route.lane == "intake" and route.method == "POST":
            served.chores.submit(lambda _: None)  # it looks at what waits soon after each call
        self._record.noticed(result.get("notices", ()))
        passages = result.pop(PASSAGES, ())
        unheard = (lambda: _take_back(served, arguments, passages)) if passages else None
        return Reply(200, result, unheard)

    def _served(self, vault: str, route: Route) -> Served:
        """The vault that is asked about. What needs none of its notes is done also while they are away."""
        place = vault or _usual_vault()
        try:
            if vault:
                check_known(load_config(), Path(vault))
            return self._vaults.served_at(place, away_ok=not route.needs_vault)
        except VaultAway as error:
            raise VaultAway(f"{error} ({_named_by(vault)})") from error
        except NotFound:
            check_folder(Path(place), named_by=_named_by(vault))
            raise

    def _result(self, served: Served, route: Route, arguments: Mapping[str, Any], asked: Asked) -> Result:
        def work(app: App) -> Result:
            note_session(app, {"host": HOST, **arguments})
            return route.do(app, arguments)

        def too_late(result: Result) -> None:
            _take_back(served, arguments, result.get(PASSAGES, ()))

        submit = served.intake.submit if route.lane == "intake" else served.serving.submit
        # What was said is kept also when whoever said it has gone.
        has_gone = (lambda: False) if route.lane == "intake" else asked.has_gone
        return wait_for(submit, work, patience_s=route.patience_s, has_gone=has_gone, too_late=too_late)

    def _refuse(self, status: int, reason: str) -> Reply:
        self._record.refused(Refusal(status, reason))
        return Reply(status, error_body("refused", reason))

    def _failed(self, name: str, error: Exception) -> Reply:
        status, code, message = _explained(name, error)
        if self._record.failed(name, code, message):
            if code == "internal":
                report_failure(f"the service, asked for {name}", error)
            else:
                say(f"the service, asked for {name}: {message}  ({code})")
        return Reply(status, error_body(code, message))


def _status_of(error: HindbrainError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 503)


def _explained(name: str, error: Exception) -> tuple[int, str, str]:
    """Status, code and message. A bug's text stays in the log: it may quote a note."""
    if isinstance(error, HindbrainError):
        return _status_of(error), error.code, str(error)
    if isinstance(error, TimeoutError):
        return 504, "late", f"{name} took longer than {ROUTES[name].patience_s:g} s; try again in a moment"
    if isinstance(error, OSError):
        return 503, "write_failed", f"the disk did not take it: {error.strerror or error}"
    return 500, "internal", f"internal: {type(error).__name__}; the daemon's log says more"


def _name(path: str) -> str:
    return path.removeprefix(f"{PREFIX}/")


def _given(asked: Asked) -> dict[str, Any]:
    """What was sent, by name. A field that is null counts as not sent."""
    if asked.method == "GET":
        try:
            pairs = parse_qs(asked.query, keep_blank_values=True, strict_parsing=True, max_num_fields=20)
        except ValueError:
            if asked.query:
                raise UsageError("the query is not one of name=value pairs") from None
            return {}
        return {name: values[-1] for name, values in pairs.items()}
    return {name: value for name, value in parse_object(asked.body).items() if value is not None}


def _named_by(vault: str) -> str:
    return "named in the request" if vault else "the setting vault.path"


def _usual_vault() -> str:
    named = load_config().text("vault.path")
    if not named:
        raise NotFound(_NO_VAULT)
    return str(Path(named).expanduser().absolute())


def _take_back(served: Served, arguments: Mapping[str, Any], passages: object) -> None:
    """Whoever asked never got the answer: what it injects is in nobody's window."""
    if not passages:
        return
    given = {"host": HOST, "session": arguments["session"], "keeps": False}
    with suppress(Busy):  # it ends: the ledger says a little too much
        served.serving.submit(lambda app: take_back(app, given, {PASSAGES: passages}))
