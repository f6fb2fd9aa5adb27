import { expect, test } from 'vitest';
import { blame, problemsOf } from '$/way_in/credentials';
import { en } from '$/words/en';

const t = en.wayIn;

test('a name and a long enough password are fine', () => {
	expect(problemsOf('ada', 'correct horse', true, t)).toEqual({});
});

test('each field that is missing says so itself', () => {
	expect(problemsOf('  ', '', true, t)).toEqual({ name: t.nameMissing, password: t.passwordRule });
});

test('a new password says how much it lacks, counted as people count', () => {
	expect(problemsOf('ada', '1234567', true, t).password).toBe('One character more, please.');
	expect(problemsOf('ada', '🦊🦊🦊🦊', true, t).password).toBe('4 more characters, please.');
});

test('a password that exists is for the server to judge', () => {
	expect(problemsOf('ada', 'short', false, t)).toEqual({});
});

test('what the server refuses is said at its field', () => {
	const taken = { message: 'The name ada is taken.', code: 'conflict', param: 'name' };
	expect(blame(taken, en)).toEqual({ name: t.nameTaken });
	const odd = {
		message: 'A name has no control characters.',
		code: 'invalid_request',
		param: 'name'
	};
	expect(blame(odd, en)).toEqual({ name: 'A name has no control characters.' });
	const used = { message: 'This invite link was used.', code: 'invalid_request', param: 'invite' };
	expect(blame(used, en)).toEqual({ both: t.inviteOver });
	expect(blame({ message: 'Wrong.', code: 'unauthenticated' }, en)).toEqual({ both: t.wrong });
	expect(blame({ message: 'No.', code: 'unreachable' }, en)).toEqual({
		both: en.problems.unreachable
	});
});
