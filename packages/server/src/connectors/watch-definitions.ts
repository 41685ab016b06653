import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { recordFile } from '@penstock/connectors/installed'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import type { Logger } from '../log.ts'
import type { LiveCatalogue } from './catalogue.ts'
import { definitionsTopic } from './definition-queries.ts'
import { installedConnectors, readKept, saveInstalled } from './definitions.ts'
import { describeMissing } from './missing.ts'

/** How often a process looks whether its folder of added connectors has changed, in milliseconds. */
const lookMs = 3_000

export type DefinitionsWatch = { close(): Promise<void> }

/**
 * Keeps the catalogue of a process current: the folder of added connectors can come back or change, and other processes add connectors.
 * Resolves once the catalogue has all connectors that the database keeps.
 */
export async function watchDefinitions(
  catalogue: LiveCatalogue,
  { database, notices, config }: { database: Database; notices: Notices; config: Config },
  log: Logger,
): Promise<DefinitionsWatch> {
  let seen: string | undefined
  let reported: readonly string[] = []
  let isClosed = false

  const update = async () => {
    const stamp = await stampOf(config.connectorsFolder)
    const installed = installedConnectors(config)
    if (stamp !== seen) await saveInstalled(database, installed, config)
    const { kept, problems } = await readKept(database)
    catalogue.setAdded(kept.map(({ connector }) => connector))
    const found = [...(await describeMissing(database, { config, installed, kept })), ...problems]
    // Only the jobs of these connectors fail.
    for (const problem of found) if (!reported.includes(problem)) log.error(problem)
    if (reported.length > 0 && found.length === 0) log.info('all added connectors can be loaded again')
    reported = found
    seen = stamp
  }
  let last: Promise<void> = Promise.resolve()
  const updateSoon = () => {
    last = last
      .then(() => (isClosed ? undefined : update()))
      .catch((err) => {
        // Looked at again soon.
        seen = undefined
        if (!isClosed) log.warn({ err }, 'the definitions of added connectors could not be updated')
      })
    return last
  }
  const look = async () => {
    if (!isClosed && (await stampOf(config.connectorsFolder)) !== seen) await updateSoon()
  }

  await update()
  notices.on(definitionsTopic, {
    onMessage: () => void updateSoon(),
    onReconnect: async () => void updateSoon(),
  })
  const timer = setInterval(() => void look(), lookMs).unref()
  return {
    close: async () => {
      isClosed = true
      clearInterval(timer)
      await last
    },
  }
}

/** Changes when a connector in the folder is added, replaced, removed, damaged or unreadable. */
async function stampOf(folder: string): Promise<string> {
  const codeOf = ({ code }: NodeJS.ErrnoException) => `${code}`
  const names = await readdir(folder).catch(codeOf)
  if (typeof names === 'string') return names
  const stamps = names.sort().map(async (name) => {
    const found = await stat(join(folder, name, recordFile)).catch(codeOf)
    return typeof found === 'string' ? [name, found] : [name, found.ctimeMs, found.size, found.mode]
  })
  return JSON.stringify(await Promise.all(stamps))
}
