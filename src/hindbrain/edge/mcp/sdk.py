"""Gets the official SDK into memory quickly: hosts start a server for every session and wait for it.

Knows how the SDK is imported, and nothing of what is served. Every message is still read, checked and written
by the SDK; what is left out is only what a server over stdio never calls. Should any of this not fit the SDK
that is installed, it is imported in the plain way. The figures are in docs/decisions/0009-mcp.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType, UnionType
from typing import Any

from hindbrain.base.errors import ConfigError

# Versions whose sources were read for the two lists below. Another one is imported without them.
_REVIEWED = ("2.3.",)

# Their `__init__` imports the client, OAuth and the decorator layer. It runs when somebody asks for a name.
_OPENED_LATER = ("mcp", "mcp.server")

# What `mcp.server.lowlevel.server` imports for its method `streamable_http_app` alone. A name that is not in
# the list fails to import, and everything is imported plainly then.
_FOR_HTTP_ONLY = {
    "starlette": (),
    "starlette.applications": ("Starlette",),
    "starlette.middleware": ("Middleware",),
    "starlette.middleware.authentication": ("AuthenticationMiddleware",),
    "starlette.routing": ("Mount", "Route"),
    "mcp.server.auth": (),
    "mcp.server.auth.middleware": (),
    "mcp.server.auth.middleware.auth_context": ("AuthContextMiddleware",),
    "mcp.server.auth.middleware.bearer_auth": ("BearerAuthBackend", "RequireAuthMiddleware"),
    "mcp.server.auth.provider": ("OAuthAuthorizationServerProvider", "TokenVerifier"),
    "mcp.server.auth.routes": (
        "build_resource_metadata_url",
        "create_auth_routes",
        "create_protected_resource_routes",
    ),
    "mcp.server.auth.settings": ("AuthSettings",),
    "mcp.server.streamable_http": ("EventStore",),
    "mcp.server.streamable_http_manager": (
        "DEFAULT_MAX_SESSIONS",
        "DEFAULT_SESSION_IDLE_TIMEOUT",
        "StreamableHTTPASGIApp",
        "StreamableHTTPSessionManager",
    ),
    "mcp.server.transport_security": ("DEFAULT_MAX_REQUEST_BODY_SIZE", "TransportSecuritySettings"),
}


def check_installed() -> None:
    """Raises ConfigError when the SDK is not there."""
    if find_spec("mcp") is None:
        raise ConfigError(
            "the MCP server needs the MCP SDK, which is not installed; install it: pip install 'mcp>=2,<3'"
        )


def import_for_stdio(*, plain: bool = False) -> None:
    """Import what a server over stdio needs of the SDK. Afterwards `import mcp...` works as ever."""
    check_installed()
    with _no_collection():
        if not plain:
            try:
                _import_quickly()
                return
            except Exception:  # noqa: BLE001  whatever does not fit: the plain way is always right
                _forget_sdk()
        _import_plainly()


def _import_plainly() -> None:
    import mcp.server.lowlevel.server  # noqa: F401
    import mcp.server.stdio  # noqa: F401


def _import_quickly() -> None:
    for name in _OPENED_LATER:
        _open_later(name)
    if not _is_reviewed():
        _import_plainly()
        return
    with _models_built_at_first_use():
        import mcp_types  # noqa: F401
        import mcp_types.methods  # noqa: F401
    with _stand_ins():
        _import_plainly()


def _is_reviewed() -> bool:
    from importlib.metadata import version

    return version("mcp").startswith(_REVIEWED)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Modules live as long as the process: looking for garbage among them finds none and takes time."""
    import gc

    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _open_later(name: str) -> None:
    """Put a package in place whose `__init__` runs when a name is missing; its submodules import as ever."""
    if name in sys.modules:
        return
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    loader = spec.loader
    package = module_from_spec(spec)

    def missing(wanted: str) -> Any:
        if wanted.startswith("__"):  # the import system asks for some of these
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        package.__dict__.pop("__getattr__", None)
        loader.exec_module(package)
        return getattr(package, wanted)

    package.__dict__["__getattr__"] = missing
    sys.modules[name] = package
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, package)


@contextmanager
def _models_built_at_first_use() -> Iterator[None]:
    """The protocol has 500 models, and a session uses some 30: pydantic's `defer_build`, for all of them."""
    import pydantic

    plain_config, plain_adapter = pydantic.ConfigDict, pydantic.TypeAdapter

    def deferring(**settings: Any) -> Any:
        return plain_config(**{"defer_build": True, **settings})

    class Adapters:
        """Makes adapters of the plain kind; one of a union is built at its first use."""

        def __class_getitem__(cls, _: Any) -> type[Adapters]:
            return cls

        def __new__(cls, kind: Any, **options: Any) -> Any:
            if isinstance(kind, UnionType):
                options.setdefault("config", plain_config(defer_build=True))
            return plain_adapter(kind, **options)

    pydantic.ConfigDict, pydantic.TypeAdapter = deferring, Adapters  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        pydantic.ConfigDict, pydantic.TypeAdapter = plain_config, plain_adapter  # type: ignore[misc]


@contextmanager
def _stand_ins() -> Iterator[None]:
    """Modules with the names that are imported for HTTP, while a server over stdio is imported."""
    placed = []
    for name, names in _FOR_HTTP_ONLY.items():
        if name in sys.modules:
            continue
        module = ModuleType(name)
        module.__path__ = []
        for held in names:
            setattr(module, held, _StandIn(f"{name}.{held}"))
        sys.modules[name] = module
        placed.append(name)
    try:
        yield
    finally:
        for name in placed:
            del sys.modules[name]


class _StandIn:
    """In the place of something that serves HTTP; using it is an error of ours."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: object, **__: object) -> None:
        raise RuntimeError(f"{self._name} was not imported; this process serves stdio only")


def _forget_sdk() -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            del sys.modules[name]
