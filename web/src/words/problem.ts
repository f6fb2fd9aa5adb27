/** One sentence about what went wrong, in the words of the page. */
import type { Failure } from '$/api/wire';
import type { Words } from '$/words/words';

export function sentenceOf(failure: Failure, { problems }: Words): string {
	if (failure.code === 'unreachable') return problems.unreachable;
	return problems.byCode[failure.code ?? ''] ?? problems.said(failure);
}
