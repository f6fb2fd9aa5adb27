import { expect, test, vi } from 'vitest';
import { Voice } from '$/chat/voice.svelte';

class Utterance {
	lang = '';
	onend: (() => void) | null = null;
	onerror: ((event: { error: string }) => void) | null = null;
	constructor(readonly text: string) {}
}

function fakeVoice() {
	const spoken: Utterance[] = [];
	const speech = {
		spoken,
		speak: (utterance: Utterance) => spoken.push(utterance),
		cancel: () => spoken.splice(0).forEach((one) => one.onerror?.({ error: 'canceled' }))
	};
	const utterance = (text: string) => new Utterance(text) as unknown as SpeechSynthesisUtterance;
	return { spoken, voice: new Voice(speech as unknown as SpeechSynthesis, utterance) };
}

test('an answer is read sentence by sentence and ends with the last one', () => {
	const { spoken, voice } = fakeVoice();
	voice.read('a1', 'One. Two.', 'en');
	expect(spoken.map(({ text }) => text)).toEqual(['One.', 'Two.']);
	expect(spoken.map(({ lang }) => lang)).toEqual(['en', 'en']);
	spoken[0]?.onend?.();
	expect(voice.readingId).toBe('a1');
	spoken[1]?.onend?.();

	expect(voice.readingId).toBeNull();
});

test('only one answer is read at a time', () => {
	const { spoken, voice } = fakeVoice();
	voice.read('a1', 'One.', 'en');
	voice.read('a2', 'Two.', 'en');

	expect(voice.readingId).toBe('a2');
	expect(spoken.map(({ text }) => text)).toEqual(['Two.']);
});

test('stopping is no failure, but a synthesis error is', () => {
	const { spoken, voice } = fakeVoice();
	const failed = vi.fn();
	voice.onfailure = failed;
	voice.read('a1', 'One.', 'en');
	voice.stop();
	expect(failed).not.toHaveBeenCalled();
	voice.read('a1', 'One.', 'en');
	spoken[0]?.onerror?.({ error: 'synthesis-failed' });

	expect(failed).toHaveBeenCalledOnce();
	expect(voice.readingId).toBeNull();
});

test('a browser without speech synthesis is not supported', () => {
	expect(new Voice(undefined).isSupported).toBe(false);
});
