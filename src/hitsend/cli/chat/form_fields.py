"""The fields of a tool's form, from its JSON Schema, and what a person typed for them."""

from collections.abc import Mapping, Sequence

import msgspec

from hitsend.errors import Refused

YES, NO = ("y", "yes", "true", "1"), ("n", "no", "false", "0")
MAX_FIELDS = 50


class Choice(msgspec.Struct, frozen=True):
    const: str
    title: str = ""


class ItemSchema(msgspec.Struct, frozen=True, rename={"any_of": "anyOf"}):
    enum: tuple[str, ...] = ()
    any_of: tuple[Choice, ...] = ()


class FieldSchema(
    msgspec.Struct,
    frozen=True,
    rename={"one_of": "oneOf", "min_length": "minLength", "max_length": "maxLength"},
):
    type: str
    title: str = ""
    description: str = ""
    enum: tuple[str, ...] = ()
    one_of: tuple[Choice, ...] = ()
    items: ItemSchema = ItemSchema()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int = 0
    max_length: int | None = None
    default: object = None


class FormSchema(msgspec.Struct, frozen=True):
    properties: dict[str, FieldSchema] = {}
    required: tuple[str, ...] = ()


class Field(msgspec.Struct, frozen=True):
    name: str
    schema: FieldSchema
    is_required: bool

    @property
    def options(self) -> Mapping[str, str]:
        """The values that can be chosen, with their titles."""
        one, many = self.schema, self.schema.items
        choices = {choice.const: choice.title for choice in (*one.one_of, *many.any_of)}
        return choices or dict.fromkeys((*one.enum, *many.enum), "")

    @property
    def question(self) -> str:
        """What the person is asked, on one line."""
        said = self.schema.title or self.name
        if self.options:
            named = (
                f"{value} ({title})" if title else value for value, title in self.options.items()
            )
            joined = ", ".join(named)
            said += f" [{joined}]" if self.schema.type != "array" else f" [some of {joined}]"
        elif self.schema.type == "boolean":
            said += " [y/n]"
        if self.schema.default is not None:
            said += f", {_show(self.schema.default)} if left empty"
        elif not self.is_required:
            said += ", may be left empty"
        return f"{said}: "


def read_fields(schema: str) -> Sequence[Field]:
    """Raises Refused for a form with anything but plain fields."""
    try:
        form = msgspec.json.decode(schema, type=FormSchema)
    except (msgspec.DecodeError, RecursionError):
        raise Refused("This form cannot be shown in a terminal. Open the page.") from None
    known = ("string", "number", "integer", "boolean", "array")
    if len(form.properties) > MAX_FIELDS or any(
        one.type not in known for one in form.properties.values()
    ):
        raise Refused("This form cannot be shown in a terminal. Open the page.")
    return [Field(name, one, name in form.required) for name, one in form.properties.items()]


def parse_field(field: Field, text: str) -> object:
    """Returns None for a field that is left out. Raises Refused."""
    text = text.strip()
    if not text:
        if field.schema.default is None and field.is_required:
            raise Refused("This has to be filled in.")
        return field.schema.default
    match field.schema.type:
        case "boolean":
            return _parse_boolean(text)
        case "number" | "integer":
            return _parse_number(field.schema, text)
        case "array":
            return [_choose(field, part.strip()) for part in text.split(",")]
    return _choose(field, text) if field.options else _check_length(field.schema, text)


def _parse_boolean(text: str) -> bool:
    if text.lower() in YES:
        return True
    if text.lower() in NO:
        return False
    raise Refused("Say y or n.")


def _parse_number(schema: FieldSchema, text: str) -> float | int:
    try:
        number = msgspec.json.decode(text, type=int if schema.type == "integer" else float)
    except msgspec.DecodeError:
        kind = "a whole number" if schema.type == "integer" else "a number"
        raise Refused(f"This has to be {kind}.") from None
    if schema.minimum is not None and number < schema.minimum:
        raise Refused(f"This has to be {schema.minimum:g} or more.")
    if schema.maximum is not None and number > schema.maximum:
        raise Refused(f"This has to be {schema.maximum:g} or less.")
    return number


def _choose(field: Field, text: str) -> str:
    """Takes a value or its title, in any case."""
    for value, title in field.options.items():
        if text.casefold() in (value.casefold(), title.casefold()):
            return value
    raise Refused(f"Choose one of: {', '.join(field.options)}.")


def _check_length(schema: FieldSchema, text: str) -> str:
    if len(text) < schema.min_length:
        raise Refused(f"This has to have at least {schema.min_length} characters.")
    if schema.max_length is not None and len(text) > schema.max_length:
        raise Refused(f"This may have at most {schema.max_length} characters.")
    return text


def _show(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
