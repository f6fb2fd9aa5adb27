/**
 * Parts of the page that are fetched when something first needs them. Null where one cannot be
 * had, because the connection is gone; whoever needs it next has it tried again.
 */
export function fetchedOnce<T>(fetch: () => Promise<T>): () => Promise<T | null> {
	let part: Promise<T | null> | null = null;
	return () => {
		// Browsers have many ways to say that a file did not come.
		part ??= fetch().catch(() => (part = null));
		return part;
	};
}
