/**
 * Shows components as if hovered, focused or active: copies every CSS rule of such a state for
 * `data-show="hover"`, `"focus"` or `"active"`.
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
			for (const [state, attribute] of STATES) {
				if (!rule.selectorText.includes(state)) continue;
				sheet.insertRule(rule.cssText.replaceAll(state, attribute), sheet.cssRules.length);
			}
		}
	}
}
