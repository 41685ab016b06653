import { statement } from '../../db/statement.ts'

/** Statements by which a worker of an older version knows that a newer one has been here. */

/** SQL: whether a newer version of the program has worked on the database, or migrated it. */
export const isOutdated = `(
  exists (select from worker_versions where number > :number::int[])
  or exists (select from penstock_migrations where name collate "C" > :newestMigration)
)`

/** The program, as versions are compared; `newestMigration` is the name of the newest migration that it has. */
export type ProgramParameters = { number: readonly number[]; newestMigration: string }

/** Says that this version works here. */
export const recordVersion = statement<{ version: string; number: readonly number[] }>(`
  insert into worker_versions (version, number) values (:version, :number::int[]) on conflict (version) do nothing
`)
/**
 * The newer program or schema; no row if there is none. The version is null if the newer program only migrated the
 * database.
 */
export const findNewer = statement<ProgramParameters, { version: string | null }>(`
  select (
    select version from worker_versions where number > :number::int[] order by number desc limit 1
  ) as version
  where ${isOutdated}
`)
