"""The small part of Jinja that a prompt may use, and nothing else of it.

Slots, `if`, a loop over a list, and two filters. Everything else is refused when the template is
read, before any of it is run; the sandbox it runs in is a second wall. So a rendering ends, soon,
and reaches nothing but its slots, whoever wrote the template.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import TypeAlias, cast

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hitsend.canonical import canonical
from hitsend.errors import Refused
from hitsend.messages import Role
from hitsend.prompts.text import SlotKind

MOST_TEMPLATE_CHARS = 20_000
MOST_DEPTH = 30

Section: TypeAlias = tuple[Role, jinja2.Template]
Kinds: TypeAlias = tuple[tuple[str, SlotKind, bool], ...]
"""Of each slot: its name, its kind, and whether a template has to show it."""

HEAD = re.compile(r"^=== (system|user|assistant)[ \t]*$\n?", re.MULTILINE)

ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.If, nodes.For,
    nodes.Not, nodes.And, nodes.Or, nodes.Filter, nodes.Getattr,
)  # fmt: skip
FILTERS = ("join", "length")
"""Of a list."""
MOST_JOINING_CHARS = 100
OF_LOOP = ("first", "last", "index")


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
    kept = {name: environment.filters[name] for name in FILTERS}
    environment.filters.clear()
    environment.filters.update(kept)
    return environment


ENVIRONMENT = _environment()


@lru_cache(maxsize=256)
def sections(template: str, kinds: Kinds) -> tuple[Section, ...]:
    """Ready to be rendered, with whose words each one is. Raises Refused, with the line."""
    if len(template) > MOST_TEMPLATE_CHARS:
        raise _refused(f"A template has at most {MOST_TEMPLATE_CHARS:,} characters.")
    found, shown = [], set[str]()
    for role, source, num_lines_before in _split(template):
        tree = _parsed(source, num_lines_before)
        for problem, line in _problems(tree, {name: kind for name, kind, _ in kinds}):
            raise _refused(f"Line {num_lines_before + line}: {problem}")
        shown |= {node.name for node in tree.find_all(nodes.Name)}
        found.append((role, _compiled(tree, num_lines_before)))
    for name, _, is_required in kinds:
        if is_required and name not in shown:
            raise _refused(f"The template never shows `{name}`.")
    return tuple(found)


def _split(template: str) -> Iterator[tuple[Role, str, int]]:
    """Before anything is put in: nothing that is put in can begin a section."""
    heads = list(HEAD.finditer(template))
    before = template[: heads[0].start()] if heads else template
    if before.strip() or not heads:
        yield "system", before, 0
    for head, after in zip_longest(heads, heads[1:]):
        source = template[head.end() : after.start() if after else None]
        yield cast(Role, head[1]), source, template.count("\n", 0, head.end())


def _parsed(source: str, num_lines_before: int) -> nodes.Template:
    try:
        return ENVIRONMENT.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise _misspelt(error, num_lines_before) from None
    except (RecursionError, ValueError):  # thousands of parentheses, or of digits
        raise _refused("The template is nested too deeply.") from None


def _compiled(tree: nodes.Template, num_lines_before: int) -> jinja2.Template:
    """Some mistakes Jinja sees only now, such as calling each of a list `loop`."""
    try:
        return ENVIRONMENT.from_string(tree)
    except jinja2.TemplateSyntaxError as error:
        raise _misspelt(error, num_lines_before) from None


def _misspelt(error: jinja2.TemplateSyntaxError, num_lines_before: int) -> Refused:
    return _refused(f"Line {num_lines_before + error.lineno}: {error.message}")


def _problems(tree: nodes.Template, kinds: Mapping[str, SlotKind]) -> Iterator[tuple[str, int]]:
    """What is not allowed, and the line it stands on. Walks without recursion, so as not to fall
    into what it looks for."""
    waiting: list[tuple[nodes.Node, int, str | None]] = [(tree, 0, None)]
    while waiting:
        node, depth, one = waiting.pop()
        if depth > MOST_DEPTH:
            yield "this is nested too deeply.", node.lineno
            return
        if problem := _problem(node, kinds, one):
            yield problem, node.lineno
        if isinstance(node, nodes.For) and isinstance(node.target, nodes.Name):
            one = node.target.name
        if not _is_of_loop(node, one):
            waiting += [(child, depth + 1, one) for child in node.iter_child_nodes()]


def _problem(node: nodes.Node, kinds: Mapping[str, SlotKind], one: str | None) -> str | None:
    """`one` is what the loop around it calls each of a list."""
    match node:
        case nodes.Name(name=name) if name not in kinds and name != one:
            return f"there is no slot `{name}`."
        case nodes.Const(value=str() as text) if canonical(text) != text:
            return "a character in quotes cannot be seen."
        case nodes.Output(nodes=shown) if not all(_is_shown(part, kinds) for part in shown):
            return "yes and no are for `{% if %}`: show a slot that is text or a list."
        case nodes.Filter(name=name) if name not in FILTERS:
            return f"there is no filter `{name}`; there are {' and '.join(FILTERS)}."
        case nodes.Filter(name=name, node=nodes.Name(name=of)) if kinds.get(of) == "list":
            return None if _is_plain(node) else f"`{name}` takes less."
        case nodes.Filter(name=name):
            return f"`{name}` is for a slot that is a list."
        case nodes.Getattr(attr=attr) if not _is_of_loop(node, one):
            return f"`.{attr}` cannot be used."
        case nodes.For(target=nodes.Name(name=target)) if target in kinds:
            return f"`{target}` is a slot: call each of a list something else."
        case nodes.For(iter=nodes.Name(name=name), test=None, else_=[], recursive=False):
            if one or kinds.get(name) != "list":
                return "a loop goes over a slot that is a list, and not inside another."
        case nodes.For():
            return "a loop goes over a slot, and has nothing but an end."
        case _ if not isinstance(node, ALLOWED):
            return f"`{type(node).__name__.lower()}` cannot be used in a prompt."
    return None


def _is_of_loop(node: nodes.Node, one: str | None) -> bool:
    match node:
        case nodes.Getattr(node=nodes.Name(name="loop"), attr=attr):
            return one is not None and attr in OF_LOOP
    return False


def _is_shown(node: nodes.Node, kinds: Mapping[str, SlotKind]) -> bool:
    """Reads as something. A flag does not: it would say "True"."""
    match node:
        case nodes.Name(name=name):
            return kinds.get(name) != "flag"
        case nodes.Getattr(attr="first" | "last"):
            return False
    return not isinstance(node, nodes.And | nodes.Or | nodes.Not)


def _is_plain(node: nodes.Filter) -> bool:
    """With nothing but a short text in quotes to join by: what it makes grows with the list only,
    and never fails."""
    if node.kwargs or node.dyn_args or node.dyn_kwargs:
        return False
    match node.name, node.args:
        case "join", [nodes.Const(value=str() as text)]:
            return len(text) <= MOST_JOINING_CHARS
    return not node.args


def _refused(problem: str) -> Refused:
    return Refused(problem, param="template")
