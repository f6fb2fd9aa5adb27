"""Reads how the server is now: room, queues, slots, disk, backups."""

import shutil
from pathlib import Path

from hitsend import __version__
from hitsend.errors import StoreDown
from hitsend.server.app import App
from hitsend.store.schema import HEAD


async def read_gauges(app: App) -> None:
    """Sets the gauges. Called when they are read, and not before."""
    gauge = app.metrics.instruments.set_gauge
    gauge("info", "The version that runs.", 1, version=__version__, schema=HEAD)
    engine = app.services.engine.status()
    gauge("engine_ready", "Whether a model can answer.", engine.state == "ready")
    gauge("engine_slots", "Answers that can be decoded at once.", engine.num_slots)
    gauge("engine_busy_slots", "Answers that are being decoded.", engine.num_busy_slots)
    gauge("engine_waiting", "Answers in the queue for a slot.", engine.num_waiting)
    settings = app.services.settings
    gauge("turns_running", "Turns in progress, waiting ones included.", app.runner.num_turns)
    gauge("turns_allowed", "Turns that may be in progress.", settings.max_turns)
    num_waiting = app.runner.num_starts_waiting
    gauge("starts_waiting", "Messages that wait for others to start.", num_waiting)
    gauge("streams_open", "Streams of answers that somebody reads.", app.streams.num_open)
    gauge("sockets_open", "WebSockets.", app.sockets.num_open)
    problem = await app.store_readiness.find_problem()
    gauge("store_ready", "Whether messages and answers can be stored.", problem is None)
    _read_disk(app, settings.database)
    try:
        backed_up_at = await app.services.store.backups.newest_at()
    except StoreDown:
        return  # the gauge above says so
    gauge("backup_timestamp_seconds", "When the newest backup was made.", backed_up_at or 0)


def _read_disk(app: App, database: Path) -> None:
    gauge = app.metrics.instruments.set_gauge
    try:
        usage = shutil.disk_usage(database.parent)
    except OSError:
        return
    gauge("disk_free_bytes", "Free space beside the database.", usage.free)
    gauge("disk_bytes", "Size of that disk.", usage.total)
    for name, end in (("database_bytes", ""), ("database_log_bytes", "-wal")):
        path = database.with_name(database.name + end)
        gauge(name, f"Size of {path.name}.", path.stat().st_size if path.exists() else 0)
