"""What is on the screen, as a picture that a model can take, and which place a point of the picture means.

The picture is at most 1280 pixels wide. Its points are not those of the screen: on a large one it is scaled
down, and on macOS the system counts in points that are several pixels each. Everybody else speaks of the
picture's; only `Screen.place` knows both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.models.chat import Image

if TYPE_CHECKING:
    import numpy as np

_WIDEST = 1280  # pixels of a picture: what models see well, and what their services do not shrink again


class Screen(NamedTuple):
    """The main monitor, in the units in which the system counts."""

    left: int
    top: int
    width: int
    height: int

    @property
    def shown(self) -> tuple[int, int]:
        """Width and height of its picture."""
        if self.width <= _WIDEST:
            return self.width, self.height
        return _WIDEST, max(1, round(self.height * _WIDEST / self.width))

    def place(self, x: int, y: int) -> tuple[int, int]:
        """Where on the system's desktop a point of the picture lies: the middle of what it shows.

        UsageError for a point that is not in the picture.
        """
        wide, high = self.shown
        if not (0 <= x < wide and 0 <= y < high):
            raise UsageError(
                f"({x}, {y}) is not on the screen: its screenshot is {wide} wide and {high} high; "
                "take one and look where it is"
            )
        return self.left + int((x + 0.5) * self.width / wide), self.top + int((y + 0.5) * self.height / high)


def find_screen() -> Screen:
    """The main monitor as it is now."""
    import mss

    with mss.MSS() as screens:
        monitor = screens.primary_monitor
        return Screen(monitor["left"], monitor["top"], monitor["width"], monitor["height"])


def take_picture(screen: Screen) -> Image:
    """What the screen shows now, as PNG of the size `screen.shown`."""
    import mss
    import mss.tools
    import numpy as np

    area = {"left": screen.left, "top": screen.top, "width": screen.width, "height": screen.height}
    with mss.MSS() as screens:
        shot = screens.grab(area)
    pixels = np.frombuffer(shot.bgra, dtype=np.uint8).reshape(shot.height, shot.width, 4)
    smaller = shrink(pixels, *screen.shown)[:, :, 2::-1]  # to red, green and blue
    high, wide, _ = smaller.shape
    png = mss.tools.to_png(smaller.tobytes(), (wide, high))
    assert png is not None  # None is only for pictures that go into a file
    return Image(png)


def shrink(pixels: np.ndarray, wide: int, high: int) -> np.ndarray:
    """The picture in that size, each point a mean of what it covers. It is never made larger."""
    import numpy as np

    for axis, wanted in ((0, high), (1, wide)):
        size = pixels.shape[axis]
        if wanted >= size:
            continue
        samples = -(-size // wanted)  # of each point, evenly spread over what it covers
        at = (np.arange(wanted * samples) * 2 + 1) * size // (2 * wanted * samples)
        sums = sum(np.take(pixels, at[first::samples], axis).astype(np.uint16) for first in range(samples))
        pixels = (sums // samples).astype(np.uint8)
    return pixels
