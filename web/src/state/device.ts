/** A name for this browser that says nothing of whoever uses it. It goes when they sign out. */
import { newId } from '$/state/id';

const KEY = 'hitsend.device';

/** A browser that keeps nothing is another one with every page. */
export function deviceIn(storage: Storage): string {
	try {
		const device = storage.getItem(KEY) ?? newId();
		storage.setItem(KEY, device);
		return device;
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
		return newId();
	}
}
