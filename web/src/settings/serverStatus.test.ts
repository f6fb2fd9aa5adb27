import { expect, test } from 'vitest';
import type { McpServerItem, McpStatus, McpToolItem } from '$/api/wire';
import { countPending, describeStatus } from '$/settings/serverStatus';
import { serverWords } from '$/words/servers';

const tool = (changes: Partial<McpToolItem> = {}): McpToolItem => ({
	name: 'search',
	full_name: 'wiki_search',
	title: '',
	description: 'Searches.',
	schema: '{}',
	is_on: true,
	is_usable: true,
	is_new: false,
	is_missing: false,
	is_read_only: false,
	is_read_only_hint: false,
	problem: '',
	changed_description: null,
	changed_schema: null,
	changed_problem: '',
	changed_digest: null,
	...changes
});

const server = (status: Partial<McpStatus>, tools: McpToolItem[] = []) =>
	({
		status: { condition: 'connected', problem: '', retry_in_s: null, version: '', ...status },
		tools,
		may_manage: true
	}) as Partial<McpServerItem> as McpServerItem;

test('a state is a sentence', () => {
	const t = serverWords('en');
	expect(describeStatus(server({}), t)).toBe('Connected');
	expect(describeStatus(server({ condition: 'sign_in' }), t)).toBe('Sign in to use it.');
	const failed = { condition: 'failed', problem: 'Wiki cannot be reached.' } as const;
	expect(describeStatus(server(failed), t)).toBe('Wiki cannot be reached.');
	expect(describeStatus(server({ ...failed, retry_in_s: 3.2 }), t)).toBe(
		'Wiki cannot be reached. It is tried again in 4 seconds.'
	);
});

test('changed and new tools wait to be looked at, by whoever manages the server', () => {
	const tools = [
		tool(),
		tool({ changed_digest: 'x' }),
		tool({ is_new: true, is_on: false }),
		tool({ is_new: true })
	];
	expect(countPending(server({}, tools))).toBe(2);
	expect(countPending({ ...server({}, tools), may_manage: false })).toBe(0);
});
