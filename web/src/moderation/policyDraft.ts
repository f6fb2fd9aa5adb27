/** The fields of a policy as they are written in a form. Pure. */

const MIN_CHARS = 2;
const MAX_CHARS = 200;
const MAX_PHRASES = 200;

/** One phrase for each line. Returns null if one of them is too short or too long, or they are too many. */
export function readPhrases(text: string): string[] | null {
	const lines = text.split('\n').map((line) => line.trim());
	const phrases = [...new Set(lines.filter((line) => line !== ''))];
	const fits = (phrase: string) => {
		const { length } = [...phrase];
		return length >= MIN_CHARS && length <= MAX_CHARS;
	};
	return phrases.length <= MAX_PHRASES && phrases.every(fits) ? phrases : null;
}

/** Adds or takes out one of several choices, which keep their order. */
export function toggle<T>(all: readonly T[], chosen: readonly T[], one: T, isOn: boolean): T[] {
	return all.filter((other) => (other === one ? isOn : chosen.includes(other)));
}
