import { migrationsFolder, readMigration } from '../../packages/server/src/db/migrations.ts'
import { withSession } from './session.ts'

/** What Drizzle's migrator recorded of the migrations of earlier versions: name, time, SHA-256. None of it ever changes. */
export const byDrizzle: readonly (readonly [name: string, when: number, hash: string])[] = [
  ['0000_tables', 1795237571819, '53e00a90f3fc48baf80a06fa9de6f5015897e17332b40e2a904296a2ece973dc'],
  ['0001_counts_and_search', 1795237572769, 'a287493dbf56f993dfcc9d1c32f3140efa053bc23f6ff6b64ad35dc8abbb0300'],
  ['0002_transfers', 1795249211023, '01c220366044e23ac28d9aa8f53ef563fdad9460e6999a846fd12b753bc3a59f'],
  ['0003_events', 1795252855776, '66d6d6413d44b4850f0501aa21465ba13afad26e02af48d6d6736907cf51b48f'],
  ['0004_runners', 1795298049042, '51940fce35928e9669da47d0b9b073c585b267c12f4a8d98cbd99b424a45c00f'],
  ['0005_schedules_of_organization', 1795303275602, '25ad75e42eaf93640146a58f3cd42bab922931797a86b70f1a1c3f7e3a27d0e3'],
  [
    '0006_schedule_pauses_and_client_names',
    1795303415820,
    '9a5735d5b9f3158c436c98788694c0c0d23bc6d24114689d0ad9b883107f15d2',
  ],
  ['0007_replays', 1795311350594, 'f1f64032b593420b635cf6ac32197b7c220765434695a244f802a07662f30b42'],
  ['0008_sealed_values', 1795314342981, 'e11ac3d8e83a071c52107214e1d896be4b0146645cbae58d8657692aa1c3d13d'],
  ['0009_drop_plain_progress', 1795314360058, '910c961b3c5ce52ae1475cf87b4ec8b2ee4a359682810838dc7967cea18e4a2b'],
  ['0010_transfer_totals', 1795315676933, 'bc351dfc86fb52d492e81088d751a4f328121e825f44f2a5ea928c8c16c8fd67'],
  ['0011_error_side', 1795329731601, '9451d7f7bf93ccccc2ecb667808d5b1234c451b529ae523c0d1a0bf3af83e774'],
]

/**
 * Migrates an empty database as earlier versions did: by the statements of Drizzle's migrator (drizzle-orm 0.45.4).
 * @param count how many migrations that version had
 */
export const migrateAsDrizzle = (url: string, count = byDrizzle.length) =>
  withSession(url, async (session) => {
    await session.query('CREATE SCHEMA IF NOT EXISTS "drizzle"')
    await session.query(
      'CREATE TABLE IF NOT EXISTS "drizzle"."__drizzle_migrations" (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)',
    )
    await session.query('begin')
    for (const [name, when, hash] of byDrizzle.slice(0, count)) {
      const { text } = await readMigration({ name, when, path: `${migrationsFolder}${name}.sql` })
      for (const statement of text.split('--> statement-breakpoint')) await session.query(statement)
      await session.query('insert into "drizzle"."__drizzle_migrations" ("hash", "created_at") values($1, $2)', [
        hash,
        when,
      ])
    }
    await session.query('commit')
  })
