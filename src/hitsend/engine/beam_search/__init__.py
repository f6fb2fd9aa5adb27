"""Beam search. Start at `beam`."""
