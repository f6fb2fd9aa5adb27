/** The API of reviews, policies and statistics. */
import type { Api } from '$/api/client';
import type * as wire from '$/api/wire';

export const PAGE_SIZE = 200;
export const REVIEWS_EXPORT_PATH = '/backend-api/safety/reviews/export';

export class SafetyApi {
	#api: Api;

	constructor(api: Api) {
		this.#api = api;
	}

	getHelp = (timeZone: string, language: string) => {
		const place = new URLSearchParams({ time_zone: timeZone, language });
		return this.#get<wire.Help>(`help?${place}`);
	};
	listAppeals = async (conversationId: string) =>
		(
			await this.#api.requestPath<{ items: wire.OwnReview[] }>(
				'GET',
				`conversation/${conversationId}/appeals`
			)
		).items;
	appeal = (conversationId: string, messageId: string, words: string) =>
		this.#api.requestPath<wire.OwnReview>(
			'POST',
			`conversation/${conversationId}/messages/${messageId}/appeal`,
			{ words }
		);

	countReviews = async () => (await this.#get<wire.OpenReviews>('reviews/count')).num_open;
	listReviews = (isDecided: boolean, offset: number) =>
		this.#list<wire.Review>(`reviews?decided=${isDecided}&offset=${offset}`);
	getReview = (id: string) => this.#get<wire.ReviewWithContext>(`reviews/${id}`);
	decide = (id: string, decision: wire.ReviewDecision, note: string) =>
		this.#send<wire.Review>('POST', `reviews/${id}`, { decision, note });

	getPolicies = () => this.#get<wire.SafetyState>('policies');
	setPolicy = (scope: string, policy: wire.SafetyPolicy) =>
		this.#send<wire.VersionedPolicy>('PUT', `policies/${scope}`, policy);
	resetPolicy = (scope: string) => this.#send<wire.VersionedPolicy>('DELETE', `policies/${scope}`);
	tryText = (text: string, scope: string) =>
		this.#send<wire.TriedResult>('POST', 'try', { text, scope });
	listCounts = (days: number) => this.#list<wire.OutcomeCount>(`statistics?days=${days}`);

	#send<T>(method: string, path: string, body?: unknown): Promise<T> {
		return this.#api.requestPath<T>(method, `safety/${path}`, body);
	}

	#get<T>(path: string): Promise<T> {
		return this.#send<T>('GET', path);
	}

	async #list<T>(path: string): Promise<T[]> {
		return (await this.#get<{ items: T[] }>(path)).items;
	}
}
