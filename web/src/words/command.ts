/** What can be written after `/`: the name in the language of the page, and the English one. */
import type { Words } from '$/words/words';

export function commandOf(name: keyof Words['desk']['slash'], t: Words['desk']): string[] {
	return [...new Set([t.slash[name], name])];
}
