import { type ConnectorDefinition, didYouMean, readFieldValue } from '@penstock/wire'
import { describeProblem, type Locate, type Problem } from './problems.ts'
import { hasReference, type Resolver } from './references.ts'

/** Values of fields: as files write them, as the service stores them, and how both are compared. */

export type Value = string | number | boolean | null | readonly string[]
export type Values = Readonly<Record<string, Value>>

export type FieldDefinition = ConnectorDefinition['secretFields'][number]
export type Fields = ReadonlyMap<string, FieldDefinition>

export const fieldsOf = (fields: readonly FieldDefinition[]): Fields =>
  new Map(fields.map((field) => [field.name, field]))

/** The settings of a side that a file can contain: the ones that the service does not fill itself. */
export const settable = (fields: Fields, values: Readonly<Record<string, unknown>>): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(values).filter(([key]) => fields.has(key) && !fields.get(key)?.readonly) as [string, Value][],
  )

/** A wanted value: resolved, and in the form that people can see. */
export type Resolved = { readonly value: Value; readonly shown: unknown }

/**
 * Reads the settings of a file by the definitions of the fields. Empty values are treated as not set.
 * @param what its `refused` collects the values that the service would refuse
 * @returns the valid values; the errors of the others are in `problems`
 */
export async function readSettings(
  { settings }: { readonly settings: Values },
  fields: Fields,
  what: { readonly at: Locate; readonly path: readonly string[]; readonly of: string; readonly refused?: Problem[] },
  resolver: Resolver,
  problems: Problem[],
): Promise<Map<string, Resolved>> {
  const read = new Map<string, Resolved>()
  for (const [key, written] of Object.entries(settings)) {
    const position = what.at(...what.path, key)
    const field = fields.get(key)
    if (!field) {
      const names = [...fields.values()].filter(({ readonly }) => !readonly).map(({ name }) => name)
      problems.push({
        message: `${key} is not a field of ${what.of}.${didYouMean(key, names)} Its fields are: ${names.join(', ') || 'none'}.`,
        at: position,
      })
    } else if (field.type === 'Password') {
      problems.push({ message: `${key} is a secret: write a reference to it under secrets.`, at: position })
    } else if (field.readonly) {
      problems.push({ message: `${key} is filled by the service: remove it.`, at: position })
    } else {
      const resolved = await resolveValue(written, position, resolver, problems)
      if (resolved === undefined) continue
      const value = normal(field, resolved)
      const refers = [written].flat().some((one) => typeof one === 'string' && hasReference(one))
      if (value === null) continue
      read.set(key, { value, shown: refers ? written : value })
      const found = readFieldValue(field, value)
      if ('wrong' in found) what.refused?.push({ message: `${key} of ${what.of} ${found.wrong}.`, at: position })
    }
  }
  return read
}

async function resolveValue(
  written: Value,
  position: Parameters<Resolver['resolve']>[1],
  resolver: Resolver,
  problems: Problem[],
): Promise<Value | undefined> {
  if (typeof written === 'string') return resolver.resolve(written, position, problems)
  if (!Array.isArray(written)) return written
  const resolved = await Promise.all(written.map((one: string) => resolver.resolve(one, position, problems)))
  return resolved.every((one) => one !== undefined) ? resolved : undefined
}

/**
 * A value in the form that the service stores. A value that the field does not accept is not changed, so that the service reports
 * the error.
 */
function normal({ type }: FieldDefinition, value: Value): Value {
  if (value === null || value === '') return null
  if (type === 'Number' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value) || 0
  if (type === 'Boolean' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'Multi-Select' && Array.isArray(value)) return value.length > 0 ? [...new Set(value as string[])] : null
  return value
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** A difference of one field, in the form that people can see. */
export type FieldChange = {
  readonly field: string
  /** Absent if there was nothing. */
  readonly from?: unknown
  /** Absent if the value is removed. */
  readonly to?: unknown
  /** Its values are never shown. */
  readonly secret?: true
}

/** The differences between the stored settings and the settings of the file. */
export function differences(
  path: string,
  stored: Readonly<Record<string, unknown>>,
  wanted: ReadonlyMap<string, Resolved>,
): FieldChange[] {
  const removed = Object.keys(stored)
    .filter((key) => !wanted.has(key))
    .map((key) => ({ field: `${path}.${key}`, from: stored[key] }))
  const changed = [...wanted]
    .filter(([key, { value }]) => !isSame(own(stored, key), value))
    .map(([key, { shown }]) => ({
      field: `${path}.${key}`,
      to: shown,
      ...(Object.hasOwn(stored, key) ? { from: stored[key] } : {}),
    }))
  return [...changed, ...removed]
}

const own = (values: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(values, key) ? values[key] : undefined

export const valuesOf = (resolved: ReadonlyMap<string, Resolved>): Values =>
  Object.fromEntries([...resolved].map(([key, { value }]) => [key, value]))

/** The mapping that a stored text is, if it is one. */
export function readMapping(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const read: unknown = JSON.parse(text)
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export const describeAll = (problems: readonly Problem[]): string => problems.map(describeProblem).join('\n')

/**
 * Compares the mapping, which is a setting with the text of a JSON object. It is compared as an object, and removed from the
 * settings that are compared as texts.
 */
export function compareMapping(
  mapping: Readonly<Record<string, unknown>> | undefined,
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
  const changed = keys.filter((key) => !isSame(own(from ?? {}, key), own(to ?? {}, key)))
  // Only their order differs.
  if (changed.length === 0) return [{ field: 'mapping', from, to }]
  return changed.map((key) => ({
    field: `mapping.${key}`,
    ...(from && Object.hasOwn(from, key) ? { from: from[key] } : {}),
    ...(to && Object.hasOwn(to, key) ? { to: to[key] } : {}),
  }))
}
