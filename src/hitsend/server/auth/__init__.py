"""Authentication: sessions, API keys and signed tokens."""
