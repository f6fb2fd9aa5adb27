import type { Strength } from '$/api/wire';
import { createNumberFormats } from '$/words/numbers';

const { whole, oneDigit, size } = createNumberFormats('en');

const strengths: Record<Strength, string> = {
	code: 'code',
	conversation: 'conversation',
	short_answers: 'short answers',
	tools: 'using tools',
	writing: 'writing'
};

/** Models, and the state of the engine. */
export const models = {
	title: 'Models',
	choose: (title: string) => `Model: ${title}`,
	none: 'No model',
	size,
	speed: (numPerSecond: number) => `${oneDigit(numPerSecond)} tokens/s`,
	speedUnknown: 'speed not measured yet',
	window: (numTokens: number) => `${whole(numTokens)} tokens of context`,
	here: 'this machine',
	remote: 'another machine',
	strengths,
	goodAt: (what: Strength[]) =>
		`Good at ${new Intl.ListFormat('en').format(what.map((one) => strengths[one]))}`,
	more: 'More models',
	fetch: 'Fetch',
	fetchOne: (title: string, numBytes: number) => `Fetch ${title}, ${size(numBytes)}`,
	askAnAdministrator: 'An administrator of this server can fetch them.',
	manage: 'Manage models',
	fetching: (title: string) => `Fetching ${title}`,
	progress: (numDone: number, num: number) => `${size(numDone)} of ${size(num)}`,
	notFetched: (title: string, why: string) => `${title} could not be fetched. ${why}`,
	hide: (title: string) => `Hide the download of ${title}`,
	offline: 'You are offline. What you write is kept, and goes out when you are back.',
	unreachable: 'The server cannot be reached. Trying again by itself…',
	starting: 'The model is being loaded. Messages wait for it.',
	restarting: 'The model is being loaded again after a problem. Messages wait for it.',
	down: 'No model can answer at the moment.',
	disk_full:
		'The server’s disk is full, so nothing can be saved right now. Answers wait. Tell whoever runs this server.',
	database_damaged: 'The server’s database is damaged. Tell whoever runs this server.',
	store_down: 'The server cannot save anything right now. Answers wait.'
};
