"""Log lines: one per record, with its ids, and without what an exception or a library quotes."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest

from hitsend.logs import (
    REQUEST_ID,
    TURN_ID,
    TURN_TRACE_ID,
    JsonFormatter,
    TextFormatter,
    turn_in_log,
)

CANARY = "canary"


class Log:
    """Log lines in one of the two formats."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self._written = io.StringIO()
        self.handler = logging.StreamHandler(self._written)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self._written.getvalue()


@pytest.fixture(params=[TextFormatter, JsonFormatter])
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    log, root = Log(request.param()), logging.getLogger()
    root.addHandler(log.handler)
    yield log
    root.removeHandler(log.handler)


@pytest.fixture
def objects() -> Iterator[Log]:
    log, root = Log(JsonFormatter()), logging.getLogger()
    root.addHandler(log.handler)
    yield log
    root.removeHandler(log.handler)


ours = logging.getLogger("hitsend.test")


def test_a_line_has_time_level_and_the_ids_of_request_and_turn(log: Log) -> None:
    REQUEST_ID.set("r1")
    with turn_in_log("t1"):
        ours.warning("the %s is full", "disk")
    ours.error("after the turn")
    first, second = log.text.splitlines()
    if log.text.startswith("{"):
        line = json.loads(first)
        assert (line["level"], line["message"]) == ("warning", "the disk is full")
        assert (line["request_id"], line["turn_id"], line["logger"]) == ("r1", "t1", "hitsend.test")
        assert line["time"].endswith("Z")
        assert "turn_id" not in json.loads(second)
    else:
        assert first.split(" ", 1)[1] == "WARNING the disk is full request=r1 turn=t1"
        assert first.split(" ", 1)[0].endswith("Z")
        assert second.endswith("ERROR after the turn request=r1")


async def test_a_task_has_the_ids_of_the_task_that_started_it(log: Log) -> None:
    async def work() -> None:
        ours.warning("working")

    TURN_ID.set("t2")
    TURN_TRACE_ID.set("trace-2")
    await asyncio.create_task(work())
    assert "t2" in log.text
    assert "trace-2" in log.text


def test_facts_are_fields_of_their_own(objects: Log) -> None:
    ours.warning("GET / 200", extra={"facts": {"status": 200, "ms": 1.5}})
    assert json.loads(objects.text) | {"status": 200, "ms": 1.5} == json.loads(objects.text)


def raise_chain() -> None:
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        raise KeyError(CANARY) from error


def test_a_traceback_shows_types_and_places_but_no_message(log: Log) -> None:
    try:
        raise_chain()
    except KeyError:
        ours.exception("it failed")
    for expected in ("it failed", "ValueError", "KeyError", "raise_chain", "test_logs.py"):
        assert expected in log.text
    assert CANARY not in log.text


def test_a_group_of_exceptions_shows_each(log: Log) -> None:
    group = ExceptionGroup(CANARY, [ValueError(CANARY), OSError(28, CANARY)])
    ours.error("it failed", exc_info=group)
    assert "ValueError" in log.text
    assert "OSError [ENOSPC]" in log.text
    assert CANARY not in log.text


def test_a_traceback_is_one_json_record(objects: Log) -> None:
    ours.error("it failed", exc_info=ValueError(CANARY))
    (line,) = objects.text.splitlines()
    assert json.loads(line)["error"].endswith("ValueError")


def test_nobody_can_forge_a_line(log: Log) -> None:
    ours.warning("asked for %s", "x\n2026-11-19T09:30:00.000Z ERROR it burns \x1b[31m\u2028")
    assert log.text.count("\n") == 1
    assert "\x1b" not in log.text


async def test_what_asyncio_says_of_a_lost_exception_does_not_quote_it(log: Log) -> None:
    loop = asyncio.get_running_loop()

    async def fail() -> None:
        raise ValueError(CANARY)

    task = loop.create_task(fail())
    await asyncio.wait([task])
    lost = {"message": "Task exception was never retrieved", "task": task}
    loop.default_exception_handler(lost | {"exception": task.exception()})
    assert "Task exception was never retrieved" in log.text
    assert "ValueError" in log.text
    assert CANARY not in log.text
