import { Anchor, Text } from '@mantine/core'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import type { FormValues } from '../../components/fields/form-field.ts'
import { pathOf } from '../../shell/account.ts'
import { consequence as say } from '../../strings/consequence.ts'
import { type Ways, waysOf } from './consequence.ts'
import { ConsequenceLine } from './consequence-card.tsx'
import { placesOf } from './places.ts'

/** How a connection reads and writes if every transfer would add all rows again; `undefined` if not, or not known yet. */
export function useRepeats({
  src,
  dest,
  srcConnectionConfig,
  destConnectionConfig,
}: ConnectionDetails): Ways | undefined {
  const source = useRead('getConnectorDefinition', { id: src.connectorId }).data?.reply.source
  const destination = useRead('getConnectorDefinition', { id: dest.connectorId }).data?.reply.destination
  if (!source || !destination) return undefined
  const ways = waysOf(
    { fields: source.fields, values: srcConnectionConfig as FormValues },
    { fields: destination.fields, values: destConnectionConfig as FormValues },
  )
  return ways?.read === 'all' && ways.write === 'add' ? ways : undefined
}

/** Warns that rows are added again, and leads to the settings to change. */
export function RowsComeAgain({
  connection: { accountId, id, src, dest, srcConnectionConfig, destConnectionConfig },
  repeats,
  latest,
  quiet = false,
}: {
  connection: ConnectionDetails
  repeats: Ways
  /** Tells how many rows the source has. */
  latest?: Transfer | undefined
  /** In small letters: one transfer may be all that is wanted. */
  quiet?: boolean
}) {
  const n = latest?.status === 'succeeded' && latest.backfill === null ? latest.records.read : undefined
  const names = placesOf(
    { name: src.connectorName, values: srcConnectionConfig as FormValues },
    { name: dest.connectorName, values: destConnectionConfig as FormValues },
  )
  const change = (
    <Anchor
      component={Link}
      size="sm"
      c="var(--mantine-color-text)"
      underline="always"
      to={pathOf(accountId, `connections/new?${new URLSearchParams({ connection: id, step: 'settings' })}`)}
    >
      {say.changeSettings}
    </Anchor>
  )
  if (quiet) {
    return (
      <Text size="sm" c="dimmed">
        {say.oncePerFile} {change}
      </Text>
    )
  }
  return (
    <ConsequenceLine ways={repeats} names={{ ...names, ...(n !== undefined && { rows: { n, isEstimate: false } }) }}>
      {change}
    </ConsequenceLine>
  )
}
