"""The page in a browser: first load, typing during a stream, long chats, memory.

    python -m bench.page [--answers 100] [--turns 2000]

A real Chromium opens `hitsend serve` with the scripted engine. Times are the browser's own, from
the event to the frame that shows it. Needs Chromium on PATH.
"""

import argparse
import asyncio
import json
import re
import shutil
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, async_playwright

from bench import launch, machine
from bench.machine import Figure

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
PERSON = {"name": "bench", "password": "correct horse battery"}
NUM_LOADS = 5
SLOW = 4
"""How many times slower the browser makes the processor in the slowed runs."""

WATCH = """
addEventListener('DOMContentLoaded', () => {
    const seen = new MutationObserver(() => {
        if (document.querySelector('main form textarea') === null) return;
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => (window.readyMs = performance.now())));
    });
    seen.observe(document.body, { childList: true, subtree: true });
});
window.paints = [];
addEventListener('keydown', (event) => {
    requestAnimationFrame(() => {
        const frame = new MessageChannel();
        frame.port1.onmessage = () => window.paints.push(performance.now() - event.timeStamp);
        frame.port2.postMessage(0);
    });
}, { capture: true });
"""

UNTIL_READY = """
() => new Promise((resolve) => {
    const look = () => window.readyMs ? resolve(window.readyMs) : requestAnimationFrame(look);
    look();
})
"""

ANSWER = """## Sorting, step by step

1. Take the **middle** element as the *pivot*.
2. Put what is smaller before it, and `the rest` after it:

```python
def quicksort(items: list[int]) -> list[int]:
    if len(items) < 2:
        return items
    pivot, *rest = items
    smaller = [item for item in rest if item < pivot]
    larger = [item for item in rest if item >= pivot]
    return [*quicksort(smaller), pivot, *quicksort(larger)]
```

| case | steps | why |
|---|--:|---|
| best | $n \\log n$ | the pivot halves the list |
| worst | $n^2$ | the pivot is the smallest |

> It is quick *on average*, and that is what counts. See [the article](https://example.org/sort).

"""


@dataclass(frozen=True)
class Load:
    """The first visit of a signed-in person, with an empty cache."""

    num_kb: float
    num_files: int
    interactive_ms: float
    slow_interactive_ms: float


@dataclass(frozen=True)
class Typing:
    """From a key press to the frame that shows it, while an answer streams."""

    slowdown: int
    p50_ms: float
    p95_ms: float
    worst_ms: float


@dataclass(frozen=True)
class LongChat:
    num_turns: int
    open_ms: float
    num_rows: int
    """Messages in the document."""
    frames_per_s: float
    late_frames: float
    """Share of frames that came more than 25 ms after the one before."""


@dataclass(frozen=True)
class Memory:
    num_answers: int
    heap_before_mb: float
    heap_after_mb: float
    nodes_before: int
    nodes_after: int
    kb_per_answer: float


@asynccontextmanager
async def visit(browser: Browser, url: str, cookies: list[Any]) -> AsyncIterator[Page]:
    """A page with an empty cache."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    await context.add_cookies(cookies)
    await context.add_init_script(WATCH)
    page = await context.new_page()
    page.set_default_timeout(120_000)
    yield page
    await context.close()


async def slow_down(page: Page, times: int) -> CDPSession:
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": times})
    return session


async def interactive_ms(page: Page, url: str) -> float:
    """Time until the message field is drawn and takes input."""
    await page.goto(url)
    return float(await page.evaluate(UNTIL_READY))


async def measure_load(browser: Browser, url: str, cookies: list[Any]) -> Load:
    async with visit(browser, url, cookies) as page:
        session = await page.context.new_cdp_session(page)
        await session.send("Network.enable")
        received: list[float] = []
        session.on("Network.loadingFinished", lambda e: received.append(e["encodedDataLength"]))
        await interactive_ms(page, url)
        await page.wait_for_load_state("networkidle")
    normal = [await load_ms(browser, url, cookies, 1) for _ in range(NUM_LOADS)]
    slow = [await load_ms(browser, url, cookies, SLOW) for _ in range(NUM_LOADS)]
    median = statistics.median
    return Load(sum(received) / 1000, len(received), median(normal), median(slow))


async def load_ms(browser: Browser, url: str, cookies: list[Any], slowdown: int) -> float:
    async with visit(browser, url, cookies) as page:
        await slow_down(page, slowdown)
        return await interactive_ms(page, url)


async def measure_typing(browser: Browser, url: str, cookies: list[Any], slowdown: int) -> Typing:
    async with visit(browser, url, cookies) as page:
        await page.goto(url)
        field = page.get_by_label("Message", exact=True)
        await field.fill("!script pace=5ms\n" + ANSWER * 20)
        await page.keyboard.press("Enter")
        await page.get_by_role("article", name="Answer").wait_for()
        await slow_down(page, slowdown)
        await page.evaluate("window.paints.length = 0")
        await field.press_sequentially("quick brown foxes jump over lazy dogs " * 2, delay=40)
        is_streaming = await page.get_by_role("button", name="Stop").is_visible()
        assert is_streaming, "The answer ended before the typing did."
        paints: list[float] = sorted(await page.evaluate("window.paints"))
    return Typing(slowdown, statistics.median(paints), paints[int(len(paints) * 0.95)], paints[-1])


def long_conversation(num_turns: int) -> bytes:
    texts = [text for number in range(num_turns) for text in (f"Question {number}?", ANSWER)]
    return json.dumps([launch.build_conversation(0, "A long one", texts)]).encode()


SCROLL = """
async ({ seconds, pixels }) => {
    const list = document.querySelector('[aria-label="Messages"]');
    const frames = [];
    const began = performance.now();
    await new Promise((resolve) => {
        const frame = (now) => {
            frames.push(now);
            list.scrollTop -= pixels;
            if (now - began < seconds * 1000) requestAnimationFrame(frame);
            else resolve();
        };
        requestAnimationFrame(frame);
    });
    return frames.slice(1).map((at, i) => at - frames[i]);
}
"""


async def measure_long_chat(page: Page, url: str, num_turns: int) -> LongChat:
    await page.goto(url)
    token = (await (await page.request.get(f"{url}/backend-api/me")).json())["csrf_token"]
    headers = {"x-csrf-token": token, "content-type": "application/json"}
    data = long_conversation(num_turns)
    done = await page.request.post(f"{url}/backend-api/import", data=data, headers=headers)
    assert done.ok, await done.text()
    await page.reload()
    link = page.get_by_role("link", name="A long one")
    await link.wait_for()
    began = time.perf_counter()
    await link.click()
    await page.get_by_text(f"Question {num_turns - 1}?").wait_for()
    open_ms = (time.perf_counter() - began) * 1000
    num_rows = await page.get_by_role("article").count()
    gaps: list[float] = await page.evaluate(SCROLL, {"seconds": 4, "pixels": 40})
    late = sum(1 for gap in gaps if gap > 25) / len(gaps)
    return LongChat(num_turns, open_ms, num_rows, 1000 / statistics.mean(gaps), late)


async def read_heap(session: CDPSession) -> tuple[float, int]:
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    counters = await session.send("Memory.getDOMCounters")
    return used["usedSize"] / 1e6, counters["nodes"]


async def ask(page: Page, text: str) -> None:
    await page.get_by_label("Message", exact=True).fill(text)
    await page.keyboard.press("Enter")
    await until_answered(page)


async def until_answered(page: Page) -> None:
    await page.get_by_role("article", name="Answer").last.wait_for()
    await page.locator("article[aria-busy=true]").wait_for(state="detached")
    await page.get_by_role("button", name="Send").wait_for()


async def measure_memory(page: Page, url: str, num_answers: int) -> Memory:
    """Answers one question again and again, because typing adds to the field's undo history."""
    await page.goto(url)
    session = await page.context.new_cdp_session(page)
    await ask(page, "!script pace=0ms\n" + ANSWER)
    before = await answer_again(page, session, 10)
    after = await answer_again(page, session, num_answers)
    per_answer = (after[0] - before[0]) * 1000 / num_answers
    return Memory(num_answers, before[0], after[0], before[1], after[1], per_answer)


async def answer_again(page: Page, session: CDPSession, count: int) -> tuple[float, int]:
    for _ in range(count):
        branch = page.get_by_text(re.compile(r"^\d+/\d+$")).last
        shown = await branch.text_content() if await branch.count() else "1/1"
        await page.get_by_role("button", name="Answer again").last.click()
        await page.get_by_text(next_branch(shown or "1/1")).last.wait_for()
        await until_answered(page)
    return await read_heap(session)


def next_branch(shown: str) -> str:
    count = int(shown.partition("/")[2]) + 1
    return f"{count}/{count}"


async def measure(num_answers: int, num_turns: int) -> tuple[list[Any], list[Figure]]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "This bench needs Chromium on PATH."
    with launch.hitsend(["--engine", "scripted"], {"max_answer_tokens": "6000"}) as server:
        await launch.until_healthy(server)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
            return await measure_in_browser(browser, server.url, num_answers, num_turns)


async def measure_in_browser(
    browser: Browser, url: str, num_answers: int, num_turns: int
) -> tuple[list[Any], list[Figure]]:
    context = await browser.new_context()
    made = await context.request.post(f"{url}/backend-api/accounts/first", data=PERSON)
    assert made.ok, await made.text()
    cookies = await context.cookies()
    load = await measure_load(browser, url, cookies)
    keys = [await measure_typing(browser, url, cookies, slowdown) for slowdown in (1, SLOW)]
    async with visit(browser, url, cookies) as page:
        long = await measure_long_chat(page, url, num_turns)
    async with visit(browser, url, cookies) as page:
        held = await measure_memory(page, url, num_answers)
    await browser.close()
    bars = [
        Figure("first load, kB on the wire", load.num_kb, 200),
        Figure(
            f"interactive with the processor {SLOW}x slower, ms", load.slow_interactive_ms, 1000
        ),
        Figure("key press to paint while streaming 200 tok/s, p95 ms", keys[0].p95_ms, 50),
        Figure(f"a chat of {long.num_turns:,} turns opens, ms", long.open_ms, 1000),
        Figure("frames a second while it scrolls", long.frames_per_s, 58, is_floor=True),
        Figure("heap that stays for each answer, kB", held.kb_per_answer, 40),
        Figure("nodes after, as a multiple of before", held.nodes_after / held.nodes_before, 1.5),
    ]
    return [load, *keys, long, held], bars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--turns", type=int, default=2000)
    args = parser.parse_args()
    rows, bars = asyncio.run(measure(args.answers, args.turns))
    for row in rows:
        print(row)
    machine.report("page", bars, [{"what": type(row).__name__} | asdict(row) for row in rows])


if __name__ == "__main__":
    main()
