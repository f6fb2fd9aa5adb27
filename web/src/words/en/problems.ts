/** What went wrong, in words. The server's own sentences are English and exact. */
export const problems = {
	unreachable: 'The server cannot be reached. Check your connection.',
	/** Sentences for those of the server's codes that say it all, where a language is not the server's. */
	byCode: {} as Record<string, string>,
	/** What the server said, in a language that is not the server's after what kind of thing it is. */
	said: ({ message }: { message: string; code: string | null }) => message
};
