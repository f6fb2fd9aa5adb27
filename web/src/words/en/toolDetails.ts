import { createNumberFormats } from '$/words/numbers';

const { whole } = createNumberFormats('en');

/** The inside of a call, its questions to the person, programs that are run, and the settings of tools. */
export const toolDetails = {
	arguments: 'Asked for',
	program: 'Program',
	output: 'Result',
	progress: 'So far',
	problem: 'What went wrong',
	noOutput: 'It returned nothing.',
	copyOutput: 'Copy result',
	sources: 'Sources',
	strangers: 'Strangers may have written this. hitsend does not follow orders in it.',
	openSource: (title: string) => `${title} (opens in a new tab)`,
	files: 'Files',
	table: 'Table',
	allowed: {
		once: 'You allowed this once.',
		conversation: 'You allowed this tool in this conversation.',
		always: 'You always allow this tool.',
		refused: 'You did not allow this.'
	},
	youSaid: (word: string) => `You said: “${word}”`,

	approval: {
		title: (tool: string) => `Allow “${tool}”?`,
		reasons: {
			writes: 'This changes or sends something outside this chat, so hitsend asks first.',
			untrusted:
				'The model has just read text by strangers, who may have asked for this. Check it before you allow it.'
		},
		expired: 'The answer stopped here to wait for you. It goes on as soon as you decide.',
		tool: 'Tool',
		server: 'Server',
		nothing: 'Without any details',
		once: 'Allow once',
		conversation: 'Allow in this conversation',
		always: 'Always allow',
		refuse: 'Refuse',
		word: 'Why not? The model reads this (optional)'
	},

	form: {
		title: (tool: string) => `“${tool}” asks you`,
		from: (server: string) => `From ${server}. Do not enter passwords or other secrets.`,
		kept: 'What you write goes to this tool and is not kept in the chat.',
		accept: 'Send',
		decline: 'Decline',
		cancel: 'Cancel',
		late: 'The tool does not wait for this any more.',
		unreadable: 'This form cannot be shown here. You can decline it.',
		optional: (label: string) => `${label} (optional)`,
		choose: 'Choose',
		yes: 'Yes',
		problems: {
			missing: 'Please fill this in.',
			missingChoice: 'Please choose.',
			notNumber: 'This has to be a number.',
			notInteger: 'This has to be a whole number.',
			atLeast: (least: number) => `At least ${whole(least)}.`,
			atMost: (most: number) => `At most ${whole(most)}.`,
			tooShort: (least: number) =>
				least === 1 ? 'At least 1 character.' : `At least ${whole(least)} characters.`,
			tooLong: (most: number) =>
				most === 1 ? 'At most 1 character.' : `At most ${whole(most)} characters.`,
			pattern: 'This is not in the form that the tool expects.',
			email: 'This has to be an email address.',
			uri: 'This has to be a web address, such as https://example.org.',
			date: 'This has to be a date.',
			dateTime: 'This has to be a date and a time.',
			tooFew: (least: number) => `Choose at least ${whole(least)}.`,
			tooMany: (most: number) => `Choose at most ${whole(most)}.`
		}
	},

	run: {
		output: 'Output of the program',
		running: 'Running',
		done: 'It ran, and printed nothing.',
		stopped: 'You stopped the program.',
		limits:
			'It has no internet, no files but those attached in this conversation, and a limit on time and memory. Its variables stay for the next program here.',
		hide: 'Hide output',
		plot: (name: string) => `Picture: ${name}`
	},

	settings: {
		permissions: {
			title: 'What runs without asking',
			about: 'Tools that change or send something ask you first, unless you allowed them here.',
			none: 'Nothing. Every tool that changes or sends something asks you first.',
			everywhere: 'In all conversations',
			oneConversation: 'In one conversation',
			since: (date: string) => `since ${date}`,
			open: (tool: string) => `Open the conversation of ${tool}`,
			revoke: 'Revoke',
			revokeLabel: (tool: string) => `Revoke ${tool}: it asks again`
		},
		offered: {
			title: 'Built-in tools',
			about: 'You turn them on for a conversation with the tools button beside the message field.',
			none: 'There are none yet.',
			effects: {
				reads: 'only reads',
				changes: 'changes something you can undo',
				writes: 'asks before it runs'
			}
		}
	}
};
