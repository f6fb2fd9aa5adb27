/** The slash commands of an action: in the page's language, and in English. */
import type { Words } from '$/words/words';

export function listSlashNames(
	name: keyof Words['workspace']['slash'],
	t: Words['workspace']
): string[] {
	return [...new Set([t.slash[name], name])];
}
