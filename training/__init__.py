"""Trains the safety classifier. Not part of the product: start at `train`."""
