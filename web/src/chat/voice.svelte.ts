/** Reads answers aloud with the browser's own voice, one at a time. */
import { pieces } from '$/chat/spoken';

export class Voice {
	/** The answer that is being read. */
	spokenId = $state<string | null>(null);
	/** Called when the browser cannot read after all; some have no voice to do it with. */
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

	get isThere(): boolean {
		return this.#synthesis !== undefined;
	}

	/** `language` chooses the voice: a text read with that of another cannot be understood. */
	read(id: string, text: string, language: string): void {
		this.stop();
		const utterances = pieces(text).map(this.#utterance);
		if (utterances.length === 0) return;
		this.spokenId = id;
		for (const utterance of utterances) {
			utterance.lang = language;
			utterance.onend = () => utterance === utterances.at(-1) && this.#end(id);
			utterance.onerror = ({ error }) => {
				// What we cut short ourselves is no failure.
				if (error === 'canceled' || error === 'interrupted' || this.spokenId !== id) return;
				this.stop();
				this.onfailure();
			};
			this.#synthesis?.speak(utterance);
		}
	}

	stop(): void {
		this.spokenId = null;
		this.#synthesis?.cancel();
	}

	#end(id: string): void {
		if (this.spokenId === id) this.spokenId = null;
	}
}
