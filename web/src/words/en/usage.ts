/** Limits, groups, usage and prices. */
import { createNumberFormats } from '$/words/numbers';

const { whole, duration, when } = createNumberFormats('en');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

export const usage = {
	change: (title: string) => `Change: ${title}`,
	save: 'Save',
	notANumber: 'This has to be a number.',
	notWhole: 'This has to be a whole number.',
	outOfRange: (most: string) => `This has to be 0 to ${most}.`,

	limits: {
		all: 'For all',
		allAbout:
			'Limits of each person, unless something else is set for their group or for them. Nobody passes a limit, however many ask at once.',
		everyone: 'Everyone',
		address: 'Every address',
		addressAbout: 'of each network address, whoever asks from it',
		groups: 'For groups',
		groupsAbout:
			'In place of those for everyone. The tokens of a day are shared by all who are in the group.',
		noGroups: 'There are no groups. They are made under “Groups”.',
		people: 'For people and their keys',
		peopleAbout:
			'Somebody with numbers of their own has only those, and what their group has for the day. A key has its own beside those of its owner.',
		fields: {
			requests_per_minute: 'Requests a minute',
			tokens_per_minute: 'Tokens a minute',
			tokens_per_day: 'Tokens a day',
			storage_mb: 'Storage in MB'
		},
		groupFields: {
			tokens_per_day: 'Tokens a day, together',
			storage_mb: 'Storage in MB, of each person'
		} as { [name: string]: string | undefined },
		said: {
			requests_per_minute: (num: number) => `${many(num, 'request', 'requests')} a minute`,
			tokens_per_minute: (num: number) => `${many(num, 'token', 'tokens')} a minute`,
			tokens_per_day: (num: number) => `${many(num, 'token', 'tokens')} a day`,
			storage_mb: (num: number) => `${whole(num)} MB of storage`
		},
		hint: 'An empty field is without a limit; 0 allows nothing.',
		addressHint:
			'Everyone behind one router shares an address. Of IPv6, a network (/64) counts as one.',
		none: 'no limit',
		asEveryone: 'as everyone',
		asGroup: (name: string) => `as the group ${name}`,
		own: 'own',
		key: (label: string) => `Key ${label}`,
		remove: 'Remove'
	},

	rules: {
		title: 'By the server’s settings',
		about:
			'What this server allows. Whoever runs it sets these by the names given, and starts it again.',
		on: 'on',
		off: 'off',
		none: 'none',
		names: {
			instructions: 'Instructions for every conversation',
			max_message_chars: 'Longest message, in characters',
			max_answer_tokens: 'Longest answer, in tokens',
			num_window_tokens: 'Window of the model, in tokens',
			max_import_bytes: 'Largest import',
			session_days: 'A browser stays signed in for, in days',
			allow_sharing: 'Sharing by link'
		}
	},

	groups: {
		about:
			'People in a group share what it may use in a day. Limits are set under “Limits”; who is in which group, under “People”.',
		name: 'Name of a new group',
		create: 'Make group',
		missing: 'Give the group a name.',
		taken: 'There is a group with this name already. Choose another.',
		none: 'There are no groups.',
		people: (num: number) => many(num, 'person', 'people'),
		rename: (name: string) => `Rename ${name}`,
		newName: 'New name',
		remove: (name: string) => `Delete ${name}`,
		removeTitle: (name: string) => `Delete the group ${name}?`,
		removeAbout: (num: number) =>
			num === 0
				? 'Its limits go with it.'
				: `Its limits go with it. ${num === 1 ? 'The person in it stays' : `The ${whole(num)} people in it stay`}, in no group.`,
		removeAction: 'Delete group',
		tools: (name: string) => `Tools of ${name}`,
		toolsAbout: 'What people in this group can turn on for a message.',
		allTools: 'All tools',
		allToolsAbout: 'Also those that are added later.',
		toolNames: {
			calculator: 'Calculator',
			time: 'Time and dates',
			weather: 'Weather',
			code: 'Run Python',
			web: 'Search and read the web',
			conversations: 'Search earlier conversations'
		} as { [name: string]: string | undefined },
		notSetUp: (settings: string) => `Not set up. Set ${settings} to have it.`,
		close: 'Done',
		numTools: (num: number) => many(num, 'tool', 'tools'),
		of: (name: string) => `Group of ${name}`,
		noGroup: 'No group',
		moved: (name: string, group: string) => `${name} is in the group ${group} now.`,
		takenOut: (name: string) => `${name} is in no group now.`
	},

	usage: {
		left: 'What is left',
		leftAbout: 'Days begin at midnight, UTC. Cached tokens count like any others.',
		noLimits: 'There is no limit for you.',
		kinds: {
			requests: 'Requests this minute',
			tokensMinute: 'Tokens this minute',
			tokensDay: 'Tokens today'
		},
		groupDay: (name: string) => `Tokens today, shared by ${name}`,
		leftOf: (left: number, limit: number) => `${whole(left)} of ${whole(limit)} left`,
		again: (at: Date) => `all of it again ${when(at, 'at')}`,
		used: 'Used',
		usedAbout: 'Tokens of every answer, also of those that were stopped and those you deleted.',
		usedByAllAbout: 'Tokens of every answer of everyone. What was said is not seen here.',
		span: 'Time',
		spans: { '7': '7 days', '30': '30 days', '90': '90 days' },
		none: (num: number) => `Nothing was used in the last ${num} days.`,
		day: 'Day',
		chart: 'Tokens by day',
		chartHint: 'The arrow keys go from day to day.',
		tokens: (num: number) => many(num, 'token', 'tokens'),
		answers: (num: number) => many(num, 'answer', 'answers'),
		total: 'Tokens',
		turns: 'Answers',
		input: 'Input',
		output: 'Output',
		cached: 'From the cache',
		cachedAbout: 'of the input',
		cost: 'Cost',
		costUnknown: 'not known',
		costUnknownAbout: 'a model has no price',
		noCost: 'cost not known',
		details: (input: string, output: string) => `${input} in, ${output} out`,
		cachedShare: (share: string) => `${share} cached`,
		models: 'By model',
		people: 'By person',
		groups: 'By group',
		gone: 'No longer here',
		noGroups: 'Nobody in a group used anything.'
	},

	prices: {
		about: (currency: string) =>
			`What a million tokens cost, in ${currency} (HITSEND_CURRENCY). Optional: the usage pages then show costs. Nobody is charged.`,
		none: 'There is no model to set a price for.',
		fields: { input: 'Input', cached: 'Input from the cache', output: 'Output' },
		cachedHint: 'Empty: as other input.',
		said: (input: string, cached: string, output: string) => [
			`input\u00a0${input}`,
			`cached\u00a0${cached}`,
			`output\u00a0${output}`
		],
		unset: 'no price',
		remove: 'Remove'
	},

	speed: {
		title: 'How soon answers begin',
		about:
			'Until the first token, for the last thousand answers: as the server measured it, and as browsers saw it. Half were faster than the first number, 95 of 100 faster than the second.',
		none: 'Nothing has been measured yet.',
		model: 'Model',
		server: 'Server',
		browsers: 'Browsers',
		half: 'half',
		most: '95 %',
		answers: 'answers',
		ms: (ms: number) => duration(ms),
		errors: 'Errors in pages',
		errorsAbout: 'Names and places of what broke in somebody’s browser, without any text.',
		error: (count: number, when: string) => `${many(count, 'time', 'times')}, last ${when}`
	}
};
