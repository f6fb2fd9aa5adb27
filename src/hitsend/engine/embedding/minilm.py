"""MiniLM embeddings from llama.cpp, in a child process that runs only while it is used.

The first use starts the process, and downloads the weights in the background if they are missing.
Until they are here `embed` raises EngineDown, and the caller continues without vectors.
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
from cachetools import LRUCache

from hitsend.engine.embedding.weights import MINILM, embedding_catalogue
from hitsend.engine.http import HttpClient
from hitsend.engine.llama.child import Launch
from hitsend.engine.llama.supervisor import Supervisor, private_socket
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.downloads import Downloads
from hitsend.engine.models.weights import Weights
from hitsend.engine.upstream_errors import read_response
from hitsend.errors import Conflict, EngineDown, EngineLost, HitsendError
from hitsend.settings import Settings

log = logging.getLogger(__name__)

NAME = "minilm-l6-v2"
NUM_DIMENSIONS = 384
NUM_BYTES = 4 * NUM_DIMENSIONS
MAX_TOKENS = 256
"""The length that the model was trained with."""
MAX_CHARS = 16 * MAX_TOKENS
"""Hardly any token is longer than 16 characters, so the rest would be cut anyway."""
NUM_THREADS = 1
"""On cores that are busy with an answer, several threads wait for each other far longer than they
save."""
NICENESS = 5
"""Answers have priority. A request for a vector still gets a quarter of a busy core."""
UNUSED_S = 600.0
"""The process is ended after this time without a request, to free its memory."""
BATCH_TEXTS = 4
BATCH_TOKENS = 512
MAX_CACHED_TEXTS = 2048
FETCHING_S, LOADING_S = 15.0, 5.0
SILENCE_S = 30.0
RETRY_S = 300.0
"""A failed download is retried by the first request after this time."""


class MiniLm:
    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue | None = None,
        unused_s: float = UNUSED_S,
        weights: str = MINILM.name,
        niceness: int = NICENESS,
    ) -> None:
        """`weights` are an entry of the catalogue, or the path of a file of the same
        architecture."""
        self.name = NAME if weights == MINILM.name else Path(weights).stem
        self._weights = weights
        self._niceness = niceness
        self._catalogue = catalogue or embedding_catalogue(settings.models_dir)
        self._binary = settings.llama_server
        self._downloads = Downloads(self._catalogue)
        self._retry_download_at = 0.0
        self._has_warned = False
        self._model: Supervisor | None = None
        self._num_users = 0
        self._unused_s = unused_s
        self._unload_timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None
        self._cache = LRUCache[bytes, bytes](MAX_CACHED_TEXTS)
        self._list_lock = asyncio.Lock()

    async def start(self) -> None:
        """Does nothing: the process starts with the first request, to save memory."""

    async def close(self) -> None:
        await self._downloads.close()
        self._unload()
        if self._closing:
            await asyncio.wait([self._closing])

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Raises only EngineDown, for every problem: callers then continue without vectors."""
        try:
            return await self._embed(texts)
        except EngineDown:
            raise
        except HitsendError as error:
            raise EngineDown(error.message) from error

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        keys = [_key(text) for text in texts]
        vectors = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        async with AsyncExitStack() as stack:
            if len(missing) > 1:  # one list at a time: a single text does not wait for all
                await stack.enter_async_context(self._list_lock)
            for some in _batches(list(missing), BATCH_TEXTS):
                found = await self._request([missing[key] for key in some])
                new = dict(zip(some, found, strict=True))
                self._cache.update(new)  # at once: the next batch may fail
                vectors |= new
        return [vectors[key] for key in keys]

    async def _request(self, texts: Sequence[str]) -> list[bytes]:
        with self._in_use():
            return await self._retry_once(await self._load(), texts)

    async def _retry_once(self, model: Supervisor, texts: Sequence[str]) -> list[bytes]:
        """Sends a request, and once more if the process died during the first."""
        await model.wait_until_ready(LOADING_S)
        with suppress(EngineDown, EngineLost):
            return await _fetch_vectors(model.http, texts)
        model.request_health_check()
        await model.wait_until_ready(LOADING_S)
        return await _fetch_vectors(model.http, texts)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        if self._unload_timer:
            self._unload_timer.cancel()
        self._num_users += 1
        try:
            yield
        finally:
            self._num_users -= 1
            if not self._num_users:
                loop = asyncio.get_running_loop()
                self._unload_timer = loop.call_later(self._unused_s, self._unload)

    def _unload(self) -> None:
        """Ends the process. The next request starts it again."""
        if self._unload_timer:
            self._unload_timer.cancel()
        if self._model:
            self._closing = asyncio.create_task(self._model.close())
            self._model = None

    async def _load(self) -> Supervisor:
        if self._model:
            return self._model
        weights = await asyncio.to_thread(self._catalogue.find, self._weights)
        if weights is None:
            await self._start_download()
            raise EngineDown(f"{MINILM.title} is not downloaded yet.", retry_after_s=FETCHING_S)
        if self._model is None:
            self._model = _supervise(weights, self._binary, self._niceness)
            self._model.start()
        return self._model

    async def _start_download(self) -> None:
        """Does nothing while a download runs, or shortly after one failed."""
        problems = [one.problem for one in self._downloads.all if one.problem]
        if problems and not self._has_warned:
            self._has_warned = True
            log.warning("%s", problems[0])
        if time.monotonic() >= self._retry_download_at:
            self._retry_download_at = time.monotonic() + RETRY_S
            with suppress(Conflict):  # another process has just downloaded it
                await self._downloads.start(self._weights)


class _Tokens(msgspec.Struct, frozen=True):
    tokens: list[int]


class _Vector(msgspec.Struct, frozen=True):
    index: int
    embedding: bytes


class _Vectors(msgspec.Struct, frozen=True):
    data: list[_Vector]


async def _fetch_vectors(http: HttpClient, texts: Sequence[str]) -> list[bytes]:
    prompts = [await _tokenize(http, text) for text in texts]
    request = {"input": prompts, "encoding_format": "base64"}
    response = await http.request("POST", "/v1/embeddings", msgspec.json.encode(request))
    found = sorted(read_response(response, _Vectors).data, key=lambda one: one.index)
    is_complete = [one.index for one in found] == list(range(len(texts)))
    if not is_complete or {len(one.embedding) for one in found} != {NUM_BYTES}:
        raise EngineDown("The engine returned vectors of a wrong number or size.")
    return [one.embedding for one in found]


async def _tokenize(http: HttpClient, text: str) -> list[int]:
    """Truncates long texts, but keeps the first and the last token, [CLS] and [SEP]."""
    request = {"content": text[:MAX_CHARS], "add_special": True, "parse_special": False}
    response = await http.request("POST", "/tokenize", msgspec.json.encode(request))
    tokens = read_response(response, _Tokens).tokens
    return [*tokens[: MAX_TOKENS - 1], tokens[-1]] if len(tokens) > MAX_TOKENS else tokens


def _supervise(weights: Weights, binary: Path | None, niceness: int) -> Supervisor:
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
        niceness=niceness,
    )
    remedy = "Delete that file and start hitsend again to have it made anew."
    return Supervisor(weights.title, launch, SILENCE_S, remedy)


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _batches(keys: list[bytes], num: int) -> list[list[bytes]]:
    return [keys[at : at + num] for at in range(0, len(keys), num)]
