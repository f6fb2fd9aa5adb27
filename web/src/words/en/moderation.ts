/** Safety: notices in the conversation, reviews, policies and statistics. */
import { createNumberFormats } from '$/words/numbers';

const { whole, duration } = createNumberFormats('en');

export const moderation = {
	notice: {
		blocked: 'This message was not answered',
		cut: 'This answer was stopped here',
		withheld: 'This answer was withheld',
		from: 'This note is from your server, not from the model.',
		rewritten: {
			link: 'A link was removed',
			image: 'An image was removed',
			secret: 'A password or key was removed',
			personal_data: 'Personal data was removed',
			instructions: 'Instructions of this server were removed'
		},
		refused: 'The model declined',
		unchecked: 'Not fully checked',
		uncheckedAbout: 'The safety check could not read all of this.'
	},

	/** Why something was stopped, by the codes of `safety/help.py`. */
	reasons: {
		harassment:
			'It reads as an attack on a person. If someone is attacking you, ask how to respond or how to report it.',
		hate: 'It demeans people for who they are. Questions about hate, its history and how to counter it are welcome.',
		illicit:
			'It asks for help with something that would harm others or break the law. You can ask how it works in general, or how to protect yourself.',
		weapons:
			'It asks how to make or use something that can kill or injure people. History, law and safety are fine to ask about.',
		self_harm:
			'You may be going through something very hard, and you do not have to do it alone. Please talk to someone now: the people above listen.',
		sexual:
			'It asks for explicit sexual content, which this server does not provide. Questions about health, relationships and consent are fine.',
		minors:
			'It sexualises a child. If a child is in danger, call the police. If you worry about your own thoughts, stopitnow.org helps in confidence.',
		violence:
			'It asks for help with hurting someone, or praises it. If you or someone else is in danger, call the emergency number.',
		jailbreak:
			'It asks the model to drop its rules. Ask for what you want in plain words: most things are fine.',
		injection: 'A file or a page in this conversation tries to give the model orders of its own.',
		personal_data: 'It contains personal data that this server does not pass on.',
		leak: 'It contained something that must not be shared, such as a password.',
		rule: 'A rule of this server stops it. Its administrators can tell you more.',
		unchecked: 'The safety check did not run, so nothing was sent. Please try again in a moment.',
		answer: 'The answer was becoming harmful.',
		other: 'It may be harmful. If that is a mistake, please say so.'
	},

	help: {
		title: 'You are not alone',
		about: 'If things are very hard right now, talking to someone can help. These people listen.',
		call: (name: string, number: string) => `Call ${name}: ${number}`,
		text: (how: string) => `Text ${how}`,
		emergency: 'In danger of life, call',
		directory: 'Find help in any country',
		failed: 'The numbers could not be loaded. Help in every country:'
	},

	appeal: {
		ask: 'Ask for a review',
		title: 'Ask for a review',
		about:
			'A person looks at this message, and at up to four before it. Hidden personal data stays hidden.',
		words: 'Anything they should know? (optional)',
		send: 'Send to review',
		waiting: (when: string) => `You asked for a review ${when}. A person will look at this.`,
		allowed: 'A reviewer found this fine.',
		allowedToSend: 'A reviewer found this fine. You can send it again.',
		upheld: 'A reviewer looked at this and kept the decision.',
		note: 'The reviewer says:',
		sendAgain: 'Send again'
	},

	reviews: {
		about:
			'Messages the checks stopped or were unsure about, answers people reported, and requests for a review. You see the message and up to four before it. Personal data stays hidden.',
		open: 'Open',
		decided: 'Decided',
		which: 'Which reviews',
		noneOpen: 'Nothing is waiting for a review.',
		noneDecided: 'Nothing has been decided yet.',
		causes: { checks: 'Stopped by the checks', report: 'Reported', appeal: 'Review requested' },
		unsure: 'The checks were unsure',
		by: (name: string) => `by ${name}`,
		openOne: (name: string, cause: string) => `Open: ${cause}, ${name}`,
		closeOne: 'Close',
		said: 'What the person says',
		messages: 'Message and context',
		roles: { user: 'Person', assistant: 'Answer', tool: 'Tool', system: 'Instructions' } as {
			[role: string]: string | undefined;
		},
		reviewed: 'This one',
		gone: 'The message was deleted.',
		empty: 'Nothing was shown.',
		found: 'What the checks found',
		note: 'Note to the person (optional)',
		allow: 'This is fine',
		allowAbout: 'The person may send this message again.',
		uphold: 'Keep the decision',
		harmful: 'This is harmful',
		done: { allow: 'Decided: this is fine.', uphold: 'Decided: this is not fine.' },
		decisions: { allow: 'Found fine', uphold: 'Not fine' },
		decidedBy: (name: string, when: string) => `by ${name} ${when}`,
		deletedUser: 'Deleted user',
		again: 'Somebody else has decided this already.',
		older: 'Show more',
		export: 'Export decided reviews',
		badge: (num: number) => `${whole(num)} ${num === 1 ? 'open review' : 'open reviews'}`
	},

	policy: {
		title: 'Policy',
		about:
			'What happens to messages and answers. Changes apply from the next message. Groups without a policy of their own follow everyone’s.',
		off: 'The safety checks are turned off on this server (HITSEND_SAFETY).',
		noClassifier:
			'No classifier is installed: rules, phrases and personal data are checked, categories are not.',
		scope: 'Applies to',
		everyone: 'Everyone',
		shipped: 'Default policy.',
		version: (num: number) => `Changed ${whole(num)} ${num === 1 ? 'time' : 'times'}.`,
		follows: 'Follows everyone’s policy.',
		categories: 'What to do about each category',
		actions: {
			allow: 'Allow',
			caution: 'Answer with care',
			review: 'Allow and review',
			block: 'Block'
		},
		unsure: 'When unsure',
		unsureAbout: 'For messages that may be harmful but probably are not.',
		judge: 'Ask the judge when unsure',
		judgeAbout: 'A model gives a second opinion, if a judge is set up.',
		redacted: 'Hide from the model',
		redactedAbout: 'The model sees a placeholder. The person still sees what they wrote.',
		kinds: {
			key: 'Passwords and keys',
			iban: 'Bank accounts (IBAN)',
			card: 'Card numbers',
			email: 'E-mail addresses',
			ssn: 'Social security numbers',
			tax_id: 'Tax numbers',
			phone: 'Phone numbers'
		},
		answers: 'Answers',
		watches: 'Check answers while they are written',
		holds: 'Hold back whole sentences',
		holdsAbout: 'Every sentence is read before it is shown. Answers appear more slowly.',
		reviewsBlocks: 'Put everything that was blocked up for review',
		closed: 'If the classifier does not work',
		closedAbout: 'Block instead of answering with the note “Not fully checked”:',
		routes: { chat: 'In chats', api: 'In calls with an API key' },
		phrases: 'Words and phrases',
		allowed: 'Always allowed',
		allowedAbout: 'One per line. A message with one of these is not checked further.',
		denied: 'Always blocked',
		deniedAbout: 'One per line. Blocks messages, and stops answers.',
		badPhrase: 'Each line needs 2 to 200 characters, and there can be up to 200 lines.',
		save: 'Save policy',
		saved: 'The policy is saved.',
		reset: 'Reset to default',
		resetGroup: 'Follow everyone’s policy',
		resetTitle: 'Reset this policy?',
		resetAbout: 'Your changes to it are lost.',
		wasReset: 'The policy is reset.'
	},

	concerns: {
		harassment: 'Harassment',
		'harassment/threatening': 'Threats against a person',
		hate: 'Hate',
		'hate/threatening': 'Hate with threats',
		illicit: 'Help with crimes',
		'illicit/violent': 'Weapons and violent crimes',
		'self-harm': 'Self-harm',
		'self-harm/intent': 'Someone may hurt themselves',
		'self-harm/instructions': 'Instructions for self-harm',
		sexual: 'Sexual content',
		'sexual/minors': 'Sexual content with minors',
		violence: 'Violence',
		'violence/graphic': 'Graphic violence',
		jailbreak: 'Attempts to drop the rules',
		injection: 'Hidden orders in files and pages',
		harm: 'Harm of any kind',
		'answer harm': 'Harmful answer',
		refusal: 'Refusal',
		denied_phrase: 'Blocked phrase',
		unavailable: 'Classifier not working',
		link: 'Link that carries data away',
		image: 'Image that carries data away',
		secret: 'Password or key',
		instructions: 'Instructions of this server',
		personal_data: 'Personal data'
	} as { [name: string]: string | undefined },
	layers: {
		rule: 'Rule',
		personal_data: 'Personal data',
		classifier: 'Classifier',
		judge: 'Judge',
		leak: 'Leak',
		refusal: 'Refusal'
	},
	outcomes: {
		allow: 'Allowed',
		redact: 'Data hidden',
		caution: 'Answered with care',
		rewrite: 'Rewritten',
		review: 'Sent to review',
		cut: 'Cut',
		block: 'Blocked'
	},

	tryOut: {
		title: 'Try a text',
		about: 'Shows what each check makes of a text. Nothing is stored.',
		text: 'Text',
		run: 'Try',
		stages: {
			prompt: 'As a message',
			document: 'As a file or web page',
			answer: 'As an answer'
		},
		layer: 'Check',
		found: 'Found',
		score: 'Score',
		nothing: 'Nothing found.',
		redacted: 'What the model would see',
		unchanged: 'No personal data to hide.',
		scores: 'Scores of the classifier',
		noScores: 'There is no classifier, so there are no scores.',
		decisions: { pass: 'passes', ask: 'unsure', block: 'sure' },
		took: (ms: number) => `took ${duration(ms)}`,
		incomplete: 'not fully checked',
		usesEveryone: 'This group follows everyone’s policy.'
	},

	statistics: {
		title: 'Statistics',
		about: 'What the checks did, in counts. No message is kept here.',
		span: 'Time',
		spans: { '7': '7 days', '30': '30 days', '90': '90 days' },
		none: 'Nothing was checked in this time.',
		checked: 'Checked',
		acted: 'Acted on',
		incomplete: 'Not fully checked',
		latency: 'Mean time',
		most: 'Longest',
		byDay: 'Outcomes by day',
		byDayHint: 'The arrow keys go from day to day.',
		day: 'Day',
		byCategory: 'By category',
		noCategory: 'No category was found.',
		byModel: 'By model and version of the safety instructions',
		category: 'Category',
		model: 'Model',
		version: 'Version',
		count: 'Texts',
		rate: 'Acted on',
		confidence: 'Mean score',
		stage: 'Read as',
		stages: { prompt: 'message', document: 'file', answer: 'answer' },
		unknown: '–',
		ms: (ms: number) => duration(ms)
	}
};
