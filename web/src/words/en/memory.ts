/** Memories, the profile, and the context of an answer. */
const many = (count: number, one: string, several: string) =>
	`${count.toLocaleString('en')} ${count === 1 ? one : several}`;

export const memory = {
	use: {
		title: 'Memory',
		about: 'What you ask to be remembered is brought up again when a question is about it.',
		isOn: 'Use memory',
		isOnAbout: 'In the chat, “remember that …” and “forget …” work.',
		suggests: 'Suggest memories',
		suggestsAbout:
			'After an answer you may be asked whether something is worth remembering. Nothing is kept unless you say yes.',
		offTitle: 'Turn memory off?',
		offAbout: 'No answer will use memories any more.',
		offTotal: (total: number) => `You have ${many(total, 'memory', 'memories')}.`,
		offChoice: 'Keep what is there for later, or delete all of it for good.',
		keep: 'Turn off and keep',
		wipe: 'Turn off and delete all',
		wiped: 'Memory is off, and everything that was remembered is deleted.',
		turnedOff: 'Memory is off. What was remembered is kept, and not used.',
		turnedOn: 'Memory is on.'
	},

	list: {
		title: 'What is remembered',
		total: (count: number) => many(count, 'memory', 'memories'),
		found: (count: number) => `${many(count, 'memory', 'memories')} found`,
		search: 'Search memories',
		noneFound: (query: string) => `Nothing that is remembered says “${query}”.`,
		add: 'Something to remember',
		addPlaceholder: 'I am allergic to nuts.',
		addAction: 'Remember',
		added: 'Remembered.',
		addedUnshown:
			'Remembered, but not shown to the model: it says what to do. How answers should be goes under “About you”.',
		/** Followed by a link with the name of the section. */
		unshown:
			'Not shown to the model: it says what to do, not something about you. How answers should be goes under',
		missing: 'Write what is to be remembered.',
		more: 'Show more',
		emptyTitle: 'Nothing is remembered yet',
		emptyAbout: 'Say it in a chat, in your own words, or write it above. For example:',
		examples: [
			'Remember that I am vegetarian.',
			'Remember that my daughter is called Mia.',
			'Forget that I live in Berlin.'
		],
		origins: {
			asked: 'from a chat',
			written: 'written here',
			suggested: 'from a suggestion'
		},
		openChat: 'Open the chat',
		suggestion: 'suggested',
		accept: 'Remember',
		refuse: 'No',
		edit: (text: string) => `Edit “${text}”`,
		forget: (text: string) => `Forget “${text}”`,
		text: 'Memory',
		save: 'Save',
		forgotten: 'Forgotten.',
		export: 'Export as a file',
		clear: 'Forget everything',
		clearTitle: 'Forget everything?',
		clearAbout: (total: number) =>
			`${many(total, 'memory goes', 'memories go')} for good, at once. There is no way back.`,
		clearType: (word: string) => `Type “${word}” to confirm`,
		clearWord: 'forget',
		clearAction: 'Forget everything',
		cleared: 'Everything is forgotten.'
	},

	profile: {
		title: 'About you',
		about: 'Told to the model with every message you send, in temporary chats, too.',
		isOn: 'Tell the model about me',
		callMe: 'What should I call you?',
		callMePlaceholder: 'Ada',
		aboutMe: 'What should be known about you?',
		aboutMeHint: 'What you do, what you know, what matters to you.',
		style: 'How should answers be?',
		styleHint: 'For example: short, with examples, without praise.',
		save: 'Save',
		offNote: 'It is off: what stands here is kept, and told to nobody.',
		tooLong: (count: number, most: number) =>
			`This has ${count.toLocaleString('en')} characters, at most ${most.toLocaleString('en')} fit.`
	},

	used: {
		title: 'Memories that were used',
		gone: (count: number) =>
			`${count === 1 ? 'One of them was' : `${count.toLocaleString('en')} of them were`} forgotten since.`,
		settings: 'All memories'
	},

	context: {
		title: 'What the model saw',
		about: 'Besides the newest messages and your question.',
		none: 'Nothing but the conversation itself.',
		whole: 'It saw the whole conversation.',
		partOf: (numDropped: number) =>
			numDropped === 0
				? 'Of the older messages it saw what stands below.'
				: `Of the older messages it saw what stands below; ${many(numDropped, 'was', 'were')} left out.`,
		from: 'To the first message it saw whole',
		tokens: (count: number) => many(count, 'token', 'tokens'),
		window: 'What the window was filled with',
		sources: {
			template: 'The form of the prompt',
			system: 'Instructions',
			developer: 'Instructions of the program',
			profile: 'About you',
			memory: 'Memories',
			summary: 'Summaries',
			recalled: 'Looked up again',
			file: 'Files',
			tools: 'Tools at hand',
			tool: 'Tools',
			history: 'Conversation',
			user: 'Your message',
			answer: 'The answer so far'
		},
		profile: 'About you',
		memories: 'Memories',
		summaries: 'Summaries of older messages',
		recalled: 'Looked up in older messages',
		jump: 'Go to the message',
		prompts: 'Prompts',
		version: (name: string, version: number) => `${name}, version ${version}`
	}
};
