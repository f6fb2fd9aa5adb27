/** Prompts, their versions and comparisons. */
import { createNumberFormats } from '$/words/numbers';

const { whole, rough, percent, duration } = createNumberFormats('en');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

/** The title and purpose of each prompt. A prompt that is missing here shows its own name. */
const known: Record<string, { name: string; about: string } | undefined> = {
	system: { name: 'System instructions', about: 'What every conversation begins with.' },
	safety_instructions: {
		name: 'Safety instructions',
		about: 'What a model refuses, answers with care, and whom it sends people to.'
	},
	safety_judge: {
		name: 'Safety judge',
		about: 'Asks a model whether a text is harmful, where the classifier is unsure.'
	},
	caution_note: {
		name: 'Note: caution',
		about: 'Tells the model how to answer a question that may be harmful.'
	},
	title: { name: 'Title', about: 'Asks for the title of a conversation.' },
	summary: { name: 'Summary', about: 'Sums up a stretch of a conversation that no longer fits.' },
	summary_of_summaries: {
		name: 'Summary of summaries',
		about: 'Makes one of several summaries, in a very long conversation.'
	},
	summary_note: {
		name: 'Note: summaries',
		about: 'Puts the summary before what was kept of a conversation.'
	},
	profile_note: {
		name: 'Note: profile',
		about: 'Tells the model what a person says of themselves.'
	},
	memory_note: {
		name: 'Note: memories',
		about: 'Puts the memories that matter before a question.'
	},
	recalled_note: {
		name: 'Note: earlier exchanges',
		about: 'Puts older parts of a conversation before a question that is about them.'
	},
	memory_tool: {
		name: 'Remember and forget',
		about: 'Tells the model how to ask for something to be remembered or forgotten.'
	},
	memory_done: {
		name: 'Memory was updated',
		about: 'Tells the model that something was remembered or forgotten, or why not.'
	},
	memory_suggestion: {
		name: 'Memories to suggest',
		about: 'Asks what of a message would be worth remembering.'
	},
	suggestion: { name: 'How a sentence goes on', about: 'Asks for the grey words after the cursor.' }
};

const units = {
	points: (low: number, high: number) => `${rough(low * 100)} to ${rough(high * 100)} points`,
	tokens: (low: number, high: number) => `${rough(low)} to ${rough(high)} tokens`,
	time: (low: number, high: number) => `${duration(low)} to ${duration(high)}`
};

/** The purpose of each slot, by prompt and name. If empty, the English text of the server is shown. */
const slots: Record<string, string | undefined> = {};

export const prompts = {
	known,
	slots,
	version: (version: number) => `Version ${version}`,
	versionsOf: (versions: number[]) => `versions ${versions.join(', ')}`,
	somebody: 'somebody who is gone',

	about:
		'What hitsend itself says to the model, for everyone. A change holds from the next message.',
	all: 'All prompts',
	shipped: 'comes with hitsend',
	own: 'own',
	comparing: 'being compared',
	ownDecoding: 'own decoding',

	versions: 'Versions',
	versionsAbout:
		'What you activate holds for everyone from the next message on. Answers that are there stay as they are.',
	active: 'active',
	misfit: 'no longer fits',
	leftOut: (problem: string) => `not told to anyone: ${problem}`,
	inComparison: 'in the comparison',
	by: (name: string) => `by ${name}`,
	activate: 'Activate',
	activateVersion: (version: number) => `Activate version ${version}`,
	rollBack: 'Roll back',
	rollBackTo: (version: number) => `Roll back to version ${version}`,
	writeFrom: (version: number) => `Write a new version from version ${version}`,
	activated: (version: number) => `Version ${version} holds from the next message on.`,
	compare: 'Compare versions',
	held: 'A comparison is under way, and decides who gets which version. End it to activate one.',

	text: 'Text',
	textAbout: 'One version, or what changes from one to another.',
	from: 'From',
	to: 'To',
	identical: 'Both are the same.',
	places: (count: number) => `${many(count, 'place differs', 'places differ')}.`,
	removed: 'removed:',
	added: 'added:',
	families: 'For some models the version that comes with hitsend reads otherwise:',
	familyOf: (family: string) => `Models with “${family}” in their name`,

	editor: {
		title: (version: number) => `New version, from version ${version}`,
		template: 'Template',
		hint: '{{ slot }} shows a slot, {% if slot %} … {% endif %} what depends on it.',
		sections: 'A line “=== user” or “=== assistant” begins a message of its own.',
		slots: 'Slots',
		insert: (name: string) => `Insert ${name}`,
		needed: 'has to be shown',
		kinds: {
			text: 'text',
			data: 'text from elsewhere, shown as data',
			list: 'a list',
			flag: 'yes or no'
		},
		note: 'What is new (for the others)',
		tryOut: 'Try it',
		save: 'Keep as a new version',
		empty: 'Write a template.',
		unchanged: 'This is the version you began with. Change something first.',
		goTo: (line: number) => `Go to line ${line}`,
		tried: 'With sample values, the model is told:',
		roles: { system: 'System', user: 'Person', assistant: 'Assistant' },
		nothing: 'Nothing.',
		saved: (version: number) => `Version ${version} is kept. Nobody gets it before you activate it.`
	},

	decoding: {
		title: 'Decoding',
		about: 'How the answer to this prompt is chosen. An empty field is what comes with hitsend.',
		aboutChat:
			'How answers in chats are chosen where the person asks for nothing else. It does not hold for programs that use the API. An empty field is what comes with hitsend.',
		otherwise: (value: string) => `else ${value}`,
		modelDecides: 'the model decides',
		save: 'Save',
		reset: 'As it comes with hitsend'
	},

	comparisons: {
		about:
			'Each person gets one of the versions, always the same one. What comes of it is counted, and nothing is said that chance could have made.',
		begin: 'New comparison',
		prompt: 'Prompt',
		choose: 'Versions to compare',
		chooseHint: 'Two to four. The others are held against the oldest.',
		tooFew: 'Choose at least two versions.',
		tooMany: 'Choose at most four versions.',
		needsTwo: 'There is only one version. Write another under “Prompts”.',
		busy: 'A comparison of this prompt is under way.',
		start: 'Start comparison',
		running: 'Under way',
		noneRunning: 'No comparison is under way.',
		past: 'Past comparisons',
		nonePast: 'None has ended.',
		since: (when: string) => `since ${when}`,
		ended: (when: string) => `ended ${when}`,
		won: (version: number) => `version ${version} was kept`,
		noWinner: 'without a winner',
		show: (name: string) => `Show numbers: ${name}`,
		refresh: 'Count again',
		end: 'End',
		endAbout: 'Ending it holds for everyone, from the next message on.',
		keep: 'End without a winner',
		keepAbout: (version: number) => `Version ${version} holds again, as before.`,
		win: (version: number) => `End, keep version ${version}`,
		done: 'The comparison has ended.'
	},

	report: {
		people: (count: number) => many(count, 'person', 'people'),
		turns: (count: number) => many(count, 'answer', 'answers'),
		thumbs: (up: number, down: number) => `${whole(up)} up, ${whole(down)} down`,
		measures: {
			liked: 'Thumbs up, of those who gave any',
			declined: 'Answers that decline',
			answer_tokens: 'Length of answers',
			input_tokens: 'Length of what the model reads',
			first_word_ms: 'Wait for the first word',
			seconds: 'Time to the last word'
		},
		said: {
			liked: percent,
			declined: percent,
			answer_tokens: (value: number) => `${rough(value)} tokens`,
			input_tokens: (value: number) => `${rough(value)} tokens`,
			first_word_ms: (value: number) => duration(value),
			seconds: (value: number) => duration(value * 1000)
		},
		between: (low: string, high: string) => `${low} to ${high}`,
		unknown: 'too few to tell',
		none: 'nothing yet',
		bars: 'A bar is where the truth lies 19 times in 20; the mark in it is what was seen. Each person counts once.',
		tooFew: (least: number, few: string) =>
			`Nothing can be told yet: each version needs at least ${least} people, and ${few}.`,
		has: (version: number, count: number) => `version ${version} has ${whole(count)}`,
		unclear:
			'Nothing can be told yet: chance alone could have made every difference that is to be seen.',
		is: { better: 'better', worse: 'worse', more: 'more', less: 'less' },
		differs: (version: number, first: number, is: string, what: string, by: string) =>
			`Version ${version} against version ${first}: ${is} (${what}, a difference of ${by}).`,
		by: {
			liked: units.points,
			declined: units.points,
			answer_tokens: units.tokens,
			input_tokens: units.tokens,
			first_word_ms: units.time,
			seconds: (low: number, high: number) => units.time(low * 1000, high * 1000)
		}
	}
};
