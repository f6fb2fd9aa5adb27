/** Turns Markdown into text for speech synthesis. */

const MAX_PIECE_CHARS = 220;

/** Removes the markup, and leaves out code and formulas. */
export function toSpeech(markdown: string): string {
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
/** Japanese mixes in Chinese characters, so a part of the letters is enough to decide. */
const MIN_SHARE = 0.2;

/** Detects the language by its script; falls back to the language of the page. */
export function detectLanguage(text: string, page: string): string {
	const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
	const all = count(/\p{L}/gu);
	return SCRIPTS.find(([script]) => count(script) > all * MIN_SHARE)?.[1] ?? page;
}

/** Splits at sentences: browsers stop in the middle of a long utterance. */
export function splitForSpeech(text: string): string[] {
	return text
		.split(/(?<=[.!?…:;])\s+|\n+/)
		.flatMap(
			(sentence) =>
				sentence.match(
					new RegExp(`.{1,${MAX_PIECE_CHARS}}(?:\\s|$)|.{1,${MAX_PIECE_CHARS}}`, 'gs')
				) ?? []
		)
		.map((piece) => piece.trim())
		.filter((piece) => piece !== '');
}
