/** Reads what people type into the form of a tool server. */

/** Splits a command line at spaces outside of quotes. No shell reads it later. */
export function splitCommand(text: string): string[] {
	const words: string[] = [];
	let word: string | null = null;
	let quote = '';
	for (let i = 0; i < text.length; i += 1) {
		const char = text.charAt(i);
		if (char === '\\' && quote !== "'" && i + 1 < text.length) {
			i += 1;
			word = (word ?? '') + text.charAt(i);
		} else if (quote !== '') {
			if (char === quote) quote = '';
			else word = (word ?? '') + char;
		} else if (char === '"' || char === "'") {
			quote = char;
			word ??= '';
		} else if (/\s/.test(char)) {
			if (word !== null) words.push(word);
			word = null;
		} else {
			word = (word ?? '') + char;
		}
	}
	if (word !== null) words.push(word);
	return words;
}

/** Writes a list of words so that `splitCommand` reads them again. */
export function joinCommand(words: readonly string[]): string {
	const plain = /^[\w@%+=:,./-]+$/;
	return words
		.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
		.join(' ');
}

/** Reads a name and a value in each line. Returns null if a line has no name. */
export function readPairs(text: string, separator: '=' | ':'): Record<string, string> | null {
	const pairs: Record<string, string> = {};
	for (const line of text.split('\n')) {
		if (line.trim() === '') continue;
		const at = line.indexOf(separator);
		const name = line.slice(0, Math.max(at, 0)).trim();
		if (name === '') return null;
		pairs[name] = line.slice(at + 1).trim();
	}
	return pairs;
}
