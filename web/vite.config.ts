import { svelte } from '@sveltejs/vite-plugin-svelte';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Plugin, Rolldown } from 'vite';
import { defineConfig } from 'vitest/config';

const server = process.env.HITSEND_URL ?? 'http://127.0.0.1:8765';
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
	plugins: [
		svelte({
			compilerOptions: {
				css: 'external',
				// What a component is given (a workspace, a conversation) stays the same while it is there.
				warningFilter: ({ code }) => code !== 'state_referenced_locally'
			}
		}),
		onlyModernFonts(),
		bootScriptFirst(),
		tellTheServiceWorker()
	],
	resolve: {
		alias: { $: here('./src') },
		// Otherwise vitest would load Svelte's server build, in which nothing is reactive.
		...(process.env.VITEST ? { conditions: ['browser'] } : {})
	},
	build: {
		outDir: '../src/hitsend/server/static',
		emptyOutDir: true,
		// The first browsers with light-dark() and popovers, which the page is drawn with.
		target: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
		// The page forbids data: fonts and scripts, so nothing may be inlined.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		rolldownOptions: {
			input: {
				index: here('./index.html'),
				sw: here('./src/offline/serviceWorker.ts'),
				boot: here('./src/boot.ts')
			},
			output: {
				// The first screen is one file: many small ones are larger, and come later.
				codeSplitting: {
					groups: [
						{ name: nameOfFirst, priority: 1 },
						{ name: 'controls', test: /\/src\/(api|safety|state|ui)\// }
					]
				},
				entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js')
			}
		}
	},
	// The server compares the origin of a call with the host it is addressed to.
	server: { proxy: { '/backend-api': { target: server, changeOrigin: false } } },
	test: { include: ['src/**/*.test.ts'] }
});

/**
 * `ground` is the first screen, without main.ts: that waits for the words of a language, which need
 * `ground`. What only later screens share is in `controls`, and their words come with them.
 */
function nameOfFirst(id: string, graph: Rolldown.ChunkingContext): string | null {
	const main = here('./src/main.ts');
	if (reachedAtFirst.size === 0) reach(main, graph);
	return reachedAtFirst.has(id) && id !== main ? 'ground' : null;
}

const reachedAtFirst = new Set<string>();

function reach(id: string, graph: Rolldown.ChunkingContext): void {
	if (reachedAtFirst.has(id)) return;
	reachedAtFirst.add(id);
	for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reach(imported, graph);
}

/** KaTeX's style names each font three times; every browser we draw for reads the first. */
function onlyModernFonts(): Plugin {
	return {
		name: 'only-modern-fonts',
		enforce: 'pre',
		transform: {
			filter: { id: /katex[^?]*\.css/ },
			handler: (css) => css.replaceAll(/,url\([^)]+\.(?:woff|ttf)\) format\("[a-z]+"\)/g, '')
		}
	};
}

/** The browser waits for the theme, and for nothing else, before it paints. */
function bootScriptFirst(): Plugin {
	return {
		name: 'boot-script-first',
		apply: 'build',
		transformIndexHtml: {
			order: 'post',
			handler: (_, { bundle }) => {
				const boot = Object.values(bundle ?? {}).find(({ name }) => name === 'boot');
				if (boot === undefined) throw new Error('The build lacks src/boot.ts.');
				const attrs = { src: `/${boot.fileName}` };
				return [{ tag: 'script', attrs, injectTo: 'head-prepend' }];
			}
		}
	};
}

/**
 * Writes into sw.js what the first screen is made of: every built file that index.html names,
 * and the words of each language.
 */
function tellTheServiceWorker(): Plugin {
	return {
		name: 'tell-the-service-worker',
		apply: 'build',
		enforce: 'post',
		generateBundle(_, bundle) {
			const page = bundle['index.html'];
			const worker = bundle['sw.js'];
			if (page?.type !== 'asset' || worker?.type !== 'chunk') {
				throw new Error('The build lacks index.html or sw.js.');
			}
			const html = String(page.source);
			const named = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
			const words = Object.values(bundle)
				.filter(
					(one) => one.type === 'chunk' && one.facadeModuleId?.startsWith(here('./src/words/'))
				)
				.map(({ fileName }) => `/${fileName}`);
			const files = [...named, ...words];
			const version = createHash('sha256').update(html).digest('hex').slice(0, 12);
			worker.code = `const SHELL=${JSON.stringify({ version, files })};${worker.code}`;
		}
	};
}
