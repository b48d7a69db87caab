"""Does memory make an agent better? A simulated desktop, and the same agent with and without memory.

`python -m benchmarks.learning`: 200 runs for each of three seeds (the ablations: of one). `--limit N` for
other numbers of runs: `--limit 500` is the long form, below 200 there is one seed.

nothing                 every run is the first one
latest runs             the three latest runs as text
BM25-nearest success    the three successes that BM25 finds nearest to the command, as text
BM25-nearest failure    likewise; BM25-nearest runs: both
keyword memory          the reference design without a model: task log, failures and templates by keywords
hindbrain               a real vault and the real App; the text of its packs is all that the agent reads
... without lessons     the same, where no lessons are found, no templates, or neither: cases alone
all known               what somebody reaches who knows the world

Tasks, faults, the agent's first ideas and what the user said in passing are the same in all arms. What each
figure means: `figures.py`; what the agent makes of a text, in whatever format: `vocabulary.py`, `reading.py`
and `policy.py`.
"""

from benchmarks.learning.bench import BENCHMARK

__all__ = ["BENCHMARK"]
