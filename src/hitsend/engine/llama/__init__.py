"""The local engine: llama.cpp in child processes. Start at `engine`."""
