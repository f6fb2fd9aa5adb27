import pytest

from hitsend.engine.upstream_errors import KeyRefused
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
from hitsend.wire.problem import Problem, describe_error, error_from_code, error_from_failure


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
    assert describe_error(error) == Problem("?", kind, None, error.code)


def test_a_problem_names_the_wrong_parameter() -> None:
    assert describe_error(Refused("Too hot.", param="temperature")).param == "temperature"


def test_a_failed_turn_gives_back_its_error() -> None:
    error = error_from_failure(TurnFailed("worker_lost", "It died.", True, 1500))
    assert type(error) is EngineLost
    assert (error.message, error.retry_after_s) == ("It died.", 1.5)


def test_classes_outside_errors_py_do_not_change_the_codes() -> None:
    assert KeyRefused.code == EngineDown.code
    assert type(error_from_code("engine_down", "?")) is EngineDown
    assert error_from_code("method_not_allowed", "?").status == 405


def test_an_unknown_code_gives_the_base_error() -> None:
    assert type(error_from_code("weather", "Rain.")) is HitsendError
