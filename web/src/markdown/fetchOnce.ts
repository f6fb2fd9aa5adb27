/** Fetches a module on first use and caches it. Returns null if that fails, and tries again on the next call. */
export function fetchOnce<T>(fetch: () => Promise<T>): () => Promise<T | null> {
	let module: Promise<T | null> | null = null;
	return () => {
		// Browsers throw different errors for a failed import.
		module ??= fetch().catch(() => (module = null));
		return module;
	};
}
