/** Checks a name and password before they are sent, and assigns the server's refusals to fields. */
import type { Failure } from '$/api/wire';
import { describeFailure } from '$/words/failure';
import { isEasyToGuess } from '$/safety/passwords';
import { MIN_PASSWORD_CHARS } from '$/safety/commonPasswords.gen';
import type { Words } from '$/words/words';

export interface Problems {
	name?: string;
	password?: string;
	/** About both fields together. */
	both?: string;
}

export function checkCredentials(
	name: string,
	password: string,
	isNew: boolean,
	t: Words['signIn']
): Problems {
	const problems: Problems = {};
	if (name.trim() === '') problems.name = isNew ? t.nameMissing : t.signIn.nameMissing;
	const problem = isNew ? checkNewPassword(password, name, t) : undefined;
	if (password === '') problems.password = isNew ? t.passwordRule : t.passwordMissing;
	else if (problem !== undefined) problems.password = problem;
	return problems;
}

/** Returns why the server would refuse this password for a new one. */
export function checkNewPassword(
	password: string,
	name: string,
	t: Words['signIn']
): string | undefined {
	// Counts code points, as the server does.
	const missing = MIN_PASSWORD_CHARS - [...password].length;
	if (missing > 0) return t.passwordShort(missing);
	return isEasyToGuess(password, name) ? t.passwordWeak : undefined;
}

/** Assigns a refusal to the field it is about. */
export function assignFailure(failure: Failure, t: Words): Problems {
	const sentence = describeFailure(failure, t);
	if (failure.param === 'name') {
		return { name: failure.code === 'conflict' ? t.signIn.nameTaken : sentence };
	}
	if (failure.param === 'password') return { password: sentence };
	if (failure.param === 'invite') return { both: t.signIn.inviteOver };
	if (failure.param === 'token') return { both: t.signIn.reset.over };
	if (failure.param === 'setup_token') return { both: t.signIn.first.tokenWrong };
	return { both: failure.code === 'unauthenticated' ? t.signIn.wrong : sentence };
}
