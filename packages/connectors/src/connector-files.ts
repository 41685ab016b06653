import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The module of a connector, whose file has the name of the connector, in the folder of its platform. Undefined if there is no
 * such module. The build of the published package replaces this module with a list of all files.
 */
export function importConnector(slug: string): Promise<Record<string, unknown>> | undefined {
  const folder = /^[a-z0-9-]+$/.test(slug)
    ? folders().find((name) => existsSync(join(import.meta.dirname, name, `${slug}.ts`)))
    : undefined
  return folder === undefined ? undefined : import(`./${folder}/${slug}.ts`)
}

const folders = (): string[] =>
  readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
