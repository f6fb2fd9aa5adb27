/** Which browser and system a user agent string speaks of, in words people know. */
export interface Browser {
	browser: string | null;
	system: string | null;
}

/** In this order: many browsers also claim to be the ones further down. */
const BROWSERS: [RegExp, string][] = [
	[/\bEdg(e|A|iOS)?\//, 'Edge'],
	[/\bOPR\/|\bOpera\b/, 'Opera'],
	[/\bVivaldi\//, 'Vivaldi'],
	[/\bSamsungBrowser\//, 'Samsung Internet'],
	[/\bFirefox\/|\bFxiOS\//, 'Firefox'],
	[/\bHeadlessChrome\/|\bChrome\/|\bCriOS\//, 'Chrome'],
	[/\bSafari\//, 'Safari'],
	[/\bcurl\//, 'curl'],
	[/\bpython|\bhttpx/i, 'Python']
];
const SYSTEMS: [RegExp, string][] = [
	[/\biPhone\b/, 'iPhone'],
	[/\biPad\b/, 'iPad'],
	[/\bAndroid\b/, 'Android'],
	[/\bCrOS\b/, 'ChromeOS'],
	[/\bWindows\b/, 'Windows'],
	[/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
	[/\bLinux\b|\bX11\b/, 'Linux']
];

export function browserOf(userAgent: string): Browser {
	const first = (known: [RegExp, string][]) =>
		known.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;
	return { browser: first(BROWSERS), system: first(SYSTEMS) };
}
