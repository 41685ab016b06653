import { type ConnectorContext, ConnectorError, type PersonIdentifierKind } from '@penstock/connector'
import {
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml'
import type { ApiDefinition } from './definition.ts'
import { readDefinition } from './read-definition.ts'
import { type Path, WrongPart } from './read-part.ts'

/** Levels of lists and objects in a definition. */
const depthMax = 30

/** A definition, or what is wrong with its text: a phrase with line and column, to follow the name of the field. */
export type ParsedDefinition = { readonly definition: ApiDefinition } | { readonly wrong: string }

/**
 * Reads a definition from YAML, of which JSON is a part. Never throws. The API process reads definitions while it checks
 * requests, so the time is proportional to the length of the text, and reading ends at the first error.
 */
export function parseDefinition(text: string): ParsedDefinition {
  const read = readYaml(text, depthMax)
  if ('wrong' in read) return read
  try {
    return { definition: readDefinition(read.value) }
  } catch (error) {
    if (!(error instanceof WrongPart)) throw error
    return { wrong: `is wrong at ${read.placeOf(error.path)}: ${error.message}` }
  }
}

/** The value of a text, and where its parts are: a line and a column, from 1. */
export type ReadYaml =
  | { readonly value: unknown; readonly placeOf: (path: Path) => string }
  | { readonly wrong: string }

/** Reads YAML without aliases. Never throws. @param levelsMax levels of lists and objects */
export function readYaml(text: string, levelsMax: number): ReadYaml {
  try {
    const events = parseEvents(text, { maxDepth: levelsMax })
    if (events.some(({ type }) => type === EVENT_ID.ALIAS)) return { wrong: 'must have no aliases (*name)' }
    const values = constructFromEvents(events, { source: text })
    if (values.length > 1) return { wrong: 'must be one YAML document: remove the lines ---' }
    return { value: values[0], placeOf: (path) => placeOf(text, offsetOf(text, events, path)) }
  } catch (error) {
    return { wrong: notRead(error, levelsMax) }
  }
}

/** For the field: what is wrong with a text that should be a definition. */
export function definitionError(text: string): string | undefined {
  const parsed = parseDefinition(text)
  return 'wrong' in parsed ? parsed.wrong : undefined
}

/** The kinds of identifiers by which a definition erases a person; none if it cannot be read. */
export function erasedBy(text: string): PersonIdentifierKind[] {
  const parsed = parseDefinition(text)
  return 'wrong' in parsed ? [] : (Object.keys(parsed.definition.erasure ?? {}) as PersonIdentifierKind[])
}

/** The definition of a configuration. Throws `invalid_setting` if there is none that can be used. */
export function definitionOf({ secrets }: Pick<ConnectorContext, 'secrets'>): ApiDefinition {
  const parsed = parseDefinition(String(secrets.definition ?? ''))
  if ('definition' in parsed) return parsed.definition
  throw new ConnectorError('invalid_setting', `The definition ${parsed.wrong}`)
}

function notRead(error: unknown, levelsMax: number): string {
  if (!(error instanceof YAMLException)) return 'is not valid YAML or JSON'
  const { reason, mark } = error
  if (reason.includes('maxDepth')) return `must have at most ${levelsMax} levels`
  const at = mark ? ` line ${mark.line + 1}, column ${mark.column + 1}:` : ''
  return `is not valid YAML or JSON:${at} ${reason}`
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return `line ${line}, column ${offset - lineStart + 1}`
}

/** Where a value is in the text, or the nearest one around it. */
function offsetOf(text: string, events: readonly Event[], path: Path): number {
  // The first event begins the document.
  let at = 1
  for (const key of path) {
    const inside = childOf(text, events, at, key)
    if (inside === undefined) break
    at = inside
  }
  return startOf(events[at])
}

/** The place of an entry of an object, or of an item of a list, in the events. */
function childOf(text: string, events: readonly Event[], of: number, key: string | number): number | undefined {
  const holder = events[of]
  const isObject = holder?.type === EVENT_ID.MAPPING
  if (!isObject && holder?.type !== EVENT_ID.SEQUENCE) return undefined
  let index = 0
  for (let at = of + 1; events[at]?.type !== EVENT_ID.POP; at = behind(events, at)) {
    const event = events[at]
    if (!isObject) {
      if (index++ === key) return at
      continue
    }
    const isKey = event?.type === EVENT_ID.SCALAR && getScalarValue(text, event) === String(key)
    at = behind(events, at)
    if (isKey) return at
  }
  return undefined
}

/** The event after a value with all that it contains. */
function behind(events: readonly Event[], of: number): number {
  let depth = 0
  for (let at = of; ; at++) {
    const type = events[at]?.type
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++
    else if (type === EVENT_ID.POP) depth--
    if (depth <= 0) return at + 1
  }
}

function startOf(event: Event | undefined): number {
  if (event?.type === EVENT_ID.MAPPING || event?.type === EVENT_ID.SEQUENCE) return event.start
  if (event?.type !== EVENT_ID.SCALAR) return 0
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED
  return Math.max(0, event.valueStart - Number(isQuoted))
}
