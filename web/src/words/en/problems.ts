import { numbersIn } from '$/words/numbers';

const { when } = numbersIn('en');

/** What went wrong, in words. The server's own sentences are English and exact. */
export const problems = {
	unreachable: 'The server cannot be reached. Check your connection.',
	/** Sentences for those of the server's codes that say it all, where a language is not the server's. */
	byCode: {
		no_worker:
			'This server asks for some work before it takes a message, and this browser cannot do it: it allows no web workers here. Allow them, or use another browser.'
	} as Record<string, string>,
	later: (at: Date) => `It can be tried again ${when(at, 'at')}.`,
	/** What the server said, in a language that is not the server's after what kind of thing it is. */
	said: ({ message }: { message: string; code: string | null }) => message
};
