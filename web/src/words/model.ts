/** Short facts about a model. */
import type { Model, Offer } from '$/api/wire';
import type { Words } from '$/words/words';

export function listModelFacts(model: Model, { models: t }: Words): string[] {
	return [
		...(model.num_bytes === null ? [] : [t.size(model.num_bytes)]),
		model.num_tokens_per_s === null ? t.speedUnknown : t.speed(model.num_tokens_per_s),
		t.window(model.num_window_tokens),
		t[model.where]
	];
}

export function listOfferFacts(offer: Offer, { models: t }: Words): string[] {
	return [t.size(offer.num_bytes), t.window(offer.num_window_tokens)];
}
