package postgres

// claim reads each row, decides, and writes only where something is won or a
// waiter has to be noted: a replay takes no lock and writes no WAL. Each write
// happens only if the row is still as it was read. Where it is not, or where
// somebody else inserted the row first, the request gets no answer, because
// READ COMMITTED may show this statement neither that row nor its own; the
// request is then sent again.
//
// It is one text for one request and for many. What a request asks is {r:…}
// where rows are read and {d:…} where they are written. With one request the
// server has half of the work with setting the statement up, so that every
// column counts.
const claim = `WITH d AS MATERIALIZED (
	SELECT {carried}{prior}c.now, t.fence, t.attempt, t.state, t.fingerprint, t.claimed_at, t.lease_until, t.expires_at, t.result,
		CASE
		WHEN t.key IS NULL THEN CASE WHEN {r:replace} = 0 THEN {insert} ELSE {gone} END
		WHEN t.state NOT IN ('pending', 'completed', 'released') THEN {unknown}
		WHEN {expired} THEN CASE WHEN {r:replace} = 0 THEN {reset} ELSE {gone} END
		WHEN t.fence = {r:replace} THEN {replace}
		WHEN t.state = 'pending' AND t.owner = {r:owner} THEN {own}
		WHEN t.fingerprint <> {r:fingerprint} AND t.fingerprint <> '' AND {r:fingerprint} <> '' THEN
			CASE t.state WHEN 'pending' THEN {conflict} ELSE {conflictDone} END
		WHEN t.state = 'completed' THEN {completed}
		WHEN t.lease_until > c.now THEN
			CASE WHEN {r:flags} & {flagWaiting} = 0 OR t.waiting THEN {pending} ELSE {note} END
		WHEN {r:flags} & {flagTakeover} <> 0 AND {r:replace} = 0 THEN {takeover}
		ELSE {interrupted}
		END AS verdict
	FROM (SELECT clock_timestamp() AS now) AS c {rows}
), inserted AS (
	INSERT INTO {table} (key, state, fence, attempt, waiting, claimed_at, lease_until, expires_at, sweep_at, owner, fingerprint)
	SELECT {d:key}, 'pending', nextval({fence}), 1, false, now, {lease}, {expiry}, {expiry}, {d:owner}, {d:fingerprint}
	FROM d WHERE CASE WHEN verdict = {insert} THEN {guard} END
	ON CONFLICT (key) DO NOTHING
	RETURNING key, owner, fence, claimed_at, lease_until{latest}
), updated AS (
	UPDATE {table} AS t SET
		state = 'pending',
		fence = CASE WHEN d.verdict >= {own} THEN t.fence ELSE nextval({fence}) END,
		attempt = CASE WHEN d.verdict >= {own} THEN t.attempt WHEN d.verdict = {reset} THEN 1 ELSE t.attempt + 1 END,
		waiting = CASE d.verdict WHEN {note} THEN true WHEN {reset} THEN false ELSE t.waiting END,
		claimed_at = CASE WHEN d.verdict >= {own} THEN t.claimed_at ELSE d.now END,
		lease_until = CASE WHEN d.verdict = {note} THEN t.lease_until ELSE {lease} END,
		expires_at = CASE WHEN d.verdict >= {own} THEN t.expires_at ELSE {expiry} END,
		sweep_at = CASE WHEN d.verdict >= {own} THEN t.sweep_at ELSE {expiry} END,
		owner = CASE WHEN d.verdict >= {own} THEN t.owner ELSE {d:owner} END,
		fingerprint = CASE WHEN d.verdict = {reset} OR d.verdict = {takeover} AND t.fingerprint = ''
			THEN {d:fingerprint} ELSE t.fingerprint END,
		result = NULL
	FROM d
	WHERE CASE WHEN d.verdict BETWEEN {reset} AND {note} THEN {guard} END
		AND t.key = {d:key} AND t.fence = d.fence AND t.state = d.state AND t.lease_until = d.lease_until
	RETURNING {returned}d.verdict, t.fence, t.attempt, t.fingerprint, d.now, t.claimed_at, t.lease_until{latest}
)
SELECT {read}verdict, coalesce(fence, 0), coalesce(attempt, 0), fingerprint, result,
	now, coalesce(claimed_at, now), coalesce(lease_until, now), expires_at{no latest}
FROM d WHERE verdict > {note}
UNION ALL
SELECT {written}{insert}, fence, 1, NULL, NULL, claimed_at, claimed_at, lease_until, NULL{the latest} FROM inserted
UNION ALL
SELECT {read}verdict, fence, attempt, fingerprint, NULL, now, claimed_at, lease_until, NULL{the latest} FROM updated`

// Parts of the claim statement.
var claimParts = []string{
	"{lease}", `now + {d:lease} * interval '1 microsecond'`,
	// A retention below zero is for ever, and then there is no expiry.
	"{expiry}", `CASE WHEN {d:retention} >= 0 THEN now + ({d:lease} + {d:retention}) * interval '1 microsecond' END`,
}

// oneClaim fills in what a single request asks: parameters, all along.
var oneClaim = []string{
	"{rows}", `LEFT JOIN {table} AS t ON t.key = $1::text`,
	"{carried}", "", "{returned}", "", "{read}", "", "{written}", "",
	"{r:owner}", "$2::bytea", "{r:fingerprint}", "$3::bytea", "{r:replace}", "$6::int8", "{r:flags}", "$7::int4",
	"{d:key}", "$1::text", "{d:owner}", "$2::bytea", "{d:fingerprint}", "$3::bytea",
	"{d:lease}", "$4::int8", "{d:retention}", "$5::int8",
}

// manyClaims fills in what each of many requests asks. An answer says which
// request it is for, by number, or by key and owner if it is an inserted row,
// which does not know its number.
var manyClaims = []string{
	"{rows}", `, unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::bytea[]),
		(SELECT $4::int8[]), (SELECT $5::int8[]), (SELECT $6::int8[]), (SELECT $7::int4[]))
		WITH ORDINALITY AS r(key, owner, fingerprint, lease, retention, replace, flags, n)
		LEFT JOIN LATERAL (SELECT * FROM {table} AS x WHERE x.key = r.key LIMIT 1) AS t ON true`,
	"{carried}", "r.n, r.key, r.owner, r.fingerprint AS asked, r.lease, r.retention, ",
	"{returned}", "d.n, ",
	"{read}", "n, NULL::text AS key, NULL::bytea AS owner, ",
	"{written}", "NULL, key, owner, ",
	"{r:owner}", "r.owner", "{r:fingerprint}", "r.fingerprint", "{r:replace}", "r.replace", "{r:flags}", "r.flags",
	"{d:key}", "d.key", "{d:owner}", "d.owner", "{d:fingerprint}", "d.asked",
	"{d:lease}", "d.lease", "{d:retention}", "d.retention",
}

// committing fills in what only a claim within a larger transaction needs.
var committing = []string{"{prior}", "", "{latest}", "", "{no latest}", "", "{the latest}", ""}

// A claim in a transaction of the backend's has its own lock timeout, and then
// sets it to what it was, because the method's statements follow. That comes to
// pass only if something is written: otherwise the transaction ends.
const tryLock = "(SELECT set_config('lock_timeout', $8::text, true)) IS NOT NULL"

// What such a claim needs, in a transaction of the backend's and of the
// caller's. The last fence that anybody drew is seen once the row is written,
// so after any wait for another transaction.
var (
	beginner = []string{
		"{prior}", "current_setting('lock_timeout') AS prior, ",
		"{latest}", `, CASE WHEN set_config('lock_timeout', (SELECT prior FROM d), true) IS NOT NULL
			THEN pg_sequence_last_value({fence}) END AS latest`,
		"{no latest}", ", 0::int8", "{the latest}", ", latest",
	}
	joiner = []string{
		"{prior}", "",
		"{latest}", ", pg_sequence_last_value({fence}) AS latest",
		"{no latest}", ", 0::int8", "{the latest}", ", latest",
	}
)
