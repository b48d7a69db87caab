"""How our service stands, as the daemon says it."""

from __future__ import annotations

from typing import Any

from hindbrain.base.config import Config


def service_state(config: Config) -> dict[str, Any]:
    """What the daemon says of its service; asking makes it look at its settings again."""
    from hindbrain.edge.conversation_state import daemon_state

    found = daemon_state(config).get("service")
    return found if isinstance(found, dict) else {}


def serving_port(config: Config) -> int:
    """The port at which our service is open now; 0: at none."""
    service = service_state(config)
    return int(service.get("port", 0)) if service.get("url") else 0
