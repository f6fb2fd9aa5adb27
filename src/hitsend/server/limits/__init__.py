"""Request limits, token limits and proof of work. Start at `send_limits`."""
