/** One sentence about what went wrong, in the words of the page. */
import type { Failure } from '$/api/wire';
import type { Words } from '$/words/words';

/** What is used up comes back at a time of day. */
const SPENT = ['quota_exceeded', 'rate_limit_exceeded'];

export function sentenceOf(failure: Failure, { problems }: Words): string {
	if (failure.code === 'unreachable') return problems.unreachable;
	const sentence = problems.byCode[failure.code ?? ''] ?? problems.said(failure);
	const isLater = failure.retryAt != null && SPENT.includes(failure.code ?? '');
	return isLater ? `${sentence} ${problems.later(new Date(failure.retryAt ?? 0))}` : sentence;
}
