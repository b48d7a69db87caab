"""Fixtures for whoever needs a vault and an index: real files, an own state folder, a clock that stands."""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.memory.inbox.presence import MARKERS
from hindbrain.models.embedder import Embedder
from hindbrain.models.fake import FakeEmbedder
from promise_runs import pytest_runtest_logreport, pytest_runtest_setup, pytest_sessionfinish  # noqa: F401
from workbench import NOW, Bench, MakeBench, Vault

# Keep bytecode, whatever the environment says: without it, every program that a test starts compiles all of
# its modules again, and every worker rewrites all assertions again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples at each run, so that a change is judged by what it changes; `make test-slow` explores.
# No deadline: how long an example takes is a matter of the machine.
hypothesis_settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis_settings.register_profile("explore", derandomize=False, deadline=None)
hypothesis_settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run as a person's programs do, also where an agent runs the tests."""
    for name in MARKERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("hindbrain.base.ancestors.parents", lambda: iter(()))


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    return Vault(root)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def make_app(tmp_path: Path, clock: FakeClock) -> Iterator[Callable[..., App]]:
    """Build an `App` with an own state folder; `settings` as in the environment, with dots as underscores."""
    made: list[App] = []

    def make(root: Path, *, warm: bool = False, **settings: str) -> App:
        environ = {f"HINDBRAIN_{name.upper()}": value for name, value in settings.items()}
        environ.setdefault("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
        environ.setdefault("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
        config = load_config(environ, tmp_path / "no-config.toml")
        made.append(build_app(config, root, clock=clock, warm=warm))
        return made[-1]

    yield make
    for app in made:  # its open files alone: what waits is not settled behind a test's back
        for part in ("store", "writer"):
            if part in app.__dict__:
                getattr(app, part).close()


@pytest.fixture
def make_bench(vault: Vault, make_app: Callable[..., App]) -> MakeBench:
    def make(embedder: Embedder | None = None, **settings: str) -> Bench:
        return Bench(vault, make_app(vault.root, **settings), embedder)

    return make


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    """With the built-in embedder, as most people have it."""
    from hindbrain.models.static import load_static

    return make_bench(load_static())


@pytest.fixture
def remote(make_bench: MakeBench, embedder: FakeEmbedder) -> Bench:
    """With an embedder that is called over a network, or so it looks."""
    return make_bench(embedder)


@pytest.fixture
def plain(make_bench: MakeBench) -> Bench:
    """Without an embedder."""
    return make_bench(None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of test data, from HINDBRAIN_DATA or beside the project."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("HINDBRAIN_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no test data in {str(folder)!r}; set HINDBRAIN_DATA")
    return folder


@pytest.fixture(scope="session")
def unpacked(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Unpack a data set by name, once a session; what is in it is read-only by agreement."""
    known: dict[str, Path] = {}

    def unpack(name: str) -> Path:
        if name not in known:
            archive = shared_data / f"{name}.tar.gz"
            if not archive.exists():
                pytest.skip(f"the test data {archive.name} is not there")
            folder = tmp_path_factory.mktemp(name)
            with tarfile.open(archive) as file:
                file.extractall(folder, filter="data")
            known[name] = folder
        return known[name]

    yield unpack
