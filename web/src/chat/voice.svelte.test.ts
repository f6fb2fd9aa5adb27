import { expect, test, vi } from 'vitest';
import { Voice } from '$/chat/voice.svelte';

/** A voice that keeps what it is told to say. */
class Utterance {
	lang = '';
	onend: (() => void) | null = null;
	onerror: ((event: { error: string }) => void) | null = null;
	constructor(readonly text: string) {}
}

function mouth() {
	const said: Utterance[] = [];
	const speech = {
		said,
		speak: (utterance: Utterance) => said.push(utterance),
		cancel: () => said.splice(0).forEach((one) => one.onerror?.({ error: 'canceled' }))
	};
	const utterance = (text: string) => new Utterance(text) as unknown as SpeechSynthesisUtterance;
	return { said, voice: new Voice(speech as unknown as SpeechSynthesis, utterance) };
}

test('an answer is read by the sentence, and is over with the last one', () => {
	const { said, voice } = mouth();
	voice.read('a1', 'One. Two.', 'en');
	expect(said.map(({ text }) => text)).toEqual(['One.', 'Two.']);
	expect(said.map(({ lang }) => lang)).toEqual(['en', 'en']);
	said[0]?.onend?.();
	expect(voice.spokenId).toBe('a1');
	said[1]?.onend?.();

	expect(voice.spokenId).toBeNull();
});

test('only one answer is read at a time', () => {
	const { said, voice } = mouth();
	voice.read('a1', 'One.', 'en');
	voice.read('a2', 'Two.', 'en');

	expect(voice.spokenId).toBe('a2');
	expect(said.map(({ text }) => text)).toEqual(['Two.']);
});

test('stopping is no failure, but a browser without a voice is', () => {
	const { said, voice } = mouth();
	const failed = vi.fn();
	voice.onfailure = failed;
	voice.read('a1', 'One.', 'en');
	voice.stop();
	expect(failed).not.toHaveBeenCalled();
	voice.read('a1', 'One.', 'en');
	said[0]?.onerror?.({ error: 'synthesis-failed' });

	expect(failed).toHaveBeenCalledOnce();
	expect(voice.spokenId).toBeNull();
});

test('where there is no voice, none is offered', () => {
	expect(new Voice(undefined).isThere).toBe(false);
});
