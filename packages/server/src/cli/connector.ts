import { connectors as ownConnectors } from '@penstock/connectors'
import { readInstalled } from '@penstock/connectors/installed'
import { type Config, ConfigError } from '../config.ts'
import { deleteDefinition } from '../connectors/definition-queries.ts'
import { installedConnectors, readKept, saveInstalled } from '../connectors/definitions.ts'
import { addPackage, removePackage } from '../connectors/packages/add-package.ts'
import { type AddedProgram, addProgram } from '../connectors/packages/add-program.ts'
import { writeSkeleton } from '../connectors/packages/skeleton.ts'
import { testPackage } from '../connectors/packages/test-package.ts'
import { unknownConnectors } from '../connectors/queries.ts'
import type { Logger } from '../log.ts'
import { print, printTable, tell } from './print.ts'
import { type CommandRuntime, hasDatabase, withRuntime } from './runtime.ts'

/** `penstock connector`: connectors that the operator adds to this deployment, from packages. */

type Json = { json?: boolean }

const next =
  'Services and workers on this machine use it within seconds. Add it on every other machine that runs transfers.'
const nextVersion =
  'The next jobs on this machine use it; transfers that run now end with the earlier version. Add it on every other machine that runs transfers.'

type Source = Json & { airbyte?: string; singer?: string; properties?: boolean; slug?: string; name?: string }

/** Adds a connector from a directory, a tarball, a package of npm, or a program. Its definition goes into the database if there is one. */
export async function addConnectorCommand(
  config: Config,
  log: Logger,
  from: string | undefined,
  { json, ...source }: Source,
): Promise<void> {
  const { record, id, replaced } =
    from === undefined ? await addProgram(config, programOf(source)) : await addPackage(config, from)
  await keepDefinitions(config, log)
  const { slug, definition } = record
  const { name, version } = record.package
  print(
    { slug, connectorId: id, name: definition.name, package: name, version, replaced: replaced ?? null },
    json,
    [
      replaced === undefined
        ? `The connector ${slug} is added (${[name, version].join(' ').trim()}), with the identifier ${id}.`
        : `The connector ${slug} is replaced: ${name} ${replaced} by ${version}.`.replaceAll('  ', ' '),
      replaced === undefined ? next : nextVersion,
    ].join('\n'),
  )
}

/** Saves the definitions in the database, if there is one yet. Otherwise the next start of Penstock does. */
async function keepDefinitions(config: Config, log: Logger): Promise<void> {
  if (!config.databaseUrl && !(await hasDatabase(config))) return
  try {
    const save = ({ database }: CommandRuntime) => saveInstalled(database, installedConnectors(config), config)
    await withRuntime(config, log, save, { migrates: false })
  } catch (error) {
    const { message } = error as Error
    tell(
      `The definition is not in the database yet: ${message.replace(/\.$/, '')}. The next start of Penstock saves it.`,
    )
  }
}

/** @throws ConfigError if the options name no program, or not how it is called */
function programOf({ airbyte, singer, properties, slug, name }: Source): AddedProgram {
  const command = airbyte ?? singer
  if (command === undefined || (airbyte !== undefined && singer !== undefined))
    throw new ConfigError(['Name a package, or a program with --airbyte or with --singer.'])
  if (slug === undefined || name === undefined) throw new ConfigError(['A program needs --slug and --name.'])
  const protocol = airbyte !== undefined ? 'airbyte' : properties ? 'singer with properties' : 'singer'
  return { protocol, command, slug, name }
}

/** Lists the connectors that were added to this machine. */
export async function listConnectorsCommand(config: Config, _: Logger, { json }: Json): Promise<void> {
  const { connectors, problems } = installedConnectors(config)
  const list = connectors.map(({ connector, record }) => ({
    slug: connector.slug,
    connectorId: connector.id,
    name: connector.name,
    roles: connector.supportedType,
    package: record.package.name,
    version: record.package.version,
  }))
  printTable(list, json, `No connector was added in ${config.connectorsFolder}.`)
  for (const problem of problems) tell(problem)
}

/** Removes a connector that nothing in the database uses: its folder on this machine, and its definition. */
export async function removeConnectorCommand(config: Config, log: Logger, slug: string, { json }: Json): Promise<void> {
  await withRuntime(config, log, async ({ database }) => {
    const installed = readInstalled(config.connectorsFolder, { connectors: [], platforms: [] })
    const { kept } = await readKept(database)
    const known = [...installed.connectors, ...kept].map(({ connector }) => connector)
    const found = known.find((connector) => connector.slug === slug)
    if (!found)
      throw new ConfigError([`The connector ${slug} is not added. penstock connector list shows all added connectors.`])
    const others = [...ownConnectors, ...known].map(({ id }) => id).filter((id) => id !== found.id)
    const used = (await unknownConnectors.all(database, { known: others })).find(
      ({ connectorId }) => connectorId === found.id,
    )
    if (used) {
      throw new Error(
        `The connector ${slug} is in use (accounts: ${used.accounts}, connections: ${used.connections}): delete these connections, remove the connector from the accounts, then remove it here.`,
      )
    }
    await removePackage(config, slug)
    await deleteDefinition.run(database, { slug })
  })
  print({ slug, removed: true }, json, `The connector ${slug} is removed from this machine.`)
}

/** Writes the skeleton of a package. */
export async function newConnectorCommand(_: Config, __: Logger, slug: string, { json }: Json): Promise<void> {
  const folder = await writeSkeleton(slug)
  print(
    { slug, folder },
    json,
    [
      `${folder} has a connector that works. Try it, then add it:`,
      `penstock connector test ${slug}`,
      `penstock connector add ./${slug}`,
    ].join('\n'),
  )
}

/** Tries a package without adding it. Fails if a test of it does. */
export async function testConnectorCommand(_: Config, __: Logger, path: string): Promise<void> {
  const passed = await testPackage(path, (line) => process.stdout.write(`${line}\n`))
  if (!passed) throw new Error('Tests of the package fail.')
}
