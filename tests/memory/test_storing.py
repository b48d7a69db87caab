"""When memories that wait are written."""

from __future__ import annotations

from collections.abc import Callable

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.memory.storage.storing import WriteSettings
from workbench import Vault

GOODS = ("tea", "rope", "jazz", "wax", "oboes", "rust", "maps", "figs", "wool", "salt")


class TickingClock(FakeClock):
    """Every look takes a second."""

    def now(self) -> float:
        self.advance(1.0)
        return super().now()


def test_importance_decides_unless_the_caller_does() -> None:
    settings = WriteSettings()
    assert settings.strategy("auto", 0.8) == "immediate"
    assert settings.strategy("auto", 0.79) == "batched"
    assert settings.strategy("deferred", 1.0) == "deferred"


def test_in_a_storm_batches_grow_instead_of_the_time_spent_on_them(
    vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    app = make_app(vault.root, writes_batch_size="2", writes_batch_interval_seconds="100000")
    app.clock = TickingClock(clock.now())
    memory = app.memory
    actions = [memory.remember(f"Bought {name} for {name}land").action for name in GOODS]
    assert "queued" not in actions[1:2]  # the first full batch is written at once
    assert actions[2:6].count("queued") == 4  # then it rests, four times as long as that took
    memory.settle(idle=True)
    assert len(memory.book.items()) == 10


def test_the_settings_say_how_long_and_how_many(vault: Vault, make_app: Callable[..., App]) -> None:
    app = make_app(vault.root, writes_batch_size="1", writes_immediate_importance="0.1")
    assert app.memory.remember("Bought tea", importance=0.05).action == "new"
    assert app.memory.remember("Sold the boat", importance=0.1, strategy="auto").action == "new"


def test_a_clock_that_was_set_back_keeps_nothing_waiting(
    vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    memory = make_app(vault.root).memory
    memory.remember("Bought tea")
    clock.advance(-7_200)
    assert len(memory.settle().applied) == 1
