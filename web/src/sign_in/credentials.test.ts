import { expect, test } from 'vitest';
import { assignFailure, checkCredentials } from '$/sign_in/credentials';
import { en } from '$/words/en';

const t = en.signIn;

test('a name and a long enough password are valid', () => {
	expect(checkCredentials('ada', 'correct horse', true, t)).toEqual({});
});

test('each empty field has its own problem', () => {
	expect(checkCredentials('  ', '', true, t)).toEqual({
		name: t.nameMissing,
		password: t.passwordRule
	});
});

test('a short new password says how many characters it lacks', () => {
	expect(checkCredentials('ada', '1234567', true, t).password).toBe('One character more, please.');
	expect(checkCredentials('ada', '🦊🦊🦊🦊', true, t).password).toBe('4 more characters, please.');
});

test('a new password that is easy to guess is refused, also for being the name', () => {
	expect(checkCredentials('ada', 'Passw0rd1', true, t)).toEqual({ password: t.passwordWeak });
	expect(checkCredentials('lovelace', 'lovelace99', true, t)).toEqual({ password: t.passwordWeak });
	expect(checkCredentials('ada', 'Passw0rd1', false, t)).toEqual({});
});

test('an existing password is not checked for length', () => {
	expect(checkCredentials('ada', 'short', false, t)).toEqual({});
});

test('a refusal of the server is shown at its field', () => {
	const taken = { message: 'The name ada is taken.', code: 'conflict', param: 'name' };
	expect(assignFailure(taken, en)).toEqual({ name: t.nameTaken });
	const odd = {
		message: 'A name has no control characters.',
		code: 'invalid_request',
		param: 'name'
	};
	expect(assignFailure(odd, en)).toEqual({ name: 'A name has no control characters.' });
	const used = { message: 'This invite link was used.', code: 'invalid_request', param: 'invite' };
	expect(assignFailure(used, en)).toEqual({ both: t.inviteOver });
	expect(assignFailure({ message: 'Wrong.', code: 'unauthenticated' }, en)).toEqual({
		both: t.wrong
	});
	expect(assignFailure({ message: 'No.', code: 'unreachable' }, en)).toEqual({
		both: en.problems.unreachable
	});
});
