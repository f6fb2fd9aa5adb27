import type { Words } from '$/words/words';

export const shared: Words['shared'] = {
	about: (day) => `Kopie eines Gesprächs, geteilt am ${day}. Sie ändert sich nicht.`,
	person: 'Frage',
	answer: 'Antwort',
	messages: 'Nachrichten',
	untitled: 'Ein Gespräch',
	titleOf: (title) => `${title} · hitsend`,
	reading: 'Geteiltes Gespräch wird geöffnet',
	copy: 'Antwort kopieren',
	more: 'Die Antworten stammen von einem Sprachmodell und können falsch sein.',
	home: 'hitsend: ein Chat, der dir gehört',
	gone: 'Hier ist nichts',
	goneAbout: 'Der Link ist unvollständig, oder das Gespräch wird nicht mehr geteilt.',
	failed: 'Das lässt sich gerade nicht öffnen',
	again: 'Noch einmal versuchen'
};
