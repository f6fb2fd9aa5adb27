/** Reads answers aloud with the browser's own voice, one at a time. */
import { splitForSpeech } from '$/chat/speechText';

export class Voice {
	/** The answer being read. */
	readingId = $state<string | null>(null);
	/** Called if the browser fails to read: some have no voice installed. */
	onfailure: () => void = () => undefined;

	#synthesis: SpeechSynthesis | undefined;
	#utterance: (text: string) => SpeechSynthesisUtterance;

	constructor(
		synthesis: SpeechSynthesis | undefined = globalThis.speechSynthesis,
		utterance = (text: string) => new SpeechSynthesisUtterance(text)
	) {
		this.#synthesis = synthesis;
		this.#utterance = utterance;
	}

	get isSupported(): boolean {
		return this.#synthesis !== undefined;
	}

	/** `language` chooses the voice. */
	read(id: string, text: string, language: string): void {
		this.stop();
		const utterances = splitForSpeech(text).map(this.#utterance);
		if (utterances.length === 0) return;
		this.readingId = id;
		for (const utterance of utterances) {
			utterance.lang = language;
			utterance.onend = () => utterance === utterances.at(-1) && this.#end(id);
			utterance.onerror = ({ error }) => {
				// Our own cancellation is no failure.
				if (error === 'canceled' || error === 'interrupted' || this.readingId !== id) return;
				this.stop();
				this.onfailure();
			};
			this.#synthesis?.speak(utterance);
		}
	}

	stop(): void {
		this.readingId = null;
		this.#synthesis?.cancel();
	}

	#end(id: string): void {
		if (this.readingId === id) this.readingId = null;
	}
}
