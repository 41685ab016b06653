import { type ReactNode, useRef, useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { pathOf } from '../../shell/account.ts'
import { failing as say } from '../../strings/failing.ts'
import { SmallConnectButton } from '../connectors/connect-button.tsx'
import { useKeptCheck } from '../connectors/kept-checks.ts'
import { type ConnectorOfAccount, configureAt, useConfigurations } from '../connectors/of-account.ts'
import { isConnectable, useAuthorization } from '../connectors/use-connect.ts'
import type { Cause, FailingConnection } from './cause.ts'
import { useRunAll } from './run-all.tsx'
import { SecretCure, useSecrets } from './secret-cure.tsx'

/** The cure for all connections of a cause: one button, or the field of a new password. */
export function GroupCure({
  cause,
  title,
  connections,
}: {
  cause: Cause
  /** Names the cause for screen readers. */
  title: string
  connections: readonly FailingConnection[]
}): ReactNode {
  const [first] = connections
  if (!first) return null
  const path = pathOf(first.accountId, `connections/${first.id}`)
  switch (cause.kind) {
    case 'credentials':
    case 'configuration':
      return cause.at ? <ConfigurationCure cause={cause} at={cause.at} connections={connections} /> : null
    case 'waiting':
      return first.status === 'offline' ? <Retry title={title} connections={connections} /> : null
    case 'columns':
      return <Way to={path} label={say.review(connections.length)} of={title} />
    case 'confirmation':
      return <Way to={path} label={say.decide} of={title} />
    case 'connection':
      return null
  }
}

const Way = ({ to, label, of }: { to: string; label: string; of: string }) => (
  <ReasonedButton size="compact-md" variant="default" reason={undefined} to={to} aria-label={`${label}: ${of}`}>
    {label}
  </ReasonedButton>
)

function Retry({ title, connections }: { title: string; connections: readonly FailingConnection[] }) {
  const { run, isRunning, forbidden, dialog } = useRunAll()
  return (
    <>
      <ReasonedButton
        size="compact-md"
        variant="default"
        loading={isRunning}
        reason={forbidden}
        aria-label={say.retryOf(title)}
        onClick={() => void run(connections)}
      >
        {say.retry}
      </ReasonedButton>
      {dialog}
    </>
  )
}

/** Other values for a configuration, and then the connections that it stopped. */
export function ConfigurationCure({
  cause: { accountId, kind },
  at: { connectorId, connectorName, configurationId },
  connections,
}: {
  cause: Pick<Cause, 'accountId' | 'kind'>
  at: NonNullable<Cause['at']>
  connections: readonly FailingConnection[]
}) {
  const of: ConnectorOfAccount = { accountId, connectorId, configurationId }
  const { run, isRunning, forbidden, dialog } = useRunAll()
  const [isBusy, setBusy] = useState(false)
  const isSaved = useSavedSince(of, connections)
  const definition = useRead('getConnectorDefinition', { id: connectorId }).data?.reply
  const authorization = useAuthorization(of, definition).data?.reply
  const isByClick = authorization?.authorized === true && isConnectable(authorization)
  const asked = useSecrets(of, { enabled: kind === 'credentials' && !isByClick })
  // While a new password is saved and checked, the field stays.
  const kept = useRef(asked)
  if (!isBusy) kept.current = asked
  const secrets = kept.current
  const cure =
    isSaved && !isBusy ? (
      <ReasonedButton size="compact-md" loading={isRunning} reason={forbidden} onClick={() => void run(connections)}>
        {say.run(connections.length)}
      </ReasonedButton>
    ) : isByClick && definition?.authorization ? (
      <SmallConnectButton
        {...of}
        platform={definition.authorization.platform}
        label={say.reconnect(definition.authorization.platform)}
        fullLabel={say.reconnect(connectorName)}
      />
    ) : secrets ? (
      <SecretCure of={of} asked={secrets} n={connections.length} onBusy={setBusy} onWorks={() => run(connections)} />
    ) : (
      <ReasonedButton
        size="compact-md"
        variant="default"
        reason={undefined}
        to={pathOf(accountId, configureAt(connectorId, configurationId))}
      >
        {say.edit(connectorName)}
      </ReasonedButton>
    )
  return (
    <>
      {cure}
      {dialog}
    </>
  )
}

/**
 * Whether a configuration was saved after its connections failed, and no check in this browser failed since. Times are whole seconds: what failed
 * in the second of the saving may have failed after it, as the state of the configuration counts it too.
 */
export function useSavedSince(of: ConnectorOfAccount, connections: readonly FailingConnection[]): boolean {
  const saved = useConfigurations(of.accountId, of.connectorId)?.find((one) =>
    of.configurationId === undefined ? one.first : one.configurationId === of.configurationId,
  )?.lastUpdated
  const check = useKeptCheck(of)
  const failed = connections.flatMap(({ lastTransfer }) => lastTransfer?.finishedTime ?? [])
  if (saved === undefined || failed.length < connections.length) return false
  return failed.every((time) => saved > time) && (check === undefined || check.ok || check.checkedTime < saved)
}
