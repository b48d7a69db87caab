"""What Hindbrain is worth, measured: `python -m benchmarks` runs all, `python -m benchmarks.NAME` one."""

import os

# Before anything imports numpy: with a second BLAS thread, figures depend on what else the machine does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
