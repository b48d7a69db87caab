"""The slots of the presets as a picture, drawn from the presets themselves.

`python -m benchmarks.slots_picture` writes docs/img/slots.png.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindbrain.context.packs.preset import SLOTS, STABLE, Preset, built_in
from hindbrain.context.packs.rendering import SLOT_TAGS

PICTURE = Path(__file__).parents[1] / "docs" / "img" / "slots.png"
_DRAWN = ("turn", "start", "compact", "agent", "full")
_COLOURS = {
    "core": "#1f5fa8", "profile": "#3f7fc4", "tasks": "#7fabd8", "status": "#6f6f6f", "recent": "#8c8c8c",
    "history": "#a9a9a9", "memories": "#4f7f6f", "relevant": "#7a9e54", "apps": "#c9772b",
    "template": "#8a6bb1", "lessons": "#b5484b", "skills": "#d9a441",
}  # fmt: skip
_GREY = "#555555"
_NARROW = 0.085  # of the bar: a slot that is smaller has its name above it


def in_order(preset: Preset) -> list[tuple[str, int]]:
    """(slot, tokens) as they stand in a prompt: what does not depend on it first."""
    return [
        (slot.name, slot.tokens) for slot in sorted(preset.slots, key=lambda slot: slot.name not in STABLE)
    ]


def draw(file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    presets = [built_in(name) for name in _DRAWN]
    figure, (bars, legend) = pyplot.subplots(
        2, 1, figsize=(9.6, 6.3), dpi=130, height_ratios=(len(presets), 1.7), layout="constrained"
    )
    for row, preset in enumerate(presets):
        _draw_preset(bars, row, preset)
    bars.set_xlim(-0.245, 1.01)
    bars.set_ylim(len(presets) - 0.45, -0.75)
    bars.axis("off")
    bars.set_title("What enters a prompt: slots and their tokens", loc="left", fontsize=12, fontweight="bold")
    _draw_legend(legend, [name for name in SLOTS if any(name in dict(in_order(p)) for p in presets)])
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, facecolor="white", metadata={"Software": None})
    pyplot.close(figure)


def _draw_preset(axes: Any, row: int, preset: Preset) -> None:
    """A bar over the whole width: units differ, since a preset may be fifty times another."""
    slots = in_order(preset)
    total = sum(tokens for _, tokens in slots)
    axes.text(-0.235, row - 0.1, preset.name, fontsize=11, fontweight="bold", va="center")
    axes.text(-0.235, row + 0.19, _limits(preset), fontsize=8, color=_GREY, va="center")
    narrow = [f"{name} {tokens:,}" for name, tokens in slots if tokens / total < _NARROW]
    axes.text(0, row - 0.33, "   ".join(narrow), fontsize=8, color=_GREY, va="center")
    left = 0.0
    for name, tokens in slots:
        share = tokens / total
        axes.barh(row, share, 0.46, left, color=_COLOURS[name], edgecolor="white", linewidth=1.5)
        if name in STABLE:
            axes.plot([left + 0.002, left + share - 0.002], [row + 0.3] * 2, color="black", linewidth=1.6)
        if share >= _NARROW:
            place = (left + share / 2, row + 0.01)
            axes.text(*place, f"{name}\n{tokens:,}", fontsize=8.5, ha="center", va="center", color="white")
        left += share


def _limits(preset: Preset) -> str:
    told = f"{preset.budget:,} tokens"
    if preset.characters:
        told += f", {preset.characters:,} characters,\n{preset.notes} notes at most"
    return told


def _draw_legend(axes: Any, names: Sequence[str]) -> None:
    axes.set_xlim(0, 2)
    lines = (len(names) + 1) // 2
    axes.set_ylim(lines + 0.9, -0.9)
    axes.axis("off")
    for number, name in enumerate(names):
        x, y = number % 2, number // 2
        axes.barh(y, 0.022, 0.62, x, color=_COLOURS[name])
        axes.text(x + 0.035, y, f"<{SLOT_TAGS[name]}>", fontsize=8, family="monospace", va="center")
        axes.text(x + 0.32, y, SLOTS[name], fontsize=8, va="center", color=_GREY)
    told = "does not depend on the prompt: stands first, so that prompt caches hold"
    axes.plot([0, 0.022], [lines + 0.3] * 2, color="black", linewidth=1.6)
    axes.text(0.035, lines + 0.3, told, fontsize=8, va="center", color=_GREY)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
