"""The arguments of a call, compared with what the server's tool takes. So a wrong call is not sent,
and nobody is asked to allow it."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from hitsend.errors import Refused

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_PROBLEM_CHARS = 400
MAX_CACHED_SCHEMAS = 64


def decode_arguments(encoded: str) -> dict[str, Any]:
    """Raises Refused."""
    try:
        return msgspec.json.decode(encoded or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        raise Refused("The arguments have to be a JSON object.", param="arguments") from None


def check_arguments(name: str, schema: str, encoded: str) -> None:
    """Raises Refused for arguments that do not follow the schema, which has no references and no
    expressions any more (`definitions`)."""
    from jsonschema.exceptions import best_match

    arguments = decode_arguments(encoded)
    try:
        problem = best_match(_build_validator(schema).iter_errors(arguments))
    except RecursionError:
        raise Refused(f"{name} was called wrongly: this is nested too deep.") from None
    if problem is not None:
        place = problem.json_path.removeprefix("$").removeprefix(".")
        said = problem.message[:MAX_PROBLEM_CHARS] + (f" (`{place}`)" if place else "")
        raise Refused(f"{name} was called wrongly: {said}.", param="arguments")


@lru_cache(MAX_CACHED_SCHEMAS)
def _build_validator(schema: str) -> "Validator":
    """A schema that is wrong itself allows everything: its server decides."""
    from jsonschema import Draft202012Validator, SchemaError

    decoded = msgspec.json.decode(schema)
    try:
        Draft202012Validator.check_schema(decoded)
    except SchemaError:
        decoded = {}
    return Draft202012Validator(decoded)
