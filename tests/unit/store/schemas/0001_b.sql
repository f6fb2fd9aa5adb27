PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value BLOB NOT NULL, 
	PRIMARY KEY ("key")
)
 WITHOUT ROWID

;
CREATE TABLE users (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	name_key TEXT NOT NULL, 
	password_hash TEXT NOT NULL, 
	role TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	disabled_at DOUBLE, 
	PRIMARY KEY (id), 
	UNIQUE (name_key)
);
CREATE TABLE sessions (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	token_hash TEXT NOT NULL, 
	previous_token_hash TEXT, 
	rotated_at DOUBLE NOT NULL, 
	created_at DOUBLE NOT NULL, 
	last_seen_at DOUBLE NOT NULL, 
	expires_at DOUBLE NOT NULL, 
	revoked_at DOUBLE, 
	user_agent TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	UNIQUE (token_hash)
);
CREATE INDEX ix_sessions_previous_token_hash ON sessions (previous_token_hash);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TABLE api_keys (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	key_hash TEXT NOT NULL, 
	label TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	last_used_at DOUBLE, 
	revoked_at DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	UNIQUE (key_hash)
);
CREATE INDEX ix_api_keys_user_id ON api_keys (user_id);
CREATE TABLE invites (
	id TEXT NOT NULL, 
	token_hash TEXT NOT NULL, 
	role TEXT NOT NULL, 
	created_by TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	expires_at DOUBLE NOT NULL, 
	used_by TEXT, 
	used_at DOUBLE, 
	revoked_at DOUBLE, 
	PRIMARY KEY (id), 
	UNIQUE (token_hash), 
	FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(used_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX ix_invites_used_by ON invites (used_by);
CREATE INDEX ix_invites_created_by ON invites (created_by);
CREATE TABLE conversations (
	position INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	is_renamed BOOLEAN NOT NULL, 
	created_at DOUBLE NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	current_node TEXT, 
	is_archived BOOLEAN NOT NULL, 
	is_visible BOOLEAN NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_conversations_user_id_updated_at ON conversations (user_id, updated_at);
CREATE TABLE turns (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	conversation_id TEXT, 
	surface TEXT NOT NULL, 
	action TEXT NOT NULL, 
	model TEXT NOT NULL, 
	answer_id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	finished_at DOUBLE, 
	num_input_tokens INTEGER NOT NULL, 
	num_cached_tokens INTEGER NOT NULL, 
	num_output_tokens INTEGER NOT NULL, 
	given TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_turns_running ON turns (state) WHERE state = 'running';
CREATE INDEX ix_turns_user_id ON turns (user_id);
CREATE INDEX ix_turns_conversation_id ON turns (conversation_id);
CREATE TABLE messages (
	position INTEGER NOT NULL, 
	conversation_id TEXT NOT NULL, 
	id TEXT NOT NULL, 
	parent_id TEXT, 
	turn_id TEXT NOT NULL, 
	role TEXT NOT NULL, 
	parts TEXT NOT NULL, 
	status TEXT NOT NULL, 
	ending TEXT, 
	model TEXT, 
	usage TEXT, 
	problem TEXT, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (conversation_id, id), 
	FOREIGN KEY(conversation_id, parent_id) REFERENCES messages (conversation_id, id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE, 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_messages_turn_id ON messages (turn_id);
CREATE INDEX ix_messages_parent ON messages (conversation_id, parent_id);
CREATE TABLE turn_events (
	turn_id TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	at_ms DOUBLE NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY (turn_id, seq), 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE VIRTUAL TABLE message_search USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE title_search USING fts5 (title, tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN 
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
 END;
CREATE TRIGGER message_changed AFTER UPDATE OF parts ON messages WHEN new.parts IS NOT old.parts BEGIN DELETE FROM message_search WHERE rowid = old.position; 
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
 END;
CREATE TRIGGER message_deleted AFTER DELETE ON messages BEGIN DELETE FROM message_search WHERE rowid = old.position; END;
CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN INSERT INTO title_search (rowid, title) VALUES (new.position, new.title); END;
CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations WHEN new.title IS NOT old.title BEGIN UPDATE title_search SET title = new.title WHERE rowid = new.position; END;
CREATE TRIGGER conversation_deleted AFTER DELETE ON conversations BEGIN DELETE FROM title_search WHERE rowid = old.position; END;
INSERT INTO "alembic_version" (version_num) VALUES ('0001');
INSERT INTO "api_keys" (id, user_id, prefix, key_hash, label, created_at, last_used_at, revoked_at) VALUES ('key', 'ada', 'hs-abc', 'key hash', 'Laptop', 1763210000.0, NULL, NULL);
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_visible) VALUES (1, 'bread', 'ada', 'Baking bread', 1, 1763210001.0, 1763210006.0, 'bread answer', 0, 1);
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_visible) VALUES (2, 'tea', 'ada', 'Tea, Käse & more', 1, 1763210002.0, 1763210007.0, 'tea answer', 1, 1);
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_visible) VALUES (5, 'eves', 'eve', 'Eve''s own', 1, 1763210005.0, 1763210010.0, 'eves answer', 0, 1);
INSERT INTO "invites" (id, token_hash, role, created_by, created_at, expires_at, used_by, used_at, revoked_at) VALUES ('invite', 'invite hash', 'member', 'ada', 1763210000.0, 4000000000.0, 'eve', 1763210001.0, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (1, 'bread', 'bread user', NULL, 'z turn', 'user', '[{"kind":"text","text":"Why does bread rise?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (2, 'bread', 'bread answer', 'bread user', 'z turn', 'assistant', '[{"kind":"text","text":"Yeast makes gas."}]', 'finished', 'stop', 'tiny', '{"num_input_tokens": 7, "num_cached_tokens": 3, "num_output_tokens": 5}', NULL, 1763210010.0);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (3, 'tea', 'tea user', NULL, 'm turn', 'user', '[{"kind":"text","text":"Wie heiß?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (4, 'tea', 'tea answer', 'tea user', 'm turn', 'assistant', '[{"kind":"text","text":"Achtzig Grad für grünen Tee."}]', 'finished', 'stop', 'tiny', '{"num_input_tokens": 7, "num_cached_tokens": 3, "num_output_tokens": 5}', NULL, 1763210010.0);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (5, 'eves', 'eves user', NULL, 'a turn', 'user', '[{"kind":"text","text":"Are you there?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at) VALUES (6, 'eves', 'eves answer', 'eves user', 'a turn', 'assistant', '[{"kind":"text","text":""}]', 'failed', 'failed', 'tiny', NULL, 'The model stopped.', 1763210010.0);
INSERT INTO "meta" (key, value) VALUES ('epoch', X'33');
INSERT INTO "meta" (key, value) VALUES ('secret:csrf', X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F');
INSERT INTO "sessions" (id, user_id, token_hash, previous_token_hash, rotated_at, created_at, last_seen_at, expires_at, revoked_at, user_agent) VALUES ('session', 'ada', 'token hash', 'older hash', 1763210002.0, 1763210001.0, 1763210003.0, 4000000000.0, NULL, 'Firefox');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 1, 10.25, X'7B2274797065223A224D6573736167654164646564222C226D6573736167655F6964223A2262726561642075736572222C22706172656E745F6964223A6E756C6C2C226D657373616765223A7B22726F6C65223A2275736572222C227061727473223A5B7B226B696E64223A2274657874222C2274657874223A2257687920646F657320627265616420726973653F227D5D2C22736F75726365223A22686973746F7279227D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 2, 20.5, X'7B2274797065223A22416E7377657253746172746564222C226D6573736167655F6964223A22627265616420616E73776572222C22706172656E745F6964223A2262726561642075736572222C226D6F64656C223A2274696E79227D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 3, 30.75, X'7B2274797065223A225465787441727269766564222C2274657874223A225965617374222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 4, 41.0, X'7B2274797065223A225465787441727269766564222C2274657874223A226D616B6573222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 5, 51.25, X'7B2274797065223A225465787441727269766564222C2274657874223A226761732E222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 6, 61.5, X'7B2274797065223A22416E7377657246696E6973686564222C226D6573736167655F6964223A22627265616420616E73776572222C22656E64696E67223A2273746F70222C227573616765223A7B226E756D5F696E7075745F746F6B656E73223A372C226E756D5F6361636865645F746F6B656E73223A332C226E756D5F6F75747075745F746F6B656E73223A352C227175657565645F6D73223A302E302C2270726566696C6C5F6D73223A302E302C226465636F64655F6D73223A302E302C2269735F657374696D61746564223A66616C73652C2269735F7472756E6361746564223A66616C73657D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('z turn', 7, 71.75, X'7B2274797065223A225475726E46696E6973686564222C22656E64696E67223A2273746F70227D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 1, 10.25, X'7B2274797065223A224D6573736167654164646564222C226D6573736167655F6964223A227465612075736572222C22706172656E745F6964223A6E756C6C2C226D657373616765223A7B22726F6C65223A2275736572222C227061727473223A5B7B226B696E64223A2274657874222C2274657874223A2257696520686569C39F3F227D5D2C22736F75726365223A22686973746F7279227D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 2, 20.5, X'7B2274797065223A22416E7377657253746172746564222C226D6573736167655F6964223A2274656120616E73776572222C22706172656E745F6964223A227465612075736572222C226D6F64656C223A2274696E79227D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 3, 30.75, X'7B2274797065223A225465787441727269766564222C2274657874223A22416368747A6967222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 4, 41.0, X'7B2274797065223A225465787441727269766564222C2274657874223A2247726164222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 5, 51.25, X'7B2274797065223A225465787441727269766564222C2274657874223A2266C3BC72222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 6, 61.5, X'7B2274797065223A225465787441727269766564222C2274657874223A226772C3BC6E656E222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 7, 71.75, X'7B2274797065223A225465787441727269766564222C2274657874223A225465652E222C22746F6B656E73223A5B5D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 8, 82.0, X'7B2274797065223A22416E7377657246696E6973686564222C226D6573736167655F6964223A2274656120616E73776572222C22656E64696E67223A2273746F70222C227573616765223A7B226E756D5F696E7075745F746F6B656E73223A372C226E756D5F6361636865645F746F6B656E73223A332C226E756D5F6F75747075745F746F6B656E73223A352C227175657565645F6D73223A302E302C2270726566696C6C5F6D73223A302E302C226465636F64655F6D73223A302E302C2269735F657374696D61746564223A66616C73652C2269735F7472756E6361746564223A66616C73657D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('m turn', 9, 92.25, X'7B2274797065223A225475726E46696E6973686564222C22656E64696E67223A2273746F70227D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('a turn', 1, 10.25, X'7B2274797065223A224D6573736167654164646564222C226D6573736167655F6964223A22657665732075736572222C22706172656E745F6964223A6E756C6C2C226D657373616765223A7B22726F6C65223A2275736572222C227061727473223A5B7B226B696E64223A2274657874222C2274657874223A2241726520796F752074686572653F227D5D2C22736F75726365223A22686973746F7279227D7D');
INSERT INTO "turn_events" (turn_id, seq, at_ms, data) VALUES ('a turn', 2, 20.5, X'7B2274797065223A22416E7377657253746172746564222C226D6573736167655F6964223A226576657320616E73776572222C22706172656E745F6964223A22657665732075736572222C226D6F64656C223A2274696E79227D');
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given) VALUES ('z turn', 'ada', 'bread', 'chat', 'next', 'tiny', 'bread answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given) VALUES ('m turn', 'ada', 'tea', 'chat', 'next', 'tiny', 'tea answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given) VALUES ('a turn', 'eve', 'eves', 'chat', 'next', 'tiny', 'eves answer', 'failed', 1763210010.0, 1763210012.0, 7, 3, 5, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given) VALUES ('call', 'ada', NULL, 'api', 'next', 'tiny', 'call answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, '[{"role": "user", "parts": [{"kind": "text", "text": "From a program"}]}]');
INSERT INTO "users" (id, name, name_key, password_hash, role, created_at, disabled_at) VALUES ('ada', 'Ada', 'ada', '$argon2id$ada', 'admin', 1763210000.0, NULL);
INSERT INTO "users" (id, name, name_key, password_hash, role, created_at, disabled_at) VALUES ('eve', 'Eve', 'eve', '$argon2id$eve', 'member', 1763210001.0, NULL);
COMMIT;
