/** Numbers, sizes, durations and times, as a language writes them. */
const SOON_MS = 600_000;
const DAY_MS = 86_400_000;

export function numbersIn(language: string) {
	const whole = formatIn(language, { maximumFractionDigits: 0 });
	const oneDigit = formatIn(language, { maximumFractionDigits: 1 });
	const twoDigits = formatIn(language, { maximumFractionDigits: 2 });
	const share = formatIn(language, {
		style: 'percent',
		minimumFractionDigits: 1,
		maximumFractionDigits: 1
	});
	return {
		whole,
		/** One digit after the point where it says something. */
		rough: (value: number) => (value < 10 ? oneDigit : whole)(value),
		oneDigit,
		/** Of a share between 0 and 1. */
		percent: share,
		duration: (ms: number, isExact = false) => {
			if (ms < 1000) return `${(ms < 10 ? oneDigit : whole)(ms)}\u00a0ms`;
			return `${(isExact ? twoDigits : oneDigit)(ms / 1000)}\u00a0s`;
		},
		/** To the second where that is soon, and on which day where that is not today. */
		when: (at: Date, preposition: string) => {
			const isSoon = Math.abs(at.getTime() - Date.now()) < SOON_MS;
			const time = at.toLocaleTimeString(language, { timeStyle: isSoon ? 'medium' : 'short' });
			const numDays = Math.round((midnightOf(at) - midnightOf(new Date())) / DAY_MS);
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

function midnightOf(at: Date): number {
	return new Date(at).setHours(0, 0, 0, 0);
}

/** Made when it is first asked: browsers take milliseconds to make one. */
function formatIn(language: string, options: Intl.NumberFormatOptions) {
	let format: Intl.NumberFormat | null = null;
	return (value: number) => (format ??= new Intl.NumberFormat(language, options)).format(value);
}
