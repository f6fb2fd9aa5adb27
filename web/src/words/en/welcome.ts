/** An empty chat. */
export const welcome = {
	title: 'What is on your mind?',
	suggestions: 'Suggestions',
	ideas: {
		explain: {
			label: 'Explain some code',
			about: 'What it does, step by step',
			text: 'Explain step by step what this code does, and point out anything that looks wrong:\n\n'
		},
		script: {
			label: 'Write a small script',
			about: 'Ready to run, with comments',
			text: 'Write a short Python script that renames the photos in a folder to the date they were taken. Comment the parts that are not obvious.'
		},
		rewrite: {
			label: 'Find better words',
			about: 'Shorter, clearer, friendlier',
			text: 'Rewrite this so that it is short, clear and friendly:\n\n'
		},
		learn: {
			label: 'Understand something',
			about: 'In plain words, with an example',
			text: 'Explain how a hash table works to somebody who has never programmed. Use an everyday example.'
		}
	},
	model: (title: string, goodAt: string) => `${title} answers here. ${goodAt}.`,
	inside: 'Under every answer, Look inside shows what the model read and how it chose its words.'
};
