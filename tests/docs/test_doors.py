"""A package's door: what it offers is what its `__all__` says."""

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
    """Public names that come from the package itself, not from elsewhere."""
    return {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", package.__name__).startswith(package.__name__)
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_offers_exactly_what_it_says(name: str) -> None:
    package = importlib.import_module(name)
    offered = getattr(package, "__all__", [])
    assert own_names(package) <= set(offered)
    assert [offer for offer in offered if not hasattr(package, offer)] == []
