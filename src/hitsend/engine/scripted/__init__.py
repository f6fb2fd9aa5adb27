"""An engine without a model, for tests, benchmarks and work on the page. Start at `engine`."""
