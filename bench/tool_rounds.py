"""What a round of tool calls costs: `calculate` in answers of none and of several rounds.

    python -m bench.tool_rounds [--rounds 6] [--turns 60]

The scripted engine writes the calls, so a round is one more prompt, one more message of the model
with its call, the call itself, and its result, all of it stored before it is shown. The difference
between answers with and without calls, divided by the rounds, is what a round costs.
"""

import argparse
import json
import statistics
from dataclasses import dataclass

import uvloop

from bench import launch, machine
from bench.load import BadAnswer, Target, http_request, read_body, run_exchange
from bench.machine import Figure

SETTINGS = {"embeddings": "words", "gate": "off", "model_titles": "false"}
NUM_WARM_UP = 5
MAX_ROUNDS = 50


@dataclass(frozen=True)
class Cost:
    wall_ms: float
    cpu_ms: float


def prompt(turn: int, num_rounds: int) -> str:
    calls = [
        json.dumps({"name": "calculate", "arguments": {"expression": f"{turn} * {number} + 1"}})
        for number in range(num_rounds)
    ]
    rounds = [f"<tool_call>{call}</tool_call>" for call in calls]
    return "!script\n" + "\n!then\n".join([*rounds, "Done."])


async def send(chat: Target, turn: int, num_rounds: int) -> float:
    """Returns the milliseconds from the request to the last byte."""
    body = chat.body(prompt(turn, num_rounds)) | {"system_hints": ["calculator"]}
    headers = {"authorization": f"Bearer {chat.key}"}
    done = await run_exchange(chat.url, http_request(chat.url, "POST", chat.path, body, headers))
    shown = b"".join(data for _, data in read_body(done))
    if shown.count(b'"role":"tool"') != num_rounds or b"[DONE]" not in shown:
        raise BadAnswer(f"An answer does not have {num_rounds} results of calls.")
    return (done.ended_at - done.started_at) * 1000


async def measure_answers(server: launch.Server, num_rounds: int, num_turns: int) -> Cost:
    for turn in range(NUM_WARM_UP):
        await send(server.chat, turn, num_rounds)
    cpu_before_s = machine.process_cpu_s(server.pid)
    times = [await send(server.chat, turn, num_rounds) for turn in range(num_turns)]
    cpu_s = machine.process_cpu_s(server.pid) - cpu_before_s
    return Cost(statistics.median(times), cpu_s * 1000 / num_turns)


async def measure(num_rounds: int, num_turns: int) -> list[Figure]:
    settings = SETTINGS | {"tool_rounds": str(num_rounds)}
    async with launch.serve(["--engine", "scripted"], settings) as server:
        without = await measure_answers(server, 0, num_turns)
        some = await measure_answers(server, num_rounds, num_turns)
    wall_ms = (some.wall_ms - without.wall_ms) / num_rounds
    cpu_ms = (some.cpu_ms - without.cpu_ms) / num_rounds
    return [
        Figure("an answer without calls: ms, median", without.wall_ms),
        Figure(f"an answer with {num_rounds} rounds: ms, median", some.wall_ms),
        Figure("a round: ms", wall_ms, limit=15),
        Figure("a round: CPU ms", cpu_ms),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=6, choices=range(1, MAX_ROUNDS + 1))
    parser.add_argument("--turns", type=int, default=60)
    args = parser.parse_args()
    figures = uvloop.run(measure(args.rounds, args.turns))
    print(*figures, sep="\n")
    machine.report("tool_rounds", figures)


if __name__ == "__main__":
    main()
