/** When something was said: the time today, the day before that; and the whole date to look up. */
export function when(seconds: number, language: string, now = new Date()): string {
	const date = new Date(seconds * 1000);
	const isToday = date.toDateString() === now.toDateString();
	const isThisYear = date.getFullYear() === now.getFullYear();
	return formOf(language, isToday ? 'time' : isThisYear ? 'day' : 'dayOfYear').format(date);
}

export function exactly(seconds: number, language: string): string {
	return formOf(language, 'exact').format(new Date(seconds * 1000));
}

const FORMS = {
	time: { timeStyle: 'short' },
	day: { day: 'numeric', month: 'short' },
	dayOfYear: { day: 'numeric', month: 'short', year: 'numeric' },
	exact: { dateStyle: 'full', timeStyle: 'medium' }
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Browsers take long to make these, and every message needs two. */
const made = new Map<string, Intl.DateTimeFormat>();

function formOf(language: string, name: keyof typeof FORMS): Intl.DateTimeFormat {
	const key = `${language} ${name}`;
	const form = made.get(key) ?? new Intl.DateTimeFormat(language, FORMS[name]);
	made.set(key, form);
	return form;
}
