"""Engines on other servers: OpenAI-compatible, vLLM and llama-server. Start at `engine`."""
