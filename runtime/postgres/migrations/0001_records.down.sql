-- Deletes all records: every key can be executed again.
DROP TABLE idem_records;
DROP SEQUENCE idem_records_fence;
DROP TABLE idem_records_schema;
