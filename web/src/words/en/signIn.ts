/** Signing in and signing up. */
export const signIn = {
	name: 'hitsend',
	promise: 'A chat of your own. It runs where you run it, and shows how every answer came about.',
	nameField: 'Name',
	passwordField: 'Password',
	nameRule: 'You sign in with it. Up to 64 characters.',
	passwordRule: 'At least 8 characters.',
	nameMissing: 'Choose a name.',
	passwordMissing: 'Type your password.',
	passwordShort: (missing: number) =>
		missing === 1 ? 'One character more, please.' : `${missing} more characters, please.`,
	passwordWeak:
		'This is easy to guess. Make it longer, for example with a few unrelated words: common words, your name, years, sequences and repetitions add little.',
	nameTaken: 'This name is taken. Choose another.',
	wrong: 'The name or the password is wrong.',
	inviteOver: 'This invitation is not valid, or not any more. Ask for a new link.',
	busy: 'One moment…',
	first: {
		title: 'Create the first account',
		about:
			'Nobody has an account here yet. This one will be the administrator, who can invite others.',
		action: 'Create account'
	},
	signIn: {
		title: 'Sign in',
		about: 'No account yet? Ask your administrator for an invitation link.',
		action: 'Sign in',
		nameMissing: 'Type your name.'
	},
	signUp: {
		title: 'You are invited',
		about: 'Choose a name and a password. The invitation is for you alone: it works once.',
		action: 'Create account',
		other: 'I have an account: sign in'
	},
	unreachable: {
		offlineTitle: 'You are offline',
		offline: 'This device has no connection. As soon as it is back, this page goes on by itself.',
		title: 'The server cannot be reached',
		about:
			'It may be starting, or something lies between it and you. Whatever you wrote is kept in this browser.',
		trying: 'Trying…',
		next: (seconds: number) => `Trying again in ${seconds} s`,
		action: 'Try again'
	}
};
