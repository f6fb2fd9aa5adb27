/** Numbers, sizes and durations, as a language writes them. */
export function numbersIn(language: string) {
	const upTo = (digits: number) =>
		new Intl.NumberFormat(language, { maximumFractionDigits: digits });
	const [whole, oneDigit, twoDigits] = [upTo(0), upTo(1), upTo(2)];
	const share = new Intl.NumberFormat(language, {
		style: 'percent',
		minimumFractionDigits: 1,
		maximumFractionDigits: 1
	});
	return {
		whole: (value: number) => whole.format(value),
		/** One digit after the point where it says something. */
		rough: (value: number) => (value < 10 ? oneDigit : whole).format(value),
		oneDigit: (value: number) => oneDigit.format(value),
		/** Of a share between 0 and 1. */
		percent: (value: number) => share.format(value),
		duration: (ms: number, isExact = false) => {
			if (ms < 1000) return `${(ms < 10 ? oneDigit : whole).format(ms)}\u00a0ms`;
			return `${(isExact ? twoDigits : oneDigit).format(ms / 1000)}\u00a0s`;
		},
		size: (numBytes: number) => {
			if (numBytes >= 1e9) return `${oneDigit.format(numBytes / 1e9)} GB`;
			return `${(numBytes >= 1e7 ? whole : oneDigit).format(numBytes / 1e6)} MB`;
		}
	};
}
