import { createNumberFormats } from '$/words/numbers';

const { whole, rough, oneDigit, duration } = createNumberFormats('en');

/** The inspector of an answer. */
export const inspector = {
	title: 'Inside the answer',
	close: 'Close',
	loading: 'Loading',
	erased: 'The record of this answer was erased: this server keeps records for a limited time.',
	steps: 'Steps',
	prompt: 'Prompt',
	tokens: 'Tokens of the answer',
	anyText: 'See any text as tokens',
	together: (isExact: boolean) => `together${isExact ? '' : ', estimated'}`,
	cached: 'of these cached',
	point:
		'Point at a token, or go from one to the next with the arrow keys, to see how probable it was.',
	noProbabilities: 'The engine did not tell how probable these were.',
	tokenId: (id: number) => `id ${id}`,
	chosen: 'Chosen',
	instead: 'Instead',
	source: {
		template: 'template',
		system: 'system',
		developer: 'developer',
		profile: 'profile',
		memory: 'memory',
		recalled: 'recalled',
		summary: 'summary',
		file: 'attached',
		tools: 'list of tools',
		tool: 'tool',
		history: 'history',
		user: 'user',
		answer: 'answer so far'
	},
	role: {
		system: 'system',
		developer: 'developer',
		user: 'user',
		assistant: 'assistant',
		tool: 'tool'
	},
	ending: {
		stop: 'by itself',
		length: 'at the longest length',
		tool_calls: 'to use a tool',
		stopped: 'stopped',
		interrupted: 'interrupted',
		failed: 'failed',
		blocked: 'by the safety checks'
	},
	safetyOutcome: {
		allow: 'fine',
		redact: 'personal data hidden from the model',
		caution: 'answered with care',
		rewrite: 'leaks removed',
		review: 'sent to review',
		cut: 'cut short',
		block: 'blocked'
	},
	approvalReason: {
		writes: 'it changes or sends something',
		untrusted: 'the model had read text by strangers'
	},
	approvalDecision: {
		once: 'allowed once',
		conversation: 'allowed in this conversation',
		always: 'always allowed',
		refused: 'refused',
		expired: 'not decided in time'
	},
	formAction: { accept: 'sent', decline: 'declined', cancel: 'cancelled' },
	dropReason: {
		cut: 'the answer ended within it',
		malformed: 'it cannot be read',
		unknown: 'there is no such tool'
	},
	step: {
		turnStarted: 'Turn started',
		turnAccepted: 'Message stored',
		messageAdded: 'Message added',
		contextBuilt: 'Context built',
		characters: (listed: string) => `characters: ${listed}`,
		promptEncoded: 'Prompt encoded',
		encoded: (count: number, isExact: boolean, window: number) =>
			`${isExact ? '' : 'about '}${whole(count)} tokens of a window of ${whole(window)}`,
		leftOut: (count: number) => `${count} oldest ${count === 1 ? 'message' : 'messages'} left out`,
		answerStarted: 'Answer started',
		answerDelayed: 'Answer delayed',
		ahead: (count: number) => `${count} ahead`,
		modelLoading: 'the model is loading',
		promptWarmed: 'Read ahead',
		warmed: (count: number, readMs: number) =>
			`${whole(count)} tokens before Send, in ${duration(readMs)}`,
		promptRead: 'Prompt read',
		read: (cached: number, read: number) => `${whole(cached)} tokens cached, ${whole(read)} read`,
		waited: (waitedMs: number, readMs: number) =>
			`waited ${duration(waitedMs)}, read in ${duration(readMs)}`,
		firstWords: 'First words',
		messageScreened: 'Message checked',
		answerGuarded: 'Answer checked',
		memoriesChanged: 'Memory changed',
		toolCallStarted: 'Tool call begun',
		toolArguments: 'Arguments of the call',
		toolAskedFor: 'Tool asked for',
		toolCallDropped: 'Tool call dropped',
		toolReturned: 'Tool returned',
		toolStarted: 'Tool started',
		toolProgressed: 'Tool reported',
		approvalRequested: 'Asked for permission',
		approvalDecided: 'Permission decided',
		formShown: 'Tool asked something',
		formAnswered: 'Form answered',
		answerFinished: 'Answer finished',
		written: (count: number) => `${whole(count)} ${count === 1 ? 'token' : 'tokens'}`,
		speed: (perSecond: number) => `${rough(perSecond)} per second`,
		searched: (count: number) => `${whole(count)} evaluated in search of them`,
		entropy: (bits: number) => `entropy at least ${oneDigit(bits)} bits`,
		surprisal: (bits: number) => `surprisal ${oneDigit(bits)} bits`,
		titleChosen: 'Title chosen',
		turnFinished: 'Turn finished',
		turnFailed: 'Turn failed'
	}
};
