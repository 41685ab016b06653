import {
  boolean,
  ConnectorError,
  type ConnectorErrorCode,
  type FieldDefinition,
  type Fields,
  type Json,
  number,
  secret,
  select,
  text,
  type Values,
} from '@penstock/connector'
import { isObject } from './protocol.ts'

/** The form of a program's configuration, and which of its fields are JSON. */
export type ProgramForm = { readonly fields: Fields; readonly json: readonly string[] }

const fieldsMax = 100

/** Names that must be secrets, whatever the program says of them, as of the fields of every connector. */
const soundsSecret =
  /secret|passw|passphrase|credential|private_?key|token$|api_?key|access_?key$|account_?key|json_?key|sas_?url|connection_?string/i

/**
 * The form of a JSON schema, as the specification of an Airbyte connector has it. Texts, whole numbers, yes or no and choices are
 * fields; everything else, such as nested objects and alternatives, is a field with JSON, and is a secret if it has one inside.
 * @throws Error with the rest of a sentence if it cannot be a form
 */
export function formOf(schema: Readonly<Record<string, unknown>>): ProgramForm {
  const { properties = {}, required = [] } = schema
  if (!isObject(properties)) throw new Error('its specification has no properties')
  const entries = Object.entries(properties).filter((entry): entry is [string, Record<string, unknown>] =>
    isObject(entry[1]),
  )
  if (entries.length > fieldsMax) throw new Error(`its specification has more than ${fieldsMax} properties`)
  const strange = entries.find(([key]) => !/^[A-Za-z]\w{0,99}$/.test(key))
  if (strange) throw new Error(`its property ${strange[0]} cannot be the name of a field: letters, digits and _ only`)
  const orderOf = ({ order }: Record<string, unknown>) => (typeof order === 'number' ? order : Number.MAX_SAFE_INTEGER)
  entries.sort(([, a], [, b]) => orderOf(a) - orderOf(b))
  const needed = Array.isArray(required) ? required : []
  const secrets = entries.filter(([key, one]) => isSecret(key, one)).map(([key]) => key)
  const json: string[] = []
  const fields = entries.map(([key, property]) => {
    const isJson = kindOf(property) === 'json'
    if (isJson) json.push(key)
    // A value that is there already need not be entered.
    const isRequired = needed.includes(key) && property.default === undefined && property.const === undefined
    return [key, fieldOf(key, property, { required: isRequired, secrets, isJson })] as const
  })
  return { fields: Object.fromEntries(fields), json }
}

/** The form of a tap, which has no specification: its whole configuration. */
export const formOfTap: ProgramForm = {
  fields: {
    config: secret({
      label: 'Configuration',
      description: 'The configuration file of the tap, as JSON',
      required: true,
    }),
  },
  json: ['config'],
}

function fieldOf(
  key: string,
  property: Readonly<Record<string, unknown>>,
  { required, secrets, isJson }: { required: boolean; secrets: readonly string[]; isJson: boolean },
): FieldDefinition {
  const label = plain(property.title, key).slice(0, 200)
  const description = `${plain(property.description, label)}${isJson ? ' (JSON)' : ''}`.slice(0, 2_000)
  const about = { label, description, required }
  if (secrets.includes(key)) return secret(about)
  const { default: usual, minimum, maximum } = property
  switch (kindOf(property)) {
    case 'boolean':
      return boolean({ ...about, ...(typeof usual === 'boolean' ? { default: usual } : {}) })
    case 'number': {
      const min = Number.isSafeInteger(minimum) ? { min: Number(minimum) } : {}
      const max = Number.isSafeInteger(maximum) ? { max: Number(maximum) } : {}
      return number({ ...about, ...min, ...max, ...(Number.isSafeInteger(usual) ? { default: Number(usual) } : {}) })
    }
    case 'choice': {
      const options = property.const === undefined ? (property.enum as string[]) : [String(property.const)]
      const value = property.const === undefined ? usual : property.const
      return select({ ...about, options, ...(options.includes(value as string) ? { default: value as string } : {}) })
    }
    default: {
      // Any of them can determine the address for secrets: only the program knows which one.
      const binds = secrets.length > 0 ? { binds: secrets } : {}
      const given = usual === undefined ? undefined : isJson ? JSON.stringify(usual) : String(usual)
      return text({ ...about, ...binds, ...(given === undefined || given === '' ? {} : { default: given }) })
    }
  }
}

function kindOf(property: Readonly<Record<string, unknown>>): 'text' | 'number' | 'boolean' | 'choice' | 'json' {
  const types = [property.type].flat().filter((type) => type !== 'null')
  const [type] = types
  if (types.length !== 1) return property.const === undefined ? 'json' : 'choice'
  if (type === 'string') {
    const texts =
      Array.isArray(property.enum) && property.enum.length > 0 && property.enum.every((one) => typeof one === 'string')
    return texts || property.const !== undefined ? 'choice' : 'text'
  }
  if (type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

const isSecret = (key: string, property: unknown): boolean => soundsSecret.test(key) || hasSecret(property)

/** Whether it is secret, or has something secret inside. */
function hasSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasSecret)
  return isObject(value) && (value.airbyte_secret === true || Object.values(value).some(hasSecret))
}

/** Text without the markup that specifications have. */
function plain(value: unknown, otherwise: string): string {
  const words =
    typeof value === 'string'
      ? value
          .replace(/<[^>]*>/g, '')
          .replace(/\s+/g, ' ')
          .trim()
      : ''
  return words === '' ? otherwise : words
}

/**
 * The configuration that the values of a form make; empty ones are left out.
 * @throws ConnectorError `invalid_setting` if a field that must be JSON is not
 */
export function configOf({ fields, json }: ProgramForm, values: Values): Readonly<Record<string, Json>> {
  const code: ConnectorErrorCode = 'invalid_setting'
  const entries = Object.entries(values).flatMap(([key, value]) => {
    if (!(key in fields) || value === undefined || value === '') return []
    if (!json.includes(key)) return [[key, value]]
    try {
      return [[key, JSON.parse(String(value))]]
    } catch {
      throw new ConnectorError(code, `${fields[key]?.label} must be JSON.`)
    }
  })
  return Object.fromEntries(entries)
}
