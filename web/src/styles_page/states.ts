/**
 * Lets a part be shown as if the pointer or the focus were on it: every rule for such a state
 * is written once more for `data-show="hover"`, `"focus"` or `"active"`.
 */
const STATES = [
	[':hover', '[data-show="hover"]'],
	[':focus-visible', '[data-show="focus"]'],
	[':active', '[data-show="active"]']
] as const;

export function showStates(): void {
	for (const sheet of document.styleSheets) {
		for (const rule of [...sheet.cssRules]) {
			if (!(rule instanceof CSSStyleRule)) continue;
			for (const [state, shown] of STATES) {
				if (!rule.selectorText.includes(state)) continue;
				sheet.insertRule(rule.cssText.replaceAll(state, shown), sheet.cssRules.length);
			}
		}
	}
}
