import type { Client } from '@penstock/client'
import { Configure, didYouMean } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { escapeAll, ifAny } from '../export-names.ts'
import type { Problem } from '../problems.ts'
import { pageSize, readAll } from '../read-all.ts'
import { type Planning, type ResourceKind, type Scope, statesIn, whose } from '../resource-kind.ts'
import { connectorSlug, id, name, object, of, settings, was } from '../schema-parts.ts'
import {
  compareMapping,
  differences,
  type FieldChange,
  fieldsOf,
  readMapping,
  readSettings,
  settable,
  type Values,
  valuesOf,
} from '../values.ts'
import { attributes, type DesiredAttributes, type FileAttributes } from './connection-attributes/attributes.ts'
import type { ConnectionState } from './connection-state.ts'
import { type Configs, type DesiredConnection, type Own, sides, steps } from './connection-steps.ts'
import {
  addedIn,
  configurationIdIn,
  connector,
  connectorChanges,
  missingFields,
  nameOfConfiguration,
  valuesIn,
} from './connector.ts'
import { identityOf, mayHaveCursor, startsAfresh } from './starts-afresh.ts'

type FileSide = { connector: string; configuration?: string; settings?: Values }
type FileConnection = FileAttributes & {
  name: string
  was?: string[]
  id?: string
  source: FileSide
  destination: FileSide
  mapping?: Record<string, unknown>
  status?: 'active' | 'disabled'
}
/** Connections. Their connectors cannot be changed: with others, a connection is replaced. */
export const connection: ResourceKind<'connections', FileConnection, DesiredConnection, ConnectionState, Own> = {
  kind: 'connection',
  title: 'connection',
  list: 'connections',
  plural: 'Connections',
  key: 'name',
  ofOrganization: false,
  destroyedBy: 'allowDestroy',
  nameOf: ({ name }) => name,
  identifierOf: ({ id }) => id,
  schema() {
    const side = (role: string) =>
      object(
        ['connector'],
        {
          connector: connectorSlug,
          configuration: {
            ...of(Configure, 'name'),
            description: 'Name of a further configuration of the connector. Omitted: the first one',
          },
          settings: { ...settings, description: `All settings of the ${role}` },
        },
        `The ${role}`,
      )
    return object(
      ['name', 'source', 'destination'],
      {
        name,
        was,
        id,
        source: side('source'),
        destination: side('destination'),
        mapping: {
          type: 'object',
          description: 'Column for each field of the destination. Omitted: by name',
          additionalProperties: {
            type: ['string', 'null', 'object'],
            additionalProperties: {
              type: ['string', 'object'],
              additionalProperties: { type: ['string', 'null'] },
            },
          },
        },
        ...Object.assign({}, ...attributes.map((attribute) => attribute.schema)),
        status: {
          enum: ['active', 'disabled'],
          description: 'Status once it is ready. Omitted: no change',
        },
      },
      'A connection',
    )
  },
  parse(entry, at, _, problems) {
    const { name, was = [], id, source, destination, mapping, status } = entry
    if (mapping && destination.settings?.mapping !== undefined)
      problems.push({
        message: 'mapping is also in the settings of the destination: write it once.',
        at: at('mapping'),
      })
    const sideOf = ({ connector: slug, configuration, settings = {} }: FileSide) => ({
      slug,
      connector: nameOfConfiguration(slug, configuration?.trim()),
      settings,
    })
    return {
      name: name.trim(),
      was: was.map((one) => one.trim()),
      id,
      source: sideOf(source),
      destination: sideOf(destination),
      mapping,
      ...(Object.assign({}, ...attributes.map((attribute) => attribute.parse(entry))) as DesiredAttributes),
      status,
      at,
    }
  },
  async write(state, twin, _, { definitions }) {
    const { source, destination, status } = state
    const settingsOf = async (path: 'source' | 'destination', values: object) => {
      const definition = await definitions(state[path])
      return settable(fieldsOf(definition?.[path]?.fields ?? []), values as Record<string, unknown>)
    }
    const from = await settingsOf('source', state.srcConnectionConfig)
    const { mapping: text, ...rest } = await settingsOf('destination', state.destConnectionConfig)
    const mapping = readMapping(text)
    const to = mapping || text === undefined ? rest : { ...rest, mapping: text }
    return {
      name: state.name,
      ...twin,
      source: { connector: source, ...named(state.sourceConfiguration), ...ifAny('settings', escapeAll(from)) },
      destination: {
        connector: destination,
        ...named(state.destinationConfiguration),
        ...ifAny('settings', escapeAll(to)),
      },
      ...(mapping ? ifAny('mapping', mapping) : {}),
      ...(Object.assign({}, ...attributes.map((attribute) => attribute.write(state))) as FileAttributes),
      // A connection that is broken or offline should be active. A connection that was never activated has no status in the file.
      ...(status === 'In-progress' ? {} : { status: status === 'disabled' ? 'disabled' : 'active' }),
    }
  },
  async read(client, accountId, lists) {
    const connections = await readAll(client, 'listConnectionDetails', accountId)
    const schedules = await readAll(client, 'listSchedules', accountId)
    const scheduleOf = new Map(schedules.map((entry) => [entry.connectionId, entry]))
    const slugs = new Map(statesIn(connector, lists).map(({ connectorId, slug }) => [connectorId, slug]))
    const further = new Map(
      statesIn(connector, lists).flatMap(({ first, configurationId, name }) =>
        first ? [] : [[configurationId, name]],
      ),
    )
    const names = new Map(connections.map(({ id, name }) => [id, name]))
    return connections.map((one) => ({
      ...one,
      after: one.runAfter.map((id) => names.get(id) ?? id).sort(),
      sourceConfiguration: further.get(one.srcConfigurationId),
      destinationConfiguration: further.get(one.destConfigurationId),
      source: slugs.get(one.src.connectorId) ?? one.src.connectorId,
      destination: slugs.get(one.dest.connectorId) ?? one.dest.connectorId,
      schedule: scheduleOf.get(one.id),
      formerNames: () => readFormerNames(client, one),
    }))
  },
  formerNames: (one) => one.formerNames(),
  couldBe: (entry, one) => one.source === entry.source.slug && one.destination === entry.destination.slug,
  diff,
  ...steps,
}

const named = (configuration: string | undefined) => (configuration === undefined ? {} : { configuration })

const readFormerNames = async (client: Client, { accountId, id }: Pick<ConnectionState, 'accountId' | 'id'>) => {
  const { reply } = await persistently(() => client.listConnectionEvents({ accountId, id, query: { size: pageSize } }))
  return reply.flatMap(({ kind, from }) => (kind === 'renamed' && from !== null ? [from] : []))
}

async function diff(entry: DesiredConnection, found: ConnectionState | undefined, scope: Scope, planning: Planning) {
  const { definitions, resolver, problems, notes, refused } = planning
  const { name, at } = entry
  const what = `The connection ${name}${whose(scope.account)}`
  for (const { path } of sides)
    if (!addedIn(scope).includes(entry[path].connector)) {
      const message = `${entry[path].connector} is not added to the sub-account ${scope.account}. List it under its connectors.${didYouMean(entry[path].connector, addedIn(scope))}`
      problems.push({ message, at: at(path, 'connector') })
    }
  const moved = sides.filter(({ path }) => found && found[path] !== entry[path].slug)
  const existing = moved.length > 0 ? undefined : found
  const fields: FieldChange[] = moved.map(({ path }) => ({
    field: `${path}.connector`,
    from: found?.[path],
    to: entry[path].slug,
  }))
  const configures: NonNullable<Own['configures']> = {}
  for (const { path, configuration } of sides) {
    const { slug, connector: wanted } = entry[path]
    const from = existing && nameOfConfiguration(slug, existing[`${path}Configuration`])
    const id = configurationIdIn(scope, wanted)
    const isFirst = wanted === slug
    if (existing ? id === existing[configuration] : isFirst) continue
    configures[path] = id ?? null
    if (existing) fields.push({ field: `${path}.configuration`, from, to: wanted })
  }
  if (found && found.name !== name) fields.push({ field: 'name', from: found.name, to: name })
  const identity: string[] = Object.keys(configures).map((path) => `the configuration of the ${path}`)
  let hasCursor = existing !== undefined && existing.status !== 'In-progress'
  const wrong: Problem[] = []
  const saved: { -readonly [K in keyof Configs]: Configs[K] } = { srcConnectionConfig: {}, destConnectionConfig: {} }
  for (const { path, config } of sides) {
    const { slug } = entry[path]
    const definition = await definitions(slug)
    const side = definition?.[path]
    if (!side) {
      const message = definition
        ? `${slug} cannot be the ${path} of a connection.`
        : `This version of the service has no connector ${slug}.${await definitions.suggest(slug)}`
      problems.push({ message, at: at(path, 'connector') })
      continue
    }
    const sideFields = fieldsOf(side.fields)
    const of = { at, path: [path, 'settings'], of: `the ${path} ${slug}`, refused: wrong }
    const wanted = await readSettings(entry[path], sideFields, of, resolver, problems)
    const stored = settable(sideFields, existing?.[config] ?? {})
    if (path === 'destination') fields.push(...compareMapping(entry.mapping, stored, wanted))
    const changes = differences(`${path}.settings`, stored, wanted)
    fields.push(...changes)
    identity.push(...identityOf(definition, path, changes, connectorChanges(scope).get(entry[path].connector)?.fields))
    if (path === 'source') hasCursor &&= mayHaveCursor(side.fields, stored)
    saved[config] = valuesOf(wanted)
  }
  if (hasCursor && identity.length > 0) notes.push(startsAfresh(what, identity))
  const saves = existing && fields.length === 0 ? undefined : saved
  if (saves) refused.push(...wrong)
  const sets = attributes.filter((attribute) => {
    const changes = attribute.compare(entry, existing, scope, planning)
    fields.push(...changes)
    return changes.length > 0
  })
  const isTouched = saves !== undefined || sides.some(({ path }) => connectorChanges(scope).has(entry[path].connector))
  let statusAction = statusActionOf(entry, existing, isTouched)
  if (statusAction === 'activate' && sides.some(({ path }) => scope.waiting.has(entry[path].connector))) {
    statusAction = undefined
    notes.push(`${what} is activated once its connectors are authorized.`)
  } else if (existing?.status === 'broken' && entry.status === 'active' && !statusAction) {
    notes.push(`${what} is broken. The console shows the reason, and what to do.`)
  }
  if (statusAction === 'activate') {
    const reasons = await notReady(entry, saved, scope, planning)
    const message = `${what} cannot be activated: ${reasons.join('; ')}.`
    if (reasons.length > 0) refused.push({ message, at: at('status') })
  }
  if (statusAction)
    fields.push({
      field: 'status',
      ...(existing ? { from: existing.status } : {}),
      to: statusAction === 'activate' ? 'active' : 'disabled',
    })
  return {
    fields,
    saves,
    configures,
    sets,
    statusAction,
    ...(moved.length > 0 ? { action: 'replace' as const } : {}),
  }
}

/**
 * Compares the status in the file with the status that a person last chose, not with the current status of the platform. A broken
 * or offline connection was active. It is activated again only together with a change that may have repaired it.
 */
function statusActionOf(
  { status }: DesiredConnection,
  existing: ConnectionState | undefined,
  isTouched: boolean,
): Own['statusAction'] {
  const current = existing?.status
  if (status === 'disabled') return current === 'disabled' ? undefined : 'disable'
  if (status !== 'active' || current === 'active' || current === 'offline') return undefined
  return current === 'broken' && !isTouched ? undefined : 'activate'
}

/** Why the service would refuse the activation; empty if it would accept it. */
async function notReady(entry: DesiredConnection, saved: Configs, scope: Scope, planning: Planning): Promise<string[]> {
  const reasons: string[] = []
  for (const { path, config, role } of sides) {
    const { slug, connector } = entry[path]
    const definition = await planning.definitions(slug)
    const fields = definition?.[path]?.fields
    if (!definition || !fields) continue
    const values = await valuesIn(scope, definition, connector, planning)
    if (!values) reasons.push(`the connector ${connector} is not configured`)
    else
      for (const name of missingFields(definition.secretFields, values, role))
        reasons.push(`the connector ${connector} needs ${name}`)
    for (const name of missingFields(fields, saved[config], role))
      reasons.push(`the settings of the ${path} need ${name}`)
  }
  return reasons
}
