"""Bytes of the database per token of an answer, once its log is packed.

    python -m bench.storage [--answers 12]

A local model answers with three alternatives recorded for each token: long answers, then short
ones. *Log* is what is stored of the steps and the tokens; *all* is every used page of the file,
with the messages, the search index and the ledger. Packing starts ten seconds after an answer.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench import launch, machine
from bench.engine import MODEL, SAMPLING, SUBJECTS
from bench.launch import Server
from bench.load import send
from bench.machine import Figure

LONG, SHORT = 256, 20
MAX_BYTES = 60
"""Per token. The steps of a turn take some 350 bytes however short its answer is."""
NUM_ALTERNATIVES = 3
SETTLE_S = 3.0
"""The title of a conversation comes after its answer."""
LIMIT_S = 120.0

LOG_BYTES = (
    "SELECT (SELECT coalesce(sum(length(data)), 0) FROM turn_events)"
    " + (SELECT coalesce(sum(length(data)), 0) FROM packed_events)"
)
NUM_ROWS = "SELECT count(*) FROM turn_events"
USED_PAGES = (
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(),"
    " pragma_freelist_count(), pragma_page_size()"
)


class Sizes(NamedTuple):
    log: int
    all: int

    @classmethod
    def read(cls, database: Path) -> "Sizes":
        return cls(query(database, LOG_BYTES), query(database, USED_PAGES))


def query(database: Path, sql: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute(sql).fetchone()[0])


async def measure(
    server: Server, database: Path, num_answers: int, length: int, limit: float | None
) -> list[Figure]:
    before = Sizes.read(database)
    sampling = SAMPLING | {"max_tokens": length, "top_logprobs": NUM_ALTERNATIVES}
    target = server.chat.with_sampling(sampling)
    num_tokens = num_json_bytes = 0
    for number in range(num_answers):
        answer = await send(target, f"Write about {SUBJECTS[number % len(SUBJECTS)]}.")
        log = await server.get(f"/backend-api/turn/{answer.turn_id}")
        num_tokens += answer.num_tokens
        num_json_bytes += sum(len(to_json(stamped["event"])) for stamped in log["events"])
    await until_packed(database)
    packed = Sizes.read(database)
    name = f"answers of {length} tokens"
    return [
        Figure(f"{name}: log, bytes per token, as JSON", num_json_bytes / num_tokens),
        Figure(f"{name}: log, packed", (packed.log - before.log) / num_tokens, limit),
        Figure(f"{name}: all, packed", (packed.all - before.all) / num_tokens),
    ]


async def until_packed(database: Path) -> None:
    await asyncio.sleep(SETTLE_S)
    async with asyncio.timeout(LIMIT_S):
        while True:
            if not query(database, NUM_ROWS):
                return
            await asyncio.sleep(0.1)


def to_json(event: object) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


async def run(num_answers: int) -> list[Figure]:
    launch.fetch_weights(MODEL)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "hitsend.db"
        flags, settings = ["--engine", "llama"], {"model": MODEL, "embeddings": "off"}
        async with launch.serve(flags, settings, Path(folder)) as server:
            await send(server.chat, "Hello")  # the model is loaded
            await until_packed(database)
            return [
                figure
                for length, limit in ((LONG, MAX_BYTES), (SHORT, None))
                for figure in await measure(server, database, num_answers, length, limit)
            ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=12)
    machine.report("storage", uvloop.run(run(parser.parse_args().answers)))


if __name__ == "__main__":
    main()
