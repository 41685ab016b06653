import type { ConnectorDefinition } from '@penstock/wire'

let read = (): ConnectorDefinition[] => []

/** Tells where the definitions are: the page of a connect link begins without the cache of the console. */
export function readDefinitionsBy(reader: typeof read): void {
  read = reader
}

/** The definitions of connectors that the page has read so far. */
export const definitionsRead = (): ConnectorDefinition[] => read()
