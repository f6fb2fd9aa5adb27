import pytest

from hitsend.engine.upstream import KeyRefused
from hitsend.errors import (
    Conflict,
    EngineDown,
    EngineLost,
    HitsendError,
    NotAllowed,
    NotFound,
    Refused,
    TooFast,
    Unauthenticated,
    UnknownModel,
)
from hitsend.events import TurnFailed
from hitsend.wire.problem import Problem, error_of, problem, rebuilt


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Unauthenticated("?"), "authentication_error"),
        (NotAllowed("?"), "permission_error"),
        (NotFound("?"), "not_found_error"),
        (UnknownModel("?"), "not_found_error"),
        (TooFast("?"), "rate_limit_error"),
        (Conflict("?"), "invalid_request_error"),
        (EngineLost("?"), "unavailable_error"),
        (HitsendError("?"), "internal_error"),
    ],
)
def test_every_error_has_a_type_that_sdks_know(error: HitsendError, kind: str) -> None:
    assert problem(error) == Problem("?", kind, None, error.code)


def test_a_problem_names_what_was_wrong() -> None:
    assert problem(Refused("Too hot.", param="temperature")).param == "temperature"


def test_a_failed_turn_tells_what_it_failed_with() -> None:
    error = error_of(TurnFailed("worker_lost", "It died.", True, 1500))
    assert type(error) is EngineLost
    assert (error.message, error.retry_after_s) == ("It died.", 1.5)


def test_a_code_stands_for_one_error_whatever_else_is_imported() -> None:
    assert KeyRefused.code == EngineDown.code
    assert type(rebuilt("engine_down", "?")) is EngineDown
    assert rebuilt("method_not_allowed", "?").status == 405


def test_a_code_nobody_knows_is_our_own_error() -> None:
    assert type(rebuilt("weather", "Rain.")) is HitsendError
