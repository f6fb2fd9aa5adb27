/** All actions of the workspace. Shortcuts, palette and slash menu read this list. */
import { focusDraft } from '$/chat/DraftBox.svelte';
import { openModelPicker } from '$/chat/ModelPicker.svelte';
import { buildConversationActions, type ConversationScreen } from '$/conversationActions';
import { listSlashNames, type Action } from '$/state/action';
import type { Theme } from '$/state/preferences.svelte';
import type { Router } from '$/state/router.svelte';
import type { Workspace } from '$/state/workspace.svelte';
import type { IconName } from '$/ui/Icon.svelte';
import type { Words } from '$/words/words';

/** The actions that only the screen can do. */
interface Screen extends ConversationScreen {
	showPalette: () => void;
	showShortcuts: () => void;
	signOut: () => void;
}

export function buildActions(
	workspace: Workspace,
	router: Router,
	screen: Screen,
	words: Words,
	isAdmin: boolean
): Action[] {
	const { workspace: t } = words;
	return [
		...buildNavigationActions(workspace, router, screen, t),
		...buildConversationActions(workspace, screen, words),
		{
			id: 'undo',
			icon: 'again',
			label: t.actions.undo,
			keys: 'mod+z',
			isAvailable: () => workspace.notices.undoable !== null,
			run: () => workspace.notices.undo()
		},
		...buildSettingsActions(router, t, isAdmin),
		...buildThemeActions(workspace, t),
		{ id: 'sign-out', icon: 'signOut', label: t.actions.signOut, run: screen.signOut }
	];
}

function buildNavigationActions(
	workspace: Workspace,
	router: Router,
	screen: Screen,
	t: Words['workspace']
): Action[] {
	return [
		{
			id: 'new-chat',
			icon: 'plus',
			label: t.actions.newChat,
			also: t.also.newChat,
			keys: 'mod+shift+o',
			slash: listSlashNames('new', t),
			run: () => router.go('/')
		},
		{
			id: 'temporary-chat',
			icon: 'clock',
			label: t.actions.temporary,
			slash: listSlashNames('temporary', t),
			run: () => workspace.startTemporary()
		},
		{
			id: 'palette',
			icon: 'search',
			label: t.actions.palette,
			keys: 'mod+k',
			slash: listSlashNames('find', t),
			run: screen.showPalette
		},
		{
			id: 'shortcuts',
			icon: 'keyboard',
			label: t.actions.shortcuts,
			keys: '?',
			slash: listSlashNames('help', t),
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
			slash: listSlashNames('model', t),
			run: openModelPicker
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
				const isSidebarFolded = !workspace.preferences.isSidebarFolded;
				void workspace.preferences.change({ isSidebarFolded });
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
	'tools',
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
	'activity'
] as const;

function buildSettingsActions(router: Router, t: Words['workspace'], isAdmin: boolean): Action[] {
	const sections = isAdmin ? [...SECTIONS, ...ADMIN_SECTIONS] : SECTIONS;
	return sections.map((section): Action => ({
		id: `settings-${section}`,
		icon: 'settings',
		label: t.actions.settings[section],
		...(section in t.also ? { also: t.also[section as keyof typeof t.also] } : {}),
		...(section === 'account' ? { keys: 'mod+,', slash: listSlashNames('settings', t) } : {}),
		run: () => router.openSettings(section)
	}));
}

const THEME_ICONS: Record<Theme, IconName> = { light: 'sun', dark: 'moon', system: 'screen' };

function buildThemeActions(workspace: Workspace, t: Words['workspace']): Action[] {
	return (['light', 'dark', 'system'] satisfies Theme[]).map((theme) => ({
		id: `theme-${theme}`,
		icon: THEME_ICONS[theme],
		label: t.actions[theme],
		isAvailable: () => workspace.preferences.theme !== theme,
		run: () => void workspace.preferences.change({ theme })
	}));
}
