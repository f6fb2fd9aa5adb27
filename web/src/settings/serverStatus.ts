/** Says in a sentence how it stands with a tool server. */
import type { McpServerItem } from '$/api/wire';
import type { ServerWords } from '$/words/servers';

export function describeStatus({ status }: McpServerItem, { state }: ServerWords): string {
	if (status.condition !== 'failed') return state[status.condition];
	const sentence = state.failed(status.problem);
	const seconds = status.retry_in_s;
	return seconds === null ? sentence : `${sentence} ${state.retry(Math.ceil(seconds))}`;
}

/** The tools that somebody has to look at: changed ones, and new ones that are off. */
export function countPending({ tools, may_manage }: McpServerItem): number {
	if (!may_manage) return 0;
	return tools.filter((tool) => tool.changed_digest !== null || (tool.is_new && !tool.is_on))
		.length;
}
