import { expect, test } from 'vitest';
import { parseUserAgent } from '$/settings/userAgent';

const CHROME = '(KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

test.each([
	['Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'Firefox', 'Linux'],
	[`Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 ${CHROME}`, 'Chrome', 'Windows'],
	[`Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 ${CHROME} Edg/141.0`, 'Edge', 'Windows'],
	[`Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 ${CHROME}`, 'Chrome', 'Android'],
	[
		'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1',
		'Safari',
		'iPhone'
	],
	[
		'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15',
		'Safari',
		'macOS'
	]
])('%s is recognised', (userAgent, browser, system) => {
	expect(parseUserAgent(userAgent)).toEqual({ browser, system });
});

test('an unknown user agent is not guessed', () => {
	expect(parseUserAgent('')).toEqual({ browser: null, system: null });
});
