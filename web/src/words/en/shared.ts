/** The public page of a shared conversation. */
export const shared = {
	about: (day: string) => `A copy of a conversation, shared on ${day}. It does not change.`,
	person: 'Question',
	answer: 'Answer',
	messages: 'Messages',
	untitled: 'A conversation',
	titleOf: (title: string) => `${title} · hitsend`,
	reading: 'Opening what was shared',
	copy: 'Copy answer',
	more: 'Answers are written by a language model and can be wrong.',
	home: 'hitsend: a chat of your own',
	gone: 'There is nothing here',
	goneAbout: 'The link is not complete, or whoever shared this has taken it back.',
	failed: 'This cannot be opened right now',
	again: 'Try again'
};
