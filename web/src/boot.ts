/**
 * Sets the theme before the first paint. The browser waits for this file, so it has no imports;
 * `state/preferences` applies the other preferences later.
 */
try {
	const stored = JSON.parse(localStorage.getItem('hitsend.preferences') ?? '{}') as {
		theme?: string;
	};
	document.documentElement.dataset['theme'] = stored.theme ?? 'system';
} catch {
	document.documentElement.dataset['theme'] = 'system';
}
