import type { ConnectorDefinition, FieldError } from '@penstock/wire'
import { failures as say } from '../strings/failures.ts'
import { fields, sentence } from '../strings/fields.ts'

/** Refusals of the service, in sentences with the labels of fields instead of their places in the request. */

/** A message that begins so continues the name of its field. */
const continues =
  /^(?:is|are|was|were|has|have|had|must|may|can|cannot|does|did|needs|no longer|takes|fills|names|replaces|makes|starts)\b/
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g
const inWords = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

type Definitions = readonly Pick<ConnectorDefinition, 'secretFields' | 'source' | 'destination'>[]

/** A sentence about each value that is wrong. @param definitions for the labels of the fields of connectors */
export const problemsOf = (details: readonly FieldError[], definitions: Definitions = []): string[] => [
  ...new Set(details.map((detail) => problemOf(detail, definitions))),
]

function problemOf({ field, message }: FieldError, definitions: Definitions): string {
  const text = message.replaceAll(time, (one) => inWords.format(new Date(one)))
  const label = /^is required: (.+)$/.exec(text)?.[1] ?? labelAt(field, definitions)
  if (continues.test(text)) return fields.fieldError(label ?? say.subjects[field] ?? say.subjects.id ?? '', text)
  const isOfField = label !== undefined && /^\p{Ll}/u.test(text)
  return sentence(isOfField ? `${label}: ${text}` : text.charAt(0).toUpperCase() + text.slice(1))
}

/** The label of the field at a place such as `body.destConnectionConfig.table`; undefined if it is no field of a form. */
function labelAt(place: string, definitions: Definitions): string | undefined {
  const [group = '', name] = place.replace(/^(?:body|query)\./, '').split('.')
  if (place === group || /^(?:connection|connector|header)$/.test(group)) return undefined
  const isOfConnector = /^(?:(?:src|dest)Conn(?:ectionConfig|ector)|secretConfig|settings)$/.test(group)
  if (isOfConnector) return name === undefined ? undefined : labelOf(name, definitions, group)
  const last = place.split('.').findLast((part) => !/^\d+$/.test(part)) ?? group
  return say.names[last] ?? wordsOf(last)
}

/**
 * The label of a field of a connector.
 * @param group of the request, which tells in which form the field is: `srcConnectionConfig`, `destConnector`
 */
export function labelOf(name: string, definitions: Definitions, group = ''): string {
  const forms = definitions.flatMap((definition) => formsOf(definition, group))
  return forms.find((field) => field.name === name)?.label ?? say.names[name] ?? wordsOf(name)
}

function formsOf({ secretFields, source, destination }: Definitions[number], group: string) {
  if (group === 'srcConnectionConfig') return source?.fields ?? []
  if (group === 'destConnectionConfig') return destination?.fields ?? []
  const settings = [...(source?.fields ?? []), ...(destination?.fields ?? [])]
  return /Connector$|^secretConfig$/.test(group) ? secretFields : [...settings, ...secretFields]
}

/** An internal name in words: `startDate` is `Start date`. */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/\b(?:id|url|ip|api)\b/gi, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}
