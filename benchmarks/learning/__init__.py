"""Does memory make an agent better? A simulated desktop, and the same agent with and without memory.

`python -m benchmarks.learning`: 500 runs for each of several seeds; `--limit N` for fewer runs of one seed.

memory off         every run is the first one
keyword memory     the reference design without a model: task log, failures and templates by keywords
hindbrain          a real vault and the real App; the text of its packs is all that the agent reads
without ...        the same, with a slot taken out of the pack
all known          what somebody reaches who knows the world

Tasks, faults and the agent's first ideas are the same in all arms. What each figure means: `figures.py`; what
the agent makes of a text: `reading.py` and `policy.py`.
"""

from benchmarks.learning.bench import BENCHMARK

__all__ = ["BENCHMARK"]
