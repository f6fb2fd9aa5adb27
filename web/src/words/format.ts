/** Formats dates, times, sizes, numbers and money in the language of the page. */
const getLanguage = () => document.documentElement.lang || 'en';

export function formatDate(seconds: number): string {
	return new Date(seconds * 1_000).toLocaleDateString(getLanguage(), { dateStyle: 'medium' });
}

export function formatDateTime(seconds: number): string {
	const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
	return new Date(seconds * 1_000).toLocaleString(getLanguage(), style);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
	['day', 86_400],
	['hour', 3_600],
	['minute', 60]
];

/** "3 hours ago"; after a month, the date. */
export function formatAgo(seconds: number, now = Date.now() / 1_000): string {
	const elapsed = Math.max(0, now - seconds);
	if (elapsed > 30 * 86_400) return formatDate(seconds);
	const relative = new Intl.RelativeTimeFormat(getLanguage(), { numeric: 'auto' });
	const [unit, length] = STEPS.find(([, length]) => elapsed >= length) ?? ['second', Infinity];
	return relative.format(-Math.floor(elapsed / length) || 0, unit);
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

export function formatBytes(count: number): string {
	const power = Math.min(
		SIZES.length - 1,
		Math.floor(Math.log(Math.max(count, 1)) / Math.log(1_000))
	);
	const amount = count / 1_000 ** power;
	return amount.toLocaleString(getLanguage(), {
		style: 'unit',
		unit: SIZES[power],
		unitDisplay: 'short',
		maximumFractionDigits: amount < 10 ? 1 : 0
	});
}

export function formatNumber(value: number): string {
	return value.toLocaleString(getLanguage(), { maximumFractionDigits: 3 });
}

/** "12K". */
export function formatCompact(value: number): string {
	return value.toLocaleString(getLanguage(), { notation: 'compact', maximumFractionDigits: 1 });
}

export function formatPercent(share: number): string {
	return share.toLocaleString(getLanguage(), { style: 'percent', maximumFractionDigits: 0 });
}

/** Amounts below a cent get more digits. `currency` may be any text, not only an ISO code. */
export function formatMoney(amount: number, currency: string, maxDigits = 2): string {
	const isSmall = amount > 0 && amount < 0.01;
	const digits = {
		minimumFractionDigits: 2,
		maximumFractionDigits: Math.max(maxDigits, isSmall ? 4 : 2)
	};
	try {
		return amount.toLocaleString(getLanguage(), { style: 'currency', currency, ...digits });
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
		return `${amount.toLocaleString(getLanguage(), digits)} ${currency}`;
	}
}

/** "Sun, 15 Nov", for a UTC day such as "2026-11-15". */
export function formatDay(day: string): string {
	return new Date(`${day}T00:00:00Z`).toLocaleDateString(getLanguage(), {
		weekday: 'short',
		day: 'numeric',
		month: 'short',
		timeZone: 'UTC'
	});
}
