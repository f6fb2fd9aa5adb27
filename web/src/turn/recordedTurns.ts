/** The recorded turns in tests/turns/, which the server's tests read too. Only for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Stamped } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import type { Transcript } from '$/turn/apply';

const FOLDER = '../tests/turns';

export const names = readdirSync(FOLDER)
	.filter((file) => file.endsWith('.sse'))
	.map((file) => file.replace('.sse', ''));

const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');

export const readStream = (name: string): string => read(`${name}.sse`);

export const readLog = (name: string): Stamped[] =>
	read(`${name}.jsonl`)
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line) as Stamped);

export const readExpected = (name: string) =>
	JSON.parse(read(`${name}.json`)) as { transcript: Transcript; messages: Message[] };
