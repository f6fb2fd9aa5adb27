/**
 * The words inside a block: emphasis, links, code, formulas.
 *
 * Two walls: HTML that the model wrote becomes text, but for a few tags without attributes;
 * and whatever comes out passes DOMPurify with a short list of what may stay, as a tree that is
 * never written out and read again. Images are links, because loading one would tell its
 * server what was said here.
 */
import DOMPurify, { type Config } from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';
import type { Maths } from '$/markdown/maths';

const PLAIN_TAGS = ['b', 'br', 'del', 'em', 'i', 'kbd', 'mark', 's', 'strong', 'sub', 'sup', 'u'];
const MAY_STAY: Config & { RETURN_DOM_FRAGMENT: true } = {
	ALLOWED_TAGS: [...PLAIN_TAGS, 'a', 'code', 'span'],
	ALLOWED_ATTR: ['href', 'title', 'target', 'rel', 'class'],
	ADD_URI_SAFE_ATTR: ['target', 'rel', 'class'],
	ALLOW_DATA_ATTR: false,
	ALLOW_ARIA_ATTR: false,
	ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
	RETURN_DOM_FRAGMENT: true
};

/** Not safe to show before it has been through `toFragment`. */
export function toHtml(tokens: Token[]): string {
	return PARSER.parseInline(tokens);
}

/** What of it may be shown, as nodes. */
export function toFragment(html: string): DocumentFragment {
	return DOMPurify.sanitize(html, MAY_STAY);
}

class SafeRenderer extends Renderer {
	override html({ text }: Tokens.HTML | Tokens.Tag): string {
		return escape(text).replaceAll(PLAIN_TAG, '<$1$2>');
	}

	/** A link that leads anywhere but to the web or to a mailbox is only its words. */
	override link({ href, title, tokens, text }: Tokens.Link): string {
		const words = this.parser.parseInline(tokens);
		const target = targetOf(href);
		if (target === null) return words;
		const tip = title ? `${title} · ${target.href}` : target.href;
		const opening = `<a target="_blank" rel="noopener noreferrer" href="${escape(target.href)}" title="${escape(tip)}">`;
		const suffix = saysWhere(text, target)
			? ''
			: `<span class="host">${escape(whereOf(target))}</span>`;
		return `${opening}${words}${suffix}</a>`;
	}

	/** The class says it is an image; the page puts that into words. */
	override image({ raw, href, title, text }: Tokens.Image): string {
		const words = text || href;
		if (targetOf(href) === null) return escape(words);
		const tokens = [{ type: 'text', raw: words, text: words }];
		const link = this.link({ type: 'link', raw, href, title, text: words, tokens });
		return `<span class="image">${link}</span>`;
	}

	override checkbox({ checked }: Tokens.Checkbox): string {
		return checked ? '☑ ' : '☐ ';
	}
}

function targetOf(href: string): URL | null {
	if (!/^(https?:\/\/|mailto:)/i.test(href)) return null;
	return URL.canParse(href) ? new URL(href) : null;
}

/** As the browser sees it: a name in another script that looks like ours is spelt out. */
function whereOf({ protocol, host, pathname }: URL): string {
	return protocol === 'mailto:' ? pathname : host.replace(/^www\./, '');
}

function saysWhere(text: string, target: URL): boolean {
	return text.toLowerCase().includes(whereOf(target).toLowerCase());
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
