import { Anchor } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import type { FormValues } from '../../components/fields/form-field.ts'
import { pathOf } from '../../shell/account.ts'
import { consequence as say } from '../../strings/consequence.ts'
import { type Ways, waysOf } from './consequence.ts'
import { ConsequenceLine } from './consequence-card.tsx'

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
  connection: { accountId, id, src, dest },
  repeats,
}: {
  connection: ConnectionDetails
  repeats: Ways
}) {
  return (
    <ConsequenceLine ways={repeats} names={{ source: src.connectorName, destination: dest.connectorName }}>
      <Anchor
        component={Link}
        size="sm"
        c="var(--mantine-color-text)"
        underline="always"
        to={pathOf(accountId, `connections/new?${new URLSearchParams({ connection: id, step: 'settings' })}`)}
      >
        {say.changeSettings}
      </Anchor>
    </ConsequenceLine>
  )
}
