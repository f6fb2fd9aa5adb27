"""llama.cpp's own server with nothing in front of it.

It has the parameters that hitsend gives to its engine process, so that only the pipeline differs.

    python bench/llama_server.py --weights FILE --port 9001 --slots 16 --pool-tokens 32768
"""

import argparse
import importlib
import os
import signal

ERRORS_ONLY = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weights", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--pool-tokens", type=int, required=True)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch-tokens", type=int, default=128)
    args = parser.parse_args()

    xllamacpp = importlib.import_module("xllamacpp")  # it has no types
    params = xllamacpp.CommonParams()
    params.model.path = args.weights
    params.hostnames = ["127.0.0.1"]
    params.port = args.port
    params.n_parallel = args.slots
    params.kv_unified = True
    params.n_ctx = args.pool_tokens
    params.n_batch = params.n_ubatch = args.batch_tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = args.threads
    params.verbosity = ERRORS_ONLY
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
