/** Two-step sign-in in the settings. */
export const secondFactor = {
	title: 'Two-step sign-in',
	off: 'Off. With a second step, somebody who knows your password still cannot sign in as you.',
	on: 'On. After your password, signing in asks for a code or a passkey.',
	required: 'This server requires a second step, so the last one cannot be removed.',
	added: (day: string) => `added ${day}`,
	neverUsed: 'not used yet',
	lastUsed: (when: string) => `last used ${when}`,
	removeTitle: 'Remove this?',
	removeAction: 'Remove',
	turnOff: 'Turn off two-step sign-in',
	turnOffAbout:
		'Your app, your passkeys and your recovery codes are removed. Your password alone will sign you in.',
	app: {
		name: 'Authenticator app',
		add: 'Add authenticator app',
		replace: 'Replace authenticator app',
		remove: 'Remove the authenticator app',
		removeAbout: 'The codes of your authenticator app will no longer work here.',
		title: 'Add an authenticator app',
		scan: 'Scan this picture with an authenticator app on your phone.',
		picture: 'QR code for the authenticator app',
		orType: 'Or type this key into the app:',
		copyKey: 'Copy the key',
		code: 'Code from the app',
		codeHint: 'Six digits. They change every half minute.',
		codeMissing: 'Type the six digits that the app shows.',
		codeWrong: 'This code is wrong. Is the clock of your phone right?',
		action: 'Add app'
	},
	passkey: {
		add: 'Add passkey',
		title: 'Name your passkey',
		name: 'Name',
		nameHint: 'So that you know it again, such as “Phone” or “Blue key”.',
		nameMissing: 'Give the passkey a name.',
		action: 'Save passkey',
		failed: 'No passkey was made. Try again, or add an app instead.',
		elsewhere: (host: string) => `only on ${host}`,
		remove: (name: string) => `Remove the passkey ${name}`,
		removeAbout: (name: string) =>
			`${name} will no longer work here. Delete it on your device as well.`,
		impossible:
			'Passkeys need a browser that supports them, HTTPS (or localhost), and a host name instead of an IP address.'
	},
	recovery: {
		title: 'Your recovery codes',
		once: 'Save these codes somewhere safe: they are shown only now. Each one signs you in once if you lose your phone or your passkey.',
		list: 'Recovery codes',
		copy: 'Copy all codes',
		saved: 'I have saved them',
		left: (count: number) =>
			count === 1 ? 'One recovery code is left.' : `${count} recovery codes are left.`,
		replace: 'New recovery codes'
	},
	password: {
		title: 'Confirm it is you',
		about: 'Changes to how you sign in need your password.',
		action: 'Continue'
	}
};
