/**
 * Runs before anything is painted: the theme a person chose. It is a file of its own, without
 * imports, because the page waits for it; `state/preferences` does the rest when it has come.
 */
try {
	const kept = JSON.parse(localStorage.getItem('hitsend.preferences') ?? '{}') as {
		theme?: string;
	};
	document.documentElement.dataset['theme'] = kept.theme ?? 'system';
} catch {
	document.documentElement.dataset['theme'] = 'system';
}
