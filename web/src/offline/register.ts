/** Registers the service worker, which opens the page without the server. */
export function registerServiceWorker(): void {
	// Browsers have it on https and localhost only.
	if (!('serviceWorker' in navigator)) return;
	const register = (): void => {
		navigator.serviceWorker.register('/sw.js').catch(() => {
			// A private window may refuse it: the page then needs the server to open.
		});
	};
	// The first load has the connections to itself.
	if (document.readyState === 'complete') register();
	else addEventListener('load', register, { once: true });
}
