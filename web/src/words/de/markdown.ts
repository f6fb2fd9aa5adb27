import type { Words } from '$/words/words';

export const markdown: Words['markdown'] = {
	copyCode: 'Code kopieren',
	code: (language) => (language === '' ? 'Code' : `Code in ${language}`),
	plainText: 'Text',
	formula: 'Formel',
	table: 'Tabelle',
	image: 'Bild, nicht geladen:',
	hidden: 'Dem Modell nicht gezeigt'
};
