/** The activity log: what to ask the server for, and how an entry reads. */
import type { AuditEntry, AuditEvent } from '$/api/wire';
import type { ActivityWords, Names, Sentences } from '$/words/activity';
import { formatDateTime } from '$/words/format';
import type { PromptWords } from '$/words/prompts';

export type Topic = keyof ActivityWords['topics'];
type Kind = AuditEvent['kind'];

/** The kinds of each topic. */
export const TOPICS: Record<Topic, Kind[]> = {
	all: [],
	signIn: [
		...(['SignedIn', 'SignInFailed', 'SignedOut', 'PasswordChanged'] as const),
		...(['SecondFactorAdded', 'SecondFactorRemoved', 'RecoveryCodesReplaced'] as const),
		...(['RecoveryCodeUsed', 'ResetLinkCreated', 'PasswordReset'] as const)
	],
	accounts: [
		...(['AccountCreated', 'AccountRenamed', 'RoleChanged', 'AccountDisabled'] as const),
		...(['AccountEnabled', 'AccountDeleted', 'GroupJoined', 'GroupLeft'] as const),
		...(['GroupCreated', 'GroupRenamed', 'GroupFeaturesChanged', 'GroupDeleted'] as const),
		'InviteCreated' as const,
		'InviteRevoked'
	],
	safety: ['SafetyPolicyChanged', 'ReviewDecided'],
	limits: [
		...(['KeyCreated', 'KeyDeleted', 'LimitChanged', 'PriceChanged'] as const),
		...(['ModelPulled', 'ModelRemoved'] as const)
	],
	data: [
		...(['ShareCreated', 'ShareRevoked', 'ConversationsDeleted'] as const),
		...(['ConversationRestored', 'MemoriesDeleted', 'DataExported', 'DataImported'] as const),
		...(['BackupMade', 'BackupRestored'] as const)
	],
	tools: [
		...(['McpServerAdded', 'McpServerChanged', 'McpServerDeleted'] as const),
		...(['McpToolChanged', 'McpSignedIn', 'McpSignedOut'] as const)
	],
	prompts: [
		...(['PromptWritten', 'PromptActivated', 'PromptSamplingChanged'] as const),
		...(['ExperimentStarted', 'ExperimentEnded', 'EarlierChange'] as const)
	]
};

export interface Filter {
	topic: Topic;
	/** Empty for everyone. */
	userId: string;
	/** Days as `2026-11-19`, empty for no limit. */
	since: string;
	until: string;
}

export function buildQuery({ topic, userId, since, until }: Filter): URLSearchParams {
	const query = new URLSearchParams();
	if (topic !== 'all') query.set('kinds', TOPICS[topic].join(','));
	if (userId !== '') query.set('user_id', userId);
	const [start, end] = [startOfDay(since), startOfDay(until)];
	if (start !== null) query.set('since', String(start.getTime() / 1_000));
	if (end !== null) {
		end.setDate(end.getDate() + 1);
		query.set('until', String(end.getTime() / 1_000));
	}
	return query;
}

/** In the time of this browser. */
function startOfDay(day: string): Date | null {
	const start = new Date(`${day}T00:00:00`);
	return Number.isNaN(start.getTime()) ? null : start;
}

export function describeEntry(
	entry: AuditEntry,
	t: ActivityWords,
	prompts: PromptWords
): { title: string; details: string[] } {
	const details = [formatDateTime(entry.at), t.via[entry.via], entry.address, entry.agent];
	return {
		title: describeEvent(nameThePrompt(entry.event, prompts), findNames(entry, t), t),
		details: details.filter((one) => one !== '')
	};
}

/** A newer server may know kinds that this page does not. */
function describeEvent(event: AuditEvent, names: Names, t: ActivityWords): string {
	const sentences = t.sentences as Partial<Sentences>;
	const sentence = sentences[event.kind] as
		((names: Names, event: AuditEvent) => string) | undefined;
	return sentence?.(names, event) ?? `${names.who}: ${event.kind}`;
}

function findNames(entry: AuditEntry, t: ActivityWords): Names {
	const describe = (id: string | null, name: string | null) =>
		name ?? (id === null ? t.nobody : t.deletedUser);
	const { via } = entry;
	const hasAccount = entry.actor_id !== null || via === 'page' || via === 'api';
	const who = hasAccount ? describe(entry.actor_id, entry.actor_name) : t.noAccount[via];
	return {
		who,
		whom: entry.subject_id === null ? who : describe(entry.subject_id, entry.subject_name)
	};
}

function nameThePrompt(event: AuditEvent, { known }: PromptWords): AuditEvent {
	if (!('prompt' in event)) return event;
	return { ...event, prompt: known[event.prompt]?.name ?? event.prompt };
}
