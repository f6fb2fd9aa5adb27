/** The settings, including those of administrators. */
const many = (count: number, one: string, several: string) =>
	`${count.toLocaleString('en')} ${count === 1 ? one : several}`;

export const settings = {
	title: 'Settings',
	sections: 'Sections of the settings',
	all: 'All settings',
	administration: 'Administration',
	names: {
		account: 'Account',
		keys: 'API keys',
		appearance: 'Appearance',
		chat: 'Chat',
		profile: 'About you',
		memory: 'Memory',
		tools: 'Tools',
		usage: 'Usage',
		shares: 'Shared links',
		data: 'Data',
		people: 'People',
		groups: 'Groups',
		invites: 'Invitations',
		models: 'Models',
		limits: 'Limits',
		safety: 'Safety',
		reviews: 'Reviews',
		everyone: 'Usage of all',
		prices: 'Prices',
		prompts: 'Prompts',
		comparisons: 'Compare versions',
		activity: 'Activity log'
	},
	saved: 'Saved.',
	again: 'Try again',
	loading: 'Loading',
	roles: { admin: 'Administrator', reviewer: 'Reviewer', member: 'Member' },

	account: {
		signedInAs: (name: string, isAdmin: boolean) =>
			`Signed in as ${name}${isAdmin ? ', administrator' : ''}.`,
		signOut: 'Sign out',
		signOutFailed: 'You are still signed in: the server could not be reached. Try again.',
		name: 'Name',
		nameAbout: 'You sign in with it, and administrators see it.',
		newName: 'Your name',
		nameMissing: 'A name has at least one character.',
		nameTaken: 'This name is taken. Choose another.',
		rename: 'Change name',
		password: 'Password',
		passwordAbout: 'Every other browser you are signed in with is signed out.',
		current: 'Current password',
		next: 'New password',
		nextRule: 'At least 8 characters.',
		currentMissing: 'Type the password you have now.',
		passwordWrong: 'This is not your password.',
		revokeKeys: 'Delete my API keys, too',
		revokeKeysAbout: 'If somebody else may have seen them. Programs that use them stop working.',
		changePassword: 'Change password',
		passwordChanged: 'Your password is changed. Your other browsers are signed out.',
		resets: {
			title: 'Password resets',
			about:
				'Links with which your password could be reset. Nobody can remove them from this list.',
			byAdmin: (name: string) => `Link made by ${name}`,
			byCommand: 'On the command line of the server',
			made: (when: string) => `made ${when}`,
			used: (when: string) => `used ${when}`,
			unused: 'not used'
		},
		sessions: 'Where you are signed in',
		sessionsAbout: (days: number) =>
			`A browser stays signed in for ${many(days, 'day', 'days')}. Sign out any you do not know.`,
		browserOn: (browser: string, system: string) => `${browser} on ${system}`,
		unknownBrowser: 'A browser',
		thisOne: 'this one',
		lastSeen: (when: string) => `Last seen ${when}`,
		since: (day: string) => `signed in ${day}`,
		endSession: (browser: string) => `Sign out ${browser}`,
		end: 'Sign out',
		danger: 'Delete account',
		dangerAbout: 'For good, with everything in it. There is no way back.',
		deleteAction: 'Delete my account',
		deleteTitle: 'Delete your account?',
		deleteAbout: 'This goes at once and for good:',
		deleteList: [
			'every conversation, folder and rating',
			'every link you shared: nobody can open them any more',
			'your API keys: programs that use them stop working',
			'your name and password; you are signed out everywhere'
		],
		deleteHint: 'If you may want to read any of it again, export your data first.',
		deletePassword: 'Your password',
		lastAdmin: 'You are the only administrator. Make someone else one first.'
	},

	keys: {
		about: 'For programs that talk to hitsend as you: OpenAI clients at /v1, MCP hosts at /mcp.',
		label: 'Label of a new key',
		labelHint: 'Where it will be used, so that you know it again.',
		labelMissing: 'Give the key a label.',
		may: 'What it may do',
		scopes: {
			chat: { name: 'Chat', about: 'Send messages, and use /v1.' },
			read: {
				name: 'Read',
				about: 'Read your conversations and usage. Together with Chat also rename and delete them.'
			},
			memory: {
				name: 'Memories',
				about: 'Read your memories, and add and delete some, over MCP. Keys without this see none.'
			},
			admin: { name: 'Administer', about: 'What administrators do in the settings.' }
		},
		scopeMissing: 'Choose at least one thing the key may do.',
		expiry: 'Expires',
		validFor: (days: string) => (days === 'never' ? 'Never' : `After ${days} days`),
		create: 'Create key',
		once: 'Copy it now: it is shown only this once.',
		copy: 'Copy key',
		none: 'You have no keys.',
		created: (day: string) => `made ${day}`,
		lastUsed: (when: string) => `last used ${when}`,
		neverUsed: 'never used',
		expires: (day: string) => `expires ${day}`,
		neverExpires: 'never expires',
		expired: 'expired',
		expiredOn: (day: string) => `expired ${day}`,
		remove: (label: string) => `Delete key ${label}`,
		removeTitle: 'Delete this key?',
		removeAbout: (label: string) =>
			`Programs that use “${label}” can no longer sign in. A key that is deleted cannot be brought back.`,
		removeAction: 'Delete key',
		how: 'How to use a key',
		curl: 'curl',
		python: 'Python',
		copySnippet: 'Copy example',
		example: 'What is a monad?'
	},

	appearance: {
		about: 'Kept in this browser, for this device.',
		theme: 'Theme',
		themes: { system: 'System', light: 'Light', dark: 'Dark' },
		textSize: 'Text size',
		textSizes: { small: 'Small', normal: 'Normal', large: 'Large' },
		density: 'Density',
		densities: { airy: 'Airy', compact: 'Compact' },
		language: 'Language',
		automatic: 'As the browser asks'
	},

	chat: {
		presets: 'How answers are written',
		presetsAbout: 'For your next messages, in this browser.',
		modelDecides: 'the model decides',
		policies: 'How words are chosen',
		policy: {
			sample: {
				name: 'Sampling',
				about: 'Draws each word by chance from the likely ones. Right for most things.'
			},
			greedy: {
				name: 'Greedy',
				about: 'Always takes the likeliest word. The same question gives the same answer.'
			},
			beam: {
				name: 'Beam search',
				about:
					'Follows several answers and keeps the likeliest as a whole. Short answers only; slow, and it shows words late.'
			}
		},
		fields: {
			temperature: {
				name: 'Temperature',
				about: 'Higher dares more; 0 always takes the likeliest.'
			},
			top_p: { name: 'Top-p', about: 'Chooses among the words that make up this share.' },
			top_k: { name: 'Top-k', about: 'Chooses among so many likeliest words; 0 is all.' },
			min_p: { name: 'Min-p', about: 'Leaves out words much unlikelier than the likeliest.' },
			num_beams: { name: 'Beams', about: 'How many answers are followed; 4 if empty.' },
			max_tokens: { name: 'Longest answer', about: 'In tokens; about ¾ of a word each.' },
			seed: { name: 'Seed', about: 'The same seed and question give the same answer.' }
		},
		range: (least: string, most: string) => `${least} to ${most}`,
		above: (least: string, most: string) => `more than ${least}, up to ${most}`,
		notANumber: 'This has to be a number.',
		notWhole: 'This has to be a whole number.',
		outOfRange: (range: string) => `This has to be ${range}.`,
		emptyHint: 'An empty field leaves it to the model.',
		writing: 'While you write',
		writingAbout:
			'In this browser. What you write goes to your own server for this, and is not stored there.',
		readAhead: 'Prepare answers while I type',
		readAheadAbout:
			'The model reads the conversation and your draft ahead, so that the answer begins sooner. Off, the server is only asked to count a message that gets long.',
		ghostText: 'Propose how a sentence goes on',
		ghostTextAbout:
			'Grey words after the cursor; Tab accepts them. Only where the server is fast enough.',
		reports: 'Tell the server how fast the page is',
		reportsAbout:
			'How long an answer took to come, and the names of errors in the page. Never what you write.',
		instructions: 'Instructions',
		instructionsAbout:
			'What the model is told before every conversation. Whoever runs this server sets it (HITSEND_INSTRUCTIONS).',
		noInstructions: 'The model is told nothing.'
	},

	shares: {
		about: 'Anyone with such a link can read the conversation as it was when you shared it.',
		forbidden: 'Sharing is turned off on this server.',
		none: 'You have shared nothing. The menu below an answer has “Share”.',
		untitled: 'Untitled',
		sharedOn: (day: string) => `shared ${day}`,
		open: (title: string) => `Open the shared page of ${title}`,
		copy: (title: string) => `Copy the link to ${title}`,
		remove: (title: string) => `Stop sharing ${title}`,
		removeTitle: 'Stop sharing?',
		removeAbout: (title: string) =>
			`The link to “${title}” stops working for everyone. The conversation itself stays.`,
		removeAction: 'Stop sharing'
	},

	data: {
		storage: 'Storage',
		storageAbout:
			'What your conversations take, with the record of each answer. It is counted some seconds after an answer.',
		used: (size: string) => `You use ${size}.`,
		usedOf: (size: string, most: string) => `You use ${size} of ${most}.`,
		storageFull: 'Delete conversations that you no longer need to go on.',
		export: 'Export',
		exportAbout:
			'Everything of yours in one zip: conversations as JSON and as Markdown, and your account.',
		exportAction: 'Export everything',
		exportBegun: 'The download has begun. Your browser shows how far it is.',
		import: 'Import',
		importAbout:
			'Conversations from a ChatGPT export (zip), an Open WebUI export (JSON), or an export of hitsend. What you have stays as it is.',
		choose: 'Choose a file',
		drop: 'or drop it here',
		atMost: (size: string) => `At most ${size}.`,
		tooLarge: (name: string, size: string) =>
			`${name} is too large. This server takes at most ${size}.`,
		notAFile: 'That is neither a zip nor a JSON file. Choose the file as you downloaded it.',
		reading: (name: string) => `Reading ${name}. Keep this page open.`,
		refused: (name: string) => `${name} was not imported, and nothing has changed.`,
		others: 'Import the others',
		again: 'Try again',
		sources: { chatgpt: 'ChatGPT', open_webui: 'Open WebUI', hitsend: 'hitsend' },
		done: (conversations: number, messages: number, source: string) =>
			`${many(conversations, 'conversation', 'conversations')} with ${many(messages, 'message', 'messages')} came in from ${source}.`,
		nothingNew: (source: string) => `There was nothing new in this export of ${source}.`,
		alreadyHere: (count: number) =>
			`${many(count, 'conversation was', 'conversations were')} here already.`,
		leftOut: (count: number) =>
			`${many(count, 'conversation was', 'conversations were')} left out:`,
		leftOutMore: (count: number) => `and ${count.toLocaleString('en')} more`,
		untitled: 'Untitled',
		parts: 'Only text comes in. Left out of the conversations:',
		part: {
			images: (count: number) => many(count, 'image', 'images'),
			files: (count: number) => many(count, 'file', 'files'),
			tools: (count: number) => many(count, 'use of a tool', 'uses of tools'),
			other: (count: number) => many(count, 'other part', 'other parts')
		}
	},

	people: {
		about: 'Everybody with an account here. What they write is theirs: you do not see it.',
		you: 'you',
		disabled: 'disabled',
		conversations: (count: number) => many(count, 'conversation', 'conversations'),
		joined: (day: string) => `here since ${day}`,
		lastSeen: (when: string) => `last seen ${when}`,
		neverSeen: 'not seen yet',
		menu: (name: string) => `What to do with ${name}`,
		make: { admin: 'Make administrator', reviewer: 'Make reviewer', member: 'Make member' },
		disable: 'Disable',
		enable: 'Enable',
		reset: 'Reset password…',
		resetTitle: (name: string) => `Reset the password of ${name}?`,
		resetAbout:
			'You get a link to send to them. With it they choose a new password: once, within a day. Their present password works until then, and earlier links stop working. They are told that you made it, and it is in the log.',
		resetAction: 'Make link',
		resetOnce: 'Send this link to this person only. It is shown only this once.',
		remove: 'Delete',
		now: {
			admin: (name: string) => `${name} is an administrator now.`,
			reviewer: (name: string) => `${name} is a reviewer now.`,
			member: (name: string) => `${name} is a member now.`
		},
		nowDisabled: (name: string) =>
			`${name} is signed out everywhere and cannot sign in until enabled.`,
		nowEnabled: (name: string) => `${name} can sign in again.`,
		removed: (name: string) => `The account of ${name} is deleted.`,
		removeTitle: (name: string) => `Delete the account of ${name}?`,
		removeAbout: (count: number) =>
			`It goes for good with ${many(count, 'conversation', 'conversations')}, every shared link and API key. To keep somebody out for a while, disable the account instead.`,
		removeAction: 'Delete account'
	},

	invites: {
		about: 'A link lets one person create an account here. It is valid for a week.',
		member: 'Invite a member',
		admin: 'Invite an administrator',
		reviewer: 'Invite a reviewer',
		once: 'Send this link to one person. It is shown only this once.',
		copy: 'Copy link',
		none: 'No invitation is open.',
		made: (day: string) => `made ${day}`,
		openUntil: (day: string) => `open until ${day}`,
		expired: (day: string) => `expired ${day}`,
		used: (name: string) => `used by ${name}`,
		remove: 'Withdraw invitation',
		removeTitle: 'Withdraw this invitation?',
		removeAbout: 'Its link stops working. Whoever you sent it to needs a new one.',
		removeAction: 'Withdraw'
	},

	models: {
		here: 'On this server',
		hereAbout: 'Everybody here can choose any of these.',
		none: 'The engine offers no model right now.',
		isDefault: 'default',
		offers: 'To fetch',
		offersAbout: 'Weights are downloaded to this server and checked.',
		noOffers: 'This engine has nothing to fetch.',
		allHere: 'Everything in the catalogue is here.',
		remove: (title: string) => `Remove ${title}`,
		removeTitle: (title: string) => `Remove ${title}?`,
		removeAbout: (size: string) =>
			`Its weights (${size}) are deleted from this server. It can be fetched again. Conversations stay.`,
		removeAction: 'Remove model'
	}
};
