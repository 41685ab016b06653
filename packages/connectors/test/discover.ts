import assert from 'node:assert/strict'
import type { Connector, DiscoveredPage, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'

export type Asked = {
  readonly role?: 'source' | 'destination'
  readonly settings?: Values
  readonly search?: string
  readonly cursor?: string
  readonly size?: number
  readonly withSamples?: boolean
}

/** One page of the values that a connector discovers for a setting. */
export async function discover(
  connector: Connector,
  secrets: Values,
  field: string,
  {
    role = 'source',
    settings = {},
    search = '',
    cursor,
    size = 50,
    withSamples = false,
    ...rest
  }: Asked & Pick<TestContextOptions, 'localFolders' | 'routes'> = {},
): Promise<DiscoveredPage> {
  const find = connector[role]?.discover?.[field]
  assert.ok(find, `${connector.slug} discovers ${field}`)
  return find({ ...testContext({ secrets, settings, ...rest }), search, cursor, size, withSamples })
}

/** The values of a page. */
export const valuesOf = ({ items }: DiscoveredPage): string[] => items.map(({ value }) => value)
