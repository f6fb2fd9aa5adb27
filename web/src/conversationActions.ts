/** What can be done to the open conversation and its last answer, from anywhere. */
import { Last } from '$/chat/last';
import { languageOf, spoken } from '$/chat/spoken';
import type { Voice } from '$/chat/voice.svelte';
import type { Action } from '$/state/action';
import type { Desk } from '$/state/desk.svelte';
import { fileNameOf, markdownOf } from '$/state/transcript';
import { copy } from '$/ui/copy';
import { save } from '$/ui/save';
import { commandOf } from '$/words/command';
import type { Words } from '$/words/words';

/** What only the screen itself can do. */
export interface ConversationScreen {
	voice: Voice;
	canShare: () => boolean;
	share: (leafId: string) => void;
	rename: () => void;
	inspect: (turnId: string) => void;
}

export function conversationActions(
	desk: Desk,
	screen: ConversationScreen,
	words: Words
): Action[] {
	const last = new Last(() => desk.open, words);
	return [
		...forTheAnswer(desk, screen, last, words.desk),
		...forTheWhole(desk, screen, last, words)
	];
}

function forTheAnswer(
	desk: Desk,
	{ voice, inspect }: ConversationScreen,
	last: Last,
	t: Words['desk']
): Action[] {
	return [
		{
			id: 'stop',
			icon: 'stop',
			label: t.actions.stop,
			isAvailable: () => desk.open.isAnswering,
			run: () => desk.open.stop()
		},
		{
			id: 'answer-again',
			icon: 'again',
			label: t.actions.answerAgain,
			slash: commandOf('again', t),
			isAvailable: () => last.leaf !== '' && !desk.open.isAnswering,
			run: () => void last.answerAgain(desk.ask)
		},
		{
			id: 'go-on',
			icon: 'goOn',
			label: t.actions.goOn,
			slash: commandOf('continue', t),
			isAvailable: () => last.isCutShort,
			run: () => void desk.open.goOn(last.leaf, desk.ask)
		},
		{
			id: 'copy-answer',
			icon: 'copy',
			label: t.actions.copyAnswer,
			keys: 'mod+shift+c',
			slash: commandOf('copy', t),
			isAvailable: () => last.words !== '',
			run: () => void copyAndTell(last.words, t.copied, desk)
		},
		{
			id: 'read-aloud',
			icon: 'speaker',
			label: t.actions.readAloud,
			slash: commandOf('read', t),
			isAvailable: () => voice.isThere && voice.spokenId === null && last.words !== '',
			run: () => {
				const { language } = desk.preferences;
				voice.read(last.wordsId, spoken(last.words), languageOf(last.words, language));
			}
		},
		{
			id: 'stop-reading',
			icon: 'mute',
			label: t.actions.stopReading,
			isAvailable: () => voice.spokenId !== null,
			run: () => voice.stop()
		},
		{
			id: 'look-inside',
			icon: 'look',
			label: t.actions.lookInside,
			keys: 'mod+shift+l',
			slash: commandOf('inside', t),
			isAvailable: () => last.turnId !== '',
			run: () => inspect(last.turnId)
		}
	];
}

function forTheWhole(
	desk: Desk,
	{ canShare, share, rename }: ConversationScreen,
	last: Last,
	words: Words
): Action[] {
	const { desk: t } = words;
	const isOpen = () => desk.open.id !== null;
	/** A temporary one is in no list, and is nobody else's to see. */
	const isListed = () => isOpen() && !desk.open.isTemporary;
	const hasWords = () => desk.open.path.length > 0;
	return [
		{
			id: 'rename',
			icon: 'edit',
			label: t.actions.rename,
			slash: commandOf('rename', t),
			isAvailable: isOpen,
			run: rename
		},
		{
			id: 'share',
			icon: 'share',
			label: t.actions.share,
			slash: commandOf('share', t),
			isAvailable: () => canShare() && isListed() && last.wordsId !== '' && !desk.open.isAnswering,
			run: () => share(last.leaf)
		},
		{
			id: 'save',
			icon: 'download',
			label: t.actions.save,
			also: t.also.save,
			slash: commandOf('export', t),
			isAvailable: hasWords,
			run: () => save(fileNameOf(desk.open, words), markdownOf(desk.open, words))
		},
		{
			id: 'copy-all',
			icon: 'copy',
			label: t.actions.copyAll,
			isAvailable: hasWords,
			run: () => void copyAndTell(markdownOf(desk.open, words), t.copiedAll, desk)
		},
		{
			id: 'pin',
			icon: 'pin',
			label: t.actions.pin,
			slash: commandOf('pin', t),
			isAvailable: () => isListed() && !desk.isPinned && !desk.isArchived,
			run: () => void desk.togglePin()
		},
		{
			id: 'unpin',
			icon: 'pin',
			label: t.actions.unpin,
			slash: commandOf('unpin', t),
			isAvailable: () => isOpen() && desk.isPinned && !desk.isArchived,
			run: () => void desk.togglePin()
		},
		{
			id: 'archive',
			icon: 'archive',
			label: t.actions.archive,
			slash: commandOf('archive', t),
			isAvailable: () => isListed() && !desk.isArchived,
			run: () => void desk.archive()
		},
		{
			id: 'unarchive',
			icon: 'unarchive',
			label: t.actions.unarchive,
			slash: commandOf('unarchive', t),
			isAvailable: () => isOpen() && desk.isArchived,
			run: () => void desk.unarchive()
		},
		{
			id: 'remove',
			icon: 'trash',
			label: t.actions.remove,
			keys: 'mod+shift+backspace',
			slash: commandOf('delete', t),
			isAvailable: isOpen,
			run: () => void desk.remove()
		}
	];
}

async function copyAndTell(text: string, told: string, { notices, preferences }: Desk) {
	try {
		await copy(text);
		notices.tell(told);
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
		notices.warn(preferences.words.ui.notCopied);
	}
}
