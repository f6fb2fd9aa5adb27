"""Model weights: the catalogue, downloads, and the GGUF header reader. Start at `catalogue`."""
