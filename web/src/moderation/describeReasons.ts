/** Names what the safety checks found. */
import type { SafetyReason, Screening } from '$/api/events.gen';
import { formatPercent } from '$/words/format';
import type { ModerationWords } from '$/words/moderation';

/** A rule that an administrator wrote has a name of its own. */
export function nameConcern(name: string, t: ModerationWords): string {
	return t.concerns[name] ?? name;
}

export function describeReason({ name, score }: SafetyReason, t: ModerationWords): string {
	const named = nameConcern(name, t);
	return score === undefined ? named : `${named} ${formatPercent(score)}`;
}

export function describeReasons(screening: Screening | null, t: ModerationWords): string[] {
	return (screening?.reasons ?? []).map((reason) => describeReason(reason, t));
}
