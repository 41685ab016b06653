import { join } from 'node:path'
import { connectors } from '@penstock/connectors'
import { type Installed, readRecord } from '@penstock/connectors/installed'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { KeptConnector } from './definitions.ts'
import { unknownConnectors } from './queries.ts'

const namedMax = 10

/**
 * Connectors that this machine cannot run: a sentence for each added connector whose folder is missing or damaged, and a sentence for
 * connectors in the database without a definition, as after a downgrade. With them the problems of the folder.
 */
export async function describeMissing(
  database: Database,
  {
    config: { connectorsFolder },
    installed,
    kept,
  }: { config: Pick<Config, 'connectorsFolder'>; installed: Installed; kept: readonly KeptConnector[] },
): Promise<string[]> {
  const here = installed.connectors.map(({ connector }) => connector.id)
  const known = [...connectors.map(({ id }) => id), ...here]
  const lacking = kept.filter(({ connector }) => !here.includes(connector.id))
  const used = await unknownConnectors.all(database, { known })
  const usesOf = (id: string) => {
    const { accounts, connections } = used.find(({ connectorId }) => connectorId === id) ?? {
      accounts: 0,
      connections: 0,
    }
    return `(accounts: ${accounts}, connections: ${connections})`
  }
  const named = lacking.map(({ connector: { id, slug }, folder }) => {
    const place = join(connectorsFolder, slug)
    const elsewhere = folder === place ? '' : ` Its definition was last read from ${folder}.`
    return `This machine cannot load the added connector ${slug}, ${id} ${usesOf(id)}: ${whyNot(connectorsFolder, slug)}.${elsewhere} Its transfers fail on this machine. Restore the folder ${place} (PENSTOCK_CONNECTORS_DIR), or add the connector again (penstock connector add). If nothing uses it, remove it (penstock connector remove ${slug}).`
  })
  const unknown = used.filter(({ connectorId }) => !lacking.some(({ connector }) => connector.id === connectorId))
  // The sentence about a connector says why it cannot be used.
  const problems = installed.problems.filter(
    (problem) => !lacking.some(({ connector: { slug } }) => problem.includes(`${join(connectorsFolder, slug)} `)),
  )
  const ofUnknown = unknown.map(({ connectorId }) => `${connectorId} ${usesOf(connectorId)}`)
  return [...problems, ...named, ...(ofUnknown.length > 0 ? [describeUnknown(ofUnknown)] : [])]
}

function whyNot(folder: string, slug: string): string {
  try {
    readRecord(folder, slug)
    return 'the catalogue has a connector with its slug or its name'
  } catch (error) {
    return (error as Error).message
  }
}

/** Without their definitions, nothing is known about them. */
function describeUnknown(all: readonly string[]): string {
  const named = all.slice(0, namedMax)
  if (all.length > namedMax) named.push(`and ${all.length - namedMax} more`)
  return `The database holds connectors that this version of Penstock does not know: ${named.join(', ')}. Their connections cannot transfer. Run the version that they were added with, or a newer one; if an operator added them, restore the folder of added connectors (PENSTOCK_CONNECTORS_DIR) or add them here again (penstock connector add).`
}
