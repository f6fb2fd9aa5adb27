"""Command-line flags, generated from `Settings`. settings.py validates their values."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter as Argument
from inspect import signature
from operator import getitem
from typing import Annotated, Concatenate, ParamSpec, get_type_hints

from cyclopts import Parameter
from msgspec import Meta

from hitsend.settings import HINTS, SECRET, Loaded, Settings, load

P = ParamSpec("P")

TYPES = get_type_hints(Settings)


def with_settings(
    *names: str,
) -> Callable[[Callable[Concatenate[Loaded, P], int]], Callable[P, int]]:
    """Adds these settings to the command as flags, and passes it all loaded settings."""

    def decorate(command: Callable[Concatenate[Loaded, P], int]) -> Callable[P, int]:
        @wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            flags = {name: kwargs.pop(name, None) for name in names}
            return command(load(flags), *args, **kwargs)

        own = list(signature(command, eval_str=True).parameters.values())[1:]
        arguments = [*own, *(_argument(name) for name in names)]
        # cyclopts reads both; functools.wraps has copied the command's own.
        vars(run)["__signature__"] = signature(command).replace(parameters=arguments)
        run.__annotations__ = {argument.name: argument.annotation for argument in arguments}
        return run

    return decorate


def _argument(name: str) -> Argument:
    default = "" if name in SECRET else f" [default: {_format_default(getattr(Settings(), name))}]"
    flag = Parameter(help=describe(name) + default, show_default=False, negative="")
    hint = getitem(Annotated, (TYPES[name] | None, flag))
    return Argument(name, Argument.KEYWORD_ONLY, default=None, annotation=hint)


def _format_default(value: object) -> str:
    return "none" if value is None else str(value)


def describe(name: str) -> str:
    """Returns the help text of the setting in settings.py."""
    notes = (meta.description for meta in HINTS[name].__metadata__ if isinstance(meta, Meta))
    return next((note for note in notes if note), "")
