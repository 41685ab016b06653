-- Where a transfer stands serves until it has ended. The version before kept it, in plain.
UPDATE "transfers" SET "position" = NULL, "marker" = NULL
WHERE "status" NOT IN ('queued', 'running') AND ("position" IS NOT NULL OR "marker" IS NOT NULL);
