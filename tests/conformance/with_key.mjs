// Loaded before the conformance suite, which has no option for headers: sends the API key of
// HITSEND_KEY with each of its requests.
import { subscribe } from 'node:diagnostics_channel';

const key = `Bearer ${process.env.HITSEND_KEY}`;

subscribe('undici:request:create', ({ request }) => request.addHeader('authorization', key));
subscribe('http.client.request.created', ({ request }) => request.setHeader('authorization', key));
