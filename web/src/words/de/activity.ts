import type { ActivityWords, Sentences } from '$/words/activity';

const factors = { authenticator: 'eine Authenticator-App', passkey: 'einen Passkey', all: 'alles' };
const steps = {
	authenticator: 'einer App',
	passkey: 'einem Passkey',
	recovery_code: 'einem Wiederherstellungscode'
};
const scopes = {
	everyone: 'für alle',
	group: 'für die Gruppe',
	user: '',
	key: 'für den Schlüssel',
	address: 'für Adressen'
};
const roles = { admin: 'Administration', reviewer: 'Durchsicht', member: 'Mitglied' };
const conversations = (count: number) =>
	count === 1 ? 'eine Unterhaltung' : `${count} Unterhaltungen`;

const sentences: Sentences = {
	SignedIn: ({ whom }, { second_factor }) =>
		second_factor == null
			? `${whom} hat sich angemeldet`
			: `${whom} hat sich mit ${steps[second_factor]} als zweitem Schritt angemeldet`,
	SignInFailed: ({ whom }, { user_id, num_tries }) => {
		const where = user_id === null ? 'ein Name, den niemand hat' : whom;
		return num_tries === 1
			? `Anmeldung gescheitert: ${where}`
			: `Anmeldung ${num_tries}-mal gescheitert: ${where}`;
	},
	SignedOut: ({ whom }) => `${whom} hat sich abgemeldet`,
	PasswordChanged: ({ whom }) => `${whom} hat das Passwort geändert`,
	SecondFactorAdded: ({ whom }, { factor }) =>
		`${whom} hat ${factors[factor]} zur Anmeldung hinzugefügt`,
	SecondFactorRemoved: ({ who, whom }, { factor }) =>
		factor === 'all'
			? `${who} hat den zweiten Schritt von ${whom} abgeschaltet`
			: `${whom} hat ${factors[factor]} von der Anmeldung entfernt`,
	RecoveryCodesReplaced: ({ whom }) => `${whom} hat neue Wiederherstellungscodes angelegt`,
	RecoveryCodeUsed: ({ whom }) => `${whom} hat einen Wiederherstellungscode benutzt`,
	ResetLinkCreated: ({ who, whom }) =>
		`${who} hat einen Link angelegt, der das Passwort von ${whom} zurücksetzt`,
	PasswordReset: ({ whom }, { method }) =>
		method === 'link'
			? `Das Passwort von ${whom} wurde mit einem Link zurückgesetzt`
			: `Das Passwort von ${whom} wurde auf der Kommandozeile zurückgesetzt`,
	AccountCreated: ({ whom }, { role }) => `Das Konto ${whom} wurde angelegt (${roles[role]})`,
	AccountRenamed: ({ who, whom }) => `${who} heißt jetzt ${whom}`,
	RoleChanged: ({ who, whom }, { role }) =>
		`${who} hat die Rolle von ${whom} geändert: ${roles[role]}`,
	AccountDisabled: ({ who, whom }) => `${who} hat ${whom} gesperrt`,
	AccountEnabled: ({ who, whom }) => `${who} hat ${whom} entsperrt`,
	AccountDeleted: ({ who, whom }) => `${who} hat das Konto ${whom} gelöscht`,
	GroupJoined: ({ who, whom }, { group }) =>
		`${who} hat ${whom} in die Gruppe ${group} aufgenommen`,
	GroupLeft: ({ who, whom }) => `${who} hat ${whom} aus der Gruppe genommen`,
	GroupCreated: ({ who }, { group }) => `${who} hat die Gruppe ${group} angelegt`,
	GroupRenamed: ({ who }, { before, group }) =>
		`${who} hat die Gruppe ${before} in ${group} umbenannt`,
	GroupFeaturesChanged: ({ who }, { group, after }) =>
		after === null
			? `${who} hat der Gruppe ${group} alle Werkzeuge gegeben`
			: `${who} hat die Werkzeuge der Gruppe ${group} festgelegt: ${after.join(', ') || 'keine'}`,
	SafetyPolicyChanged: ({ who }, { group, policy }) =>
		`${who} hat die Sicherheitsregeln${group && ` der Gruppe ${group}`} ${policy === null ? 'zurückgesetzt' : 'geändert'}`,
	ReviewDecided: ({ who, whom }, { decision }) =>
		`${who} hat eine Nachricht von ${whom} ${decision === 'allow' ? 'erlaubt' : 'weiter blockiert'}`,
	GroupDeleted: ({ who }, { group }) => `${who} hat die Gruppe ${group} gelöscht`,
	InviteCreated: ({ who }, { role }) => `${who} hat eine Einladung angelegt (${roles[role]})`,
	InviteRevoked: ({ who }) => `${who} hat eine Einladung widerrufen`,
	KeyCreated: ({ whom }, { prefix, scopes: allowed }) =>
		`Ein Schlüssel von ${whom} wurde angelegt: ${prefix}… (${(allowed ?? []).join(', ')})`,
	KeyDeleted: ({ whom }, { prefix }) => `Ein Schlüssel von ${whom} wurde gelöscht: ${prefix}…`,
	LimitChanged: ({ who, whom }, { scope, target, after }) => {
		const target_ = scope === 'user' ? `für ${whom}` : `${scopes[scope]} ${target}`.trim();
		return after === null
			? `${who} hat die Limits ${target_} entfernt`
			: `${who} hat die Limits ${target_} geändert`;
	},
	PriceChanged: ({ who }, { model, after }) =>
		after === null
			? `${who} hat den Preis von ${model} entfernt`
			: `${who} hat den Preis von ${model} festgelegt`,
	ModelPulled: ({ who }, { model }) => `${who} hat begonnen, ${model} herunterzuladen`,
	ModelRemoved: ({ who }, { model }) => `${who} hat das Modell ${model} entfernt`,
	ShareCreated: ({ who }) => `${who} hat eine Unterhaltung per Link geteilt`,
	ShareRevoked: ({ who }) => `${who} hat einen geteilten Link widerrufen`,
	ConversationsDeleted: ({ who }, { num_conversations }) =>
		`${who} hat ${conversations(num_conversations)} gelöscht`,
	ConversationRestored: ({ who }) => `${who} hat eine Unterhaltung wiederhergestellt`,
	MemoriesDeleted: ({ who }) => `${who} hat alle Erinnerungen gelöscht`,
	DataExported: ({ who }, { content }) =>
		content === 'account'
			? `${who} hat alle eigenen Daten exportiert`
			: content === 'memories'
				? `${who} hat die eigenen Erinnerungen exportiert`
				: `${who} hat das Aktivitätsprotokoll exportiert`,
	DataImported: ({ who }, { num_conversations }) =>
		`${who} hat ${conversations(num_conversations)} importiert`,
	BackupMade: ({ who }) => `${who} hat die Datenbank gesichert`,
	BackupRestored: ({ who }, { made_at }) => `${who} hat die Sicherung von ${made_at} eingespielt`,
	McpServerAdded: ({ who }, { server }) => `${who} hat den Werkzeugserver ${server} hinzugefügt`,
	McpServerChanged: ({ who }, { server, fields }) =>
		`${who} hat den Werkzeugserver ${server} geändert: ${fields.join(', ')}`,
	McpServerDeleted: ({ who }, { server }) => `${who} hat den Werkzeugserver ${server} gelöscht`,
	McpToolChanged: ({ who }, { tool, is_on, is_read_only }) => {
		if (!is_on) return `${who} hat das Werkzeug ${tool} abgeschaltet`;
		return is_read_only
			? `${who} lässt das Werkzeug ${tool} ohne Nachfrage laufen`
			: `${who} lässt das Werkzeug ${tool} nach Nachfrage laufen`;
	},
	McpSignedIn: ({ who }, { server }) => `${who} hat sich beim Werkzeugserver ${server} angemeldet`,
	McpSignedOut: ({ who }) => `${who} hat sich bei einem Werkzeugserver abgemeldet`,
	PromptWritten: ({ who }, { prompt, version }) =>
		`${who} hat Fassung ${version} geschrieben: ${prompt}`,
	PromptActivated: ({ who }, { prompt, version }) =>
		version === null
			? `${who} ist zur mitgelieferten Fassung zurückgekehrt: ${prompt}`
			: `${who} hat Fassung ${version} aktiviert: ${prompt}`,
	PromptSamplingChanged: ({ who }, { prompt }) => `${who} hat die Dekodierung geändert: ${prompt}`,
	ExperimentStarted: ({ who }, { prompt, versions }) =>
		`${who} vergleicht die Fassungen ${versions.join(', ')}: ${prompt}`,
	ExperimentEnded: ({ who }, { prompt, winner }) =>
		winner === null
			? `${who} hat den Vergleich ohne Sieger beendet: ${prompt}`
			: `${who} hat den Vergleich beendet, Fassung ${winner} bleibt: ${prompt}`,
	EntriesExpired: (_, { through }) =>
		`Einträge bis Nummer ${through} waren älter, als sie aufbewahrt werden`,
	EarlierChange: ({ who }, { action, subject }) => `${who}: ${action} ${subject}`
};

export const activity: ActivityWords = {
	about: 'Wer was getan hat, wann und von wo. Nichts lässt sich ändern oder herausnehmen.',
	none: 'Nichts passt dazu.',
	older: 'Ältere Einträge',
	end: 'Älteres gibt es nicht.',
	show: 'Zeigen',
	person: 'Person',
	everyone: 'Alle',
	since: 'Von',
	until: 'Bis',
	export: 'Als JSON-Zeilen exportieren',
	deletedUser: 'Gelöschtes Konto',
	nobody: 'Jemand',
	noAccount: { 'command line': 'Wer den Server betreibt', server: 'Der Server' },
	via: {
		page: '',
		api: 'mit einem API-Schlüssel',
		'command line': 'auf der Kommandozeile',
		server: 'vom Server'
	},
	topics: {
		all: 'Alles',
		signIn: 'Anmeldungen und Passwörter',
		accounts: 'Konten, Gruppen, Einladungen',
		safety: 'Sicherheit',
		limits: 'Schlüssel, Limits, Preise, Modelle',
		data: 'Unterhaltungen und Daten',
		tools: 'Werkzeugserver',
		prompts: 'Prompts'
	},
	sentences
};
