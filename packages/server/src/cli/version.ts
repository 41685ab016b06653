import { readFileSync } from 'node:fs'
import { listMigrations } from '../db/migrations.ts'

/** The version of this program, from its package. */
const programVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

/** `penstock --version`: the program, the Node that runs it, and the newest migration that it knows. */
export async function printVersion(): Promise<void> {
  const schema = (await listMigrations()).at(-1)?.name ?? 'none'
  process.stdout.write(`penstock ${programVersion()}\nNode ${process.versions.node}\nschema ${schema}\n`)
}
