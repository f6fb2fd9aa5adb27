import type { Sentences } from '$/words/activity';

const factors = { authenticator: 'an authenticator app', passkey: 'a passkey', all: 'all' };
const steps = {
	authenticator: 'an app',
	passkey: 'a passkey',
	recovery_code: 'a recovery code'
};
const scopes = {
	everyone: 'everyone',
	group: 'the group',
	user: '',
	key: 'the key',
	address: 'addresses'
};
const roles = { admin: 'an administrator', reviewer: 'a reviewer', member: 'a member' };
const conversations = (count: number) =>
	count === 1 ? 'a conversation' : `${count} conversations`;

/** A sentence for each kind of entry. */
const sentences: Sentences = {
	SignedIn: ({ whom }, { second_factor }) =>
		second_factor == null
			? `${whom} signed in`
			: `${whom} signed in with ${steps[second_factor]} as second step`,
	SignInFailed: ({ whom }, { user_id, num_tries }) => {
		const where = user_id === null ? 'a name that nobody has' : whom;
		return num_tries === 1
			? `Failed to sign in as ${where}`
			: `Failed to sign in as ${where}, ${num_tries} times`;
	},
	SignedOut: ({ whom }) => `${whom} signed out`,
	PasswordChanged: ({ whom }) => `${whom} changed their password`,
	SecondFactorAdded: ({ whom }, { factor }) => `${whom} added ${factors[factor]} to their sign-in`,
	SecondFactorRemoved: ({ who, whom }, { factor }) =>
		factor === 'all'
			? `${who} turned off the two-step sign-in of ${whom}`
			: `${whom} removed ${factors[factor]} from their sign-in`,
	RecoveryCodesReplaced: ({ whom }) => `${whom} made new recovery codes`,
	RecoveryCodeUsed: ({ whom }) => `${whom} used a recovery code`,
	ResetLinkCreated: ({ who, whom }) => `${who} made a link to reset the password of ${whom}`,
	PasswordReset: ({ whom }, { method }) =>
		method === 'link'
			? `The password of ${whom} was reset with a link`
			: `The password of ${whom} was reset on the command line`,
	AccountCreated: ({ whom }, { role }) => `The account ${whom} was created, as ${roles[role]}`,
	AccountRenamed: ({ who, whom }) => `${who} is now called ${whom}`,
	RoleChanged: ({ who, whom }, { role }) => `${who} made ${whom} ${roles[role]}`,
	AccountDisabled: ({ who, whom }) => `${who} disabled ${whom}`,
	AccountEnabled: ({ who, whom }) => `${who} enabled ${whom}`,
	AccountDeleted: ({ who, whom }) => `${who} deleted the account ${whom}`,
	GroupJoined: ({ who, whom }, { group }) => `${who} put ${whom} into the group ${group}`,
	GroupLeft: ({ who, whom }) => `${who} took ${whom} out of their group`,
	GroupCreated: ({ who }, { group }) => `${who} created the group ${group}`,
	GroupRenamed: ({ who }, { before, group }) => `${who} renamed the group ${before} to ${group}`,
	GroupFeaturesChanged: ({ who }, { group, after }) =>
		after === null
			? `${who} gave the group ${group} all tools`
			: `${who} set the tools of the group ${group}: ${after.join(', ') || 'none'}`,
	SafetyPolicyChanged: ({ who }, { group, policy }) =>
		`${who} ${policy === null ? 'reset' : 'changed'} the safety policy${group && ` of the group ${group}`}`,
	ReviewDecided: ({ who, whom }, { decision }) =>
		`${who} ${decision === 'allow' ? 'allowed' : 'upheld the block of'} a message of ${whom}`,
	GroupDeleted: ({ who }, { group }) => `${who} deleted the group ${group}`,
	InviteCreated: ({ who }, { role }) => `${who} made an invitation for ${roles[role]}`,
	InviteRevoked: ({ who }) => `${who} revoked an invitation`,
	KeyCreated: ({ whom }, { prefix, scopes: allowed }) =>
		`A key of ${whom} was made: ${prefix}… (${(allowed ?? []).join(', ')})`,
	KeyDeleted: ({ whom }, { prefix }) => `A key of ${whom} was deleted: ${prefix}…`,
	LimitChanged: ({ who, whom }, { scope, target, after }) => {
		const target_ = scope === 'user' ? whom : `${scopes[scope]} ${target}`.trim();
		return after === null
			? `${who} removed the limits of ${target_}`
			: `${who} changed the limits of ${target_}`;
	},
	PriceChanged: ({ who }, { model, after }) =>
		after === null ? `${who} removed the price of ${model}` : `${who} set the price of ${model}`,
	ModelPulled: ({ who }, { model }) => `${who} started to download ${model}`,
	ModelRemoved: ({ who }, { model }) => `${who} removed the model ${model}`,
	ShareCreated: ({ who }) => `${who} shared a conversation by link`,
	ShareRevoked: ({ who }) => `${who} revoked a shared link`,
	ConversationsDeleted: ({ who }, { num_conversations }) =>
		`${who} deleted ${conversations(num_conversations)}`,
	ConversationRestored: ({ who }) => `${who} restored a conversation`,
	MemoriesDeleted: ({ who }) => `${who} deleted all their memories`,
	DataExported: ({ who }, { content }) =>
		content === 'account'
			? `${who} exported everything of theirs`
			: content === 'memories'
				? `${who} exported their memories`
				: `${who} exported the activity log`,
	DataImported: ({ who }, { num_conversations }) =>
		`${who} imported ${conversations(num_conversations)}`,
	BackupMade: ({ who }) => `${who} made a backup of the database`,
	BackupRestored: ({ who }, { made_at }) => `${who} restored the backup of ${made_at}`,
	McpServerAdded: ({ who }, { server }) => `${who} added the tool server ${server}`,
	McpServerChanged: ({ who }, { server, fields }) =>
		`${who} changed the tool server ${server}: ${fields.join(', ')}`,
	McpServerDeleted: ({ who }, { server }) => `${who} deleted the tool server ${server}`,
	McpToolChanged: ({ who }, { tool, is_on, is_read_only }) => {
		if (!is_on) return `${who} turned off the tool ${tool}`;
		return is_read_only
			? `${who} lets the tool ${tool} run without asking`
			: `${who} lets the tool ${tool} run after asking`;
	},
	McpSignedIn: ({ who }, { server }) => `${who} signed in at the tool server ${server}`,
	McpSignedOut: ({ who }) => `${who} signed out of a tool server`,
	PromptWritten: ({ who }, { prompt, version }) => `${who} wrote version ${version} of ${prompt}`,
	PromptActivated: ({ who }, { prompt, version }) =>
		version === null
			? `${who} went back to the built-in ${prompt}`
			: `${who} activated version ${version} of ${prompt}`,
	PromptSamplingChanged: ({ who }, { prompt }) => `${who} changed the decoding of ${prompt}`,
	ExperimentStarted: ({ who }, { prompt, versions }) =>
		`${who} started to compare versions ${versions.join(', ')} of ${prompt}`,
	ExperimentEnded: ({ who }, { prompt, winner }) =>
		winner === null
			? `${who} ended the comparison of ${prompt} without a winner`
			: `${who} ended the comparison of ${prompt}: version ${winner} stays`,
	EntriesExpired: (_, { through }) =>
		`Entries up to number ${through} were older than they are kept`,
	EarlierChange: ({ who }, { action, subject }) => `${who}: ${action} ${subject}`
};

/** The activity log. */
export const activity = {
	about: 'Who did what, when and from where. Nothing can be changed or taken out.',
	none: 'Nothing matches.',
	older: 'Older entries',
	end: 'There is nothing older.',
	show: 'Show',
	person: 'Person',
	everyone: 'Everyone',
	since: 'From',
	until: 'To',
	export: 'Export as JSON lines',
	deletedUser: 'Deleted user',
	nobody: 'Somebody',
	/** Who does what the command line or the server does by itself. */
	noAccount: { 'command line': 'Whoever runs the server', server: 'The server' },
	via: {
		page: '',
		api: 'with an API key',
		'command line': 'on the command line',
		server: 'by the server'
	},
	topics: {
		all: 'Everything',
		signIn: 'Sign-ins and passwords',
		accounts: 'Accounts, groups, invitations',
		safety: 'Safety',
		limits: 'Keys, limits, prices, models',
		data: 'Conversations and data',
		tools: 'Servers of tools',
		prompts: 'Prompts'
	},
	sentences
};
