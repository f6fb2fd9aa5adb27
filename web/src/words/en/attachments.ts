import { createNumberFormats } from '$/words/numbers';

const { whole } = createNumberFormats('en');

/** Texts of servers: attached to a message, or put into it. */
export const attachments = {
	menu: 'Add to the message',
	fromServer: 'Add from a server',
	/** Its slash command. */
	command: 'attach',
	label: 'Attached',
	show: (title: string, server: string) => `Show ${title} (${server})`,
	remove: (title: string) => `Remove ${title}`,
	from: (server: string, numChars: number) =>
		`From ${server} · ${whole(numChars)} ${numChars === 1 ? 'character' : 'characters'}`,
	marked: 'The model is told that this is data from others, and no instructions.',
	tooMany: (most: number) => `A message takes at most ${whole(most)} attachments.`,
	title: 'Add from a server',
	search: 'Search',
	none: 'Your servers have nothing to attach.',
	noneHere: 'It has nothing to attach.',
	noneFound: 'Nothing found.',
	asking: (server: string) => `Waiting for ${server}`,
	attach: 'Attach',
	reading: 'Reading',
	again: 'Try again',
	prompts: {
		from: (server: string) =>
			`A prompt of ${server}. Its text goes into your message: read it before you send it.`,
		optional: (name: string) => `${name} (optional)`,
		missing: 'This is needed.',
		fill: 'Put into the message',
		getting: (title: string) => `Getting “${title}”`
	}
};
