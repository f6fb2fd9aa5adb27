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
		lost: 'There were accounts on this server, but its database is missing or empty. If you run it, stop it and restore a backup. To begin anew, make the administrator’s account here.',
		token: 'Setup token',
		tokenHint:
			'It stands in the output of hitsend when it starts, at the end of a link. This command prints it again: hitsend admin setup-link',
		tokenWrong: 'This is not the setup token of this server.',
		action: 'Create account'
	},
	signIn: {
		title: 'Sign in',
		about: 'No account yet? Ask your administrator for an invitation link.',
		action: 'Sign in',
		nameMissing: 'Type your name.',
		forgot: 'Forgot your password?',
		forgotAbout:
			'Ask an administrator of this server for a link to reset it. They make one in the settings, under People.',
		forgotServer: 'Whoever runs the server can also use the command'
	},
	secondStep: {
		title: 'One more step',
		about: 'Your password was right. Now show that it is you.',
		usePasskey: 'Use a passkey',
		noPasskey: 'No passkey was used. Try again, or choose another way.',
		code: 'Code from your authenticator app',
		codeHint: 'Six digits. They change every half minute.',
		codeMissing: 'Type the code.',
		recoveryCode: 'Recovery code',
		recoveryCodeHint: 'One of those you saved. Each works once.',
		useRecoveryCode: 'Use a recovery code',
		hideRecoveryCode: 'Use the passkey',
		useApp: 'Use the app',
		action: 'Continue',
		wrong: {
			authenticator: 'This code is wrong, or was used already. Wait for the next one.',
			recovery_code: 'This recovery code is wrong, or was used already.',
			passkey: 'This passkey was not accepted. Choose another way.'
		},
		otherHosts: (hosts: string) => `You have passkeys that only work on ${hosts}.`,
		back: 'Start again',
		lost: 'Lost your phone and your recovery codes?',
		lostAbout: 'Whoever runs this server can remove your second step with the command'
	},
	setUp: {
		title: 'Set up two-step sign-in',
		about: 'This server requires it. Add an authenticator app or a passkey to go on.',
		signOut: 'Sign out'
	},
	reset: {
		title: 'Choose a new password',
		about: (name: string) =>
			`For the account ${name}. You are signed out everywhere else. The link works once.`,
		password: 'New password',
		revokeKeys: 'Delete my API keys, too',
		keysAbout: (count: number) =>
			`${count === 1 ? 'There is one key.' : `There are ${count} keys.`} Delete them if somebody else may have seen them. Programs that use them stop working.`,
		action: 'Save password',
		over: 'This link is not valid, or not any more. Ask for a new one.',
		other: 'Go to hitsend'
	},
	resetNotice: {
		title: 'Your password was reset',
		byAdmin: (when: string, name: string) => `On ${when}, with a link that ${name} made.`,
		byCommand: (when: string) => `On ${when}, on the command line of the server.`,
		about:
			'If that was not you, somebody else could sign in as you: change your password, and ask whoever made the link. Settings, Account lists all resets.',
		action: 'I have read this'
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
