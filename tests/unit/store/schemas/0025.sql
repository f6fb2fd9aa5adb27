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
	disabled_at DOUBLE, group_id TEXT REFERENCES groups (id) ON DELETE SET NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name_key)
);
CREATE TABLE sessions (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	token_hash TEXT NOT NULL, 
	previous_token_hash TEXT, 
	rotated_at DOUBLE NOT NULL, 
	arrived_at DOUBLE, 
	created_at DOUBLE NOT NULL, 
	last_seen_at DOUBLE NOT NULL, 
	expires_at DOUBLE NOT NULL, 
	revoked_at DOUBLE, 
	user_agent TEXT NOT NULL, confirmed_at DOUBLE, needs_second_factor BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	UNIQUE (token_hash)
);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE INDEX ix_sessions_previous_token_hash ON sessions (previous_token_hash);
CREATE TABLE api_keys (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	key_hash TEXT NOT NULL, 
	label TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	last_used_at DOUBLE, 
	revoked_at DOUBLE, scopes TEXT DEFAULT '["chat","read"]' NOT NULL, expires_at DOUBLE, 
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
CREATE INDEX ix_invites_created_by ON invites (created_by);
CREATE INDEX ix_invites_used_by ON invites (used_by);
CREATE TABLE conversations (
	position INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	is_renamed BOOLEAN NOT NULL, 
	created_at DOUBLE NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	current_node TEXT, 
	is_archived BOOLEAN NOT NULL, is_pinned BOOLEAN DEFAULT 0 NOT NULL, folder_id TEXT REFERENCES folders (id) ON DELETE SET NULL, hidden_at DOUBLE, is_temporary BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (position), 
	UNIQUE (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
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
	given TEXT, epoch INTEGER DEFAULT 0 NOT NULL, num_bytes INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
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
	created_at DOUBLE NOT NULL, seen TEXT, safety TEXT, 
	PRIMARY KEY (position), 
	UNIQUE (conversation_id, id), 
	FOREIGN KEY(conversation_id, parent_id) REFERENCES messages (conversation_id, id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE, 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_messages_id ON messages (id);
CREATE INDEX ix_messages_parent ON messages (conversation_id, parent_id);
CREATE INDEX ix_messages_turn_id ON messages (turn_id);
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
CREATE TABLE folders (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_folders_user_id ON folders (user_id);
CREATE INDEX ix_conversations_folder_id ON conversations (folder_id);
CREATE INDEX ix_conversations_hidden ON conversations (hidden_at) WHERE hidden_at IS NOT NULL;
CREATE TABLE feedback (
	message_position INTEGER NOT NULL, 
	rating TEXT NOT NULL, 
	reason TEXT, 
	text TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (message_position), 
	FOREIGN KEY(message_position) REFERENCES messages (position) ON DELETE CASCADE
);
CREATE TABLE shares (
	id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	title TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (conversation_id, message_id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE TABLE sends (
	user_id TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (user_id, "key"), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_sends_turn_id ON sends (turn_id);
CREATE INDEX ix_sends_created_at ON sends (created_at);
CREATE TABLE groups (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, features TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
CREATE INDEX ix_users_group_id ON users (group_id);
CREATE TABLE limits (
	scope TEXT NOT NULL, 
	target TEXT NOT NULL, 
	requests_per_minute INTEGER, 
	tokens_per_minute INTEGER, 
	tokens_per_day INTEGER, storage_mb INTEGER, 
	PRIMARY KEY (scope, target)
);
CREATE TABLE prices (
	model TEXT NOT NULL, 
	input DOUBLE NOT NULL, 
	cached DOUBLE NOT NULL, 
	output DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
CREATE TABLE ledger (
	position INTEGER NOT NULL, 
	turn_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	group_id TEXT, 
	key_id TEXT, 
	surface TEXT NOT NULL, 
	model TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	num_reserved_tokens INTEGER NOT NULL, 
	num_input_tokens INTEGER NOT NULL, 
	num_cached_tokens INTEGER NOT NULL, 
	num_output_tokens INTEGER NOT NULL, address TEXT, 
	PRIMARY KEY (position), 
	UNIQUE (turn_id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_ledger_user_id_at ON ledger (user_id, at, num_reserved_tokens, num_input_tokens, num_output_tokens);
CREATE INDEX ix_ledger_group_id_at ON ledger (group_id, at, num_reserved_tokens, num_input_tokens, num_output_tokens);
CREATE INDEX ix_ledger_key_id_at ON ledger (key_id, at, num_reserved_tokens, num_input_tokens, num_output_tokens);
CREATE INDEX ix_ledger_at ON ledger (at);
CREATE INDEX ix_ledger_address_at ON ledger (address, at, num_reserved_tokens, num_input_tokens, num_output_tokens) WHERE address IS NOT NULL;
CREATE INDEX ix_conversations_list ON conversations (user_id, updated_at, position, is_archived, is_pinned, folder_id, hidden_at, is_temporary);
CREATE INDEX ix_conversations_temporary ON conversations (updated_at) WHERE is_temporary IS 1;
CREATE TABLE profiles (
	user_id TEXT NOT NULL, 
	call_me TEXT NOT NULL, 
	about_me TEXT NOT NULL, 
	style TEXT NOT NULL, 
	is_on BOOLEAN NOT NULL, 
	uses_memory BOOLEAN NOT NULL, 
	suggests_memories BOOLEAN NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	PRIMARY KEY (user_id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE memories (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	folded TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	conversation_id TEXT, 
	is_suggested BOOLEAN NOT NULL, 
	removed_at DOUBLE, 
	created_at DOUBLE NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	embedder TEXT, 
	vector BLOB, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE SET NULL
);
CREATE INDEX ix_memories_user_id ON memories (user_id);
CREATE INDEX ix_memories_conversation_id ON memories (conversation_id);
CREATE INDEX ix_memories_removed_at ON memories (removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE summaries (
	id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	first_message_id TEXT NOT NULL, 
	last_message_id TEXT NOT NULL, 
	level INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	model TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_summaries_conversation_id ON summaries (conversation_id);
CREATE TABLE exchanges (
	conversation_id TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	embedder TEXT NOT NULL, 
	vector BLOB NOT NULL, 
	PRIMARY KEY (conversation_id, message_id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE TABLE prompt_versions (
	name TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	template TEXT NOT NULL, 
	note TEXT NOT NULL, 
	created_by TEXT, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (name, version), 
	FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE TABLE prompt_choices (
	name TEXT NOT NULL, 
	version INTEGER, 
	sampling TEXT, 
	chosen_at DOUBLE NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE experiments (
	id TEXT NOT NULL, 
	prompt TEXT NOT NULL, 
	versions TEXT NOT NULL, 
	started_at DOUBLE NOT NULL, 
	ended_at DOUBLE, 
	winner INTEGER, 
	PRIMARY KEY (id)
);
CREATE UNIQUE INDEX ix_experiments_running ON experiments (prompt) WHERE ended_at IS NULL;
CREATE TABLE trials (
	turn_id TEXT NOT NULL, 
	experiment_id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	PRIMARY KEY (turn_id, experiment_id), 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE, 
	FOREIGN KEY(experiment_id) REFERENCES experiments (id) ON DELETE CASCADE
);
CREATE INDEX ix_trials_experiment_id ON trials (experiment_id);
CREATE TABLE audit_log (
        position INTEGER NOT NULL,
        at DOUBLE NOT NULL,
        kind TEXT NOT NULL,
        actor_id TEXT,
        actor_name TEXT,
        subject_id TEXT,
        subject_name TEXT,
        via TEXT NOT NULL,
        address TEXT NOT NULL,
        session_id TEXT,
        key_id TEXT,
        agent TEXT NOT NULL,
        event TEXT NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (position)
    );
CREATE INDEX ix_audit_log_at ON audit_log (at);
CREATE INDEX ix_audit_log_kind ON audit_log (kind);
CREATE INDEX ix_audit_log_actor_id ON audit_log (actor_id);
CREATE INDEX ix_audit_log_subject_id ON audit_log (subject_id);
CREATE TABLE audit_names (
        hash TEXT NOT NULL,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        salt BLOB NOT NULL,
        PRIMARY KEY (hash)
    );
CREATE INDEX ix_audit_names_user_id ON audit_names (user_id);
CREATE TABLE authenticators (
	user_id TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	last_counter INTEGER NOT NULL, 
	created_at DOUBLE NOT NULL, 
	last_used_at DOUBLE, 
	PRIMARY KEY (user_id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE passkeys (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	credential_id BLOB NOT NULL, 
	public_key BLOB NOT NULL, 
	sign_count INTEGER NOT NULL, 
	host TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	last_used_at DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	UNIQUE (credential_id)
);
CREATE INDEX ix_passkeys_user_id ON passkeys (user_id);
CREATE TABLE recovery_codes (
	user_id TEXT NOT NULL, 
	code_hash TEXT NOT NULL, 
	PRIMARY KEY (user_id, code_hash), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE TABLE packed_events (
            turn_id TEXT NOT NULL,
            last_seq INTEGER NOT NULL,
            data BLOB NOT NULL,
            has_tokens BOOLEAN NOT NULL,
            finished_at DOUBLE NOT NULL,
            PRIMARY KEY (turn_id, last_seq),
            FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
        );
CREATE INDEX ix_packed_events_age ON packed_events (has_tokens, finished_at);
CREATE INDEX ix_turns_user_id_num_bytes ON turns (user_id, num_bytes);
CREATE INDEX ix_turns_unpacked ON turns (finished_at) WHERE num_bytes IS NULL;
CREATE TABLE password_resets (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	token_hash TEXT, 
	created_by TEXT, 
	made_by TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	expires_at DOUBLE NOT NULL, 
	used_at DOUBLE, 
	revoked_at DOUBLE, 
	seen_at DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	UNIQUE (token_hash), 
	FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX ix_password_resets_user_id ON password_resets (user_id);
CREATE INDEX ix_password_resets_created_by ON password_resets (created_by);
CREATE TABLE tool_permissions (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	conversation_id TEXT, 
	tool TEXT NOT NULL, 
	server TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_tool_permissions_fingerprint ON tool_permissions (user_id, fingerprint);
CREATE INDEX ix_tool_permissions_conversation_id ON tool_permissions (conversation_id);
CREATE TABLE mcp_servers (
	id TEXT NOT NULL, 
	owner_id TEXT, 
	audience TEXT NOT NULL, 
	title TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	command TEXT NOT NULL, 
	url TEXT NOT NULL, 
	sealed BLOB, 
	is_on BOOLEAN NOT NULL, 
	timeout_s DOUBLE NOT NULL, 
	created_at DOUBLE NOT NULL, 
	listed_at DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_mcp_servers_owner_id ON mcp_servers (owner_id);
CREATE TABLE mcp_server_groups (
	server_id TEXT NOT NULL, 
	group_id TEXT NOT NULL, 
	PRIMARY KEY (server_id, group_id), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE, 
	FOREIGN KEY(group_id) REFERENCES groups (id) ON DELETE CASCADE
);
CREATE TABLE mcp_tools (
	server_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	description TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	is_on BOOLEAN NOT NULL, 
	is_missing BOOLEAN NOT NULL, 
	is_new BOOLEAN NOT NULL, 
	is_read_only BOOLEAN NOT NULL, 
	is_read_only_hint BOOLEAN NOT NULL, 
	draft TEXT, 
	PRIMARY KEY (server_id, name), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE
);
CREATE TABLE mcp_calls (
	id INTEGER NOT NULL, 
	server_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	tool TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	took_ms DOUBLE NOT NULL, 
	outcome TEXT NOT NULL, 
	num_chars INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE, 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_mcp_calls_user_id ON mcp_calls (user_id);
CREATE INDEX ix_mcp_calls_server_id ON mcp_calls (server_id, id);
CREATE TABLE mcp_tokens (
	server_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	sealed BLOB NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	PRIMARY KEY (server_id, user_id), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE, 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_mcp_tokens_user_id ON mcp_tokens (user_id);
CREATE TABLE mcp_sign_ins (
	state_hash TEXT NOT NULL, 
	server_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	sealed BLOB NOT NULL, 
	expires_at DOUBLE NOT NULL, 
	PRIMARY KEY (state_hash), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE, 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX ix_mcp_sign_ins_server_id ON mcp_sign_ins (server_id);
CREATE INDEX ix_mcp_sign_ins_user_id ON mcp_sign_ins (user_id);
CREATE TABLE mcp_clients (
	server_id TEXT NOT NULL, 
	sealed BLOB NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	PRIMARY KEY (server_id), 
	FOREIGN KEY(server_id) REFERENCES mcp_servers (id) ON DELETE CASCADE
);
CREATE TABLE tool_files (
	id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	conversation_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	media_type TEXT NOT NULL, 
	num_bytes INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE INDEX ix_tool_files_user_id ON tool_files (user_id);
CREATE INDEX ix_tool_files_conversation_id ON tool_files (conversation_id);
CREATE TABLE screenings (
	turn_id TEXT NOT NULL, 
	stage TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	category TEXT, 
	score DOUBLE, 
	took_ms DOUBLE NOT NULL, 
	is_complete BOOLEAN DEFAULT 1 NOT NULL, 
	prompt_version INTEGER, 
	created_at DOUBLE NOT NULL, 
	PRIMARY KEY (turn_id, stage, message_id), 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE INDEX ix_screenings_created_at ON screenings (created_at);
CREATE TABLE reviews (
	id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	user_id TEXT NOT NULL, 
	cause TEXT NOT NULL, 
	screening TEXT, 
	text_digest TEXT, 
	created_at DOUBLE NOT NULL, 
	appeal TEXT DEFAULT '' NOT NULL, 
	appealed_at DOUBLE, 
	decision TEXT, 
	note TEXT DEFAULT '' NOT NULL, 
	decided_by TEXT, 
	decided_at DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE, 
	FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	FOREIGN KEY(decided_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE UNIQUE INDEX ix_reviews_message ON reviews (turn_id, message_id);
CREATE INDEX ix_reviews_open ON reviews (created_at) WHERE decision IS NULL;
CREATE INDEX ix_reviews_user_id ON reviews (user_id, text_digest);
CREATE INDEX ix_reviews_decided_by ON reviews (decided_by);
CREATE TABLE safety_policies (
	scope TEXT NOT NULL, 
	policy TEXT NOT NULL, 
	version INTEGER DEFAULT 1 NOT NULL, 
	changed_at DOUBLE NOT NULL, 
	PRIMARY KEY (scope)
);
CREATE TRIGGER message_deleted AFTER DELETE ON messages BEGIN DELETE FROM message_search WHERE rowid = old.position; END;
CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations WHEN new.title IS NOT old.title BEGIN UPDATE title_search SET title = new.title WHERE rowid = new.position; END;
CREATE TRIGGER conversation_added AFTER INSERT ON conversations WHEN NOT new.is_temporary BEGIN INSERT INTO title_search (rowid, title) VALUES (new.position, new.title); END;
CREATE TRIGGER conversation_deleted AFTER DELETE ON conversations WHEN NOT old.is_temporary BEGIN DELETE FROM title_search WHERE rowid = old.position; INSERT OR REPLACE INTO meta (key, value) VALUES ('search_has_erased', randomblob(16)); END;
CREATE TRIGGER audit_changed BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'Entries of the audit log are only ever appended.'); END;
CREATE TRIGGER audit_removed BEFORE DELETE ON audit_log WHEN old.position > (
    SELECT coalesce(max(json_extract(event, '$.through')), 0)
    FROM audit_log WHERE kind = 'EntriesExpired'
) BEGIN SELECT RAISE(ABORT, 'Entries of the audit log are only ever appended.'); END;
CREATE TRIGGER audit_replaced BEFORE INSERT ON audit_log WHEN new.position <= (SELECT coalesce(max(position), 0) FROM audit_log) BEGIN SELECT RAISE(ABORT, 'Entries of the audit log are only ever appended.'); END;
CREATE TRIGGER audit_name_changed BEFORE UPDATE ON audit_names BEGIN SELECT RAISE(ABORT, 'Entries of the audit log are only ever appended.'); END;
CREATE TRIGGER message_added AFTER INSERT ON messages WHEN json_extract(new.safety, '$.outcome') IS NOT 'block'
    AND (SELECT NOT is_temporary FROM conversations WHERE id = new.conversation_id) BEGIN 
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
 END;
CREATE TRIGGER message_changed AFTER UPDATE OF parts ON messages WHEN new.parts IS NOT old.parts AND json_extract(new.safety, '$.outcome') IS NOT 'block'
    AND (SELECT NOT is_temporary FROM conversations WHERE id = new.conversation_id) BEGIN DELETE FROM message_search WHERE rowid = old.position; 
    INSERT INTO message_search (rowid, text)
    SELECT new.position, group_concat(json_extract(part.value, '$.text'), '')
    FROM json_each(new.parts) AS part
    WHERE json_extract(part.value, '$.kind') = 'text'
    HAVING count(*) > 0;
 END;
INSERT INTO "alembic_version" (version_num) VALUES ('0025');
INSERT INTO "api_keys" (id, user_id, prefix, key_hash, label, created_at, last_used_at, revoked_at, scopes, expires_at) VALUES ('key', 'ada', 'hs-abc', 'key hash', 'Laptop', 1763210000.0, NULL, NULL, '["chat","read"]', NULL);
INSERT INTO "audit_log" (position, at, kind, actor_id, actor_name, subject_id, subject_name, via, address, session_id, key_id, agent, event, hash) VALUES (1, 1763210000.0, 'EarlierChange', 'ada', '733388488f16b7016464721d5e24229abbf9eb7cb8c7a82c75046e3d69284773', NULL, NULL, 'page', '', NULL, NULL, '', '{"kind":"EarlierChange","action":"prompt_changed","subject":"title","detail":{"version":"1001"}}', X'CD0F73C871B1728072627B8969BAC01D80DE77C5E47F133308322D4DABF12CE8');
INSERT INTO "audit_names" (hash, user_id, name, salt) VALUES ('733388488f16b7016464721d5e24229abbf9eb7cb8c7a82c75046e3d69284773', 'ada', 'Ada', X'68BF11B4D102C15B7C1F408A91C5D9A7');
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_pinned, folder_id, hidden_at, is_temporary) VALUES (1, 'bread', 'ada', 'Baking bread', 1, 1763210001.0, 1763210006.0, 'bread answer', 0, 1, 'work', NULL, 0);
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_pinned, folder_id, hidden_at, is_temporary) VALUES (2, 'tea', 'ada', 'Tea, Käse & more', 1, 1763210002.0, 1763210007.0, 'tea answer', 1, 0, NULL, NULL, 0);
INSERT INTO "conversations" (position, id, user_id, title, is_renamed, created_at, updated_at, current_node, is_archived, is_pinned, folder_id, hidden_at, is_temporary) VALUES (5, 'eves', 'eve', 'Eve''s own', 1, 1763210005.0, 1763210010.0, 'eves answer', 0, 0, NULL, NULL, 0);
INSERT INTO "exchanges" (conversation_id, message_id, embedder, vector) VALUES ('bread', 'bread answer', 'hash', X'0908');
INSERT INTO "experiments" (id, prompt, versions, started_at, ended_at, winner) VALUES ('e1', 'title', '[1,1001]', 1763210000.0, NULL, NULL);
INSERT INTO "feedback" (message_position, rating, reason, text, created_at) VALUES (2, 'up', NULL, '', 1763210020.0);
INSERT INTO "feedback" (message_position, rating, reason, text, created_at) VALUES (4, 'down', NULL, 'Too hot', 1763210021.0);
INSERT INTO "folders" (id, user_id, name, created_at) VALUES ('work', 'ada', 'Work', 1763210000.0);
INSERT INTO "groups" (id, name, created_at, features) VALUES ('team', 'Team', 1763210000.0, NULL);
INSERT INTO "invites" (id, token_hash, role, created_by, created_at, expires_at, used_by, used_at, revoked_at) VALUES ('invite', 'invite hash', 'member', 'ada', 1763210000.0, 4000000000.0, 'eve', 1763210001.0, NULL);
INSERT INTO "ledger" (position, turn_id, user_id, group_id, key_id, surface, model, at, num_reserved_tokens, num_input_tokens, num_cached_tokens, num_output_tokens, address) VALUES (1, 'z turn', 'ada', 'team', NULL, 'chat', 'tiny', 1763210010.0, 0, 7, 3, 5, NULL);
INSERT INTO "ledger" (position, turn_id, user_id, group_id, key_id, surface, model, at, num_reserved_tokens, num_input_tokens, num_cached_tokens, num_output_tokens, address) VALUES (2, 'm turn', 'ada', 'team', NULL, 'chat', 'tiny', 1763210010.0, 0, 7, 3, 5, NULL);
INSERT INTO "ledger" (position, turn_id, user_id, group_id, key_id, surface, model, at, num_reserved_tokens, num_input_tokens, num_cached_tokens, num_output_tokens, address) VALUES (3, 'a turn', 'eve', NULL, NULL, 'chat', 'tiny', 1763210010.0, 0, 7, 3, 5, NULL);
INSERT INTO "ledger" (position, turn_id, user_id, group_id, key_id, surface, model, at, num_reserved_tokens, num_input_tokens, num_cached_tokens, num_output_tokens, address) VALUES (4, 'call', 'ada', 'team', 'key', 'api', 'tiny', 1763210010.0, 0, 7, 3, 5, NULL);
INSERT INTO "limits" (scope, target, requests_per_minute, tokens_per_minute, tokens_per_day, storage_mb) VALUES ('user', 'eve', 10, NULL, 1000, NULL);
INSERT INTO "mcp_calls" (id, server_id, user_id, tool, at, took_ms, outcome, num_chars) VALUES (1, 'wiki', 'eve', 'search', 1763210002.0, 12.5, 'ok', 40);
INSERT INTO "mcp_clients" (server_id, sealed, updated_at) VALUES ('wiki', X'0708', 1763210004.0);
INSERT INTO "mcp_server_groups" (server_id, group_id) VALUES ('files', 'team');
INSERT INTO "mcp_servers" (id, owner_id, audience, title, prefix, kind, command, url, sealed, is_on, timeout_s, created_at, listed_at) VALUES ('wiki', 'eve', 'owner', 'Wiki', 'wiki', 'http', '[]', 'https://wiki.example/mcp', X'0102', 1, 60.0, 1763210000.0, 1763210001.0);
INSERT INTO "mcp_servers" (id, owner_id, audience, title, prefix, kind, command, url, sealed, is_on, timeout_s, created_at, listed_at) VALUES ('files', NULL, 'groups', 'Files', 'files', 'command', '["files","/srv"]', '', NULL, 0, 60.0, 1763210000.0, NULL);
INSERT INTO "mcp_sign_ins" (state_hash, server_id, user_id, sealed, expires_at) VALUES ('state', 'wiki', 'eve', X'0506', 1763210900.0);
INSERT INTO "mcp_tokens" (server_id, user_id, sealed, updated_at) VALUES ('wiki', 'eve', X'0304', 1763210003.0);
INSERT INTO "mcp_tools" (server_id, name, position, title, description, schema, digest, problem, is_on, is_missing, is_new, is_read_only, is_read_only_hint, draft) VALUES ('wiki', 'search', 0, 'Search', 'Searches.', '{}', 'digest', '', 1, 0, 0, 0, 1, '{"title":"","description":"Searches all.","schema":"{}","digest":"other","problem":"","is_read_only_hint":false}');
INSERT INTO "memories" (id, user_id, text, folded, origin, conversation_id, is_suggested, removed_at, created_at, updated_at, embedder, vector) VALUES ('m1', 'ada', 'I bake on Straße №5', 'i bake on strasse no5', 'asked', 'bread', 0, NULL, 1763210030.0, 1763210030.0, 'hash', X'00010203');
INSERT INTO "memories" (id, user_id, text, folded, origin, conversation_id, is_suggested, removed_at, created_at, updated_at, embedder, vector) VALUES ('m2', 'ada', 'I like TEA', 'i like tea', 'asked', NULL, 1, NULL, 1763210030.0, 1763210030.0, NULL, NULL);
INSERT INTO "memories" (id, user_id, text, folded, origin, conversation_id, is_suggested, removed_at, created_at, updated_at, embedder, vector) VALUES ('m3', 'eve', 'I am Eve', 'i am eve', 'asked', 'bread', 0, 1763210040.0, 1763210030.0, 1763210030.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (1, 'bread', 'bread user', NULL, 'z turn', 'user', '[{"kind":"text","text":"Why does bread rise?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (2, 'bread', 'bread answer', 'bread user', 'z turn', 'assistant', '[{"kind":"text","text":"Yeast makes gas."}]', 'finished', 'stop', 'tiny', '{"num_input_tokens": 7, "num_cached_tokens": 3, "num_output_tokens": 5}', NULL, 1763210010.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (3, 'tea', 'tea user', NULL, 'm turn', 'user', '[{"kind":"text","text":"Wie heiß?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (4, 'tea', 'tea answer', 'tea user', 'm turn', 'assistant', '[{"kind":"text","text":"Achtzig Grad für grünen Tee."}]', 'finished', 'stop', 'tiny', '{"num_input_tokens": 7, "num_cached_tokens": 3, "num_output_tokens": 5}', NULL, 1763210010.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (5, 'eves', 'eves user', NULL, 'a turn', 'user', '[{"kind":"text","text":"Are you there?"}]', 'finished', NULL, NULL, NULL, NULL, 1763210010.0, NULL, NULL);
INSERT INTO "messages" (position, conversation_id, id, parent_id, turn_id, role, parts, status, ending, model, usage, problem, created_at, seen, safety) VALUES (6, 'eves', 'eves answer', 'eves user', 'a turn', 'assistant', '[{"kind":"text","text":""}]', 'failed', 'failed', 'tiny', NULL, 'The model stopped.', 1763210010.0, NULL, NULL);
INSERT INTO "meta" (key, value) VALUES ('audit_head', X'313A63643066373363383731623137323830373236323762383936396261633031643830646537376335653437663133333330383332326434646162663132636538');
INSERT INTO "meta" (key, value) VALUES ('epoch', X'33');
INSERT INTO "meta" (key, value) VALUES ('search_has_erased', X'69D2395FD78DAEC8C504B3F6CBC31C13');
INSERT INTO "meta" (key, value) VALUES ('secret:csrf', X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F');
INSERT INTO "password_resets" (id, user_id, token_hash, created_by, made_by, created_at, expires_at, used_at, revoked_at, seen_at) VALUES ('reset', 'eve', 'reset hash', 'ada', 'Ada', 1763210000.0, 1763296400.0, 1763210002.0, NULL, NULL);
INSERT INTO "prices" (model, input, cached, output) VALUES ('tiny', 0.1, 0.01, 0.4);
INSERT INTO "profiles" (user_id, call_me, about_me, style, is_on, uses_memory, suggests_memories, updated_at) VALUES ('ada', 'Ada', 'Bakes.', 'Short.', 1, 1, 1, 1763210000.0);
INSERT INTO "prompt_choices" (name, version, sampling, chosen_at) VALUES ('title', 1001, NULL, 1763210000.0);
INSERT INTO "prompt_versions" (name, version, template, note, created_by, created_at) VALUES ('title', 1001, 'Name it.', 'Shorter', 'ada', 1763210000.0);
INSERT INTO "sends" (user_id, key, fingerprint, turn_id, created_at) VALUES ('ada', 'send key', 'print', 'z turn', 1763210010.0);
INSERT INTO "sessions" (id, user_id, token_hash, previous_token_hash, rotated_at, arrived_at, created_at, last_seen_at, expires_at, revoked_at, user_agent, confirmed_at, needs_second_factor) VALUES ('session', 'ada', 'token hash', 'older hash', 1763210002.0, NULL, 1763210001.0, 1763210003.0, 4000000000.0, NULL, 'Firefox', NULL, 0);
INSERT INTO "shares" (id, conversation_id, message_id, title, created_at) VALUES ('share', 'bread', 'bread answer', 'Baking bread', 1763210022.0);
INSERT INTO "summaries" (id, conversation_id, first_message_id, last_message_id, level, text, model, created_at) VALUES ('s1', 'bread', 'bread user', 'bread answer', 1, 'On yeast.', 'tiny', 1763210050.0);
INSERT INTO "trials" (turn_id, experiment_id, version) VALUES ('z turn', 'e1', 1001);
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
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given, epoch, num_bytes) VALUES ('z turn', 'ada', 'bread', 'chat', 'next', 'tiny', 'bread answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, NULL, 0, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given, epoch, num_bytes) VALUES ('m turn', 'ada', 'tea', 'chat', 'next', 'tiny', 'tea answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, NULL, 0, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given, epoch, num_bytes) VALUES ('a turn', 'eve', 'eves', 'chat', 'next', 'tiny', 'eves answer', 'failed', 1763210010.0, 1763210012.0, 7, 3, 5, NULL, 0, NULL);
INSERT INTO "turns" (id, user_id, conversation_id, surface, action, model, answer_id, state, created_at, finished_at, num_input_tokens, num_cached_tokens, num_output_tokens, given, epoch, num_bytes) VALUES ('call', 'ada', NULL, 'api', 'next', 'tiny', 'call answer', 'stop', 1763210010.0, 1763210012.0, 7, 3, 5, '[{"role": "user", "parts": [{"kind": "text", "text": "From a program"}]}]', 0, NULL);
INSERT INTO "users" (id, name, name_key, password_hash, role, created_at, disabled_at, group_id) VALUES ('ada', 'Ada', 'ada', '$argon2id$ada', 'admin', 1763210000.0, NULL, 'team');
INSERT INTO "users" (id, name, name_key, password_hash, role, created_at, disabled_at, group_id) VALUES ('eve', 'Eve', 'eve', '$argon2id$eve', 'member', 1763210001.0, NULL, NULL);
COMMIT;
