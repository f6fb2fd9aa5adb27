"""Metrics for Prometheus: what `/metrics` shows. Start at `metrics`."""
