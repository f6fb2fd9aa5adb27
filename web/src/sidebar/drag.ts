/** A conversation on its way from the list to a folder, by pointer. The menu does the same by key. */
const KIND = 'application/x-hitsend-conversation';

export function lift(event: DragEvent, id: string): void {
	event.dataTransfer?.setData(KIND, id);
}

export function isCarrying(event: DragEvent): boolean {
	return event.dataTransfer?.types.includes(KIND) ?? false;
}

export function carriedBy(event: DragEvent): string {
	return event.dataTransfer?.getData(KIND) ?? '';
}
