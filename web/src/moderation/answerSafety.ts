/** Reads what there is to say about the safety of an answer out of its messages. Pure. */
import type { SafetyReason, Screening } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import { isBlocked } from '$/state/answerParts';
import type { ModerationWords } from '$/words/moderation';

export type ReasonCode = keyof ModerationWords['reasons'];
export type Rewritten = keyof ModerationWords['notice']['rewritten'];

/** An answer was stopped, or the message was not answered at all. */
export interface Stopped {
	kind: 'blocked' | 'cut' | 'withheld';
	code: ReasonCode;
	/** The message that a review is about. */
	messageId: string;
}

export interface AnswerSafety {
	stopped: Stopped | null;
	rewritten: { messageId: string; kinds: Rewritten[] } | null;
	isRefusal: boolean;
	isUnchecked: boolean;
}

/** As in `safety/help.py`. What is not listed is a code itself, or unknown. */
const CODES: { [name: string]: ReasonCode | undefined } = {
	'harassment/threatening': 'violence',
	'hate/threatening': 'hate',
	'illicit/violent': 'weapons',
	'self-harm': 'self_harm',
	'self-harm/intent': 'self_harm',
	'self-harm/instructions': 'self_harm',
	'sexual/minors': 'minors',
	'violence/graphic': 'violence',
	harassment: 'harassment',
	hate: 'hate',
	illicit: 'illicit',
	sexual: 'sexual',
	violence: 'violence',
	jailbreak: 'jailbreak',
	injection: 'injection',
	unavailable: 'unchecked'
};
const REWRITTEN: Rewritten[] = ['link', 'image', 'secret', 'personal_data', 'instructions'];

export function readSafety(question: Message | null, answers: Message[]): AnswerSafety {
	const guarded = answers.flatMap(({ id, metadata: { safety } }) =>
		safety === undefined ? [] : [{ id, safety }]
	);
	const asked = question?.metadata.safety;
	const reasons = guarded.flatMap(({ safety }) => safety.reasons ?? []);
	const all = asked === undefined ? guarded : [...guarded, { id: question?.id, safety: asked }];
	return {
		stopped: findStopped(question, answers, guarded),
		rewritten: findRewritten(guarded),
		isRefusal: reasons.some(({ layer }) => layer === 'refusal'),
		isUnchecked: all.some(({ safety }) => safety.is_complete === false)
	};
}

type Guarded = { id: string; safety: Screening }[];

function findStopped(question: Message | null, answers: Message[], guarded: Guarded) {
	if (isBlocked(question, answers)) {
		const [reason] = question?.metadata.safety?.reasons ?? [];
		return { kind: 'blocked' as const, code: findCode(reason), messageId: question?.id ?? '' };
	}
	const last = guarded.findLast(({ safety }) => ['cut', 'block'].includes(safety.outcome));
	if (last === undefined) return null;
	const kind = last.safety.outcome === 'cut' ? ('cut' as const) : ('withheld' as const);
	return { kind, code: findAnswerCode(last.safety.reasons?.[0]), messageId: last.id };
}

function findCode(reason: SafetyReason | undefined): ReasonCode {
	const code = CODES[reason?.name ?? ''];
	return code ?? (reason?.layer === 'rule' ? 'rule' : 'other');
}

/** The words about categories are about messages of people. */
function findAnswerCode(reason: SafetyReason | undefined): ReasonCode {
	if (reason?.layer === 'leak') return 'leak';
	return reason?.layer === 'rule' ? 'rule' : 'answer';
}

function findRewritten(guarded: Guarded): AnswerSafety['rewritten'] {
	const found = guarded.filter(({ safety }) => safety.outcome === 'rewrite');
	const names = new Set<string>(
		found.flatMap(({ safety }) => (safety.reasons ?? []).map(({ name }) => name))
	);
	const messageId = found.at(-1)?.id;
	const kinds = REWRITTEN.filter((kind) => names.has(kind));
	return messageId === undefined ? null : { messageId, kinds };
}
