/** Random ids. */

const DEVICE_KEY = 'hitsend.device';

/** A random UUID, also on plain http, where browsers lack crypto.randomUUID. */
export function createId(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
	bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
	const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A random id of this browser, deleted on sign-out. New with each page if storage is off. */
export function getDeviceId(storage: Storage): string {
	try {
		const id = storage.getItem(DEVICE_KEY) ?? createId();
		storage.setItem(DEVICE_KEY, id);
		return id;
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
		return createId();
	}
}
