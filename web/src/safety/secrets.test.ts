import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findSecrets, maskSecret, replaceSecrets } from '$/safety/secrets';

interface Case {
	text: string;
	found: { kind: string; text: string; masked: string }[];
}
/** The server's tests read the same cases. */
const cases = JSON.parse(readFileSync('../tests/secrets.json', 'utf8')) as Case[];

describe('secrets in a message', () => {
	it.each(cases)('are found as the server finds them: $text', ({ text, found }) => {
		const secrets = findSecrets(text);
		expect(secrets.map(({ kind, text }) => ({ kind, text }))).toEqual(
			found.map(({ kind, text }) => ({ kind, text }))
		);
		expect(secrets.map(maskSecret)).toEqual(found.map(({ masked }) => masked));
	});

	it('are replaced where they stand', () => {
		const text = 'a 4111111111111111 b sk-ant-Zk3vQ81bLmN0pRsTuVwXyZ12 c';
		expect(replaceSecrets(text, findSecrets(text), (kind) => `[${kind}]`)).toBe(
			'a [card_number] b [api_key] c'
		);
	});
});
