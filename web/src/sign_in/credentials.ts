/** Checks a name and password before they are sent, and assigns the server's refusals to fields. */
import type { Failure } from '$/api/wire';
import { describeFailure } from '$/words/failure';
import type { Words } from '$/words/words';

export interface Problems {
	name?: string;
	password?: string;
	/** About both fields together. */
	both?: string;
}

const MIN_PASSWORD_CHARS = 8;

export function checkCredentials(
	name: string,
	password: string,
	isNew: boolean,
	t: Words['signIn']
): Problems {
	const problems: Problems = {};
	if (name.trim() === '') problems.name = isNew ? t.nameMissing : t.signIn.nameMissing;
	// Counts code points, as the server does.
	const missing = MIN_PASSWORD_CHARS - [...password].length;
	if (password === '') problems.password = isNew ? t.passwordRule : t.passwordMissing;
	else if (isNew && missing > 0) problems.password = t.passwordShort(missing);
	return problems;
}

/** Assigns a refusal to the field it is about. */
export function assignFailure(failure: Failure, t: Words): Problems {
	const sentence = describeFailure(failure, t);
	if (failure.param === 'name') {
		return { name: failure.code === 'conflict' ? t.signIn.nameTaken : sentence };
	}
	if (failure.param === 'password') return { password: sentence };
	if (failure.param === 'invite') return { both: t.signIn.inviteOver };
	return { both: failure.code === 'unauthenticated' ? t.signIn.wrong : sentence };
}
