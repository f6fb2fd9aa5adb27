"""Runs the programs of people and their models. Each conversation has variables of its own."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType
from typing import NamedTuple
from weakref import WeakValueDictionary

from cachetools import LRUCache

from hitsend.errors import Refused, Unavailable
from hitsend.tools.code.sandbox import Interpreter, Limits, Outcome, Printed, Sandbox
from hitsend.tools.hosted_tool import CallResult

MAX_CODE_CHARS = 100_000
MAX_GONE = 10_000
FENCED = re.compile(r"\s*```[\w+-]*\n(.*?)\n?```\s*", re.DOTALL)
GONE = "The variables of earlier runs are gone. Define again what you need."
NO_FILES: Mapping[str, str] = MappingProxyType({})
NO_OUTPUT = "The program ran and printed nothing. Print what you want to see."


class Owner(NamedTuple):
    """Whose variables a program sees."""

    user_id: str
    conversation_id: str
    """Empty where there is none: then no variables are kept."""


class CodeRunner:
    """A person's programs run one after another, so that nobody takes all the room."""

    def __init__(
        self,
        sandbox: Sandbox,
        limits: Limits,
        *,
        max_running: int,
        max_interpreters: int,
        wait_s: float = 30.0,
    ) -> None:
        """A program waits for others for at most `wait_s`."""
        self.sandbox = sandbox
        self.limits = limits
        self.wait_s = wait_s
        self._room = asyncio.Semaphore(max_running)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """One per person whose program runs or waits."""
        self._max_interpreters = max_interpreters
        self._interpreters: OrderedDict[Owner, Interpreter] = OrderedDict()
        """Those that run nothing, the one that was used longest ago first."""
        self._gone: LRUCache[Owner, bool] = LRUCache(MAX_GONE)
        """Those whose variables are gone, and have not been told."""

    async def run(
        self,
        owner: Owner,
        code: str,
        report: Callable[[str], None],
        time_zone: str = "UTC",
        files: Mapping[str, str] = NO_FILES,
    ) -> CallResult:
        """Cancelling ends the program.

        Raises Refused for a program that is too long, Unavailable if none can be run now.
        """
        if len(code) > MAX_CODE_CHARS:
            raise Refused(f"The program is longer than {MAX_CODE_CHARS} characters.", param="code")
        async with self._wait_for_room(owner.user_id), self._use(owner, time_zone) as interpreter:
            is_gone = self._gone.pop(owner, False)
            printed = Printed(report, self.limits.output_bytes)
            try:
                outcome = await interpreter.run(clean_code(code), printed, files)
            finally:
                printed.flush()
        return _build_result(outcome, printed.text, GONE if is_gone else "")

    async def forget(self, owner: Owner) -> None:
        """Drops the variables of a conversation."""
        if interpreter := self._interpreters.pop(owner, None):
            await interpreter.close()

    async def close(self) -> None:
        while self._interpreters:
            _, interpreter = self._interpreters.popitem()
            await interpreter.close()
        await self.sandbox.close()

    @asynccontextmanager
    async def _wait_for_room(self, user_id: str) -> AsyncGenerator[None]:
        lock = self._locks.setdefault(user_id, asyncio.Lock())
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(self.wait_s):
                    await stack.enter_async_context(lock)
                    await stack.enter_async_context(self._room)
            except TimeoutError:
                raise Unavailable("Too many programs are running. Try again later.") from None
            yield

    @asynccontextmanager
    async def _use(self, owner: Owner, time_zone: str) -> AsyncGenerator[Interpreter]:
        """Nobody else has the interpreter meanwhile, and it cannot be evicted."""
        interpreter = self._interpreters.pop(owner, None)
        if interpreter and not interpreter.is_alive:
            await self._drop(owner, interpreter)
            interpreter = None
        interpreter = interpreter or self.sandbox.open(time_zone)
        try:
            yield interpreter
        finally:
            if not owner.conversation_id:
                await interpreter.close()
            elif interpreter.is_alive:
                self._interpreters[owner] = interpreter
                await self._evict()
            else:
                await self._drop(owner, interpreter)

    async def _evict(self) -> None:
        while len(self._interpreters) > self._max_interpreters:
            await self._drop(*self._interpreters.popitem(last=False))

    async def _drop(self, owner: Owner, interpreter: Interpreter) -> None:
        self._gone[owner] = True
        await interpreter.close()


def clean_code(code: str) -> str:
    """Unwraps a fenced block: small models write one where only the code belongs."""
    fenced = FENCED.fullmatch(code)
    code = fenced[1] if fenced else code
    return code.replace("\r\n", "\n").replace("\r", "\n")


def _build_result(outcome: Outcome, printed: str, gone: str) -> CallResult:
    shown = [f"[{file.name}: shown to the person]" for file in outcome.files]
    parts = [printed.rstrip("\n"), outcome.value, *shown, outcome.error, outcome.note, gone]
    text = "\n".join(part for part in parts if part)
    return CallResult(text or NO_OUTPUT, failed=outcome.error is not None, files=outcome.files)
