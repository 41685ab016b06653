import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { migrationsFolder } from '../../packages/server/src/db/migrations.ts'
import { withSession } from './session.ts'

/** Applies the migrations of a folder with Drizzle's own migrator, as earlier versions did. */
export const migrateWithDrizzle = (url: string, folder: string) =>
  withSession(url, (session) => migrate(drizzle(session), { migrationsFolder: folder }))

/** A copy of the migrations that ends after `count` of them: those of an earlier version. */
export async function firstMigrations(t: TestContext, count: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'penstock-migrations-'))
  t.after(() => rm(folder, { recursive: true }))
  await cp(migrationsFolder, folder, { recursive: true })
  const file = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }))
  return folder
}
