"""Parses prompt templates, which may use a small part of Jinja.

Slots, `if`, a loop over a list, and two filters. Everything else is refused when the template is
parsed, before anything runs; Jinja's sandbox is a second barrier. So rendering always ends soon and
can read nothing but the slots, whoever wrote the template.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias, cast

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hitsend.canonical import canonicalize
from hitsend.errors import Refused
from hitsend.messages import Role
from hitsend.prompts.prompt_text import SlotKind

MAX_TEMPLATE_CHARS = 20_000
MAX_DEPTH = 30

Section: TypeAlias = tuple[Role, jinja2.Template]
Kinds: TypeAlias = tuple[tuple[str, SlotKind, bool], ...]
"""For each slot: its name, its kind, and whether a template must show it."""

SECTION_HEAD = re.compile(r"^=== (system|user|assistant)[ \t]*$\n?", re.MULTILINE)

ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If, nodes.For,
    nodes.Not, nodes.And, nodes.Or, nodes.Filter, nodes.Getattr,
)  # fmt: skip
FILTERS = ("join", "length")
"""For lists."""
MAX_SEPARATOR_CHARS = 100
LOOP_ATTRIBUTES = ("first", "last", "index")


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=0,
    )
    environment.globals.clear()
    environment.tests.clear()
    allowed = {name: environment.filters[name] for name in FILTERS}
    environment.filters.clear()
    environment.filters.update(allowed)
    return environment


ENVIRONMENT = _environment()


@lru_cache(maxsize=256)
def compile_sections(template: str, kinds: Kinds) -> tuple[Section, ...]:
    """Returns the compiled sections with their roles. Raises Refused, with the line."""
    if len(template) > MAX_TEMPLATE_CHARS:
        raise _build_refusal(f"A template has at most {MAX_TEMPLATE_CHARS:,} characters.")
    found, shown = [], set[str]()
    for role, source, num_lines_before in _split(template):
        tree = _parse(source, num_lines_before)
        for problem, line in _problems(tree, {name: kind for name, kind, _ in kinds}):
            raise _build_refusal(f"Line {num_lines_before + line}: {problem}")
        shown |= {node.name for node in tree.find_all(nodes.Name)}
        found.append((role, _compile(tree, num_lines_before)))
    for name, _, is_required in kinds:
        if is_required and name not in shown:
            raise _build_refusal(f"The template never shows `{name}`.")
    return tuple(found)


def _split(template: str) -> Iterator[tuple[Role, str, int]]:
    """Splits before values are inserted, so no value can start a section."""
    heads = list(SECTION_HEAD.finditer(template))
    before = template[: heads[0].start()] if heads else template
    if before.strip() or not heads:
        yield "system", before, 0
    for head, after in zip_longest(heads, heads[1:]):
        source = template[head.end() : after.start() if after else None]
        yield cast(Role, head[1]), source, template.count("\n", 0, head.end())


def _parse(source: str, num_lines_before: int) -> nodes.Template:
    try:
        return ENVIRONMENT.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise _syntax_error(error, num_lines_before) from None
    except (RecursionError, ValueError):  # thousands of parentheses, or of digits
        raise _build_refusal("The template is nested too deeply.") from None


def _compile(tree: nodes.Template, num_lines_before: int) -> jinja2.Template:
    """Jinja finds some mistakes only here, such as a loop variable named `loop`."""
    try:
        return ENVIRONMENT.from_string(tree)
    except jinja2.TemplateSyntaxError as error:
        raise _syntax_error(error, num_lines_before) from None


def _syntax_error(error: jinja2.TemplateSyntaxError, num_lines_before: int) -> Refused:
    return _build_refusal(f"Line {num_lines_before + error.lineno}: {error.message}")


def _problems(tree: nodes.Template, kinds: Mapping[str, SlotKind]) -> Iterator[tuple[str, int]]:
    """Yields what is not allowed, with its line. Walks without recursion, because the tree may be
    too deep for it."""
    waiting: list[tuple[nodes.Node, int, str | None]] = [(tree, 0, None)]
    while waiting:
        node, depth, item = waiting.pop()
        if depth > MAX_DEPTH:
            yield "this is nested too deeply.", node.lineno
            return
        if problem := _problem(node, kinds, item):
            yield problem, node.lineno
        if isinstance(node, nodes.For) and isinstance(node.target, nodes.Name):
            item = node.target.name
        if not _is_loop_attribute(node, item):
            waiting += [(child, depth + 1, item) for child in node.iter_child_nodes()]


def _problem(node: nodes.Node, kinds: Mapping[str, SlotKind], item: str | None) -> str | None:
    """`item` is the variable of the surrounding loop."""
    match node:
        case nodes.Name(name=name) if name not in kinds and name != item:
            return f"there is no slot `{name}`."
        case nodes.Const(value=str() as text) if canonicalize(text) != text:
            return "a character in quotes cannot be seen."
        case nodes.Output(nodes=shown) if not all(_is_shown(part, kinds) for part in shown):
            return "yes and no are for `{% if %}`: show a slot that is text or a list."
        case nodes.Filter(name=name) if name not in FILTERS:
            return f"there is no filter `{name}`; there are {' and '.join(FILTERS)}."
        case nodes.Filter(name=name, node=nodes.Name(name=of)) if kinds.get(of) == "list":
            return None if _has_plain_arguments(node) else f"`{name}` takes less."
        case nodes.Filter(name=name):
            return f"`{name}` is for a slot that is a list."
        case nodes.Getattr(attr=attr) if not _is_loop_attribute(node, item):
            return f"`.{attr}` cannot be used."
        case nodes.For(target=nodes.Name(name=target)) if target in kinds:
            return f"`{target}` is a slot: call each of a list something else."
        case nodes.For(iter=nodes.Name(name=name), test=None, else_=[], recursive=False):
            if item or kinds.get(name) != "list":
                return "a loop goes over a slot that is a list, and not inside another."
        case nodes.For():
            return "a loop goes over a slot, and has nothing but an end."
        case _ if not isinstance(node, ALLOWED):
            return f"`{type(node).__name__.lower()}` cannot be used in a prompt."
    return None


def _is_loop_attribute(node: nodes.Node, item: str | None) -> bool:
    match node:
        case nodes.Getattr(node=nodes.Name(name="loop"), attr=attr):
            return item is not None and attr in LOOP_ATTRIBUTES
    return False


def _is_shown(node: nodes.Node, kinds: Mapping[str, SlotKind]) -> bool:
    """Whether it renders as text. A flag would render as "True"."""
    match node:
        case nodes.Name(name=name):
            return kinds.get(name) != "flag"
        case nodes.Getattr(attr="first" | "last"):
            return False
    return not isinstance(node, nodes.And | nodes.Or | nodes.Not)


def _has_plain_arguments(node: nodes.Filter) -> bool:
    """Whether its only argument, if any, is a short separator, so the result is bounded by the list
    and it never fails."""
    if node.kwargs or node.dyn_args or node.dyn_kwargs:
        return False
    match node.name, node.args:
        case "join", [nodes.Const(value=str() as text)]:
            return len(text) <= MAX_SEPARATOR_CHARS
    return not node.args


def _build_refusal(problem: str) -> Refused:
    return Refused(problem, param="template")
