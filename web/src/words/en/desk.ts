/** What can be done from anywhere, and what the window says. */
export const desk = {
	name: 'hitsend',
	titleOf: (title: string) => `${title} · hitsend`,
	skip: 'Skip to the message field',
	signOutFailed: 'You are still signed in: the server could not be reached.',
	actions: {
		newChat: 'New chat',
		palette: 'Find a conversation or an action',
		shortcuts: 'Keyboard shortcuts',
		write: 'Go to the message field',
		stop: 'Stop the answer',
		answerAgain: 'Answer again',
		copyAnswer: 'Copy the last answer',
		foldSidebar: 'Fold or unfold the list of conversations',
		pin: 'Pin or unpin this conversation',
		archive: 'Archive this conversation',
		remove: 'Delete this conversation',
		lookInside: 'Look inside the last answer',
		light: 'Light theme',
		dark: 'Dark theme',
		system: 'Theme of the system',
		signOut: 'Sign out',
		settings: {
			account: 'Settings: account',
			keys: 'Settings: API keys',
			appearance: 'Settings: appearance',
			chat: 'Settings: chat',
			shares: 'Settings: shared links',
			data: 'Settings: export and import',
			people: 'Administration: people',
			invites: 'Administration: invitations',
			models: 'Administration: models',
			limits: 'Administration: limits'
		}
	},
	/** Other words an action is looked for by. */
	also: {
		newChat: 'conversation begin start',
		appearance: 'theme dark light language text size density',
		chat: 'preset temperature sampling instructions',
		data: 'download backup ChatGPT Open WebUI',
		keys: 'token SDK curl',
		account: 'password name sessions'
	},
	archived: (title: string) => `“${title}” is archived.`,
	removed: (title: string) => `“${title}” is deleted.`,
	undo: 'Undo',
	copied: 'The answer is copied.'
};
