"""`hitsend models`: installed and available weights."""

import asyncio
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress import TransferSpeedColumn as SpeedColumn

from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note, stdout
from hitsend.engine.contract import Download
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.models.weights import Weights
from hitsend.settings import Loaded, Settings

Name = Annotated[str, Parameter(help="Catalogue name, hub name, or path of a GGUF file.")]


@with_settings("models_dir")
def list_models(loaded: Loaded) -> int:
    catalogue = _catalogue(loaded.settings)
    here = {weights.name: weights for weights in catalogue.installed()}
    rows = [
        (entry.name, entry.title, _size(entry.num_bytes), _path_or_no(here.pop(entry.name, None)))
        for entry in catalogue.entries
    ]
    rows += [(own.name, own.title, _size(own.num_bytes), _path_or_no(own)) for own in here.values()]
    stdout.table(("name", "model", "size", "here"), rows)
    return 0


@with_settings("models_dir", "hub_url")
def pull(loaded: Loaded, name: Name, /) -> int:
    catalogue = _catalogue(loaded.settings)
    weights = catalogue.find(name) or asyncio.run(_pull(catalogue, name))
    stdout.write(str(weights.path))
    return 0


@with_settings("models_dir")
def remove(loaded: Loaded, name: Name, /) -> int:
    _catalogue(loaded.settings).remove(name)
    print_note(f"{name} was removed.")
    return 0


async def _pull(catalogue: Catalogue, name: str) -> Weights:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), SpeedColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))

    def show(download: Download) -> None:
        bar.start()
        task = bar.task_ids[0] if bar.task_ids else bar.add_task(name)
        bar.update(task, completed=download.num_done_bytes, total=download.num_bytes)

    try:
        return await catalogue.pull(name, show)
    finally:
        if bar.task_ids:  # stopping a bar that never started prints an empty line
            bar.stop()


def _catalogue(settings: Settings) -> Catalogue:
    return Catalogue(settings.models_dir, settings.hub_url)


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:,.0f} MB"


def _path_or_no(weights: Weights | None) -> str:
    return str(weights.path) if weights else "no"
