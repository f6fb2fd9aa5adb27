// Written by `make generate` from src/hitsend/safety/secrets.py. Do not edit.
/* prettier-ignore */
export type SecretKind = 'private_key' | 'hitsend_key' | 'api_key' | 'signed_token' | 'url_password' | 'card_number';

/* prettier-ignore */
export const PATTERNS: Record<SecretKind, RegExp> = {
	private_key: new RegExp("-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN)[\\s\\S]){0,8000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)", 'g'),
	hitsend_key: new RegExp("(?<![A-Za-z0-9_-])hs-[A-Za-z0-9_-]{20,200}", 'g'),
	api_key: new RegExp("(?<![A-Za-z0-9_-])(?=[A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,200}|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,200}|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255}|glpat-[A-Za-z0-9_-]{20,200}|A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Z])|AIza[0-9A-Za-z_-]{35}|xox[abeoprs]-[A-Za-z0-9-]{10,250}|hf_[A-Za-z0-9]{30,100}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,400}|gsk_[A-Za-z0-9]{30,80}|r8_[A-Za-z0-9]{30,50}|(?:xai|pplx)-[A-Za-z0-9]{40,120}|SG\\.[A-Za-z0-9_-]{16,40}\\.[A-Za-z0-9_-]{20,60}|whsec_[A-Za-z0-9]{24,100}|(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])|key-[0-9a-f]{32}(?![0-9A-Za-z])|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}|GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\\.[A-Za-z0-9_-]{20,400}|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,60}|dapi[0-9a-f]{32}|lin_api_[A-Za-z0-9]{30,60}|ntn_[A-Za-z0-9]{40,60}|figd_[A-Za-z0-9_-]{30,60}|glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|hv[sb]\\.[A-Za-z0-9_-]{20,200}|tskey-[a-z]{3,10}-[A-Za-z0-9-]{15,80}|dckr_pat_[A-Za-z0-9_-]{20,50}|AGE-SECRET-KEY-1[0-9A-Z]{58})", 'g'),
	signed_token: new RegExp("(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\\.eyJ[A-Za-z0-9_-]{8,4000}\\.[A-Za-z0-9_-]{8,1000}", 'g'),
	url_password: new RegExp("(?<![A-Za-z0-9_+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\\s/:@]{0,100}:[^\\s/@]{1,200}@(?=[A-Za-z0-9\\[])", 'g'),
	card_number: new RegExp("(?<![0-9A-Za-z])(?<![0-9][ .,-])(?:[0-9]{13,19}|[0-9]{4}(?: [0-9]{4}){2} [0-9]{1,7}|[0-9]{4}(?:-[0-9]{4}){2}-[0-9]{1,7}|[0-9]{4} [0-9]{6} [0-9]{4,5}|[0-9]{4}-[0-9]{6}-[0-9]{4,5})(?![0-9A-Za-z]|[ .,-][0-9])", 'g')
};

/* prettier-ignore */
export const CARD = new RegExp("^(?:4[0-9]{12}(?:[0-9]{3}){0,2}|(?:5[1-5]|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12,14}|3[47][0-9]{13}|3(?:0[0-5]|[689])[0-9]{11,16}|(?:6011|352[89])[0-9]{12,15}|(?:64[4-9]|35[3-8])[0-9]{13,16}|6[25][0-9]{14,17})$");

export const MIN_DISTINCT = 8;
export const NUM_SHOWN = 4;
