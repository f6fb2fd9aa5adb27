export const markdown = {
	copyCode: 'Copy code',
	code: (language: string) => (language === '' ? 'Code' : `Code in ${language}`),
	plainText: 'text',
	formula: 'Formula',
	table: 'Table',
	image: 'Image, not loaded:',
	hidden: 'Hidden from the model'
};
