/** What is wrong with a name and a password, before the server is asked and after. */
import type { Failure } from '$/api/wire';
import { sentenceOf } from '$/words/problem';
import type { Words } from '$/words/words';

export interface Problems {
	name?: string;
	password?: string;
	/** About the two together. */
	both?: string;
}

const MIN_PASSWORD_CHARS = 8;

export function problemsOf(
	name: string,
	password: string,
	isNew: boolean,
	t: Words['wayIn']
): Problems {
	const problems: Problems = {};
	if (name.trim() === '') problems.name = isNew ? t.nameMissing : t.signIn.nameMissing;
	// The server counts characters, not the units JavaScript stores them in.
	const missing = MIN_PASSWORD_CHARS - [...password].length;
	if (password === '') problems.password = isNew ? t.passwordRule : t.passwordMissing;
	else if (isNew && missing > 0) problems.password = t.passwordShort(missing);
	return problems;
}

/** What the server refused, said where it belongs. */
export function blame(failure: Failure, t: Words): Problems {
	const sentence = sentenceOf(failure, t);
	if (failure.param === 'name') {
		return { name: failure.code === 'conflict' ? t.wayIn.nameTaken : sentence };
	}
	if (failure.param === 'password') return { password: sentence };
	if (failure.param === 'invite') return { both: t.wayIn.inviteOver };
	return { both: failure.code === 'unauthenticated' ? t.wayIn.wrong : sentence };
}
