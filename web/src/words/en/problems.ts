import { createNumberFormats } from '$/words/numbers';

const { when } = createNumberFormats('en');

/** Failures. The server sends its messages in English. */
export const problems = {
	unreachable: 'The server cannot be reached. Check your connection.',
	/** Sentences by error code. They replace the message of the server. */
	byCode: {
		disk_full:
			'The server’s disk is full, so nothing can be saved right now. Your message is kept here and is sent as soon as there is room. Tell whoever runs this server.',
		no_worker:
			'This server asks for some work before it takes a message, and this browser cannot do it: it allows no web workers here. Allow them, or use another browser.'
	} as Record<string, string>,
	later: (at: Date) => `It can be tried again ${when(at, 'at')}.`,
	/** For a person to give to whoever runs the server. */
	reference: (requestId: string) => `If you report it, include this ID: ${requestId}`,
	/** The message of the server. Other languages put the kind of failure before it. */
	said: ({ message }: { message: string; code: string | null }) => message
};
