import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isEasyToGuess } from '$/safety/passwords';

interface Case {
	password: string;
	name: string;
	is_easy: boolean;
}
/** The server's tests read the same cases. */
const cases = JSON.parse(readFileSync('../tests/passwords.json', 'utf8')) as Case[];

test.each(cases)(
	'the page judges “$password” as the server does',
	({ password, name, is_easy }) => {
		expect(isEasyToGuess(password, name)).toBe(is_easy);
	}
);
