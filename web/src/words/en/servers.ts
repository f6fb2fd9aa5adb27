/** Tool servers in the settings. */
const count = (num: number, one: string, several: string) => `${num} ${num === 1 ? one : several}`;

export const servers = {
	title: 'Tool servers',
	about:
		'Add tools from other servers (MCP), for files, calendars or issues. You are asked before one of them changes something.',
	none: 'There are no servers yet.',
	cannotAdd: 'Only administrators add servers here.',
	callback: {
		title: 'Signing in',
		about: 'hitsend finishes your sign-in at the server.',
		leave: 'Back to the settings'
	},
	add: {
		title: 'Add a server',
		kind: 'Where is it?',
		kinds: { http: 'At an address', command: 'A program here' },
		name: 'Name',
		nameHint: 'The names of its tools begin with it.',
		nameMissing: 'Give the server a name.',
		url: 'Address',
		urlMissing: 'Enter the address of the server.',
		command: 'Program and arguments',
		commandHint:
			'It runs on this machine, with the rights of hitsend. Only add programs you trust. No shell reads the line.',
		commandMissing: 'Enter the program to run.',
		environment: 'Environment variables',
		environmentHint:
			'One NAME=value in each line. Values are stored encrypted and never shown again.',
		headers: 'Headers',
		headersHint:
			'One Name: value in each line, such as Authorization: Bearer … Stored encrypted and never shown again. Not needed if the server has a sign-in.',
		pairsWrong: 'Each line needs a name and a value.',
		more: 'More',
		clientId: 'OAuth client ID',
		clientIdHint: 'Only if the server’s sign-in cannot register hitsend by itself.',
		clientSecret: 'OAuth client secret',
		action: 'Add server'
	},
	audience: {
		label: 'Who may use it',
		names: { owner: 'Only me', everyone: 'Everyone', groups: 'Groups' },
		groups: 'Groups',
		noGroups: 'There are no groups. They are made under “Groups”.'
	},
	state: {
		off: 'Off',
		unused: 'Not used yet. It is connected when a tool is called.',
		connecting: 'Connecting',
		connected: 'Connected',
		no_tools: 'Connected, but it offers no tools.',
		sign_in: 'Sign in to use it.',
		failed: (problem: string) => problem,
		retry: (seconds: number) => `It is tried again in ${count(seconds, 'second', 'seconds')}.`
	},
	signedIn: 'Signed in',
	numTools: (num: number) => count(num, 'tool', 'tools'),
	numTokens: (num: number) => `about ${count(num, 'token', 'tokens')} of each message`,
	changed: (num: number) => `${count(num, 'tool', 'tools')} to look at`,
	program: 'Program',
	open: (name: string) => `Show ${name}`,
	close: (name: string) => `Hide ${name}`,
	isOn: 'On',
	test: 'Test connection',
	testing: 'Connecting. A program may have to be downloaded first.',
	signIn: 'Sign in',
	signOut: 'Sign out',
	tools: {
		title: 'Tools',
		none: 'No tools are known yet. Test the connection.',
		use: (name: string) => `Use ${name}`,
		readOnly: 'Only reads: run without asking',
		readOnlyHint: 'Mark it only if you are sure. What the server says of itself is no proof.',
		saysReadOnly: 'says it only reads',
		isNew: 'new',
		isMissing: 'no longer offered',
		isChanged: 'changed',
		changedAbout: 'The server changed this tool. It is off until you have looked at it.',
		before: 'Before',
		now: 'Now',
		confirm: 'Use it as it is now',
		parameters: 'Arguments'
	},
	edit: {
		title: 'Change',
		timeout: 'Longest time of a call, in seconds',
		timeoutWrong: 'This has to be 1 to 600 seconds.',
		headersNow: (names: string) => `Set now: ${names}. What you type replaces all of them.`,
		keep: 'Leave empty to keep what is set.',
		save: 'Save'
	},
	calls: {
		title: 'Recent calls',
		about: 'Without what was said.',
		none: 'Nothing has been called yet.',
		outcomes: {
			ok: 'done',
			failed: 'failed',
			unreachable: 'not reached',
			timeout: 'took too long',
			stopped: 'stopped'
		},
		took: (ms: string) => `${ms} ms`,
		chars: (num: string) => `${num} characters`
	},
	log: {
		title: 'Log',
		about: 'What the program wrote, and how connections went, since hitsend started.',
		none: 'Nothing happened yet.',
		show: 'Show log'
	},
	remove: 'Delete server',
	removeTitle: (name: string) => `Delete ${name}?`,
	removeAbout:
		'Its tools, sign-ins and recent calls are deleted. Conversations keep what was said.',
	removeAction: 'Delete'
};
