/** Decides what an answer is waiting for, and describes it. */
import type { Message, Status } from '$/api/wire';
import { isToolMessage } from '$/state/messageTree';
import type { Turn } from '$/turn/turn.svelte';
import type { Words } from '$/words/words';

/** After this long the status shows the elapsed time and a cancel button. */
const SLOW_S = 5;
/** After this long without a first word the status says when the answer is given up. */
const SILENT_S = 15;
/** A model that is writing never pauses this long. */
const STALLED_S = 10;

/** What the answer does: the line of a tool, or of a thought, shows that for itself. */
export type Progress = 'nothing' | 'text' | 'thought' | 'tool' | 'after tools';

export function findProgress(last: Message | null, messages: Message[]): Progress {
	if (last === null) return 'nothing';
	const isRunning = messages.some((one) => isToolMessage(one) && one.status === 'in_progress');
	if (isRunning || last.metadata.tool_calls !== undefined) return 'tool';
	if (!isToolMessage(last) && (last.content.parts[0] ?? '') !== '') return 'text';
	if (last.metadata.thought !== undefined) return 'thought';
	return messages.some(isToolMessage) ? 'after tools' : 'nothing';
}

/** Whether an answer that has begun gets no new word: its cause is worth asking for. */
export function isStalled({ turn, progress, now }: Pick<Situation, 'turn' | 'progress' | 'now'>) {
	return turn.isRunning && progress === 'text' && now - turn.lastTextAt >= STALLED_S * 1000;
}

export interface Situation {
	turn: Pick<
		Turn,
		| 'id'
		| 'isRunning'
		| 'isStopping'
		| 'isReconnecting'
		| 'retry'
		| 'delay'
		| 'startedAt'
		| 'lastTextAt'
	>;
	progress: Progress;
	isOnline: boolean;
	/** The browser is solving the proof of work the server demands. */
	isWorking: boolean;
	engine: Status | null;
	/** Unix milliseconds. */
	now: number;
}

export interface Wait {
	sentence: string;
	/** For screen readers: empty until the wait is long, and without a running count of seconds. */
	announcement: string;
	/** Elapsed seconds, once the wait is long. */
	numSeconds: number | null;
	canStop: boolean;
}

/** Null if nothing is waited for, or text is arriving. */
export function describeWait(situation: Situation, t: Words): Wait | null {
	const { turn, progress, now } = situation;
	if (!turn.isRunning) return null;
	const retry = describeRetry(turn, now, t.chat.state);
	if (retry !== null) return retry;
	const reason = describeReason(situation, t.chat.state);
	if (reason === null) return null;
	const since = progress === 'nothing' ? turn.startedAt : turn.lastTextAt;
	const seconds = Math.floor((now - since) / 1000);
	const sentence = describeSilence(reason, seconds, situation, t.chat.state);
	if (seconds < SLOW_S) return { sentence, announcement: '', numSeconds: null, canStop: false };
	return { sentence, announcement: sentence, numSeconds: seconds, canStop: !turn.isStopping };
}

/** Says when an engine that sends nothing is given up, once its silence is long. */
function describeSilence(
	reason: string,
	seconds: number,
	{ engine }: Situation,
	state: Words['chat']['state']
): string {
	const limit = engine?.first_token_s ?? null;
	const isSilent = reason === state.reading && seconds >= SILENT_S;
	return isSilent && limit !== null ? state.silent(limit) : reason;
}

/** The server has set the time of the next try. */
function describeRetry(
	{ retry, isStopping }: Situation['turn'],
	now: number,
	state: Words['chat']['state']
): Wait | null {
	if (retry === null || retry.reason === 'lost' || retry.retryAfter === null || isStopping)
		return null;
	const { reason, retryAfter } = retry;
	const sentenceFor = (ms: number) => state[reason](Math.max(1, Math.ceil(ms / 1000)));
	return {
		sentence: sentenceFor(retryAfter.at - now),
		announcement: sentenceFor(retryAfter.ms),
		numSeconds: null,
		canStop: true
	};
}

function describeReason(
	{ turn, progress, isOnline, isWorking, engine, now }: Situation,
	state: Words['chat']['state']
): string | null {
	if (turn.isStopping) return state.stopping;
	if (!isOnline) return turn.id === null ? state.unsent : state.offline;
	if (turn.isReconnecting) return state.reconnecting;
	if (turn.id === null && isWorking) return state.working;
	if (progress === 'tool' || progress === 'thought') return null;
	if (progress === 'text' && !isStalled({ turn, progress, now })) return null;
	if (engine !== null && engine.store !== 'ready') return state[engine.store];
	if (engine !== null && engine.state !== 'ready') return state[engine.state];
	if (progress === 'text') return state.stalled;
	if (turn.id === null) return state.connecting;
	if (turn.delay?.reason === 'loading') return state.loading;
	if (turn.delay?.reason === 'queue') {
		const { numAhead } = turn.delay;
		// No event says that the next in line is running; an empty queue does.
		if (numAhead > 0 || engine?.num_waiting !== 0) return state.queued(numAhead);
	}
	return progress === 'after tools' ? state.readingResult : state.reading;
}
