import { createNumberFormats } from '$/words/numbers';

const { whole } = createNumberFormats('en');

/** What a feature is called, and what it is good for. */
interface FeatureWords {
	name: string;
	/** Its slash command. */
	command: string;
	about: string;
}

/** How the call of a tool is told while it runs, and afterwards. */
interface CallWords {
	doing: string;
	done: string;
}

/** The menu of tools, and the calls in an answer. */
export const tools = {
	menu: {
		label: 'Tools',
		labelOn: (count: number) => `Tools, ${whole(count)} on`,
		about: 'What the model may use in this conversation.',
		aboutNew: 'What the model may use. New chats start with the same choice.',
		cannot: (model: string) => `${model} cannot use tools. Choose another model to use them.`,
		more: 'Tools and permissions',
		/** Its slash command, and what that says. */
		command: 'tools',
		choose: 'Choose tools',
		on: 'Tools that are on',
		turnOff: (name: string) => `Turn off ${name}`,
		commandOn: (name: string) => `Turn on: ${name}`,
		commandOff: (name: string) => `Turn off: ${name}`,
		numTools: (count: number) => (count === 1 ? '1 tool' : `${whole(count)} tools`)
	},
	/** By the name that the server has for them. Others are shown by that name. */
	features: {
		calculator: {
			name: 'Calculator',
			command: 'calculator',
			about: 'Exact numbers, percentages and units'
		},
		time: { name: 'Dates and time', command: 'time', about: 'Days between dates, and time zones' },
		weather: { name: 'Weather', command: 'weather', about: 'Now, and for the next days' },
		conversations: {
			name: 'Earlier conversations',
			command: 'history',
			about: 'Searches what you and the model said before'
		},
		web: { name: 'Web', command: 'web', about: 'Searches the web and reads pages' },
		code: {
			name: 'Python',
			command: 'python',
			about: 'Small programs that the model writes and runs'
		}
	} as Record<string, FeatureWords | undefined>,
	calls: {
		label: 'Tools used',
		byTool: {
			calculate: { doing: 'Calculating', done: 'Calculated' },
			calculate_date: { doing: 'Working out the date', done: 'Worked out the date' },
			get_time: { doing: 'Looking up the time', done: 'Looked up the time' },
			get_weather: { doing: 'Looking up the weather', done: 'Looked up the weather' },
			search_conversations: {
				doing: 'Searching earlier conversations',
				done: 'Searched earlier conversations'
			},
			web_search: { doing: 'Searching the web', done: 'Searched the web' },
			read_page: { doing: 'Reading a page', done: 'Read a page' },
			run_python: { doing: 'Running Python', done: 'Ran Python' },
			remember: { doing: 'Remembering', done: 'Changed memory' },
			forget: { doing: 'Forgetting', done: 'Changed memory' }
		} as Record<string, CallWords | undefined>,
		doing: (tool: string) => `Using “${tool}”`,
		done: (tool: string) => `Used “${tool}”`,
		on: (server: string) => `on ${server}`,
		failed: (tool: string) => `“${tool}” did not work`,
		invalid: (tool: string) => `Invalid call of “${tool}”, not run`,
		refused: (tool: string) => `You did not allow “${tool}”`,
		stopped: (tool: string) => `Stopped: “${tool}”`,
		interrupted: (tool: string) => `“${tool}” was interrupted, and not run again`,
		undecided: (tool: string) => `“${tool}” was not run: you did not decide`,
		asking: (tool: string) => `Waiting for you: “${tool}”`,
		table: (rows: number, columns: string) =>
			`${rows === 1 ? '1 row' : `${whole(rows)} rows`}: ${columns}`,
		sources: (count: number) => (count === 1 ? '1 source' : `${whole(count)} sources`)
	},
	announce: {
		asks: (tool: string) => `The answer waits for you to allow “${tool}”`,
		form: (tool: string) => `The answer waits for you: “${tool}” asks you something`
	},
	titleWaiting: (title: string) => `Waiting for you · ${title}`,
	run: {
		run: 'Run',
		again: 'Run again',
		stop: 'Stop'
	}
};
