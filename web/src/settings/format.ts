/** Days, moments, sizes and numbers, as the language of the page writes them. */
const language = () => document.documentElement.lang || 'en';

export function day(seconds: number): string {
	return new Date(seconds * 1_000).toLocaleDateString(language(), { dateStyle: 'medium' });
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400],
	['hour', 3_600],
	['minute', 60]
];

/** "3 hours ago"; after a month, the day it was. */
export function ago(seconds: number, now = Date.now() / 1_000): string {
	const passed = Math.max(0, now - seconds);
	if (passed > 30 * 86_400) return day(seconds);
	const relative = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' });
	const [unit, length] = STEPS.find(([, length]) => passed >= length) ?? ['second', Infinity];
	return relative.format(-Math.floor(passed / length) || 0, unit);
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

export function bytes(count: number): string {
	const power = Math.min(
		SIZES.length - 1,
		Math.floor(Math.log(Math.max(count, 1)) / Math.log(1_000))
	);
	const amount = count / 1_000 ** power;
	return amount.toLocaleString(language(), {
		style: 'unit',
		unit: SIZES[power],
		unitDisplay: 'short',
		maximumFractionDigits: amount < 10 ? 1 : 0
	});
}

export function number(value: number): string {
	return value.toLocaleString(language(), { maximumFractionDigits: 3 });
}
