import type { OperationId } from '@penstock/wire'
import { isReading, type Tool, tools } from './tools.ts'

/** The tools that a client chooses, by sets: fewer tools fill less of the context of a model. */

/** The choice of a client. Everything is optional: all tools, without output schemas. */
export type ToolChoice = {
  /** Names of sets or of tools. Undefined means all tools. */
  readonly tools?: readonly string[] | undefined
  /** Only tools that change nothing. */
  readonly readOnly?: boolean | undefined
  /** Lists the schemas of answers, which are more than half of the list. */
  readonly outputSchemas?: boolean | undefined
}

/** The tools for daily work with connections: set one up, run it, and find problems. */
const core: readonly OperationId[] = [
  'getMe',
  'listAccounts',
  'addAccount',
  'listConnectors',
  'listAddedConnectors',
  'addConnectors',
  'getConnectorConfiguration',
  'configureConnector',
  'checkConnector',
  'discoverValues',
  'listConnections',
  'getConnection',
  'createConnection',
  'updateConnection',
  'updateConnectionStatus',
  'previewConnection',
  'listAttention',
  'startTransfer',
  'cancelTransfer',
  'listTransfers',
  'getTransfer',
  'listRejects',
  'setSchedule',
]

/** The tools to describe a source or destination, to propose a connection and to preview it. None of them moves data. */
const build: readonly OperationId[] = [
  'getMe',
  'listAccounts',
  'listConnectors',
  'listAddedConnectors',
  'listSupportedConnectors',
  'addConnectors',
  'getConnectorDefinition',
  'getConnectorConfiguration',
  'configureConnector',
  'checkConnector',
  'discoverValues',
  'askSource',
  'listMappingTemplates',
  'applyMappingTemplate',
  'getConnection',
  'createConnection',
  'updateConnection',
  'previewConnection',
]

let made: ReadonlyMap<string, readonly string[]> | undefined

/** The sets by their names, each with the names of its tools: `core`, `build`, and one for each tag of the API, such as `connect-links`. */
export function toolSets(): ReadonlyMap<string, readonly string[]> {
  const all = [...tools().values()]
  made ??= new Map<string, readonly string[]>([
    ['core', core],
    ['build', build],
    ...[...Map.groupBy(all, ({ operation }) => operation.tag.toLowerCase().replaceAll(' ', '-'))].map(
      ([name, some]) => [name, some.map(({ id }) => id)] as const,
    ),
  ])
  return made
}

/** The error in a list of names of sets and tools. Undefined if all are known. */
export function whyNoChoice(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !toolSets().has(name) && !tools().has(name))
  if (names.length > 0 && unknown === undefined) return undefined
  return `must be names of tools or of these sets, separated by commas: ${[...toolSets().keys()].join(', ')}`
}

/** @returns whether a client chose a tool */
export function createSelection({ tools: names, readOnly = false }: ToolChoice): (tool: Tool) => boolean {
  const chosen = names && new Set(names.flatMap((name) => toolSets().get(name) ?? [name]))
  return (tool) => (chosen?.has(tool.id) ?? true) && (!readOnly || isReading(tool))
}

/** The names in a text that lists them. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
