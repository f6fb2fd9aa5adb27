/** The actions on the open conversation and its last answer. */
import { LastAnswer } from '$/chat/lastAnswer';
import { detectLanguage, toSpeech } from '$/chat/speechText';
import type { Voice } from '$/chat/voice.svelte';
import { listSlashNames, type Action } from '$/state/action';
import { downloadMarkdown, exportMarkdown } from '$/state/markdownExport';
import type { Workspace } from '$/state/workspace.svelte';
import { copyText } from '$/ui/clipboard';
import type { Words } from '$/words/words';

/** The actions that only the screen can do. */
export interface ConversationScreen {
	voice: Voice;
	canShare: () => boolean;
	share: (leafId: string) => void;
	rename: () => void;
	inspect: (turnId: string) => void;
}

export function buildConversationActions(
	workspace: Workspace,
	screen: ConversationScreen,
	words: Words
): Action[] {
	const last = new LastAnswer(() => workspace.open, words);
	return [
		...buildAnswerActions(workspace, screen, last, words.workspace),
		...buildManageActions(workspace, screen, last, words)
	];
}

function buildAnswerActions(
	workspace: Workspace,
	{ voice, inspect }: ConversationScreen,
	last: LastAnswer,
	t: Words['workspace']
): Action[] {
	return [
		{
			id: 'stop',
			icon: 'stop',
			label: t.actions.stop,
			isAvailable: () => workspace.open.isAnswering,
			run: () => workspace.open.stop()
		},
		{
			id: 'answer-again',
			icon: 'again',
			label: t.actions.answerAgain,
			slash: listSlashNames('again', t),
			isAvailable: () => last.leafId !== '' && !workspace.open.isAnswering,
			run: () => void last.answerAgain(workspace)
		},
		{
			id: 'go-on',
			icon: 'goOn',
			label: t.actions.goOn,
			slash: listSlashNames('continue', t),
			isAvailable: () => last.canContinue,
			run: () => void workspace.open.continueAnswer(last.leafId, workspace.repeatOptions)
		},
		{
			id: 'copy-answer',
			icon: 'copy',
			label: t.actions.copyAnswer,
			keys: 'mod+shift+c',
			slash: listSlashNames('copy', t),
			isAvailable: () => last.text !== '',
			run: () => void copyAndNotify(last.text, t.copied, workspace)
		},
		{
			id: 'read-aloud',
			icon: 'speaker',
			label: t.actions.readAloud,
			slash: listSlashNames('read', t),
			isAvailable: () => voice.isSupported && voice.readingId === null && last.text !== '',
			run: () => {
				const { language } = workspace.preferences;
				voice.read(last.textId, toSpeech(last.text), detectLanguage(last.text, language));
			}
		},
		{
			id: 'stop-reading',
			icon: 'mute',
			label: t.actions.stopReading,
			isAvailable: () => voice.readingId !== null,
			run: () => voice.stop()
		},
		{
			id: 'look-inside',
			icon: 'look',
			label: t.actions.lookInside,
			keys: 'mod+shift+l',
			slash: listSlashNames('inside', t),
			isAvailable: () => last.turnId !== '',
			run: () => inspect(last.turnId)
		}
	];
}

function buildManageActions(
	workspace: Workspace,
	{ canShare, share, rename }: ConversationScreen,
	last: LastAnswer,
	words: Words
): Action[] {
	const { workspace: t } = words;
	const isOpen = () => workspace.open.id !== null;
	/** A temporary conversation is in no list and cannot be shared. */
	const isListed = () => isOpen() && !workspace.open.isTemporary;
	const hasMessages = () => workspace.open.path.length > 0;
	return [
		{
			id: 'rename',
			icon: 'edit',
			label: t.actions.rename,
			slash: listSlashNames('rename', t),
			isAvailable: isOpen,
			run: rename
		},
		{
			id: 'share',
			icon: 'share',
			label: t.actions.share,
			slash: listSlashNames('share', t),
			isAvailable: () =>
				canShare() && isListed() && last.textId !== '' && !workspace.open.isAnswering,
			run: () => share(last.leafId)
		},
		{
			id: 'save',
			icon: 'download',
			label: t.actions.save,
			also: t.also.save,
			slash: listSlashNames('export', t),
			isAvailable: hasMessages,
			run: () => downloadMarkdown(workspace.open, words)
		},
		{
			id: 'copy-all',
			icon: 'copy',
			label: t.actions.copyAll,
			isAvailable: hasMessages,
			run: () => void copyAndNotify(exportMarkdown(workspace.open, words), t.copiedAll, workspace)
		},
		{
			id: 'pin',
			icon: 'pin',
			label: t.actions.pin,
			slash: listSlashNames('pin', t),
			isAvailable: () => isListed() && !workspace.isPinned && !workspace.isArchived,
			run: () => void workspace.togglePin()
		},
		{
			id: 'unpin',
			icon: 'pin',
			label: t.actions.unpin,
			slash: listSlashNames('unpin', t),
			isAvailable: () => isOpen() && workspace.isPinned && !workspace.isArchived,
			run: () => void workspace.togglePin()
		},
		{
			id: 'archive',
			icon: 'archive',
			label: t.actions.archive,
			slash: listSlashNames('archive', t),
			isAvailable: () => isListed() && !workspace.isArchived,
			run: () => void workspace.archive()
		},
		{
			id: 'unarchive',
			icon: 'unarchive',
			label: t.actions.unarchive,
			slash: listSlashNames('unarchive', t),
			isAvailable: () => isOpen() && workspace.isArchived,
			run: () => void workspace.unarchive()
		},
		{
			id: 'remove',
			icon: 'trash',
			label: t.actions.remove,
			keys: 'mod+shift+backspace',
			slash: listSlashNames('delete', t),
			isAvailable: isOpen,
			run: () => void workspace.remove()
		}
	];
}

async function copyAndNotify(text: string, notice: string, { notices, preferences }: Workspace) {
	try {
		await copyText(text);
		notices.show(notice);
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
		notices.warn(preferences.words.ui.notCopied);
	}
}
