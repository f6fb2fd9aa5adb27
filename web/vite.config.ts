import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const server = process.env.HITSEND_URL ?? 'http://127.0.0.1:8765';

export default defineConfig({
	plugins: [svelte({ compilerOptions: { css: 'external' } })],
	resolve: {
		alias: { $: fileURLToPath(new URL('./src', import.meta.url)) },
		// Otherwise vitest would load Svelte's server build, in which nothing is reactive.
		...(process.env.VITEST ? { conditions: ['browser'] } : {})
	},
	build: {
		outDir: '../src/hitsend/server/static',
		emptyOutDir: true,
		// The page forbids data: fonts and scripts, so nothing may be inlined.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false }
	},
	server: { proxy: { '/backend-api': server } },
	test: { include: ['src/**/*.test.ts'] }
});
