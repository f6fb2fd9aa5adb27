/**
 * Renders inline Markdown: emphasis, links, code, formulas.
 *
 * Two defences: HTML written by the model is escaped, except a few tags without attributes; and the
 * result passes DOMPurify with a short allow list, as a DOM tree that is never serialised and parsed
 * again. Images become links, because loading one would leak the conversation to its server.
 */
import DOMPurify, { type Config } from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';
import type { Maths } from '$/markdown/maths';

const PLAIN_TAGS = ['b', 'br', 'del', 'em', 'i', 'kbd', 'mark', 's', 'strong', 'sub', 'sup', 'u'];
const ALLOWED: Config & { RETURN_DOM_FRAGMENT: true } = {
	ALLOWED_TAGS: [...PLAIN_TAGS, 'a', 'code', 'span'],
	ALLOWED_ATTR: ['href', 'title', 'target', 'rel', 'class'],
	ADD_URI_SAFE_ATTR: ['target', 'rel', 'class'],
	ALLOW_DATA_ATTR: false,
	ALLOW_ARIA_ATTR: false,
	ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
	RETURN_DOM_FRAGMENT: true
};

/** Unsafe until it has passed `toFragment`. */
export function toHtml(tokens: Token[]): string {
	return PARSER.parseInline(tokens);
}

/** Sanitizes HTML into nodes that are safe to show. */
export function toFragment(html: string): DocumentFragment {
	return DOMPurify.sanitize(html, ALLOWED);
}

class SafeRenderer extends Renderer {
	override html({ text }: Tokens.HTML | Tokens.Tag): string {
		return escape(text).replaceAll(PLAIN_TAG, '<$1$2>');
	}

	/** Keeps only the text of a link that is not http, https or mailto. */
	override link({ href, title, tokens, text }: Tokens.Link): string {
		const label = this.parser.parseInline(tokens);
		const target = parseTarget(href);
		if (target === null) return label;
		const tip = title ? `${title} · ${target.href}` : target.href;
		const opening = `<a target="_blank" rel="noopener noreferrer" href="${escape(target.href)}" title="${escape(tip)}">`;
		const suffix = showsHost(text, target)
			? ''
			: `<span class="host">${escape(formatHost(target))}</span>`;
		return `${opening}${label}${suffix}</a>`;
	}

	/** InlineText adds the word "image" to elements of this class. */
	override image({ raw, href, title, text }: Tokens.Image): string {
		const words = text || href;
		if (parseTarget(href) === null) return escape(words);
		const tokens = [{ type: 'text', raw: words, text: words }];
		const link = this.link({ type: 'link', raw, href, title, text: words, tokens });
		return `<span class="image">${link}</span>`;
	}

	override checkbox({ checked }: Tokens.Checkbox): string {
		return checked ? '☑ ' : '☐ ';
	}
}

function parseTarget(href: string): URL | null {
	if (!/^(https?:\/\/|mailto:)/i.test(href)) return null;
	return URL.canParse(href) ? new URL(href) : null;
}

/** In Punycode, so that look-alike letters of another script are visible. */
function formatHost({ protocol, host, pathname }: URL): string {
	return protocol === 'mailto:' ? pathname : host.replace(/^www\./, '');
}

function showsHost(text: string, target: URL): boolean {
	return text.toLowerCase().includes(formatHost(target).toLowerCase());
}

const PLAIN_TAG = new RegExp(`&lt;(/?)(${PLAIN_TAGS.join('|')})\\s*/?&gt;`, 'gi');

function escape(text: string): string {
	return text.replaceAll(
		/[&<>"']/g,
		(character) =>
			({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? ''
	);
}

const PARSER = new Parser({
	gfm: true,
	renderer: new SafeRenderer(),
	extensions: {
		renderers: {
			maths: (token) => `<span class="maths">${escape((token as unknown as Maths).text)}</span>`
		},
		childTokens: {}
	}
});
