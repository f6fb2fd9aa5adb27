import { expect, test } from 'vitest';
import { ApiError } from '$/api/http';
import { Sources } from '$/state/sources.svelte';

const source = (id: string, may_have_prompts = true) => ({
	id,
	title: id,
	prefix: id,
	may_have_resources: true,
	may_have_prompts
});
const NOTES = { uri: 'notes://a', name: 'a', description: '', media_type: '', variables: [] };

test('a server that never answers delays no other', async () => {
	const sources = new Sources({
		listToolSources: () => Promise.resolve([source('slow'), source('quick')]),
		listServerResources: (id) =>
			id === 'slow' ? new Promise(() => undefined) : Promise.resolve([NOTES]),
		listServerPrompts: () => Promise.resolve([])
	});
	const [slow, quick] = await sources.listResources();
	await expect.poll(() => quick?.items.value).toEqual([NOTES]);
	expect(slow?.items.value).toBeNull();
	expect(sources.hasResources).toBe(true);
});

test('prompts are asked for where there may be some, and stay while they are asked for again', async () => {
	const asked: string[] = [];
	const sources = new Sources({
		listToolSources: () => Promise.resolve([source('wiki'), source('none', false)]),
		listServerResources: () => Promise.resolve([]),
		listServerPrompts: (id) => {
			asked.push(id);
			if (asked.length > 1) return Promise.reject(new ApiError('Gone', 503, 'unavailable'));
			return Promise.resolve([{ name: 'p', title: 'P', description: '', arguments: [] }]);
		}
	});
	await sources.loadPrompts();
	await expect.poll(() => sources.prompts[0]?.items.value).toHaveLength(1);
	await sources.loadPrompts();
	await expect.poll(() => sources.prompts[0]?.items.loading.problem?.message).toBe('Gone');
	expect(sources.prompts[0]?.items.value).toHaveLength(1);
	expect(asked).toEqual(['wiki', 'wiki']);
});
