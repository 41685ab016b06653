import { boolean, type FieldDefinition, type Fields, number, secret, select, text } from '@penstock/connector'
import { isObject } from './protocol.ts'

/** The form of a program's configuration, and which of its fields are JSON. */
export type ProgramForm = { readonly fields: Fields; readonly json: readonly string[] }

const fieldsMax = 100

/** Names that must be secrets, whatever the program says of them, as of the fields of every connector. */
const soundsSecret =
  /secret|passw|passphrase|credential|private_?key|token$|api_?key|access_?key$|account_?key|json_?key|sas_?url|connection_?string/i

/**
 * The form for a JSON schema, in the form that the specification of Airbyte connectors uses. Texts, whole numbers, yes or no
 * and choices are fields. Everything else, such as nested objects and alternatives, is a field with JSON, and is a secret if it
 * contains one.
 * @throws Error with the rest of a sentence if the schema cannot be a form
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
    if (isWritten(property, secrets.includes(key))) json.push(key)
    // A value that is there already need not be entered.
    const isRequired = needed.includes(key) && property.default === undefined && property.const === undefined
    return [key, fieldOf(key, property, { required: isRequired, secrets })] as const
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
  { required, secrets }: { required: boolean; secrets: readonly string[] },
): FieldDefinition {
  const label = plain(property.title, key).slice(0, 200)
  const kind = kindOf(property)
  const isJson = kind === 'json'
  const description = `${plain(property.description, label)}${isJson ? ' (JSON)' : ''}`.slice(0, 2_000)
  if (secrets.includes(key)) return secret({ label, description, required })
  // Any of them can determine where secrets are sent, or how: only the program knows which one.
  const about = { label, description, required, ...(secrets.length > 0 ? { binds: secrets } : {}) }
  const { default: usual, minimum, maximum } = property
  switch (kind) {
    case 'boolean':
      return boolean({ ...about, ...(typeof usual === 'boolean' ? { default: usual } : {}) })
    case 'number': {
      const min = Number.isSafeInteger(minimum) ? { min: Number(minimum) } : {}
      const max = Number.isSafeInteger(maximum) ? { max: Number(maximum) } : {}
      return number({ ...about, ...min, ...max, ...(Number.isSafeInteger(usual) ? { default: Number(usual) } : {}) })
    }
    case 'choice': {
      const options = choicesOf(property).map(optionOf)
      const value = optionOf(property.const ?? usual)
      return select({ ...about, options, ...(options.includes(value) ? { default: value } : {}) })
    }
    default: {
      const given = usual === undefined ? undefined : isJson ? JSON.stringify(usual) : String(usual)
      return text({ ...about, ...(given === undefined || given === '' ? {} : { default: given }) })
    }
  }
}

type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'json'

function kindOf(property: Readonly<Record<string, unknown>>): Kind {
  if (choicesOf(property).length > 0) return 'choice'
  const [type, ...more] = [property.type].flat().filter((one) => one !== 'null')
  if (more.length > 0) return 'json'
  if (type === 'string') return 'text'
  if (type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

/** The values of a constant or of an enumeration, if all of them can be options. */
function choicesOf(property: Readonly<Record<string, unknown>>): readonly unknown[] {
  const given = property.const === undefined ? property.enum : [property.const]
  const values = Array.isArray(given) ? given.filter((one) => one !== null) : []
  const fits = values.every((one) => /^(string|number|boolean)$/.test(typeof one) && one !== '')
  return fits ? [...new Set(values)] : []
}

/** An option of a choice. One that is no text is JSON, so that the program gets the value. */
const optionOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Whether the value of a field is written as JSON, so that the program gets what its specification asks for. */
function isWritten(property: Readonly<Record<string, unknown>>, isSecretField: boolean): boolean {
  const kind = kindOf(property)
  if (kind === 'choice') return choicesOf(property).some((one) => typeof one !== 'string')
  return kind === 'json' || (isSecretField && kind !== 'text')
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
