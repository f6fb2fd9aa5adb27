/** Where the message is written, for those who want to bring the cursor there. */
import { tick } from 'svelte';

export const DRAFT_ID = 'draft';

/** Waits until what was put into the draft is drawn; the cursor goes to its end. */
export async function focusDraft(): Promise<void> {
	await tick();
	const area = document.getElementById(DRAFT_ID);
	if (!(area instanceof HTMLTextAreaElement)) return;
	area.focus();
	area.setSelectionRange(area.value.length, area.value.length);
	area.scrollTop = area.scrollHeight;
}
