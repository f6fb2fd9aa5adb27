/** Markdown as a voice would read it: the words without the marks, in pieces a voice can take. */

const LONGEST = 220;

/** Code and formulas are left out: nobody can listen to them. */
export function spoken(markdown: string): string {
	return markdown
		.replaceAll(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm, '')
		.replaceAll(/\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]/g, ' ')
		.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replaceAll(/<?https?:\/\/([^\s/>)]+)[^\s>)]*>?/g, '$1')
		.replaceAll(/^ {0,3}(#{1,6}|>+)[ \t]+/gm, '')
		.replaceAll(/^[ \t]*([-*+]|\d+[.)])[ \t]+(\[[ xX]\][ \t]+)?/gm, '')
		.replaceAll(/^[ \t]*\|?[ \t:|-]*-{3,}[ \t:|-]*$/gm, '')
		.replaceAll(/[ \t]*\|[ \t]*/g, ', ')
		.replaceAll(/(\*\*|__|~~|`+)/g, '')
		.replaceAll(/(^|\W)[*_](\S[^*_\n]*)[*_](?=\W|$)/g, '$1$2')
		.replaceAll(/^, |, $/gm, '')
		.replaceAll(/\n{2,}/g, '\n')
		.trim();
}

const SCRIPTS: [RegExp, string][] = [
	[/[\p{sc=Hira}\p{sc=Kana}]/gu, 'ja'],
	[/\p{sc=Han}/gu, 'zh'],
	[/\p{sc=Hang}/gu, 'ko'],
	[/\p{sc=Cyrl}/gu, 'ru'],
	[/\p{sc=Grek}/gu, 'el'],
	[/\p{sc=Arab}/gu, 'ar'],
	[/\p{sc=Hebr}/gu, 'he'],
	[/\p{sc=Deva}/gu, 'hi'],
	[/\p{sc=Thai}/gu, 'th']
];
/** Japanese is written with Chinese signs as well, so a fair share of its own is enough. */
const FAIR_SHARE = 0.2;

/** The language of a text, as far as its letters tell; else that of the page. */
export function languageOf(text: string, page: string): string {
	const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
	const all = count(/\p{L}/gu);
	return SCRIPTS.find(([script]) => count(script) > all * FAIR_SHARE)?.[1] ?? page;
}

/** Browsers fall silent in the middle of a long text, so it is given to them by the sentence. */
export function pieces(text: string): string[] {
	return text
		.split(/(?<=[.!?…:;])\s+|\n+/)
		.flatMap(
			(sentence) =>
				sentence.match(new RegExp(`.{1,${LONGEST}}(?:\\s|$)|.{1,${LONGEST}}`, 'gs')) ?? []
		)
		.map((piece) => piece.trim())
		.filter((piece) => piece !== '');
}
