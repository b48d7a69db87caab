"""P14: every route and every verb of the daemon's socket answers a text with half a character."""

from __future__ import annotations

import pytest
from service_runs import PATIENCE_S, ServiceRun

from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.verbs import VERBS
from workbench import Vault

HALF = "half a smile \ud83d"
_BODIES: dict[str, dict[str, object]] = {
    "search": {"query": HALF},
    "read": {"path": HALF},
    "save": {"text": f"Likes {HALF}", "tags": [HALF]},
    "context": {"session": HALF, "message": HALF, "tool": HALF},
    "said": {"session": HALF, "messages": [{"role": "user", "text": HALF}], "workspace": HALF},
    "event": {"session": HALF, "event": "compacted", "reason": HALF},
    "flush-plan": {"workspace": HALF},
    "flushed": {"session": HALF, "path": HALF, "text": HALF},
    "card": {"vault": HALF},
}


@pytest.mark.promise("P14")
def test_every_route_and_verb_answers_half_a_character(served: ServiceRun, notes: Vault) -> None:
    for route, body in _BODIES.items():
        answer = served.ask(route, body)
        assert answer.status == 200 or answer.code != "internal", (route, answer)
    kinds: dict[str, object] = {"text": HALF, "object": {HALF: HALF}, "texts": [HALF]}
    for verb, declared in VERBS.items():
        given = {
            name: kinds[kind] for name, kind in {**declared.needs, **declared.may}.items() if kind in kinds
        }
        reply = client.request(served.state / "daemon", verb, str(notes.root), given, timeout_s=PATIENCE_S)
        assert reply is not None, verb
        assert reply.get("code") != "internal", (verb, reply)
