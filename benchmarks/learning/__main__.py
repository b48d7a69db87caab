"""`python -m benchmarks.learning`"""

from benchmarks.frame import main
from benchmarks.learning import BENCHMARK

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
