/** Describes a failure in the page's language. */
import type { Failure } from '$/api/wire';
import type { Words } from '$/words/words';

/** The sentence for these codes says when to try again. */
const LIMIT_CODES = ['quota_exceeded', 'rate_limit_exceeded'];

export function describeFailure(failure: Failure, { problems }: Words): string {
	if (failure.code === 'unreachable') return problems.unreachable;
	const sentence = problems.byCode[failure.code ?? ''] ?? problems.said(failure);
	// The log says more about it, and whoever runs the server can find it there by this id.
	if (failure.code === 'internal_error' && failure.requestId != null) {
		return `${sentence} ${problems.reference(failure.requestId)}`;
	}
	const isLimit = failure.retryAt != null && LIMIT_CODES.includes(failure.code ?? '');
	return isLimit ? `${sentence} ${problems.later(new Date(failure.retryAt ?? 0))}` : sentence;
}
