import { createNumberFormats } from '$/words/numbers';

const { whole, when } = createNumberFormats('en');
const tokens = (num: number) => `${whole(num)} ${num === 1 ? 'token' : 'tokens'}`;

/** The form a message is written in. */
export const composer = {
	message: 'Message',
	placeholder: 'Write a message',
	send: 'Send',
	stop: 'Stop',
	hints: {
		keys: 'Enter sends · Shift+Enter new line',
		commands: '/ for commands',
		later: 'You can go on with this when the answer is finished.'
	},
	queued: {
		label: 'Waiting for the connection',
		says: 'The server cannot be reached just now. This goes out by itself when it can.',
		takeBack: 'Take it back'
	},
	tokens: {
		count: (num: number, numWindow: number) => `${whole(num)} of ${whole(numWindow)} tokens`,
		estimate: (num: number, numWindow: number) =>
			`about ${whole(num)} of ${whole(numWindow)} tokens`,
		dropped: (num: number) =>
			num === 1
				? 'The oldest message will be left out so that this fits.'
				: `The ${whole(num)} oldest messages will be left out so that this fits.`,
		tooLong: 'This is too long for the model. Shorten it, or divide it into parts.',
		nearlyFull:
			'This conversation is nearly as long as the model can read. Older messages will be left out.'
	},
	/** The autocompletion, for screen readers. */
	ghost: (text: string, hasTab: boolean) =>
		hasTab ? `Tab accepts: ${text}` : `A tap accepts: ${text}`,
	left: {
		requests: (num: number, limit: number) =>
			`${whole(num)} of ${whole(limit)} requests left this minute`,
		tokensMinute: (num: number) => `${tokens(num)} left this minute`,
		tokensDay: (num: number) => `${tokens(num)} left today`,
		groupDay: (num: number) => `${tokens(num)} left today for your group`,
		again: (at: Date) => `more ${when(at, 'at')}`
	},
	secret: {
		hint: 'This looks like it contains a secret. You will be asked before it is sent.',
		title: 'Send this secret?',
		found: 'Your message seems to contain:',
		foundIn: (title: string) => `“${title}”, which is attached, seems to contain:`,
		detail: 'It would be saved in this conversation and read by the model.',
		back: 'Keep editing',
		send: 'Send anyway',
		remove: 'Remove and send',
		kinds: {
			private_key: 'Private key',
			hitsend_key: 'hitsend API key',
			api_key: 'API key',
			signed_token: 'Access token',
			url_password: 'Password in a link',
			card_number: 'Card number'
		}
	},
	slash: {
		label: 'Commands',
		found: (num: number) => (num === 1 ? '1 command' : `${num} commands`)
	},
	files: {
		add: 'Add a text file',
		drop: 'Drop a text file to put it into your message',
		tooLarge: (name: string, maxKilobytes: number) =>
			`${name} is too large: text files of up to ${maxKilobytes} kB can be read so far.`,
		notText: (name: string) => `${name} is not a text file, and only those can be read so far.`
	}
};
