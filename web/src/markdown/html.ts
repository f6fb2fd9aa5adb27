/**
 * One Markdown token as HTML that is safe to show.
 *
 * Two walls: HTML that the model wrote becomes text, but for a few tags without attributes;
 * and whatever comes out passes DOMPurify with a short list of what may stay. Images are
 * links, because loading one would tell its server what was said here.
 */
import DOMPurify, { type Config } from 'dompurify';
import { Parser, Renderer, type Token, type Tokens } from 'marked';

const PLAIN_TAGS = ['b', 'br', 'del', 'em', 'i', 'kbd', 'mark', 's', 'strong', 'sub', 'sup', 'u'];
const MAY_STAY: Config = {
	ALLOWED_TAGS: [
		...PLAIN_TAGS,
		...['a', 'blockquote', 'code', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p'],
		...['pre', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul']
	],
	ALLOWED_ATTR: ['href', 'title', 'start', 'align', 'target', 'rel'],
	ADD_URI_SAFE_ATTR: ['start', 'align', 'target', 'rel'],
	ALLOW_DATA_ATTR: false,
	ALLOW_ARIA_ATTR: false,
	ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i
};

export function toHtml(token: Token): string {
	const parser = new Parser({ gfm: true, renderer: new SafeRenderer() });
	return DOMPurify.sanitize(parser.parse([token]), MAY_STAY);
}

class SafeRenderer extends Renderer {
	override html({ text, block }: Tokens.HTML | Tokens.Tag): string {
		const shown = escape(text).replaceAll(PLAIN_TAG, '<$1$2>');
		return block ? `<p>${shown}</p>` : shown;
	}

	/** A link that leads anywhere but to the web or to a mailbox is only its words. */
	override link(token: Tokens.Link): string {
		if (!/^(https?:\/\/|mailto:)/i.test(token.href)) return this.parser.parseInline(token.tokens);
		return super.link(token).replace(/^<a /, '<a target="_blank" rel="noopener noreferrer" ');
	}

	override image({ raw, href, title, text }: Tokens.Image): string {
		const words = `Image: ${text || href}`;
		const tokens = [{ type: 'text', raw: words, text: words }];
		return this.link({ type: 'link', raw, href, title, text: words, tokens });
	}

	override checkbox({ checked }: Tokens.Checkbox): string {
		return checked ? '☑ ' : '☐ ';
	}
}

const PLAIN_TAG = new RegExp(`&lt;(/?)(${PLAIN_TAGS.join('|')})\\s*/?&gt;`, 'gi');

function escape(text: string): string {
	return text.replaceAll(
		/[&<>"']/g,
		(character) =>
			({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character] ?? ''
	);
}
