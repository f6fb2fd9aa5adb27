"""Embedders: texts to vectors. Start at `minilm`."""
