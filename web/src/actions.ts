/** Everything that can be done from anywhere. Keys, palette and slash menu all read this list. */
import type { Action } from '$/state/action';
import type { Desk } from '$/state/desk.svelte';
import type { Theme } from '$/state/preferences.svelte';
import type { Router } from '$/state/router.svelte';
import { copy } from '$/ui/copy';
import type { Drawing } from '$/ui/Icon.svelte';
import type { Words } from '$/words/words';

/** What only the screen itself can do. */
interface Screen {
	showPalette: () => void;
	showShortcuts: () => void;
	inspect: (turnId: string) => void;
	signOut: () => void;
}

export function actionsOf(
	desk: Desk,
	router: Router,
	screen: Screen,
	{ desk: t }: Words,
	isAdmin: boolean
): Action[] {
	return [
		...forTheWay(desk, router, screen, t),
		...forTheConversation(desk, screen, t),
		...forSettings(router, t, isAdmin),
		...forThemes(desk, t),
		{ id: 'sign-out', icon: 'signOut', label: t.actions.signOut, run: screen.signOut }
	];
}

function forTheWay(desk: Desk, router: Router, screen: Screen, t: Words['desk']): Action[] {
	return [
		{
			id: 'new-chat',
			icon: 'plus',
			label: t.actions.newChat,
			also: t.also.newChat,
			keys: 'mod+shift+o',
			slash: 'new',
			run: () => router.go('/')
		},
		{
			id: 'palette',
			icon: 'search',
			label: t.actions.palette,
			keys: 'mod+k',
			slash: 'find',
			run: screen.showPalette
		},
		{
			id: 'shortcuts',
			icon: 'keyboard',
			label: t.actions.shortcuts,
			keys: '?',
			slash: 'help',
			run: screen.showShortcuts
		},
		{ id: 'write', icon: 'pencil', label: t.actions.write, keys: 'shift+escape', run: write },
		{
			id: 'fold-sidebar',
			icon: 'sidebar',
			label: t.actions.foldSidebar,
			keys: 'mod+shift+s',
			run: () => {
				const isSidebarFolded = !desk.preferences.isSidebarFolded;
				void desk.preferences.change({ isSidebarFolded });
			}
		}
	];
}

function forTheConversation(desk: Desk, screen: Screen, t: Words['desk']): Action[] {
	const isOpen = () => desk.open.id !== null;
	const lastAnswer = () => {
		const answers = desk.open.path.map(({ id }) => desk.open.message(id));
		return answers.findLast((message) => message?.author.role === 'assistant') ?? null;
	};
	const hasAnswer = () => !desk.open.isAnswering && lastAnswer() !== null;
	return [
		{
			id: 'stop',
			icon: 'stop',
			label: t.actions.stop,
			isAvailable: () => desk.open.isAnswering,
			run: () => desk.open.stop()
		},
		{
			id: 'answer-again',
			icon: 'again',
			label: t.actions.answerAgain,
			slash: 'again',
			isAvailable: hasAnswer,
			run: () => void desk.open.answerAgain(lastAnswer()?.id ?? '', desk.ask)
		},
		{
			id: 'copy-answer',
			icon: 'copy',
			label: t.actions.copyAnswer,
			keys: 'mod+shift+c',
			slash: 'copy',
			isAvailable: hasAnswer,
			run: () => void copyAnswer(desk, t)
		},
		{
			id: 'look-inside',
			icon: 'look',
			label: t.actions.lookInside,
			keys: 'mod+shift+l',
			slash: 'inside',
			isAvailable: () => hasAnswer() && lastAnswer()?.metadata.turn_exchange_id !== undefined,
			run: () => screen.inspect(lastAnswer()?.metadata.turn_exchange_id ?? '')
		},
		{
			id: 'pin',
			icon: 'pin',
			label: t.actions.pin,
			slash: 'pin',
			isAvailable: isOpen,
			run: () => void desk.togglePin()
		},
		{
			id: 'archive',
			icon: 'archive',
			label: t.actions.archive,
			slash: 'archive',
			isAvailable: isOpen,
			run: () => void desk.archive()
		},
		{
			id: 'remove',
			icon: 'trash',
			label: t.actions.remove,
			keys: 'mod+shift+backspace',
			slash: 'delete',
			isAvailable: isOpen,
			run: () => void desk.remove()
		}
	];
}

async function copyAnswer(desk: Desk, t: Words['desk']): Promise<void> {
	const last = desk.open.path.at(-1);
	const text = last?.ids.map((id) => desk.open.message(id)?.content.parts[0] ?? '').join('') ?? '';
	await copy(text);
	desk.notices.tell(t.copied);
}

const SECTIONS = ['account', 'keys', 'appearance', 'chat', 'shares', 'data'] as const;
const ADMIN_SECTIONS = ['people', 'invites', 'models', 'limits'] as const;

function forSettings(router: Router, t: Words['desk'], isAdmin: boolean): Action[] {
	const sections = isAdmin ? [...SECTIONS, ...ADMIN_SECTIONS] : SECTIONS;
	return sections.map((section): Action => ({
		id: `settings-${section}`,
		icon: 'settings',
		label: t.actions.settings[section],
		...(section in t.also ? { also: t.also[section as keyof typeof t.also] } : {}),
		...(section === 'account' ? { keys: 'mod+,', slash: 'settings' } : {}),
		run: () => router.openSettings(section)
	}));
}

const THEME_ICONS: Record<Theme, Drawing> = { light: 'sun', dark: 'moon', system: 'screen' };

function forThemes(desk: Desk, t: Words['desk']): Action[] {
	return (['light', 'dark', 'system'] satisfies Theme[]).map((theme) => ({
		id: `theme-${theme}`,
		icon: THEME_ICONS[theme],
		label: t.actions[theme],
		isAvailable: () => desk.preferences.theme !== theme,
		run: () => void desk.preferences.change({ theme })
	}));
}

/** To where a message is written, from wherever one is. */
export function write(): void {
	document.querySelector<HTMLTextAreaElement>('main form textarea')?.focus();
}
