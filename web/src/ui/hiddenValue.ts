/** Marks a value that the model did not see. On hover and focus it says so; copying gives the value alone. */
import type { Attachment } from 'svelte/attachments';
import { tooltip } from '$/ui/tooltip';

export function hiddenValue(label: string): Attachment<HTMLElement> {
	return (element) => {
		element.classList.add('hidden-value');
		element.tabIndex = 0;
		element.role = 'note';
		element.ariaDescription = label;
		return tooltip(label)(element);
	};
}
