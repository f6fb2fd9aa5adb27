"""Runs Python that a model writes, or that a person runs from an answer."""

from hitsend.tools.code.run_python import build_code_runner, build_run_python, find_sandboxes
from hitsend.tools.code.runner import CodeRunner, Owner

__all__ = ["CodeRunner", "Owner", "build_code_runner", "build_run_python", "find_sandboxes"]
