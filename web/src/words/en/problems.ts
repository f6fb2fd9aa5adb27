/** What went wrong, in words. The server's own sentences are English and more exact. */
export const problems = {
	unreachable: 'The server cannot be reached. Check your connection.',
	unexpected: (status: number) => `The server answered ${status}.`,
	/** Sentences for the server's codes, where a language is not the server's. */
	byCode: {} as Record<string, string>
};
