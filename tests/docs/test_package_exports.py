"""Each package exports exactly the names in its `__all__`."""

import importlib
import pkgutil
from types import ModuleType

import pytest

import hitsend

PACKAGES = sorted(
    found.name
    for found in pkgutil.walk_packages(hitsend.__path__, "hitsend.")
    if found.ispkg and ".migrations" not in found.name
)


def own_names(package: ModuleType) -> set[str]:
    """Returns the public names that the package defines, not those it imports."""
    return {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", package.__name__).startswith(package.__name__)
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_exports_exactly_its_all(name: str) -> None:
    package = importlib.import_module(name)
    exported = getattr(package, "__all__", [])
    assert own_names(package) <= set(exported)
    assert [one for one in exported if not hasattr(package, one)] == []
