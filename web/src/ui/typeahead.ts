/** Which label the typed letters mean; the same letter again walks through all that begin with it. */
export function startingWith(typed: string, labels: string[], now: number): number | null {
	const letters = typed.toLocaleLowerCase();
	const isOneLetter = [...letters].every((letter) => letter === letters[0]);
	const wanted = isOneLetter ? letters.slice(0, 1) : letters;
	const begin = isOneLetter ? now + 1 : Math.max(now, 0);
	for (let i = 0; i < labels.length; i++) {
		const at = (begin + i) % labels.length;
		if (labels[at]?.toLocaleLowerCase().startsWith(wanted) === true) return at;
	}
	return null;
}
