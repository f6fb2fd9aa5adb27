import { createNumberFormats } from '$/words/numbers';

const { whole, rough, oneDigit, duration } = createNumberFormats('en');

/** How many messages before the context window were summarised, recalled or dropped. */
export interface OlderMessages {
	numSummarised: number;
	numRecalled: number;
	numDropped: number;
}

export const chat = {
	messages: 'Messages',
	openMenu: 'Open menu',
	toNewest: 'To the newest',
	loading: 'Opening the conversation',
	missing: {
		title: 'This conversation cannot be opened',
		detail: 'It was deleted, or it belongs to somebody else.'
	},
	unreachable: {
		title: 'The server cannot be reached',
		detail: 'The conversation opens by itself as soon as the server answers.'
	},
	noSuchMessage: 'That message is no longer in this conversation.',

	you: 'You',
	answer: 'Answer',
	copyMessage: 'Copy message',
	copyAnswer: 'Copy answer',
	editMessage: 'Edit message',
	send: 'Send',
	editHint: 'The message as it was stays, one version back.',

	previousVersion: 'Previous version',
	nextVersion: 'Next version',
	version: (number: number, count: number) => `${number}/${count}`,
	versionAloud: (number: number, count: number) => `Version ${number} of ${count}`,

	answerAgain: 'Answer again',
	answerWith: 'Other ways to answer',
	answerWithTools: 'With tools',
	answerWithoutTools: 'Without tools',
	goOn: 'Continue',
	tryAgain: 'Try again',
	temperature: (value: number) => `temperature ${oneDigit(value)}`,
	lookInside: 'Look inside',
	more: 'More',
	readAloud: 'Read aloud',
	stopReading: 'Stop reading',
	noVoice: 'This browser has no voice to read with.',

	feedback: {
		good: 'Good answer',
		bad: 'Bad answer',
		title: 'What was wrong with it?',
		reason: 'Reason',
		reasons: {
			wrong: 'It is not true',
			not_helpful: 'It does not help',
			unsafe: 'It is harmful',
			style: 'I do not like how it is written',
			other: 'Something else'
		},
		text: 'In your own words, if you like',
		kept: 'Kept on this server, with the answer.',
		send: 'Send feedback'
	},

	/** Notes below an answer: memories it changed or used, and messages the model did not see in full. */
	seen: {
		open: 'What the model saw',
		updated: 'Memory updated',
		updatedTo: (said: string) => `Memory updated: ${said}`,
		said: (text: string) => `“${text}”`,
		undo: 'Undo',
		undoLabel: 'Undo: Memory updated',
		notKept: 'Undone: this is not remembered.',
		keptAgain: 'Undone: this is remembered again.',
		temporary: 'Temporary chats remember nothing.',
		suggested: (text: string) => `Remember this? “${text}”`,
		yes: 'Yes',
		no: 'No',
		refused: 'Not remembered.',
		accepted: 'Remembered',
		settings: 'When to ask',
		used: (count: number) => `Used ${whole(count)} ${count === 1 ? 'memory' : 'memories'}`,
		left: ({ numSummarised, numRecalled, numDropped }: OlderMessages) => {
			const parts = [
				[numSummarised, 'summarised'],
				[numRecalled, 'looked up'],
				[numDropped, 'left out']
			] as const;
			const told = parts.filter(([count]) => count > 0);
			const [first = 0] = told[0] ?? [];
			const noun = first === 1 ? 'older message' : 'older messages';
			return told
				.map(([count, what], i) => `${whole(count)} ${i === 0 ? `${noun} ` : ''}${what}`)
				.join(', ');
		}
	},

	temporary: {
		name: 'Temporary chat',
		about: 'It is not in the list, uses and leaves no memory, and is gone after a day.'
	},

	share: {
		open: 'Share…',
		title: 'Share this conversation',
		what: 'A read-only copy of everything up to this answer. What is said later is not in it, and neither is your name.',
		who: 'Anyone who has the link can read it, until you revoke it.',
		make: 'Make a link',
		making: 'Making the link',
		link: 'Link',
		copy: 'Copy link',
		look: 'Open the shared page',
		revoke: 'Revoke',
		revoked: 'The link no longer works.'
	},

	thought: {
		running: 'Thinking…',
		label: 'Thoughts',
		took: (seconds: number) =>
			seconds < 1 ? 'Thought for a moment' : `Thought for ${whole(seconds)} s`
	},
	ending: {
		failed: 'Something went wrong while answering. What was said is kept.',
		unanswered: 'This message was not answered.',
		unfinished: 'This answer was never finished.',
		stopped: 'You stopped this answer.',
		cut: 'You stopped this answer here. What the server has of it is shown when it can be reached.',
		interrupted: 'This answer was cut short by a restart.',
		length: 'This answer reached the longest length allowed.',
		noWords: 'The model used tools and then wrote no answer.'
	},

	state: {
		connecting: 'Connecting to the server',
		working: 'This server asks for some work before it takes a message. One moment',
		unsent: 'You are offline. This goes out as soon as you are back.',
		offline: 'You are offline. The answer goes on without you and is fetched when you are back.',
		reconnecting: 'The connection was lost. Reconnecting',
		limit: (seconds: number) => `Too many requests, trying again in ${seconds} s`,
		busy: (seconds: number) => `The server is busy, trying again in ${seconds} s`,
		starting: 'The model is starting',
		restarting: 'The model is being restarted. Your message is safe',
		down: 'No model can answer just now. You can wait, or stop and try later',
		queued: (numAhead: number) =>
			numAhead === 0
				? 'Next in line'
				: `In line, ${numAhead} ${numAhead === 1 ? 'answer' : 'answers'} ahead`,
		loading: 'The model is being loaded. That takes a moment the first time',
		reading: 'Reading your message',
		readingResult: 'Reading the result',
		silent: (limit: number) => `No answer yet. It is given up after ${limit} s of silence`,
		stalled: 'No new word yet',
		disk_full: 'The server’s disk is full. The answer waits until there is room',
		database_damaged: 'The server’s database is damaged. The answer waits',
		store_down: 'The server cannot save anything right now. The answer waits',
		stopping: 'Stopping'
	},
	waited: (seconds: number) =>
		seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`,

	announce: {
		begun: 'Answering',
		finished: (numWords: number) =>
			`Answer finished, ${numWords} ${numWords === 1 ? 'word' : 'words'}`,
		stopped: 'Answer stopped',
		interrupted: 'The answer was cut short',
		blocked: 'Stopped by the safety checks',
		failed: 'The answer failed'
	},

	cost: {
		tokens: (count: number, isEstimated: boolean) =>
			`${isEstimated ? 'about ' : ''}${whole(count)} ${count === 1 ? 'token' : 'tokens'}`,
		speed: (perSecond: number) => `${rough(perSecond)} tokens/s`,
		firstWord: (ms: number) => `first word after ${duration(ms)}`,
		saved: (ms: number) => `read ahead: saved ${duration(ms)}`,
		cached: (count: number, of: number) => `${whole(count)} of ${whole(of)} prompt tokens cached`,
		prompt: (count: number, isEstimated: boolean) =>
			`${isEstimated ? 'about ' : ''}${whole(count)} prompt ${count === 1 ? 'token' : 'tokens'}`
	},

	/** How answers are written. */
	preset: {
		model: { name: 'As the model is', about: 'The model’s own settings. Right for most things.' },
		exact: {
			name: 'Exact',
			about: 'Keeps to the likeliest words. For facts, code and summaries.'
		},
		balanced: { name: 'Balanced', about: 'Some freedom, little risk. For everyday questions.' },
		inventive: {
			name: 'Inventive',
			about: 'Dares more and errs more. For ideas, names and stories.'
		},
		custom: { name: 'My own numbers', about: 'For those who know what they do.' }
	}
};
