-- What idem keeps of each key. PostgreSQL 14 or later.

-- Without a cache, so that a session that claims late never gives a number
-- that is smaller than one already in use.
CREATE SEQUENCE idem_records_fence AS bigint CACHE 1;

CREATE TABLE idem_records (
	key         text COLLATE "C" PRIMARY KEY, -- printable ASCII; other bytes and \ are written \x00 to \xFF
	state       text NOT NULL,                -- pending, completed, or released: as if absent
	fence       bigint NOT NULL,              -- number of the claim, from the sequence
	attempt     integer NOT NULL,             -- 1, and one more at each takeover
	waiting     boolean NOT NULL,             -- somebody wants to be notified of a change
	claimed_at  timestamptz NOT NULL,
	lease_until timestamptz NOT NULL,         -- renewed by heartbeats, therefore in no index
	expires_at  timestamptz,                  -- NULL: never
	sweep_at    timestamptz,                  -- when to look whether the row has expired; NULL: never
	owner       bytea NOT NULL,               -- of the claim, made by the claimant
	fingerprint bytea NOT NULL,               -- of the arguments; empty if unknown
	result      bytea
) WITH (
	-- Room in each page for the versions that heartbeats and the completion
	-- write, so that they need not go elsewhere and leave the indexes alone.
	fillfactor = 50,
	-- Every record is written twice and deleted once: clean up in small steps,
	-- however large the table is.
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_threshold = 1000,
	autovacuum_vacuum_insert_scale_factor = 0.05,
	autovacuum_analyze_scale_factor = 0.05
);

-- For the sweep alone. expires_at itself is in no index: a completion changes
-- it, and seldom changes sweep_at.
CREATE INDEX idem_records_expiry ON idem_records (sweep_at) WHERE sweep_at IS NOT NULL;

-- The migrations that were applied, by whatever tool.
CREATE TABLE idem_records_schema (
	version    integer PRIMARY KEY,
	applied_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO idem_records_schema (version) VALUES (1);
