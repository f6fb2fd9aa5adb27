/** The words of the activity log. */
import type { AuditEvent } from '$/api/wire';
import { activity as de } from '$/words/de/activity';
import { activity as en } from '$/words/en/activity';
import { createCatalogue } from '$/words/words';

/** Who did it, and to whom: names, or words for those who have none. */
export interface Names {
	who: string;
	whom: string;
}

/** A sentence for each kind of entry. A kind without one is an error of types. */
export type Sentences = {
	[Kind in AuditEvent['kind']]: (
		names: Names,
		event: Extract<AuditEvent, { kind: Kind }>
	) => string;
};

export type ActivityWords = typeof en;

export const activityWords = createCatalogue<ActivityWords>(en, de);
