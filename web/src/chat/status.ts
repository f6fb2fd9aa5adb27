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
		'id' | 'isRunning' | 'isStopping' | 'isReconnecting' | 'retry' | 'delay' | 'beganAt' | 'heardAt'
	>;
	hasWords: boolean;
	isOnline: boolean;
	/** The work is being done that the server asks for before it takes a message. */
	isWorking: boolean;
	engine: Status | null;
	/** Now, in Unix milliseconds. */
	at: number;
}

export interface Wait {
	sentence: string;
	/** What is read out: nothing before the wait is long, and nothing that changes by the second. */
	aloud: string;
	/** Seconds it has taken, once that is worth saying. */
	numSeconds: number | null;
	canStop: boolean;
}

/** Null when there is nothing to wait for, or words are coming. */
export function waitOf(situation: Situation, t: Words): Wait | null {
	const { turn, hasWords, at } = situation;
	if (!turn.isRunning) return null;
	const retry = retryOf(turn, at, t.chat.state);
	if (retry !== null) return retry;
	const sentence = sentenceFor(situation, t.chat.state);
	if (sentence === null) return null;
	const seconds = Math.floor((at - (hasWords ? turn.heardAt : turn.beganAt)) / 1000);
	if (seconds < SLOW_S) return { sentence, aloud: '', numSeconds: null, canStop: false };
	return { sentence, aloud: sentence, numSeconds: seconds, canStop: !turn.isStopping };
}

/** The server has said when it wants to be asked again. */
function retryOf(
	{ retry, isStopping }: Situation['turn'],
	at: number,
	state: Words['chat']['state']
): Wait | null {
	if (retry === null || retry.reason === 'lost' || retry.asked === null || isStopping) return null;
	const { reason, asked } = retry;
	const said = (ms: number) => state[reason](Math.max(1, Math.ceil(ms / 1000)));
	return { sentence: said(asked.at - at), aloud: said(asked.ms), numSeconds: null, canStop: true };
}

function sentenceFor(
	{ turn, hasWords, isOnline, isWorking, engine, at }: Situation,
	state: Words['chat']['state']
): string | null {
	if (turn.isStopping) return state.stopping;
	if (!isOnline) return turn.id === null ? state.unsent : state.offline;
	if (turn.isReconnecting) return state.reconnecting;
	if (turn.id === null && isWorking) return state.working;
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
