import { join } from 'node:path'
import type { Connector } from '@penstock/connector'
import * as own from '@penstock/connectors'
import {
  errorOfDefinition,
  type Installed,
  readInstalled,
  readInstalledConnector,
  whyTaken,
} from '@penstock/connectors/installed'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { listDefinitions, saveDefinition } from './definition-queries.ts'

/**
 * Definitions of the connectors that the operator added. The database keeps them, so that each process knows them without the folder
 * of their code. Only jobs need the code.
 */

/** A connector that the operator added, and the folder that it was last read from. */
export type KeptConnector = { readonly connector: Connector; readonly folder: string }

/** The connectors that the database keeps, and a sentence for each definition that cannot be used. */
export type KeptDefinitions = { readonly kept: readonly KeptConnector[]; readonly problems: readonly string[] }

/** Connectors in the folder of this machine, in its present state. */
export const installedConnectors = ({ connectorsFolder }: Pick<Config, 'connectorsFolder'>): Installed =>
  readInstalled(connectorsFolder, own)

/** Saves the definitions in the folder of this machine, unless the database has newer ones. */
export async function saveInstalled(
  database: Database,
  { connectors }: Installed,
  { connectorsFolder }: Pick<Config, 'connectorsFolder'>,
): Promise<void> {
  for (const { connector, record } of connectors) {
    await saveDefinition.run(database, {
      slug: record.slug,
      connectorId: connector.id,
      kind: record.program?.protocol ?? 'package',
      packageName: record.package.name,
      packageVersion: record.package.version,
      folder: join(connectorsFolder, record.slug),
      definition: JSON.stringify(record.definition),
      addedTime: new Date(record.addedTime),
    })
  }
}

/** The connectors that the database keeps. A definition that this version cannot use is a problem, and no error. */
export async function readKept(database: Database): Promise<KeptDefinitions> {
  const kept: KeptConnector[] = []
  const problems: string[] = []
  for (const row of await listDefinitions.all(database, {})) {
    try {
      const others = kept.map(({ connector }) => connector)
      const definition = JSON.parse(row.definition)
      const wrong = errorOfDefinition(definition)
      if (wrong !== undefined) throw new Error(`its definition is wrong: ${wrong}`)
      const from = { name: row.packageName, version: row.packageVersion }
      const platforms = [...own.platforms, ...others.map(({ platform }) => platform)]
      const connector = readInstalledConnector({ package: from, definition }, platforms)
      const clash = whyTaken(connector, [...own.connectors, ...others])
      if (clash !== undefined) throw new Error(clash)
      kept.push({ connector, folder: row.folder })
    } catch (error) {
      const { message } = error as Error
      problems.push(
        `The definition of the connector ${row.slug} in the database cannot be used: ${message}. Add the connector again (penstock connector add).`,
      )
    }
  }
  return { kept, problems }
}
