/** Formats numbers, sizes, durations and times for a language. */
const SOON_MS = 600_000;
const DAY_MS = 86_400_000;

export function createNumberFormats(language: string) {
	const whole = createFormat(language, { maximumFractionDigits: 0 });
	const oneDigit = createFormat(language, { maximumFractionDigits: 1 });
	const twoDigits = createFormat(language, { maximumFractionDigits: 2 });
	const share = createFormat(language, {
		style: 'percent',
		minimumFractionDigits: 1,
		maximumFractionDigits: 1
	});
	return {
		whole,
		/** One decimal below ten, none above. */
		rough: (value: number) => (value < 10 ? oneDigit : whole)(value),
		oneDigit,
		/** Takes a share between 0 and 1. */
		percent: share,
		duration: (ms: number, isExact = false) => {
			if (ms < 1000) return `${(ms < 10 ? oneDigit : whole)(ms)}\u00a0ms`;
			return `${(isExact ? twoDigits : oneDigit)(ms / 1000)}\u00a0s`;
		},
		/** With seconds if it is within ten minutes, and with the day if it is not today. */
		when: (at: Date, preposition: string) => {
			const isSoon = Math.abs(at.getTime() - Date.now()) < SOON_MS;
			const time = at.toLocaleTimeString(language, { timeStyle: isSoon ? 'medium' : 'short' });
			const numDays = Math.round((startOfDay(at) - startOfDay(new Date())) / DAY_MS);
			if (numDays === 0) return `${preposition} ${time}`;
			const days = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
			return `${days.format(numDays, 'day')} ${preposition} ${time}`;
		},
		size: (numBytes: number) => {
			if (numBytes >= 1e9) return `${oneDigit(numBytes / 1e9)} GB`;
			return `${(numBytes >= 1e7 ? whole : oneDigit)(numBytes / 1e6)} MB`;
		}
	};
}

function startOfDay(at: Date): number {
	return new Date(at).setHours(0, 0, 0, 0);
}

/** Creates the format on first use, because that takes milliseconds. */
function createFormat(language: string, options: Intl.NumberFormatOptions) {
	let format: Intl.NumberFormat | null = null;
	return (value: number) => (format ??= new Intl.NumberFormat(language, options)).format(value);
}
