/** Everything that can be done from anywhere. Keys, palette and slash menu all read this list. */
import { focusDraft } from '$/chat/draft';
import { showModels } from '$/chat/ModelPicker.svelte';
import { conversationActions, type ConversationScreen } from '$/conversationActions';
import type { Action } from '$/state/action';
import type { Desk } from '$/state/desk.svelte';
import type { Theme } from '$/state/preferences.svelte';
import type { Router } from '$/state/router.svelte';
import type { Drawing } from '$/ui/Icon.svelte';
import { commandOf } from '$/words/command';
import type { Words } from '$/words/words';

/** What only the screen itself can do. */
interface Screen extends ConversationScreen {
	showPalette: () => void;
	showShortcuts: () => void;
	signOut: () => void;
}

export function actionsOf(
	desk: Desk,
	router: Router,
	screen: Screen,
	words: Words,
	isAdmin: boolean
): Action[] {
	const { desk: t } = words;
	return [
		...forTheWay(desk, router, screen, t),
		...conversationActions(desk, screen, words),
		{
			id: 'undo',
			icon: 'again',
			label: t.actions.undo,
			keys: 'mod+z',
			isAvailable: () => desk.notices.undoable !== null,
			run: () => desk.notices.undo()
		},
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
			slash: commandOf('new', t),
			run: () => router.go('/')
		},
		{
			id: 'temporary-chat',
			icon: 'clock',
			label: t.actions.temporary,
			slash: commandOf('temporary', t),
			run: () => desk.beginTemporary()
		},
		{
			id: 'palette',
			icon: 'search',
			label: t.actions.palette,
			keys: 'mod+k',
			slash: commandOf('find', t),
			run: screen.showPalette
		},
		{
			id: 'shortcuts',
			icon: 'keyboard',
			label: t.actions.shortcuts,
			keys: '?',
			slash: commandOf('help', t),
			run: screen.showShortcuts
		},
		{
			id: 'write',
			icon: 'pencil',
			label: t.actions.write,
			keys: 'shift+escape',
			run: () => void focusDraft()
		},
		{
			id: 'model',
			icon: 'cpu',
			label: t.actions.model,
			slash: commandOf('model', t),
			run: showModels
		},
		{
			id: 'tokens',
			icon: 'tag',
			label: t.actions.tokens,
			also: t.also.tokens,
			run: () => router.go('/tokens')
		},
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

const SECTIONS = [
	'account',
	'keys',
	'appearance',
	'chat',
	'profile',
	'memory',
	'usage',
	'shares',
	'data'
] as const;
const ADMIN_SECTIONS = [
	'people',
	'groups',
	'invites',
	'models',
	'limits',
	'everyone',
	'prices',
	'prompts',
	'comparisons',
	'changes'
] as const;

function forSettings(router: Router, t: Words['desk'], isAdmin: boolean): Action[] {
	const sections = isAdmin ? [...SECTIONS, ...ADMIN_SECTIONS] : SECTIONS;
	return sections.map((section): Action => ({
		id: `settings-${section}`,
		icon: 'settings',
		label: t.actions.settings[section],
		...(section in t.also ? { also: t.also[section as keyof typeof t.also] } : {}),
		...(section === 'account' ? { keys: 'mod+,', slash: commandOf('settings', t) } : {}),
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
