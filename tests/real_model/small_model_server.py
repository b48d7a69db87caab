"""A small language model behind an OpenAI-compatible server on loopback, as a program of its own.

    python small_model_server.py MODEL.gguf

Prints its address when it answers, and ends when its standard input does: with whoever started it.
"""

from __future__ import annotations

import os
import sys

_CONTEXT = 8192  # tokens; what the model was trained on
_SLOTS = 2  # beginnings that it keeps ready: to read one again takes longer than all else


def main(weights: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = _CONTEXT * _SLOTS
    params.n_parallel = _SLOTS
    params.warmup = False
    params.ui = False
    params.offline = True
    # A second thread waits actively for the first: on a busy machine that is thirty times slower.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.seed = 1
    if hasattr(os, "nice"):
        os.nice(10)
    server = xllamacpp.Server(params)
    print(f"address {server.listening_address}", flush=True)
    sys.stdin.read()
    # The server's threads have no way to be asked to end.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
