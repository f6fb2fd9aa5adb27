/** Finds out whether a message whose sending went wrong has reached the server after all. */
import { failureOf, type Api } from '$/api/client';

/** How many conversations are looked through when it is not known where the message would be. */
const NUM_NEWEST = 3;

/** The conversation a message is stored in; null if it is not, or nobody can tell. */
export async function homeOf(
	api: Api,
	messageId: string,
	conversationId: string | null
): Promise<string | null> {
	try {
		const candidates = conversationId === null ? await newest(api) : [conversationId];
		for (const id of candidates) {
			if ((await api.conversation(id)).mapping[messageId] !== undefined) return id;
		}
	} catch (error) {
		failureOf(error);
	}
	return null;
}

export async function isServerThere(api: Api): Promise<boolean> {
	try {
		await api.status();
		return true;
	} catch (error) {
		return failureOf(error).code !== 'unreachable';
	}
}

async function newest(api: Api): Promise<string[]> {
	const { items } = await api.conversations({ offset: 0, limit: NUM_NEWEST });
	return items.map(({ id }) => id);
}
