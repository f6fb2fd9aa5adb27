/** Reads the browser and system out of a user agent string. */
export interface Browser {
	browser: string | null;
	system: string | null;
}

/** The order matters: many browsers also name those further down. */
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

export function parseUserAgent(userAgent: string): Browser {
	const firstMatch = (patterns: [RegExp, string][]) =>
		patterns.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;
	return { browser: firstMatch(BROWSERS), system: firstMatch(SYSTEMS) };
}
