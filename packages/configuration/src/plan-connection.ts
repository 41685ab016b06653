import type { DesiredAccount, DesiredConnection, DesiredSchedule } from './desired.ts'
import type { ConnectionChange, Planning } from './plan.ts'
import type { ConnectionState } from './service-state.ts'
import {
  differences,
  type FieldChange,
  fieldsOf,
  isSame,
  type Resolved,
  readMapping,
  readSettings,
  settable,
  valuesOf,
} from './values.ts'

/** The two sides as a file and as the API call them. */
const sides = [
  { path: 'source', config: 'srcConnectionConfig' },
  { path: 'destination', config: 'destConnectionConfig' },
] as const

/**
 * Plans a connection. Its connectors cannot be changed: with others it is replaced, which needs `allowDestroy`.
 * @param connectors of its sub-account: those that change, and those that a person has to authorize first
 */
export async function planConnection(
  account: DesiredAccount,
  connection: DesiredConnection,
  found: ConnectionState | undefined,
  connectors: { readonly touched: ReadonlySet<string>; readonly waiting: ReadonlySet<string> },
  { definitions, resolver, problems, notes }: Planning,
): Promise<ConnectionChange | undefined> {
  const { name, at } = connection
  const moved = sides.filter(({ path }) => found && found[path] !== connection[path].slug)
  const isReplaced = moved.length > 0
  const existing = isReplaced ? undefined : found
  const fields: FieldChange[] = moved.map(({ path }) => ({
    ...{ field: `${path}.connector`, from: found?.[path], to: connection[path].slug },
  }))
  if (found && found.name !== name) fields.push({ field: 'name', from: found.name, to: name })
  const saved: Partial<Record<(typeof sides)[number]['config'], Readonly<Record<string, unknown>>>> = {}
  for (const { path, config } of sides) {
    const { slug } = connection[path]
    const definition = await definitions(slug)
    if (!definition) {
      problems.push({
        message: `There is no connector ${slug} in this version of the service.`,
        at: at(path, 'connector'),
      })
      continue
    }
    const side = definition[path]
    if (!side) {
      problems.push({ message: `${slug} cannot be the ${path} of a connection.`, at: at(path, 'connector') })
      continue
    }
    const sideFields = fieldsOf(side.fields)
    const what = { at, path: [path, 'settings'], of: `the ${path} ${slug}` }
    const wanted = await readSettings(connection[path], sideFields, what, resolver, problems)
    const stored = settable(sideFields, existing?.[config] ?? {})
    if (path === 'destination') fields.push(...compareMapping(connection, stored, wanted))
    fields.push(...differences(`${path}.settings`, stored, wanted))
    saved[config] = valuesOf(wanted)
  }
  const saves = existing && fields.length === 0 ? undefined : (saved as Required<typeof saved>)
  const scheduleChange = compareSchedule(connection.schedule, existing?.schedule)
  fields.push(...scheduleChange)

  const isTouched = saves !== undefined || sides.some(({ path }) => connectors.touched.has(connection[path].slug))
  let statusAction = statusActionOf(connection, existing, isTouched)
  const waits = sides.filter(({ path }) => connectors.waiting.has(connection[path].slug))
  if (statusAction === 'activate' && waits.length > 0) {
    statusAction = undefined
    notes.push(
      `The connection ${name} of the sub-account ${account.name} is activated once its connectors are authorized.`,
    )
  } else if (existing?.status === 'broken' && connection.status === 'active' && !statusAction) {
    notes.push(
      `The connection ${name} of the sub-account ${account.name} is broken: the console says why, and what to do.`,
    )
  }
  if (statusAction)
    fields.push({
      ...{ field: 'status', ...(existing ? { from: existing.status } : {}) },
      to: statusAction === 'activate' ? 'active' : 'disabled',
    })
  if (existing && fields.length === 0) return undefined
  return {
    ...{
      kind: 'connection',
      account: account.name,
      name,
      at: at('name'),
      fields,
      existing: found,
      desired: connection,
    },
    action: isReplaced ? 'replace' : existing ? 'update' : 'create',
    saves,
    setsSchedule: scheduleChange.length > 0,
    statusAction,
  }
}

/**
 * The mapping is a setting that is the text of a JSON object: it is compared as the object that it is, and left out of the
 * settings that are compared as texts.
 */
function compareMapping(
  { mapping }: DesiredConnection,
  stored: Record<string, unknown>,
  wanted: Map<string, Resolved>,
): FieldChange[] {
  const text = mapping && Object.keys(mapping).length > 0 ? JSON.stringify(mapping) : undefined
  if (text !== undefined) wanted.set('mapping', { value: text, shown: mapping })
  const from = readMapping(stored.mapping)
  const to = readMapping(wanted.get('mapping')?.value)
  if (!from && !to) return []
  if (isSame(from, to)) {
    // Not even its spaces are another text then.
    const same = wanted.get('mapping')
    if (same) wanted.set('mapping', { ...same, value: stored.mapping as string })
    return []
  }
  delete stored.mapping
  const same = wanted.get('mapping')
  if (same && typeof same.value === 'string') stored.mapping = same.value
  const keys = [...new Set([...Object.keys(from ?? {}), ...Object.keys(to ?? {})])]
  const entry = (values: Record<string, unknown> | undefined, key: string) =>
    values && Object.hasOwn(values, key) ? values[key] : undefined
  const changed = keys.filter((key) => !isSame(entry(from, key), entry(to, key)))
  // Only their order differs.
  if (changed.length === 0) return [{ field: 'mapping', from, to }]
  return changed.map((key) => ({
    ...{ field: `mapping.${key}` },
    ...(from && Object.hasOwn(from, key) ? { from: from[key] } : {}),
    ...(to && Object.hasOwn(to, key) ? { to: to[key] } : {}),
  }))
}

function compareSchedule(wanted: DesiredSchedule | undefined, stored: DesiredSchedule | undefined): FieldChange[] {
  if (!wanted) return stored ? [{ field: 'schedule', from: `${stored.cron} ${stored.timezone}` }] : []
  return (['cron', 'timezone', 'enabled'] as const)
    .filter((key) => wanted[key] !== stored?.[key])
    .map((key) => ({ field: `schedule.${key}`, ...(stored ? { from: stored[key] } : {}), to: wanted[key] }))
}

/**
 * What the file wants is compared with what a person wanted before, not with what a platform made of it: a connection that is
 * broken or offline was active, and is activated again only together with a change that may have repaired it.
 */
function statusActionOf(
  { status }: DesiredConnection,
  existing: ConnectionState | undefined,
  isTouched: boolean,
): 'activate' | 'disable' | undefined {
  const current = existing?.status
  if (status === 'disabled') return current === 'disabled' ? undefined : 'disable'
  if (status !== 'active' || current === 'active' || current === 'offline') return undefined
  if (current === 'broken' && !isTouched) return undefined
  return 'activate'
}
