/** Builds what the page is made of, and puts it on the screen. */
import { mount } from 'svelte';
import { Api } from '$/api/client';
import App from '$/App.svelte';
import { Router } from '$/state/router.svelte';
import { Session } from '$/state/session.svelte';
import '$/styles/tokens.css';
import '$/styles/base.css';

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no #app.');

const api = new Api();
const session = new Session(api);
mount(App, { target, props: { api, session, router: new Router() } });
void session.begin();
