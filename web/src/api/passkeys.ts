/** Asks the browser for a passkey: its own dialogs follow. The server makes the options and checks the result. */

/** Whether this browser has passkeys here. None has them without HTTPS, except on this machine. */
export const canUsePasskeys = (): boolean =>
	'PublicKeyCredential' in globalThis && 'parseCreationOptionsFromJSON' in PublicKeyCredential;

/** Returns null if the person cancelled, or the browser found no passkey. */
export function createPasskey(options: Record<string, unknown>): Promise<unknown> {
	return ask(() => {
		const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
			options as unknown as PublicKeyCredentialCreationOptionsJSON
		);
		return navigator.credentials.create({ publicKey });
	});
}

/** Returns null if the person cancelled, or the browser found no passkey. */
export function usePasskey(options: Record<string, unknown>): Promise<unknown> {
	return ask(() => {
		const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
			options as unknown as PublicKeyCredentialRequestOptionsJSON
		);
		return navigator.credentials.get({ publicKey });
	});
}

async function ask(request: () => Promise<Credential | null>): Promise<unknown> {
	try {
		const credential = await request();
		return credential instanceof PublicKeyCredential ? credential.toJSON() : null;
	} catch (error) {
		if (error instanceof DOMException) return null;
		throw error;
	}
}
