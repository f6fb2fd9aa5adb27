/** The index of the label that starts with the typed letters. The same letter again moves to the next match. */
export function findByPrefix(typed: string, labels: string[], current: number): number | null {
	const letters = typed.toLocaleLowerCase();
	const isOneLetter = [...letters].every((letter) => letter === letters[0]);
	const prefix = isOneLetter ? letters.slice(0, 1) : letters;
	const start = isOneLetter ? current + 1 : Math.max(current, 0);
	for (let i = 0; i < labels.length; i++) {
		const index = (start + i) % labels.length;
		if (labels[index]?.toLocaleLowerCase().startsWith(prefix) === true) return index;
	}
	return null;
}
