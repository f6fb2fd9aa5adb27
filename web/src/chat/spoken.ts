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
