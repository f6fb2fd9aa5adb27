/** Asks the browser to keep the shell of the page, so that it opens without the server. */
export function installWorker(): void {
	// Browsers have it on https and on this machine only.
	if (!('serviceWorker' in navigator)) return;
	const ask = (): void => {
		navigator.serviceWorker.register('/sw.js').catch(() => {
			// Refused, by a private window say: the page then simply needs the server to open.
		});
	};
	// The first load has the line to itself.
	if (document.readyState === 'complete') ask();
	else addEventListener('load', ask, { once: true });
}
