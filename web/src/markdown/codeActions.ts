/** What can be done with the code blocks of an answer besides copying. Whoever draws the answer provides it. */
import { getContext, setContext, type Snippet } from 'svelte';

export interface CodeActions {
	/** Beside the copy button. Both get the code and its language. */
	buttons: Snippet<[code: string, language: string]>;
	/** Below the code. */
	output: Snippet<[code: string, language: string]>;
}

const KEY = Symbol('code actions');

export function provideCodeActions(actions: CodeActions): void {
	setContext(KEY, actions);
}

/** Null where nothing is provided. */
export function findCodeActions(): CodeActions | null {
	return getContext<CodeActions | undefined>(KEY) ?? null;
}
