/** What an answer is waiting for, in one honest sentence. The only place that decides it. */
import type { Status } from '$/api/wire';
import type { Turn } from '$/turn/turn.svelte';
import type { Words } from '$/words/words';

/** After so long it is said how long it has taken, and that one need not wait. */
const SLOW_S = 5;
/** A model that writes is never silent so long. */
const STALLED_S = 10;

export interface Situation {
	turn: Pick<
		Turn,
		'id' | 'isRunning' | 'isStopping' | 'isReconnecting' | 'delay' | 'beganAt' | 'heardAt'
	>;
	hasWords: boolean;
	isOnline: boolean;
	engine: Status | null;
	/** Now, in Unix milliseconds. */
	at: number;
}

export interface Wait {
	sentence: string;
	/** Seconds it has taken, once that is worth saying. */
	numSeconds: number | null;
	canStop: boolean;
}

/** Null when there is nothing to wait for, or words are coming. */
export function waitOf(situation: Situation, t: Words): Wait | null {
	const { turn, hasWords, at } = situation;
	if (!turn.isRunning) return null;
	const sentence = sentenceFor(situation, t.chat.state);
	if (sentence === null) return null;
	const seconds = Math.floor((at - (hasWords ? turn.heardAt : turn.beganAt)) / 1000);
	const isSlow = seconds >= SLOW_S;
	return { sentence, numSeconds: isSlow ? seconds : null, canStop: isSlow && !turn.isStopping };
}

function sentenceFor(
	{ turn, hasWords, isOnline, engine, at }: Situation,
	state: Words['chat']['state']
): string | null {
	if (turn.isStopping) return state.stopping;
	if (!isOnline) return state.offline;
	if (turn.isReconnecting) return state.reconnecting;
	if (hasWords && at - turn.heardAt < STALLED_S * 1000) return null;
	if (engine !== null && engine.state !== 'ready') return state[engine.state];
	if (hasWords) return state.stalled;
	if (turn.id === null) return state.connecting;
	if (turn.delay?.reason === 'loading') return state.loading;
	if (turn.delay?.reason === 'queue') {
		const { numAhead } = turn.delay;
		// Nobody tells the next in line that its turn has come; that nobody waits any more does.
		if (numAhead > 0 || engine?.num_waiting !== 0) return state.queued(numAhead);
	}
	return state.reading;
}
