import { listMigrations } from '../db/migrations.ts'
import { programVersion } from '../version.ts'

/** `penstock --version`: the program, the Node that runs it, and the newest migration that it knows. */
export async function printVersion(): Promise<void> {
  const schema = (await listMigrations()).at(-1) ?? 'none'
  process.stdout.write(`penstock ${programVersion()}\nNode ${process.versions.node}\nschema ${schema}\n`)
}
