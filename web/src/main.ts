/** Creates the page's objects, and mounts the app. */
import { mount, type Component } from 'svelte';
import { Api } from '$/api/client';
import { Preferences } from '$/state/preferences.svelte';
import { Router } from '$/state/router.svelte';
import { Session } from '$/state/session.svelte';
import Root from '$/Root.svelte';
import { registerServiceWorker } from '$/offline/register';
import '$/styles/fonts.css';
import '$/styles/tokens.css';
import '$/styles/base.css';

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no #app.');

const api = new Api();
const session = new Session(api);
const preferences = new Preferences(localStorage);

void session.check();
await preferences.start();
if (import.meta.env.DEV && location.pathname === '/styles') {
	const { default: StylesPage } = await import('$/styles_page/StylesPage.svelte');
	mount(StylesPage as Component<{ preferences: Preferences }>, { target, props: { preferences } });
} else {
	mount(Root, { target, props: { api, session, preferences, router: new Router() } });
}
if (import.meta.env.PROD) registerServiceWorker();
