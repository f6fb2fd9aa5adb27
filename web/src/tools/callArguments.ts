/** The arguments of a call, as a person reads them. Pure values. */

export interface CallArguments {
	/** A program among them, which is shown by itself. */
	program: string | null;
	/** All others, as formatted JSON. Empty if there are none. */
	json: string;
	/** All others, by name. Null if the text is no object. */
	values: { name: string; text: string }[] | null;
}

const PROGRAM = 'code';

/** Text that is no JSON object, as of a call that was cut short, is shown as it is. */
export function parseArguments(text: string): CallArguments {
	const parsed = parseObject(text);
	if (parsed === null) return { program: null, json: text.trim(), values: null };
	const program = typeof parsed[PROGRAM] === 'string' ? parsed[PROGRAM] : null;
	const others = Object.entries(parsed).filter(([name]) => program === null || name !== PROGRAM);
	return {
		program,
		json: others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others), null, 2),
		values: others.map(([name, value]) => ({ name, text: toText(value) }))
	};
}

function parseObject(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
		return isObject ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

function toText(value: unknown): string {
	return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
