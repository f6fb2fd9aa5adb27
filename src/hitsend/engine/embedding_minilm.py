"""MiniLM in llama.cpp, in a process of its own that lives while there is need of it.

At the first need the weights are fetched too, in the background: whoever needs vectors before they
are here is told EngineDown and goes on without. What the vectors are for is not known here.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

import msgspec

from hitsend.engine.catalogue import Catalogue
from hitsend.engine.child import Launch
from hitsend.engine.embedding_weights import MINILM, embedding_catalogue
from hitsend.engine.fetches import Fetches
from hitsend.engine.http import Http
from hitsend.engine.supervised import Supervised, private_socket
from hitsend.engine.upstream import read_answer
from hitsend.engine.weights import Weights
from hitsend.errors import Conflict, EngineDown, EngineLost, HitsendError
from hitsend.recent import Recent
from hitsend.settings import Settings

log = logging.getLogger(__name__)

NUM_DIMENSIONS = 384
NUM_BYTES = 4 * NUM_DIMENSIONS
MAX_TOKENS = 256
"""The model was trained on no more."""
MAX_CHARS = 16 * MAX_TOKENS
"""Hardly a piece of a word is longer: what comes after would be cut anyway."""
NUM_THREADS = 1
"""More would wait for one another wherever an answer keeps the cores busy, and by far longer
than they save."""
NICENESS = 5
"""Answers come first. A question that waits for its vector still gets a quarter of a busy core."""
UNUSED_S = 600.0
"""After which its memory is given back."""
BATCH_TEXTS = 4
BATCH_TOKENS = 512
MAX_KNOWN_TEXTS = 2048
FETCHING_S, LOADING_S = 15.0, 5.0
SILENCE_S = 30.0
RETRY_S = 300.0
"""After which the next who needs a model that could not be fetched has it tried again."""


class MiniLm:
    name = "minilm-l6-v2"
    num_dimensions = NUM_DIMENSIONS

    def __init__(
        self, settings: Settings, catalogue: Catalogue | None = None, unused_s: float = UNUSED_S
    ) -> None:
        self._catalogue = catalogue or embedding_catalogue(settings.models_dir)
        self._binary = settings.llama_server
        self._fetches = Fetches(self._catalogue)
        self._fetch_again_at = 0.0
        self._has_told = False
        self._model: Supervised | None = None
        self._num_users = 0
        self._unused_s = unused_s
        self._resting: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self._known = Recent[bytes, bytes](MAX_KNOWN_TEXTS)
        self._listing = asyncio.Lock()

    async def start(self) -> None:
        """Not before the first need: most of what it costs is memory."""

    async def close(self) -> None:
        await self._fetches.close()
        self._rest()
        if self._ending:
            await asyncio.wait([self._ending])

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Whatever is wrong with it, whoever asks goes on without: all that is raised is
        EngineDown."""
        try:
            return await self._embed(texts)
        except EngineDown:
            raise
        except HitsendError as error:
            raise EngineDown(error.message) from error

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        keys = [_key(text) for text in texts]
        vectors = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        self._known.update(vectors)  # those just used are the last to be forgotten
        async with AsyncExitStack() as stack:
            if len(missing) > 1:  # one long list at a time, so that a question comes soon
                await stack.enter_async_context(self._listing)
            for some in _batches(list(missing), BATCH_TEXTS):
                found = await self._ask([missing[key] for key in some])
                new = dict(zip(some, found, strict=True))
                self._known.update(new)  # at once: what comes after may fail
                vectors |= new
        return [vectors[key] for key in keys]

    async def _ask(self, texts: Sequence[str]) -> list[bytes]:
        with self._in_use():
            return await self._asked(await self._loaded(), texts)

    async def _asked(self, model: Supervised, texts: Sequence[str]) -> list[bytes]:
        """Asked again once, should it have died under the question."""
        await model.until_ready(LOADING_S)
        with suppress(EngineDown, EngineLost):
            return await _vectors(model.http, texts)
        model.doubt()
        await model.until_ready(LOADING_S)
        return await _vectors(model.http, texts)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        if self._resting:
            self._resting.cancel()
        self._num_users += 1
        try:
            yield
        finally:
            self._num_users -= 1
            if not self._num_users:
                loop = asyncio.get_running_loop()
                self._resting = loop.call_later(self._unused_s, self._rest)

    def _rest(self) -> None:
        """Until the next need."""
        if self._resting:
            self._resting.cancel()
        if self._model:
            self._ending = asyncio.create_task(self._model.close())
            self._model = None

    async def _loaded(self) -> Supervised:
        if self._model:
            return self._model
        weights = await asyncio.to_thread(self._catalogue.find, MINILM.name)
        if weights is None:
            await self._have_fetched()
            raise EngineDown(f"{MINILM.title} is not here yet.", retry_after_s=FETCHING_S)
        if self._model is None:
            self._model = _supervised(weights, self._binary)
            self._model.start()
        return self._model

    async def _have_fetched(self) -> None:
        """Unless that is under way, or was tried a moment ago."""
        problems = [one.problem for one in self._fetches.downloads if one.problem]
        if problems and not self._has_told:
            self._has_told = True
            log.warning("%s", problems[0])
        if time.monotonic() >= self._fetch_again_at:
            self._fetch_again_at = time.monotonic() + RETRY_S
            with suppress(Conflict):  # somebody else has just brought it
                await self._fetches.begin(MINILM.name)


class _Tokens(msgspec.Struct, frozen=True):
    tokens: list[int]


class _Vector(msgspec.Struct, frozen=True):
    index: int
    embedding: bytes


class _Vectors(msgspec.Struct, frozen=True):
    data: list[_Vector]


async def _vectors(http: Http, texts: Sequence[str]) -> list[bytes]:
    prompts = [await _tokens(http, text) for text in texts]
    request = {"input": prompts, "encoding_format": "base64"}
    answer = await http.request("POST", "/v1/embeddings", msgspec.json.encode(request))
    found = sorted(read_answer(answer, _Vectors).data, key=lambda one: one.index)
    is_whole = [one.index for one in found] == list(range(len(texts)))
    if not is_whole or {len(one.embedding) for one in found} != {NUM_BYTES}:
        raise EngineDown("The engine answered with other vectors than it was asked for.")
    return [one.embedding for one in found]


async def _tokens(http: Http, text: str) -> list[int]:
    """With a beginning and an end, however much is cut between them."""
    request = {"content": text[:MAX_CHARS], "add_special": True, "parse_special": False}
    answer = await http.request("POST", "/tokenize", msgspec.json.encode(request))
    tokens = read_answer(answer, _Tokens).tokens
    return [*tokens[: MAX_TOKENS - 1], tokens[-1]] if len(tokens) > MAX_TOKENS else tokens


def _supervised(weights: Weights, binary: Path | None) -> Supervised:
    launch = Launch(
        weights=str(weights.path),
        socket=str(private_socket()),
        key=secrets.token_urlsafe(32),
        num_slots=BATCH_TEXTS,
        num_pool_tokens=weights.num_window_tokens,
        num_threads=NUM_THREADS,
        num_batch_tokens=BATCH_TOKENS,
        num_cache_mib=0,
        ping_s=int(SILENCE_S),
        binary=str(binary) if binary else None,
        embeds=True,
        niceness=NICENESS,
    )
    remedy = "Delete that file and start hitsend again to have it made anew."
    return Supervised(weights.title, launch, SILENCE_S, remedy)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _batches(keys: list[bytes], num: int) -> list[list[bytes]]:
    return [keys[at : at + num] for at in range(0, len(keys), num)]
