"""MiniLM, fine-tuned to tell harm: texts to vectors. Start at `process`."""

from hitsend.safety.encoder.process import ChildEncoder

__all__ = ["ChildEncoder"]
