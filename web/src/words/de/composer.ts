import { createNumberFormats } from '$/words/numbers';
import type { Words } from '$/words/words';

const { whole, when } = createNumberFormats('de');

export const composer: Words['composer'] = {
	message: 'Nachricht',
	placeholder: 'Schreib eine Nachricht',
	send: 'Senden',
	stop: 'Anhalten',
	hints: {
		keys: 'Enter sendet · Umschalt+Enter neue Zeile',
		commands: '/ für Befehle',
		later: 'Damit kannst du weitermachen, sobald die Antwort fertig ist.'
	},
	queued: {
		label: 'Wartet auf die Verbindung',
		says: 'Der Server ist gerade nicht erreichbar. Das hier geht von selbst hinaus, sobald er es ist.',
		takeBack: 'Zurückholen'
	},
	tokens: {
		count: (num, numWindow) => `${whole(num)} von ${whole(numWindow)} Token`,
		estimate: (num, numWindow) => `etwa ${whole(num)} von ${whole(numWindow)} Token`,
		dropped: (num) =>
			num === 1
				? 'Die älteste Nachricht wird weggelassen, damit das hier passt.'
				: `Die ${whole(num)} ältesten Nachrichten werden weggelassen, damit das hier passt.`,
		tooLong: 'Das ist zu lang für das Modell. Kürze es oder teile es auf.',
		nearlyFull:
			'Dieses Gespräch ist fast so lang, wie das Modell lesen kann. Ältere Nachrichten werden weggelassen.'
	},
	ghost: (text, hasTab) => (hasTab ? `Tab übernimmt: ${text}` : `Antippen übernimmt: ${text}`),
	left: {
		requests: (num, limit) => `noch ${whole(num)} von ${whole(limit)} Anfragen in dieser Minute`,
		tokensMinute: (num) => `noch ${whole(num)} Token in dieser Minute`,
		tokensDay: (num) => `heute noch ${whole(num)} Token`,
		groupDay: (num) => `heute noch ${whole(num)} Token für deine Gruppe`,
		again: (at) => `mehr ${when(at, 'um')}`
	},
	secret: {
		hint: 'Das sieht nach einem Geheimnis aus. Vor dem Senden wird nachgefragt.',
		title: 'Dieses Geheimnis senden?',
		found: 'Deine Nachricht scheint zu enthalten:',
		foundIn: (title) => `„${title}“, das angehängt ist, scheint zu enthalten:`,
		detail: 'Es würde in diesem Gespräch gespeichert und vom Modell gelesen.',
		back: 'Weiter bearbeiten',
		send: 'Trotzdem senden',
		remove: 'Entfernen und senden',
		kinds: {
			private_key: 'Privater Schlüssel',
			hitsend_key: 'hitsend-API-Schlüssel',
			api_key: 'API-Schlüssel',
			signed_token: 'Zugangstoken',
			url_password: 'Passwort in einem Link',
			card_number: 'Kartennummer'
		}
	},
	slash: {
		label: 'Befehle',
		found: (num) => (num === 1 ? '1 Befehl' : `${num} Befehle`)
	},
	files: {
		add: 'Textdatei hinzufügen',
		drop: 'Lass eine Textdatei los, um sie in deine Nachricht zu setzen',
		tooLarge: (name, maxKilobytes) =>
			`${name} ist zu groß: Bisher können Textdateien bis ${maxKilobytes} kB gelesen werden.`,
		notText: (name) => `${name} ist keine Textdatei, und nur solche können bisher gelesen werden.`
	}
};
